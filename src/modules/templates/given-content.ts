/** The columns of names and addresses that a request gives for a template or a campaign. */

import { mailboxIn, normalizedMailbox } from "../../http/formats.ts";
import { displayName } from "../../protocols/mime/mailbox.ts";
import type { TemplatePatch } from "./model.ts";

/** The display name in the text of an address; undefined if there is none. */
const nameIn = (address: string | null | undefined): string | undefined =>
  (address && mailboxIn(address).name) || undefined;

/**
 * The optional columns of a template or a campaign that the request contains; an omitted field does
 * not change its column.
 */
export function optionalContent(
  fields: Pick<TemplatePatch, "description" | "from" | "fromName" | "replyTo">,
) {
  const { fromName = nameIn(fields.from) } = fields;
  return {
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fromName === undefined ? {} : { fromName: fromName && displayName(fromName) }),
    ...(fields.replyTo === undefined
      ? {}
      : { replyTo: fields.replyTo && normalizedMailbox(fields.replyTo) }),
  };
}
