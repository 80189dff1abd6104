/**
 * Decides which mails may be composed on the event loop: those whose template is certainly cheap, and
 * whose variables are small. If three mails of a message took long nevertheless, no more of them are.
 */

import { cheapTags } from "../../render/template/cheap.ts";
import type { MailRow } from "./prepare.ts";

/** Most UTF-16 units that the body may have when it is rendered. */
const MAX_LENGTH = 128 * 1024;
/** Most bytes of attachments, which are encoded, and of a submitted message, which is hashed. */
const MAX_ATTACHED = 1024 * 1024;
const MAX_MESSAGES = 2_000;

/** A single mail may take long because the garbage collector runs. */
const MAX_STRIKES = 3;

export function createCheapMails() {
  /** The number of tags by message; null for a message that may be expensive. */
  const tagsOf = new Map<number, number | null>();
  const isCheapSubject = createSubjectCheck();
  /** Number of mails that took long, by message. */
  const strikesOf = new Map<number, number>();

  function bodyTags({ messageSeq, html, text }: MailRow): number | null {
    const known = tagsOf.get(messageSeq);
    if (known !== undefined) return known;
    const tags = tagsOfBodies(html, text);
    if (tagsOf.size >= MAX_MESSAGES) {
      tagsOf.clear();
      strikesOf.clear();
    }
    tagsOf.set(messageSeq, tags);
    return tags;
  }

  return {
    isCheap(mail: MailRow): boolean {
      const tags = bodyTags(mail);
      if (tags === null) return false;
      const { html, text, subject, variables, campaignSeq, attachments, submitted } = mail;
      const written = html.length + (text?.length ?? 0);
      const attached = attachments.reduce(
        (sum, { content }) => sum + content.byteLength,
        submitted?.byteLength ?? 0,
      );
      return (
        written + (tags + 1) * variables.length <= MAX_LENGTH &&
        attached <= MAX_ATTACHED &&
        (campaignSeq === null || isCheapSubject(subject))
      );
    },

    /** Records that a mail took long. */
    noteLong({ messageSeq }: MailRow): void {
      const strikes = (strikesOf.get(messageSeq) ?? 0) + 1;
      strikesOf.set(messageSeq, strikes);
      if (strikes >= MAX_STRIKES) tagsOf.set(messageSeq, null);
    },
  };
}

function tagsOfBodies(html: string, text: string | null): number | null {
  const tags = cheapTags(html);
  const ofText = text === null ? 0 : cheapTags(text);
  return tags === null || ofText === null ? null : tags + ofText;
}

/** Most mails of a campaign have the same subject, which is a template. */
function createSubjectCheck(): (subject: string) => boolean {
  let latest = { subject: "", isCheap: true };
  return (subject) => {
    if (subject !== latest.subject) latest = { subject, isCheap: cheapTags(subject) !== null };
    return latest.isCheap;
  };
}
