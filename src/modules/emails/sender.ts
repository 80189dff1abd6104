/** Resolves the sender of a mail, which the request, its template and the project may name. */

import type { Project } from "../../http/admission.ts";
import { normalizedAddress, normalizedMailbox } from "../../http/formats.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { displayName, mailboxText } from "../../protocols/mime/mailbox.ts";
import type { TemplateRow } from "../templates.ts";
import { mailboxesOf, mailboxOf } from "./mailboxes.ts";
import type { SendInput } from "./model.ts";

export type MailSender = {
  address: string;
  name: string | null;
  /** Mailboxes as text, with or without display names, separated by commas. */
  replyTo: string | null;
};

/**
 * The address is the first of: `from` of the request, `from` of the template, default sender of the
 * project. The display name is the first of: `from.name`, `name`, `fromName` of the template, name
 * of the default sender. The last one is only used together with the address of the default sender.
 */
export function resolveSender(
  input: SendInput,
  template: TemplateRow | null,
  fallback: Project["sender"],
): MailSender {
  const given = input.from === undefined ? null : mailboxOf(input.from);
  const named = given?.address ?? template?.from ?? null;
  const address = named ?? fallback?.address;
  if (address === undefined) {
    const message = "is required, since neither the template nor the project names a sender";
    throw fieldError("from", "required", message);
  }
  const fallbackName = named === null ? fallback?.name : null;
  return {
    address: normalizedAddress(address),
    name: given?.name ?? nameOf(input.name) ?? template?.fromName ?? fallbackName ?? null,
    replyTo: replyToOf(input, template),
  };
}

/**
 * The error for a sender of another domain than those to which the key is bound; null if it may be
 * used. `allowed` is empty for a key that is not bound.
 */
export function senderRefusal(domain: string, allowed: readonly string[]): AppError | null {
  if (allowed.length === 0 || allowed.includes(domain)) return null;
  const message = `This key may send only from ${allowed.join(", ")}, and the sender's domain is ${domain}.`;
  return new AppError(403, "SENDER_NOT_ALLOWED", message, {
    suggestion: "Send from a domain of the key, or create a key for this domain.",
  });
}

/** The addresses of the request, or else the one of the template. */
function replyToOf(input: SendInput, template: TemplateRow | null): string | null {
  const given = mailboxesOf(input.replyTo ?? input.reply);
  if (given.length > 0) return given.map(mailboxText).join(", ");
  const stored = template?.replyTo ?? null;
  return stored === null ? null : normalizedMailbox(stored);
}

const nameOf = (text: string | undefined) => (text === undefined ? null : displayName(text));
