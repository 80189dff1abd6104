/**
 * Sends one question to one server: over UDP, with a new socket and so a new source port, and then
 * over TCP if the answer is too long for UDP (RFC 7766 §5).
 */

import dgram from "node:dgram";
import net from "node:net";
import type { DecodedPacket } from "dns-packet";
import type { Clock } from "../../lib/clock.ts";
import { isFormatError, makeQuery, type Query, type Question } from "./query.ts";
import { formatServer, type DnsServer } from "./servers.ts";

type ExchangeResult =
  | { kind: "response"; packet: DecodedPacket; sizeBytes: number }
  /** `isSilent` is true if the server sent nothing, and false if it sent a malformed response. */
  | { kind: "no response"; reason: string; isSilent: boolean };

type ExchangeOptions = {
  server: DnsServer;
  timeoutMs: number;
  clock: Clock;
  /** Gets a function that cancels the exchange; returns a function that is called at its end. */
  track(cancel: () => void): () => void;
};

export async function exchangeDns(
  question: Question,
  options: ExchangeOptions,
): Promise<ExchangeResult> {
  const result = await askOnce(makeQuery(question, true), options);
  const isEdnsRefused = result.kind === "response" && isFormatError(result.packet);
  return isEdnsRefused ? askOnce(makeQuery(question, false), options) : result;
}

async function askOnce(query: Query, options: ExchangeOptions): Promise<ExchangeResult> {
  const { clock } = options;
  const startedAt = clock.elapsed();
  const result = await askUdp(query, options);
  if (result.kind === "no response" || !result.packet.flag_tc) return result;
  const leftMs = options.timeoutMs - (clock.elapsed() - startedAt);
  return askTcp(query, { ...options, timeoutMs: Math.max(1, leftMs) });
}

function askUdp(query: Query, options: ExchangeOptions): Promise<ExchangeResult> {
  const { address, port } = options.server;
  return settle(options, (end, attempt) => {
    const socket = dgram.createSocket(net.isIP(address) === 6 ? "udp6" : "udp4");
    const onError = (error?: Error | null) => {
      if (error) end(broken(options, error));
    };
    socket.on("error", onError);
    socket.on(
      "message",
      attempt((bytes: Buffer) => {
        const reading = query.read(bytes);
        if (reading.kind === "response") end(responseOf(reading.packet, bytes));
        if (reading.kind === "malformed") end(malformed(options));
      }),
    );
    // The system drops packets of other senders on a connected socket (RFC 5452 §9.1).
    const onConnect = attempt((error?: Error) => {
      if (error === undefined) socket.send(query.bytes, onError);
      else onError(error);
    });
    socket.connect(port, address, onConnect);
    return () => socket.close();
  });
}

function askTcp(query: Query, options: ExchangeOptions): Promise<ExchangeResult> {
  const { address: host, port } = options.server;
  return settle(options, (end, attempt) => {
    const socket = net.connect({ host, port });
    const message = messageCollector();
    socket.on("error", (error) => end(broken(options, error)));
    socket.on("close", () => end(broken(options, new Error("the connection was closed"))));
    socket.on("connect", () => socket.write(withLength(query.bytes)));
    socket.on(
      "data",
      attempt((chunk: Buffer) => {
        const bytes = message(chunk);
        if (bytes === null) return;
        const reading = query.read(bytes);
        end(reading.kind === "response" ? responseOf(reading.packet, bytes) : malformed(options));
      }),
    );
    return () => socket.destroy();
  });
}

type End = (result: ExchangeResult) => void;
/** Makes a callback of a socket whose error ends the exchange: outside it would end the process. */
type Attempt = <Values extends unknown[]>(
  run: (...values: Values) => void,
) => (...values: Values) => void;

/** Runs until `end` is called, the timeout expires or the exchange is cancelled; then cleans up. */
function settle(
  options: ExchangeOptions,
  begin: (end: End, attempt: Attempt) => () => void,
): Promise<ExchangeResult> {
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
  let isOver = false;
  let cleanUp = () => {};
  const end = (result: ExchangeResult): void => {
    if (isOver) return;
    isOver = true;
    cancelTimer();
    untrack();
    cleanUp();
    resolve(result);
  };
  const cancelTimer = options.clock.after(options.timeoutMs, () => end(silent(options)));
  const untrack = options.track(() => end({ ...silent(options), reason: "we are closing" }));
  const attempt: Attempt = (run) => {
    return (...values) => {
      try {
        run(...values);
      } catch (error) {
        end(broken(options, error));
      }
    };
  };
  attempt(() => {
    cleanUp = begin(end, attempt);
    if (isOver) cleanUp();
  })();
  return promise;
}

/** Adds the length of the message in front, in two octets (RFC 1035 §4.2.2). */
function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/**
 * Returns a function that collects octets; it returns the message when it is complete, else null.
 */
export function messageCollector(): (chunk: Buffer) => Buffer | null {
  const chunks: Buffer[] = [];
  let received = 0;
  /** Number of octets of the complete message; 2 until its length is known. */
  let wanted = 2;
  return (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    if (received < wanted) return null;
    const all = Buffer.concat(chunks);
    wanted = 2 + all.readUInt16BE(0);
    return received < wanted ? null : all.subarray(2, wanted);
  };
}

function responseOf(packet: DecodedPacket, bytes: Buffer): ExchangeResult {
  return { kind: "response", packet, sizeBytes: bytes.length };
}

type NoResponse = Extract<ExchangeResult, { kind: "no response" }>;

function silent({ server, timeoutMs }: ExchangeOptions): NoResponse {
  const waited = `within ${Math.ceil(timeoutMs) / 1_000} s`;
  return {
    kind: "no response",
    reason: `${formatServer(server)}: no answer ${waited}`,
    isSilent: true,
  };
}

function broken({ server }: ExchangeOptions, error: unknown): NoResponse {
  const why = error instanceof Error ? error.message : String(error);
  return { kind: "no response", reason: `${formatServer(server)}: ${why}`, isSilent: true };
}

function malformed({ server }: ExchangeOptions): NoResponse {
  const reason = `${formatServer(server)}: a malformed answer`;
  return { kind: "no response", reason, isSilent: false };
}
