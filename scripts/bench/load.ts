/**
 * Helper: sends mails through the API as fast as they are accepted. Prints `{done}` after every
 * `progressEvery` requests, then `{seconds, p50, p99, max}`.
 */

import { Type } from "@sinclair/typebox";
import { parse } from "./children.ts";
import { BODY, SENDER, SUBJECT } from "./mail.ts";
import { sendAll } from "./requests.ts";

const Settings = Type.Object({
  port: Type.Number(),
  path: Type.String(),
  key: Type.String(),
  connections: Type.Number(),
  requests: Type.Number(),
  /** Number of the first recipient; each request uses the next number. */
  firstRecipient: Type.Number(),
  progressEvery: Type.Number(),
  /** Name of an event to track for each recipient; without it, each recipient is sent a mail. */
  event: Type.Optional(Type.String()),
  /** Size of an HTML body that is different in each request; without it, all have the same body. */
  bodyBytes: Type.Optional(Type.Number()),
});

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const { port, connections, requests } = settings;

const head =
  `POST ${settings.path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
  `Authorization: Bearer ${settings.key}\r\nContent-Type: application/json\r\nContent-Length: `;
const FILLER = "<p>This paragraph is part of a finished body without template marks.</p>";
const filler = FILLER.repeat(Math.ceil((settings.bodyBytes ?? 0) / FILLER.length));

function bodyStart(number: number): string {
  if (settings.event !== undefined) return `{"event":"${settings.event}","email":"person-`;
  const html = settings.bodyBytes === undefined ? BODY : `<h1>Order ${number}</h1>${filler}`;
  return `{"from":"${SENDER}","subject":"${SUBJECT}","body":${JSON.stringify(html)},"to":"person-`;
}

function request(number: number): string {
  const body = `${bodyStart(number)}${number}@example.net","data":{"name":"Ada","order":"A-${number}"}}`;
  return `${head}${body.length}\r\n\r\n${body}`;
}

const sent = await sendAll({
  port,
  connections,
  requests,
  request: (number) => request(settings.firstRecipient + number),
  onDone(done) {
    if (done % settings.progressEvery === 0) console.log(JSON.stringify({ done }));
  },
});
console.log(JSON.stringify(sent));
process.exit(0);
