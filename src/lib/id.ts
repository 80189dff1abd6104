/** Identifiers: UUIDv7 strings (RFC 9562 §5.7), sortable by creation (interface decision A). */

export function newId(epochMs: number): string {
  return Bun.randomUUIDv7("hex", epochMs);
}
