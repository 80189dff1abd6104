/** Resolves the sender of a mail, which the request, its template and the project may name. */

import type { Project } from "../../http/admission.ts";
import { mailboxIn, normalizedAddress, normalizedMailbox } from "../../http/formats.ts";
import { fieldError } from "../../lib/errors.ts";
import { displayName, type Mailbox } from "../../protocols/mime/mailbox.ts";
import type { TemplateRow } from "../templates.ts";
import type { SendInput } from "./model.ts";

export type MailSender = {
  address: string;
  name: string | null;
  /** A mailbox as text, with or without a display name. */
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
  const given = input.from === undefined ? null : senderIn(input.from);
  const named = given?.address ?? template?.from ?? null;
  const address = named ?? fallback?.address;
  if (address === undefined) {
    const message = "is required, since neither the template nor the project names a sender";
    throw fieldError("from", "required", message);
  }
  const fallbackName = named === null ? fallback?.name : null;
  const reply = input.reply ?? template?.replyTo;
  return {
    address: normalizedAddress(address),
    name: given?.name ?? nameOf(input.name) ?? template?.fromName ?? fallbackName ?? null,
    replyTo: reply === undefined || reply === null ? null : normalizedMailbox(reply),
  };
}

/** A name beside the address wins over one in the text of the address. */
function senderIn(from: NonNullable<SendInput["from"]>): Mailbox {
  if (typeof from === "string") return mailboxIn(from);
  const { address, name } = mailboxIn(from.email);
  return { address, name: nameOf(from.name) ?? name };
}

const nameOf = (text: string | undefined) => (text === undefined ? null : displayName(text));
