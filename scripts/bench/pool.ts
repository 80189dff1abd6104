/**
 * Helper, the baseline of `deliver`: sends messages that are already composed to the same SMTP server
 * with nodemailer's connection pool, and stores nothing. Prints `{seconds}`.
 */

import { Type } from "@sinclair/typebox";
import { createTransport } from "nodemailer";
import { parse } from "./children.ts";
import { SENDER } from "./mail.ts";
import { composeMail } from "./message.ts";

const Settings = Type.Object({
  port: Type.Number(),
  mails: Type.Number(),
  connections: Type.Number(),
  perConnection: Type.Number(),
});

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));

function mail(number: number) {
  const to = `person-${number}@example.net`;
  return { envelope: { from: SENDER, to: [to] }, raw: Buffer.from(composeMail(to)) };
}

const mails = Array.from({ length: settings.mails }, (_, i) => mail(i));
const pool = createTransport({
  host: "127.0.0.1",
  port: settings.port,
  pool: true,
  maxConnections: settings.connections,
  maxMessages: settings.perConnection,
  ignoreTLS: true,
});
const startedAt = performance.now();
await Promise.all(mails.map((each) => pool.sendMail(each)));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000 }));
pool.close();
process.exit(0);
