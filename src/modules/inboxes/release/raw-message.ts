/** A received message in the form in which it may be sent to other recipients. */

const CRLF = "\r\n";

/**
 * Removes Bcc (RFC 5322 §3.6.3), Return-Path, which only the last server adds (RFC 5321 §4.4), and,
 * if `hasTrace`, the first Received field, which the listener added. All other bytes stay.
 */
export function releasable(raw: Uint8Array, hasTrace: boolean): Buffer {
  const message = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = message.indexOf(CRLF + CRLF);
  const headerEnd = end === -1 ? message.byteLength : end;
  let isTraceLeft = hasTrace;
  const kept = fieldsOf(message.subarray(0, headerEnd).toString("latin1")).filter((field) => {
    const name = nameOf(field);
    if (name === "bcc" || name === "return-path") return false;
    if (name !== "received" || !isTraceLeft) return true;
    isTraceLeft = false;
    return false;
  });
  const header = Buffer.from(kept.join(CRLF), "latin1");
  return Buffer.concat([header, message.subarray(headerEnd)]);
}

/** Returns true if the header has a field of this name. */
export function hasField(message: Uint8Array, name: string): boolean {
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = text.indexOf(CRLF + CRLF);
  const header = text.subarray(0, end === -1 ? text.byteLength : end).toString("latin1");
  return fieldsOf(header).some((field) => nameOf(field) === name);
}

/** The fields with their continuation lines, without their last CRLF. */
function fieldsOf(header: string): string[] {
  const fields: string[] = [];
  let current: string[] = [];
  for (const line of header.split(CRLF)) {
    if (/^[ \t]/.test(line) && current.length > 0) {
      current.push(line);
      continue;
    }
    if (current.length > 0) fields.push(current.join(CRLF));
    current = [line];
  }
  if (current.length > 0) fields.push(current.join(CRLF));
  return fields;
}

function nameOf(field: string): string {
  const colon = field.indexOf(":");
  return (colon === -1 ? "" : field.slice(0, colon)).trim().toLowerCase();
}
