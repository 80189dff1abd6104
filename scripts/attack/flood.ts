/**
 * Helper: sends one body over many connections at the same time. It prints the number of responses by
 * status; `closed` is a connection that was closed without a response, and `silent` one that stayed
 * open without a response.
 */

import { connect, type Socket } from "node:net";
import { setPriority } from "node:os";
import { Type } from "@sinclair/typebox";
import { parse } from "../bench/children.ts";
import { FORMS, type Mode, Shape } from "./forms.ts";

const Settings = Type.Object({
  port: Type.Number(),
  head: Type.Array(Type.String()),
  connections: Type.Number(),
  form: Type.String(),
  /** Whether the body is a form with a file instead of JSON. */
  isMultipart: Type.Boolean(),
  shape: Shape,
  /** Connections without a response are given up after this time. */
  limitMs: Type.Number(),
});

const PIECE_BYTES = 64 * 1024;
const CHUNK_BYTES = 16 * 1024;
const DRIP_MS = 500;
/** The lines are long, because an import of many short lines would go on long after the attack. */
const FILE_LINES = 12;
const FILE_LINE_BYTES = 900_000;
const BOUNDARY = "attack";

setPriority(10); // The server and the watching process take precedence.
const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const form = FORMS[settings.form];
if (form === undefined) throw new Error(`${settings.form}: no such form`);
const { mode } = form;
const body = Buffer.from(settings.isMultipart ? fileForm() : form.body(settings.shape));
const statuses: Record<string, number> = {};
const startedAt = performance.now();
await Promise.all(Array.from({ length: settings.connections }, attack));
console.log(JSON.stringify({ statuses, seconds: (performance.now() - startedAt) / 1000 }));
process.exit(0);

function fileForm(): string {
  const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`;
  const line = `person@example.net,${"x".repeat(FILE_LINE_BYTES)}\n`;
  return `${part}email,text\n${line.repeat(FILE_LINES)}\r\n--${BOUNDARY}--\r\n`;
}

function attack(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect({ port: settings.port, host: "127.0.0.1" });
  let received = "";
  let isOver = false;
  const limit = setTimeout(() => end("silent"), settings.limitMs);

  function end(status: string): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(limit);
    statuses[status] = (statuses[status] ?? 0) + 1;
    socket.destroy();
    resolve();
  }

  socket.on("connect", () => send(socket, { isOver: () => isOver, abort: () => end("aborted") }));
  socket.on("data", (data) => {
    received += data.toString("latin1");
    const [head = "", ...rest] = received.split("\r\n\r\n");
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
    if (rest.join("\r\n\r\n").length >= length) end(head.slice(9, 12));
  });
  socket.on("error", () => undefined); // "close" follows.
  socket.on("close", () => end("closed"));
  return promise;
}

type Sending = { isOver: () => boolean; abort: () => void };

function send(socket: Socket, sending: Sending): void {
  const type = settings.isMultipart
    ? `multipart/form-data; boundary=${BOUNDARY}`
    : "application/json";
  const length =
    mode === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${body.byteLength}`;
  socket.write([...settings.head, `Content-Type: ${type}`, length, "", ""].join("\r\n"));
  if (mode === "slow") drip(socket, sending);
  else flood(socket, sending, piecesOf(mode));
}

function* piecesOf(of: Mode): Generator<Uint8Array | string> {
  const end = of === "aborted" ? body.length / 2 : body.length;
  const size = of === "chunked" ? CHUNK_BYTES : PIECE_BYTES;
  for (let at = 0; at < end; at += size) {
    const piece = body.subarray(at, Math.min(at + size, end));
    if (of === "chunked") yield `${piece.length.toString(16)}\r\n`;
    yield piece;
    if (of === "chunked") yield "\r\n";
  }
  if (of === "chunked") yield "0\r\n\r\n";
}

function flood(socket: Socket, { isOver, abort }: Sending, pieces: Generator<Uint8Array | string>) {
  function go(): void {
    for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
      if (isOver()) return;
      if (!socket.write(next.value)) return;
    }
    if (mode === "aborted") setTimeout(abort, DRIP_MS);
  }
  socket.on("drain", go);
  go();
}

/** Sends a few bytes, and then single bytes slowly. */
function drip(socket: Socket, { isOver }: Sending): void {
  let at = 16;
  socket.write(body.subarray(0, at));
  const timer = setInterval(() => {
    if (isOver() || at >= body.length) clearInterval(timer);
    else socket.write(body.subarray(at, ++at));
  }, DRIP_MS);
}
