/** Helper: tracks events for contacts picked at random. Prints `{seconds, p50, p99, max}`. */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { createRandom } from "../seed/random.ts";
import { parse } from "./children.ts";
import { sendAll } from "./requests.ts";

const Settings = Type.Object({
  port: Type.Number(),
  path: Type.String(),
  key: Type.String(),
  data: Type.String(),
  connections: Type.Number(),
  requests: Type.Number(),
  /** Number of the round; each round picks different contacts. */
  round: Type.Number(),
});

const NAMES = ["login", "page.view", "purchase"];
const NEW_EVERY = 50;

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const { port, connections, requests, round } = settings;
const random = createRandom(20_260_505 + round);
const known = emailsIn(settings.data);
const requestHead =
  `POST ${settings.path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
  `Authorization: Bearer ${settings.key}\r\nContent-Type: application/json\r\nContent-Length: `;
const requestTexts = Array.from({ length: requests }, (_, i) => {
  const isNew = i % NEW_EVERY === 0;
  const email = isNew ? `new-${round}-${i}-${requests}@example.net` : random.pick(known);
  const path = { value: `/page/${i % 100}`, persistent: false };
  const body = JSON.stringify({ event: random.pick(NAMES), email, data: { path } });
  return `${requestHead}${body.length}\r\n\r\n${body}`;
});

console.log(
  JSON.stringify(
    await sendAll({ port, connections, requests, request: (number) => requestTexts[number] ?? "" }),
  ),
);
process.exit(0);

function emailsIn(data: string): string[] {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const emails = sqlite.query("SELECT email FROM contacts WHERE seq % 4 = 1").values();
  sqlite.close();
  return emails.map(([email]) => String(email));
}
