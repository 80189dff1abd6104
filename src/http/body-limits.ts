/** How large request bodies may be: one table, whose entries the routes name where they are declared. */

import type { TSchema } from "@sinclair/typebox";

export type BodyLimit = {
  /** Octets as they are sent. */
  bytes: number;
  /** JSON values: objects, arrays, texts, numbers, true, false and null, at any depth. */
  values: number;
};

const KIB = 1024;
const MIB = 1024 * KIB;

/** JSON may take six octets for a character of one (`\u003c`), so these exceed the limits of fields. */
export const BODY_LIMITS = {
  /** Routes that need no body; a client may send an empty object all the same. */
  none: { bytes: 16 * KIB, values: 1_000 },
  /** Addresses, names, ids, times and settings. */
  settings: { bytes: 64 * KIB, values: 2_000 },
  /** An event; browsers send it with a key that anybody can read. */
  track: { bytes: 256 * KIB, values: 10_000 },
  /** 64 KiB of a contact's data, or of the context of a workflow execution. */
  data: { bytes: 512 * KIB, values: 50_000 },
  /** 1,000 addresses. */
  members: { bytes: 1 * MIB, values: 5_000 },
  /** A condition of 256 KiB, or 10,000 ids. */
  condition: { bytes: 2 * MIB, values: 150_000 },
  /** Variables to render a preview with. */
  preview: { bytes: 2 * MIB, values: 100_000 },
  /** A source of 1 MiB. */
  template: { bytes: 4 * MIB, values: 100_000 },
  /** A source of 1 MiB and a condition. */
  campaign: { bytes: 4 * MIB, values: 150_000 },
  /** A graph of 1 MiB. */
  workflow: { bytes: 4 * MIB, values: 150_000 },
  /** 10 MiB of attachments in base64, 1,000 recipients, a source of 1 MiB and variables. */
  send: { bytes: 20 * MIB, values: 200_000 },
} as const satisfies Record<string, BodyLimit>;

/** A CSV file; it goes to the disk as it arrives. */
export const IMPORT_CAP_BYTES = 100 * MIB;

/** The forms that recipients and their mail programs post have one field. */
export const FORM_CAP_BYTES = 4 * KIB;

const LIMIT = Symbol("body limit");

/** The schema of a route's body together with how large that body may be. */
export function limited<T extends TSchema>(schema: T, limit: BodyLimit): T {
  const { bytes, values } = limit;
  return { ...schema, [LIMIT]: limit, "x-max-body-bytes": bytes, "x-max-json-values": values };
}

/** The limit that `limited` declared; null where there is none. */
export function limitOf(schema: object): BodyLimit | null {
  const limit: unknown = Reflect.get(schema, LIMIT);
  return isBodyLimit(limit) ? limit : null;
}

function isBodyLimit(value: unknown): value is BodyLimit {
  return typeof value === "object" && value !== null && "bytes" in value && "values" in value;
}

/** `256 KiB` or `20 MiB`. */
export function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.floor(bytes / KIB)} KiB` : `${Math.floor(bytes / MIB)} MiB`;
}
