/**
 * Identifiers: UUIDv7 strings (RFC 9562 §5.7), sortable by creation (docs/interface.md#requests).
 */

export function newId(epochMs: number): string {
  return Bun.randomUUIDv7("hex", epochMs);
}

/** Converts an id to its 16 bytes. */
export function bytesOfId(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** Converts 16 bytes to an id. */
export function idOfBytes(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString("hex");
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return [...groups, hex.slice(20)].join("-");
}
