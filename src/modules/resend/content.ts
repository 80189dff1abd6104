/** The sender, the texts and the addresses for replies that broadcasts and templates have in common. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import { EmailAddress } from "../../http/formats.ts";
import { fieldErrors } from "../../http/validation.ts";
import { fieldError, validationError } from "../../lib/errors.ts";
import { mailboxText } from "../../protocols/mime/mailbox.ts";
import { ensureTemplates } from "../content-work/content-work.ts";
import { Maybe, textOr } from "./call.ts";
import { placeholderTemplate, textOfTemplate, withFallbacks } from "./placeholders.ts";

export const CONTENT = {
  from: Maybe(Type.String()),
  subject: Maybe(Type.String()),
  html: Maybe(Type.String()),
  text: Maybe(Type.String()),
  reply_to: Maybe(
    Type.Union([EmailAddress, Type.Literal(""), Type.Array(EmailAddress, { maxItems: 50 })]),
  ),
};
const Given = Type.Object(CONTENT);
type Given = Static<typeof Given>;

/** Our names of the fields, and those of Resend. */
export const CONTENT_NAMES = { body: "html", replyTo: "reply_to" };

const NO_FALLBACKS: ReadonlyMap<string, string> = new Map();

/** The template in our syntax; undefined if the request has none. */
export function templateIn(
  text: string | null | undefined,
  fallbacks: ReadonlyMap<string, string> = NO_FALLBACKS,
): string | undefined {
  const given = textOr(text);
  return given === undefined ? undefined : placeholderTemplate(withFallbacks(given, fallbacks));
}

/** The fields that a request sets, by our names. Throws 422 for several addresses for replies. */
export function contentIn(given: Given, fallbacks: ReadonlyMap<string, string> = NO_FALLBACKS) {
  const { reply_to: reply } = given;
  if (Array.isArray(reply) && reply.length > 1) {
    throw fieldError("reply_to", "too_big", "must have at most one address");
  }
  const from = textOr(given.from);
  const subject = templateIn(given.subject, fallbacks);
  const body = templateIn(given.html, fallbacks);
  const replyTo = textOr(Array.isArray(reply) ? reply[0] : reply);
  return {
    ...(from === undefined ? {} : { from }),
    ...(subject === undefined ? {} : { subject }),
    ...(body === undefined ? {} : { body }),
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

/** Throws 422 unless `input` fits the schema and its templates can be compiled. */
export async function ensureContent(
  app: App,
  project: Project,
  { schema, input }: { schema: TSchema; input: Parameters<typeof ensureTemplates>[2] },
): Promise<void> {
  const errors = fieldErrors(schema, input, { project, isLenient: true });
  if (errors.length > 0) throw validationError(errors);
  await ensureTemplates(app, project.seq, input, true);
}

type Stored = {
  from: string | null;
  fromName: string | null;
  subject: string;
  body: string;
  replyTo: string | null;
};

/** The same fields in an answer. Empty ones are null. */
export function shownContent({ from, fromName, subject, body, replyTo }: Stored) {
  return {
    from: from === null || from === "" ? null : mailboxText({ address: from, name: fromName }),
    subject: subject === "" ? null : textOfTemplate(subject),
    reply_to: replyTo === null ? null : [replyTo],
    html: body === "" ? null : textOfTemplate(body),
    text: null,
  };
}
