/** A client for a time server (RFC 4330), which measures how far this clock is ahead. */

import dgram from "node:dgram";
import { systemClock } from "../lib/clock.ts";

const NTP_PORT = 123;
const PACKET_BYTES = 48;
/** First byte of a request: version 4, mode 3 (client). */
const CLIENT = 0x23;
const TRANSMIT_TIME_AT = 40;
/** Seconds from the NTP epoch (1900) to the Unix epoch (1970). */
const EPOCH_SECONDS = 2_208_988_800;

type SntpOptions = { timeoutMs: number; now?: () => number; port?: number };

/**
 * Resolves to the milliseconds by which this clock is ahead; null if there was no answer in time.
 */
export function askTimeServer(address: string, options: SntpOptions): Promise<number | null> {
  const { timeoutMs, now = systemClock.now, port = NTP_PORT } = options;
  const socket = dgram.createSocket(address.includes(":") ? "udp6" : "udp4");
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const request = Buffer.alloc(PACKET_BYTES);
  request[0] = CLIENT;
  const sentAt = now();
  const timer = setTimeout(() => resolve(null), timeoutMs);
  socket.on("error", () => resolve(null));
  socket.on("message", (packet) => {
    if (packet.length < PACKET_BYTES) return;
    // The time in the packet is assumed to be the middle of the round trip.
    resolve((sentAt + now()) / 2 - readTime(packet));
  });
  socket.send(request, port, address);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

function readTime(packet: Buffer): number {
  const seconds = packet.readUInt32BE(TRANSMIT_TIME_AT) - EPOCH_SECONDS;
  const fraction = packet.readUInt32BE(TRANSMIT_TIME_AT + 4) / 2 ** 32;
  return (seconds + fraction) * 1000;
}
