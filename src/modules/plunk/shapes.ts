/** The shapes that the routes of Plunk's interface share: parameters of lists, kinds of mail, and the older error. */

import { type Static, Type } from "@sinclair/typebox";
import { Input } from "../../http/validation.ts";
import { AppError, fieldError } from "../../lib/errors.ts";

/** The older error of Plunk, which some routes answer instead of 422: `{"error": "email is required"}`. */
export const bareError = (message: string): AppError =>
  new AppError(400, "VALIDATION_ERROR", message, { isBare: true });

/** Throws the older error for the first of the fields that the body lacks or that is empty. */
export function requireFields(
  body: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): void {
  const missing = fields.find((field) => !body[field]);
  if (missing !== undefined) throw bareError(`${missing} is required`);
}

const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 20;

/** A number of a query. Plunk takes a larger one than `maximum` as `maximum`. */
export function numberIn(
  field: string,
  text: string | undefined,
  { otherwise, maximum }: { otherwise: number; maximum: number },
): number {
  if (text === undefined || text === "") return otherwise;
  const isNumber = /^\d{1,15}$/.test(text);
  if (isNumber && Number(text) >= 1) return Math.min(Number(text), maximum);
  throw fieldError(field, isNumber ? "too_small" : "invalid_type", "must be an integer from 1");
}

export const pageSizeIn = (field: string, text: string | undefined): number =>
  numberIn(field, text, { otherwise: DEFAULT_PAGE_SIZE, maximum: MAX_PAGE_SIZE });

/** The parameters of the order. Plunk takes an unknown column or direction as the default. */
export const OrderQuery = {
  sort: Type.Optional(Type.String()),
  dir: Type.Optional(Type.String()),
};

/**
 * The kinds of mail. HEADLESS is marketing to which Plunk adds no footer. Here a marketing mail gets no
 * footer if its body has a link to unsubscribe, so HEADLESS is stored as MARKETING, and its body must
 * have this link.
 */
export const PLUNK_TYPES = ["TRANSACTIONAL", "MARKETING", "HEADLESS"] as const;
export type PlunkType = (typeof PLUNK_TYPES)[number];

export const storedType = (type: PlunkType) => (type === "HEADLESS" ? "MARKETING" : type);

/** Throws 422 for a body of the type HEADLESS to which a footer would be added. */
export function ensureHeadless(type: PlunkType | undefined, body: string): void {
  if (type !== "HEADLESS" || /\bunsubscribeUrl\b/.test(body)) return;
  const message = "must have a link to {{ unsubscribeUrl }} for the type HEADLESS";
  throw fieldError("body", "invalid_value", message);
}

/** A change of several objects, of which `delete` is the only one. */
const MAX_IDS = 1_000;
export const BulkUpdate = Input({
  ids: Type.Array(Type.String(), { minItems: 1, maxItems: MAX_IDS }),
  delete: Type.Optional(Type.Boolean()),
});
export const BulkResult = Type.Object({
  deleted: Type.Optional(Type.Integer()),
  updated: Type.Optional(Type.Integer()),
});

/** Deletes the named objects, all or none, and answers with their number. */
export async function bulkDelete(
  body: Static<typeof BulkUpdate>,
  store: (change: () => void) => Promise<void>,
  remove: (id: string) => void,
): Promise<Static<typeof BulkResult>> {
  if (body.delete !== true) return { updated: 0 };
  const ids = new Set(body.ids);
  await store(() => {
    for (const id of ids) remove(id);
  });
  return { deleted: ids.size };
}
