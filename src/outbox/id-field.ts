/**
 * Adds to each mail the header field with which the webhooks of the relay name it
 * (docs/relay-reports.md). It stands above the signatures, which do not cover it.
 */

import { allocateWithTailroom } from "../protocols/mime/tailroom.ts";
import { findKnownRelay } from "../protocols/smtp/known-relays.ts";
import type { Relay } from "../protocols/smtp/relay-url.ts";
import type { PreparedMessage } from "./lane/mail.ts";

type AddIdField = (prepared: PreparedMessage, emailId: string) => PreparedMessage;

/** Null if the relay wants no field, or if the mail goes to none. */
export function idFieldOf(relay: Relay | null): AddIdField | null {
  const field = relay === null ? null : (findKnownRelay(relay.host)?.idField ?? null);
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

export type IdFields = ReturnType<typeof createIdFields>;

/** The fields of all relays; `common` is that of the relay of --relay-url. */
export function createIdFields(relay: Relay | null) {
  const fields = new WeakMap<Relay, AddIdField | null>();
  return {
    common: idFieldOf(relay),
    of(other: Relay): AddIdField | null {
      const known = fields.get(other);
      if (known !== undefined) return known;
      const field = idFieldOf(other);
      fields.set(other, field);
      return field;
    },
  };
}

/** The header in lower case, with a line end before its first field. */
function headerOf(message: Uint8Array): string {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = bytes.indexOf("\r\n\r\n");
  return `\r\n${bytes.toString("latin1", 0, end === -1 ? bytes.length : end)}`.toLowerCase();
}
