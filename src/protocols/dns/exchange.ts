/**
 * One question to one server: over UDP, from a socket and so a source port of its own; over TCP
 * where the answer is too long for UDP (RFC 7766 §5).
 */

import dgram from "node:dgram";
import net from "node:net";
import type { DecodedPacket } from "dns-packet";
import { systemClock } from "../../lib/clock.ts";
import { isFormatError, makeQuery, type Query, type Question } from "./query.ts";
import { formatServer, type DnsServer } from "./servers.ts";

export type Heard =
  | { kind: "heard"; packet: DecodedPacket; sizeBytes: number }
  /** `isSilent`: no word from the server, as opposed to a word that means nothing. */
  | { kind: "unheard"; reason: string; isSilent: boolean };

export type ExchangeOptions = {
  server: DnsServer;
  timeoutMs: number;
  /** Told how to end it early, and when it is over. */
  track(cancel: () => void): () => void;
};

export async function exchange(question: Question, options: ExchangeOptions): Promise<Heard> {
  const heard = await askOnce(makeQuery(question, true), options);
  const isRefusedEdns = heard.kind === "heard" && isFormatError(heard.packet);
  return isRefusedEdns ? askOnce(makeQuery(question, false), options) : heard;
}

async function askOnce(query: Query, options: ExchangeOptions): Promise<Heard> {
  const startedAt = systemClock.elapsed();
  const heard = await askUdp(query, options);
  if (heard.kind === "unheard" || !heard.packet.flag_tc) return heard;
  const leftMs = options.timeoutMs - (systemClock.elapsed() - startedAt);
  return askTcp(query, { ...options, timeoutMs: Math.max(1, leftMs) });
}

function askUdp(query: Query, options: ExchangeOptions): Promise<Heard> {
  const { address, port } = options.server;
  return settle(options, (end) => {
    const socket = dgram.createSocket(net.isIP(address) === 6 ? "udp6" : "udp4");
    socket.on("error", (error) => end(broken(options, error)));
    socket.on("message", (bytes) => {
      const reading = query.read(bytes);
      if (reading.kind === "response") end(heardOf(reading.packet, bytes));
      if (reading.kind === "malformed") end(malformed(options));
    });
    // Connected, so that the system drops what comes from anywhere else (RFC 5452 §9.1).
    socket.connect(port, address, () => socket.send(query.bytes));
    return () => socket.close();
  });
}

function askTcp(query: Query, options: ExchangeOptions): Promise<Heard> {
  const { address: host, port } = options.server;
  return settle(options, (end) => {
    const socket = net.connect({ host, port });
    const message = messageCollector();
    socket.on("error", (error) => end(broken(options, error)));
    socket.on("close", () => end(broken(options, new Error("the connection was closed"))));
    socket.on("connect", () => socket.write(withLength(query.bytes)));
    socket.on("data", (chunk: Buffer) => {
      const bytes = message(chunk);
      if (bytes === null) return;
      const reading = query.read(bytes);
      end(reading.kind === "response" ? heardOf(reading.packet, bytes) : malformed(options));
    });
    return () => socket.destroy();
  });
}

/** Runs until `end` is called, the time is up or somebody cancels; then cleans up, once. */
function settle(
  options: ExchangeOptions,
  begin: (end: (heard: Heard) => void) => () => void,
): Promise<Heard> {
  const { promise, resolve } = Promise.withResolvers<Heard>();
  let isOver = false;
  let cleanUp = () => {};
  const end = (heard: Heard): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    untrack();
    cleanUp();
    resolve(heard);
  };
  const timer = setTimeout(() => end(silent(options)), options.timeoutMs);
  const untrack = options.track(() => end({ ...silent(options), reason: "we are closing" }));
  try {
    cleanUp = begin(end);
  } catch (error) {
    end(broken(options, error));
  }
  return promise;
}

/** RFC 1035 §4.2.2: two octets of length in front. */
function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Takes the octets as they arrive; returns the message when it is complete, null before. */
export function messageCollector(): (chunk: Buffer) => Buffer | null {
  const chunks: Buffer[] = [];
  let received = 0;
  /** Octets until it is complete, as far as that is known. */
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

function heardOf(packet: DecodedPacket, bytes: Buffer): Heard {
  return { kind: "heard", packet, sizeBytes: bytes.length };
}

function silent({ server, timeoutMs }: ExchangeOptions): Extract<Heard, { kind: "unheard" }> {
  const waited = `within ${Math.ceil(timeoutMs) / 1_000} s`;
  return {
    kind: "unheard",
    reason: `${formatServer(server)}: no answer ${waited}`,
    isSilent: true,
  };
}

function broken({ server }: ExchangeOptions, error: unknown): Heard {
  const why = error instanceof Error ? error.message : String(error);
  return { kind: "unheard", reason: `${formatServer(server)}: ${why}`, isSilent: true };
}

function malformed({ server }: ExchangeOptions): Heard {
  const reason = `${formatServer(server)}: a malformed answer`;
  return { kind: "unheard", reason, isSilent: false };
}
