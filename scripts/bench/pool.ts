/**
 * Helper, the baseline of `deliver`: nodemailer's pool sends messages that were composed before to
 * the same SMTP server, and writes nothing down. Says `{seconds}`.
 */

import { Type } from "@sinclair/typebox";
import { createTransport } from "nodemailer";
import { composeMessage } from "../../src/mail/message.ts";
import { compileTemplate, render } from "../../src/mail/template.ts";
import { htmlToText } from "../../src/mail/text.ts";
import { parse } from "./children.ts";
import { BODY, SENDER, SUBJECT } from "./mail.ts";

const Settings = Type.Object({
  port: Type.Number(),
  mails: Type.Number(),
  connections: Type.Number(),
  perConnection: Type.Number(),
});

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));

function rendered(source: string, kind: "html" | "text"): string {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) throw new Error(compiled.message);
  const result = render(compiled.template, { name: "Ada", order: "A-1001" });
  if (!result.ok) throw new Error(result.reason);
  return result.text;
}

const html = rendered(BODY, "html");
const subject = rendered(SUBJECT, "text");

function mail(number: number) {
  const to = `person-${number}@example.net`;
  const composed = composeMessage({
    from: { name: null, address: SENDER },
    to: { name: null, address: to },
    replyTo: null,
    subject,
    html,
    text: htmlToText(html),
    headers: [],
    attachments: [],
    messageId: `<${crypto.randomUUID()}@bench.test>`,
    date: new Date(),
  });
  if (!composed.ok) throw new Error(composed.reason);
  return { envelope: { from: SENDER, to: [to] }, raw: Buffer.from(composed.message) };
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
