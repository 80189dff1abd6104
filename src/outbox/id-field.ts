/**
 * Adds to each mail the header field with which the webhooks of the relay name it
 * (docs/relay-reports.md). It stands above the signatures, which do not cover it.
 */

import type { Config } from "../config/settings.ts";
import { allocateWithTailroom } from "../protocols/mime/tailroom.ts";
import { findKnownRelay } from "../protocols/smtp/known-relays.ts";
import type { Prepared } from "./compose/prepare.ts";

type PreparedMessage = Extract<Prepared, { kind: "prepared" }>;

export type AddIdField = (prepared: PreparedMessage, emailId: string) => PreparedMessage;

/** Null if the configured relay wants no field, or if no mail goes to a relay. */
export function idFieldOf({
  transport,
  relayUrl,
}: Pick<Config, "transport" | "relayUrl">): AddIdField | null {
  const relay = transport === "relay" && relayUrl !== null ? findKnownRelay(relayUrl.host) : null;
  const field = relay?.idField ?? null;
  if (field === null) return null;
  const sought = `\r\n${field.name.toLowerCase()}:`;
  return (prepared, emailId) => {
    // A sender who uses the field of the provider keeps its value.
    if (headerOf(prepared.message).includes(sought)) return prepared;
    const line = Buffer.from(`${field.name}: ${field.value(emailId)}\r\n`);
    const message = allocateWithTailroom(line.byteLength + prepared.message.byteLength);
    message.set(line);
    message.set(prepared.message, line.byteLength);
    return { ...prepared, message };
  };
}

/** The header in lower case, with a line end before its first field. */
function headerOf(message: Uint8Array): string {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = bytes.indexOf("\r\n\r\n");
  return `\r\n${bytes.toString("latin1", 0, end === -1 ? bytes.length : end)}`.toLowerCase();
}
