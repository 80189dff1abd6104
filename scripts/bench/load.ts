/**
 * Helper: sends HTTP requests over keep-alive connections as fast as they are answered, one at a
 * time on each. Raw sockets and as little parsing as possible: it shares the processor with what it
 * measures.
 *
 * Says `{done}` at every step of progress, then `{seconds, milliseconds[]}`.
 */

import { Type } from "@sinclair/typebox";
import { parse } from "./children.ts";
import { BODY, SENDER, SUBJECT } from "./mail.ts";

const Settings = Type.Object({
  port: Type.Number(),
  path: Type.String(),
  key: Type.String(),
  connections: Type.Number(),
  requests: Type.Number(),
  /** Numbers of the recipients: none is written to twice. */
  firstRecipient: Type.Number(),
  progressEvery: Type.Number(),
});

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const { port, connections, requests } = settings;

const head =
  `POST ${settings.path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
  `Authorization: Bearer ${settings.key}\r\nContent-Type: application/json\r\nContent-Length: `;
const bodyStart = `{"from":"${SENDER}","subject":"${SUBJECT}","body":${JSON.stringify(BODY)},"to":"person-`;

function request(number: number): string {
  const body = `${bodyStart}${number}@example.net","data":{"name":"Ada","order":"A-${number}"}}`;
  return `${head}${body.length}\r\n\r\n${body}`;
}

const durations = new Float64Array(requests);
let started = 0;
let done = 0;
let startedAt = 0;
const { promise: allDone, resolve } = Promise.withResolvers<void>();

type Connection = { sentAt: number; received: string };

function send(socket: Bun.Socket<Connection>): void {
  if (started === requests) return void socket.end();
  const text = request(settings.firstRecipient + started++);
  socket.data.sentAt = performance.now();
  if (socket.write(text) !== text.length) throw new Error("a request was not taken whole");
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i;

function receive(socket: Bun.Socket<Connection>, chunk: Buffer): void {
  const { data } = socket;
  data.received += chunk.toString("latin1");
  const end = data.received.indexOf("\r\n\r\n");
  if (end === -1) return;
  const length = Number(CONTENT_LENGTH.exec(data.received)?.[1]);
  if (data.received.length < end + 4 + length) return;
  if (!data.received.startsWith("HTTP/1.1 200")) throw new Error(data.received);
  data.received = "";
  durations[done++] = performance.now() - data.sentAt;
  if (done % settings.progressEvery === 0) console.log(JSON.stringify({ done }));
  if (done === requests) resolve();
  else send(socket);
}

async function run(): Promise<void> {
  const sockets: Bun.Socket<Connection>[] = [];
  for (let i = 0; i < connections; i++) {
    const socket = await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port,
      data: { sentAt: 0, received: "" },
      socket: { data: receive, error: (_, error) => Promise.reject(error) },
    });
    sockets.push(socket);
  }
  startedAt = performance.now();
  for (const socket of sockets) send(socket);
  await allDone;
  const seconds = (performance.now() - startedAt) / 1000;
  durations.sort();
  const at = (q: number) => durations[Math.min(requests - 1, Math.floor(q * requests))] ?? 0;
  console.log(JSON.stringify({ seconds, p50: at(0.5), p99: at(0.99), max: at(1) }));
  for (const socket of sockets) socket.end();
}

await run();
process.exit(0);
