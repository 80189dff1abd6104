/** The table of body limits. Each route names its limit with `limited` in its declaration. */

import { OptionalKind, type TSchema } from "@sinclair/typebox";

export type BodyLimit = {
  /** Length of the body as sent. */
  bytes: number;
  /**
   * Number of JSON values: objects, arrays, strings, numbers, true, false and null, at any depth.
   */
  values: number;
};

const KIB = 1024;
const MIB = 1024 * KIB;

/** An escaped character takes six bytes (`\u003c`), so these limits exceed those of the fields. */
export const BODY_LIMITS = {
  /** Routes without a body. Some clients send an empty object to them. */
  none: { bytes: 16 * KIB, values: 1_000 },
  /** A few addresses, names, ids, times or settings. */
  settings: { bytes: 64 * KIB, values: 2_000 },
  /** An event, which browsers may send with a public key. */
  track: { bytes: 256 * KIB, values: 10_000 },
  /** 64 KiB of a contact's data, or of the context of a workflow execution. */
  data: { bytes: 512 * KIB, values: 50_000 },
  /** 1,000 addresses. */
  members: { bytes: 1 * MIB, values: 5_000 },
  /** 1,000 addresses of up to 1,000 characters, each with a reason. */
  suppressionList: { bytes: 2 * MIB, values: 5_000 },
  /** A condition of 256 KiB, or 10,000 ids. */
  condition: { bytes: 2 * MIB, values: 150_000 },
  /** Variables to render a preview with. */
  preview: { bytes: 2 * MIB, values: 100_000 },
  /** A template source of 1 MiB. */
  template: { bytes: 4 * MIB, values: 100_000 },
  /** A template source of 1 MiB, and the design of the visual editor of 1 MiB. */
  design: { bytes: 8 * MIB, values: 200_000 },
  /** A template source of 1 MiB and a condition of 256 KiB. */
  campaign: { bytes: 4 * MIB, values: 150_000 },
  /** A workflow graph of 1 MiB. */
  workflow: { bytes: 4 * MIB, values: 150_000 },
  /**
   * Attachments of 10 MiB in base64, 1,000 recipients, a template source of 1 MiB and variables.
   */
  send: { bytes: 20 * MIB, values: 100_000 },
} as const satisfies Record<string, BodyLimit>;

/** Largest CSV file of an import, which is written to disk as it arrives. */
export const MAX_IMPORT_BYTES = 100 * MIB;

/** Largest form of the subscription pages, which has one field. */
export const MAX_FORM_BYTES = 4 * KIB;
/** The form of the preference page, which has a field for each of at most 100 topics. */
export const PREFERENCE_FORM_BYTES = 16 * KIB;

/** Largest submission of a sign-up form: 20 values of 1,000 characters, and 50 topics. */
export const MAX_SUBMISSION_BYTES = 64 * KIB;

const LIMIT = Symbol("body limit");

/** Adds the limit of a route's body to its schema. An optional body may be left out. */
export function limited<T extends TSchema>(schema: T, limit: BodyLimit): T {
  const { bytes, values } = limit;
  return {
    ...schema,
    ...(OptionalKind in schema ? { "x-optional": true } : {}),
    [LIMIT]: limit,
    "x-max-body-bytes": bytes,
    "x-max-json-values": values,
  };
}

/** The limit that `limited` added to a schema; null if there is none. */
export function limitOf(schema: object): BodyLimit | null {
  const limit: unknown = Reflect.get(schema, LIMIT);
  return isBodyLimit(limit) ? limit : null;
}

function isBodyLimit(value: unknown): value is BodyLimit {
  return typeof value === "object" && value !== null && "bytes" in value && "values" in value;
}

/** Formats a size, such as `256 KiB` or `20 MiB`. */
export function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.floor(bytes / KIB)} KiB` : `${Math.floor(bytes / MIB)} MiB`;
}
