/**
 * Helper: requests pixels and links of the mails in a data folder at a fixed rate, even when earlier
 * requests are still unanswered. The latency of a hit counts from the time at which it was due.
 *
 * Prints `{answered, p50, p99, max}`.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { openDataFolder } from "../../src/db/folder.ts";
import { deriveKey } from "../../src/lib/crypto.ts";
import { pixelUrl, redirectUrl } from "../../src/render/links.ts";
import { parse } from "./children.ts";

const Settings = Type.Object({
  port: Type.Number(),
  data: Type.String(),
  connections: Type.Number(),
  requests: Type.Number(),
  /** Hits per second. */
  rate: Type.Number(),
  /** Number of requests at the start whose latency is not counted. */
  warmUp: Type.Number(),
});

const { port, data, connections, requests, rate, warmUp } = parse(
  Settings,
  JSON.parse(Bun.argv[2] ?? "{}"),
);
const USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

const key = deriveKey(openDataFolder(data, null).secret, "tracking-links");
const ids = new Database(join(data, "mailstead.db"), { readonly: true })
  .query<{ id: string }, []>("SELECT id FROM emails ORDER BY seq")
  .all()
  .map(({ id }) => id);
/** The requests in order: two opens and a click for each mail. */
const texts = Array.from({ length: requests }, (_, i) => {
  const emailId = ids[Math.floor(i / 3) % ids.length] ?? "";
  const target = "https://shop.example/sale?utm_source=news&utm_campaign=spring";
  const path = i % 3 < 2 ? pixelUrl("", key, emailId) : redirectUrl("", key, { emailId, target });
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: ${USER_AGENT}\r\n\r\n`;
});

type Connection = { dueAt: number; isWarmUp: boolean; received: string };

const durations = new Float64Array(requests);
const idle: Bun.Socket<Connection>[] = [];
let sent = 0;
let answered = 0;
let startedAt = 0;
const { promise: allDone, resolve } = Promise.withResolvers<void>();

function sendDue(): void {
  const due = Math.min(requests, Math.floor(((performance.now() - startedAt) / 1000) * rate));
  while (sent < due) {
    // Connections are used in rotation, since a server closes those that are idle for long.
    const socket = idle.shift();
    if (socket === undefined) break;
    socket.data.dueAt = startedAt + (sent * 1000) / rate;
    socket.data.isWarmUp = sent < warmUp;
    socket.write(texts[sent++] ?? "");
  }
  if (sent < requests) setTimeout(sendDue, 0);
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i;

function receive(socket: Bun.Socket<Connection>, chunk: Buffer): void {
  const connection = socket.data;
  connection.received += chunk.toString("latin1");
  const end = connection.received.indexOf("\r\n\r\n");
  if (end === -1) return;
  const length = Number(CONTENT_LENGTH.exec(connection.received)?.[1] ?? 0);
  if (connection.received.length < end + 4 + length) return;
  if (!/^HTTP\/1\.1 (?:200|302)/.test(connection.received)) throw new Error(connection.received);
  connection.received = "";
  durations[answered++] = connection.isWarmUp ? 0 : performance.now() - connection.dueAt;
  idle.push(socket);
  if (answered === requests) resolve();
}

for (let i = 0; i < connections; i++) {
  idle.push(
    await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port,
      data: { dueAt: 0, isWarmUp: false, received: "" },
      socket: { data: receive, error: (_, error) => Promise.reject(error) },
    }),
  );
}
startedAt = performance.now();
sendDue();
await allDone;
const measured = durations.toSorted().subarray(warmUp);
const at = (q: number) => measured[Math.min(measured.length - 1, Math.floor(q * measured.length))];
console.log(JSON.stringify({ answered, p50: at(0.5), p99: at(0.99), max: at(1) }));
process.exit(0);
