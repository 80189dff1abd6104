/** Finds the mail of ours to which a received message replies, by the Message-IDs that it names. */

import type { App } from "../../core/app.ts";
import {
  findCopyTo,
  findReportedMail,
  findSubmittedMails,
  type ReportedMail,
} from "../../outbox/late-reports.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import type { ReadMail } from "./read-mail.ts";

const MESSAGE_ID = /^<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@[^<>\s]{1,255}>$/i;

/** Returns null if the message is no reply to a mail of the project. */
export function findRepliedMail(
  app: App,
  projectSeq: number,
  { repliesTo, from }: Pick<ReadMail, "repliesTo" | "from">,
): ReportedMail | null {
  for (const messageId of repliesTo) {
    const first = findByOwnId(app, messageId);
    // A reply to one of several copies comes from the recipient of that copy.
    const groupId = first?.groupId ?? null;
    const copy = groupId === null ? null : findCopyTo(app, groupId, from ?? "");
    const own = copy ?? first;
    const found = own === null ? findSubmittedMails(app, messageId, from ?? "") : [own];
    const mail = found.find((each) => each.projectSeq === projectSeq);
    if (mail !== undefined) return mail;
  }
  return null;
}

/** Our own Message-ID holds the id of the mail. */
function findByOwnId(app: App, messageId: string): ReportedMail | null {
  const mail = findReportedMail(app, MESSAGE_ID.exec(messageId)?.[1]?.toLowerCase() ?? "");
  if (mail === null) return null;
  const expected = messageIdOf(mail.id, mail.fromAddress);
  return expected.toLowerCase() === messageId.toLowerCase() ? mail : null;
}
