/**
 * Shared parts of the routes of Plunk's interface: the older error, parameters of lists, kinds of mail,
 * the content of campaigns and templates, and the deletion of several objects.
 */

import { type Static, Type } from "@sinclair/typebox";
import type { templates } from "../../db/schema/templates.ts";
import { Nullable } from "../../http/envelope.ts";
import { DisplayName, EmailAddress } from "../../http/formats.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { BodySource, SubjectSource } from "../templates/model.ts";

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

/** The addresses of a request. Throws the older error without one. */
export function requireAddresses({ emails = [] }: { emails?: string[] }): string[] {
  if (emails.length === 0) throw bareError("emails must be a non-empty array");
  return emails;
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

/** The content of a campaign or of a template in answers. */
export const CONTENT_MEMBERS = {
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  subject: Type.String(),
  body: Type.String(),
  from: Nullable(Type.String()),
  fromName: Nullable(Type.String()),
  replyTo: Nullable(Type.String()),
  type: Type.String(),
};

/** Only a template may be without a sender. */
type Content<From extends string | null> = { from: From } & Pick<
  typeof templates.$inferSelect,
  "id" | "name" | "description" | "subject" | "body" | "fromName" | "replyTo"
>;

/** The members of `CONTENT_MEMBERS` without the type, which the two tables name differently. */
export function presentMailContent<From extends string | null>(row: Content<From>): Content<From> {
  const { id, name, description, subject, body, from, fromName, replyTo } = row;
  return { id, name, description, subject, body, from, fromName, replyTo };
}

/** The content of a campaign or of a template in requests. */
export const MailFields = Input({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  subject: SubjectSource,
  body: BodySource,
  from: EmailAddress,
  fromName: Type.Optional(Nullable(DisplayName)),
  replyTo: Type.Optional(Nullable(EmailAddress)),
  type: Type.Optional(OneOf(PLUNK_TYPES)),
});

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
