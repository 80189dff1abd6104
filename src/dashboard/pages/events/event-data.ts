/** Reads the data of an event that a person typed. */

import { isRecord } from "../../ui/is-record.ts";

type Read = { ok: true; data: object | null } | { ok: false; message: string };

/** `data` is null for an empty text. The message is a predicate, such as those of the interface. */
export function readEventData(text: string): Read {
  if (text.trim() === "") return { ok: true, data: null };
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return { ok: true, data: value };
    return { ok: false, message: 'must be an object such as {"total": 12}' };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON[.\w\s]*: /, "") : "";
    return { ok: false, message: `is not JSON: ${reason}` };
  }
}
