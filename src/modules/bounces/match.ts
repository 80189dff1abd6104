/**
 * Finds the mail that a report is about. The first of these that names a mail decides:
 *
 * 1. The signed address to which the report was sent (outbox/return-path.ts).
 * 2. The ENVID, which is the id of the email.
 * 3. The Message-ID of the returned message. A submitted message has one of its own, which all its
 *    mails share, as copies of one message do, so the recipient of the report must be that of the mail,
 *    and only one may match.
 * 4. Our header, `X-Mailstead-ID`, or the signed link in List-Unsubscribe.
 *
 * Ids are random, so only who had the mail in hand knows one; a signature proves the others.
 */

import type { App } from "../../core/app.ts";
import { openSignedId } from "../../core/signed-ids.ts";
import {
  findCopyTo,
  findReportedMail,
  findSubmittedMails,
  type ReportedMail,
} from "../../outbox/late-reports.ts";
import { openReturnPath } from "../../outbox/return-path.ts";
import type { OriginalMail } from "../../protocols/dsn/original.ts";
import { parseAddress } from "../../protocols/mime/address.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import type { ReadField } from "../../protocols/mime/read-fields.ts";
import { openToken } from "../../render/links.ts";

type ReportClues = {
  /** The recipient of the envelope; null if it is not known. */
  recipient: string | null;
  /** The header of the report, whose addresses are tried if the recipient is not known. */
  fields: readonly ReadField[];
  envelopeId: string | null;
  original: OriginalMail;
  /** The recipients that the report names. */
  recipients: readonly string[];
  /** Only mails of this project match; of any project if undefined. */
  projectSeq: number | undefined;
};

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MESSAGE_ID = /^<([0-9a-f-]{36})@[^<>\s]{1,255}>$/i;
const RETURN_PATH = /b\+[a-z2-7]{45}@[a-z0-9.-]{1,254}/gi;
const UNSUBSCRIBE_TOKEN = /\/unsubscribe\/([\w-]{38})(?![\w-])/g;
const MAX_TOKENS = 5;
/** Recipients of a report that are tried with its Message-ID. */
const MAX_RECIPIENTS = 20;

/** Fields that servers write with the recipient of the envelope. */
const RECIPIENT_FIELDS: ReadonlySet<string> = new Set([
  "delivered-to",
  "envelope-to",
  "to",
  "x-envelope-to",
  "x-original-to",
]);

export function findMailOfReport(app: App, clues: ReportClues): ReportedMail | null {
  const { recipient, fields, envelopeId, original } = clues;
  // A forged return path proves that the whole report is forged.
  if (recipient !== null && /^b\+/i.test(recipient)) {
    return findId(
      app,
      openSignedId(app, ({ returnPathKey }) => openReturnPath(returnPathKey, recipient)),
    );
  }
  return (
    (recipient === null ? byHeader(app, fields) : null) ??
    findId(app, envelopeId) ??
    byMessageId(app, original.messageIds, addressesIn(clues)) ??
    bySubmittedId(app, clues) ??
    findId(app, original.ownId) ??
    byUnsubscribeLink(app, original.listUnsubscribe)
  );
}

function findId(app: App, id: string | null): ReportedMail | null {
  return id !== null && ID.test(id) ? findReportedMail(app, id.toLowerCase()) : null;
}

/** The mail of the first valid return path in the header. */
function byHeader(app: App, fields: readonly ReadField[]): ReportedMail | null {
  for (const { name, value } of fields) {
    if (!RECIPIENT_FIELDS.has(name)) continue;
    for (const [address] of value.matchAll(RETURN_PATH)) {
      const mail = findId(
        app,
        openSignedId(app, ({ returnPathKey }) => openReturnPath(returnPathKey, address)),
      );
      if (mail !== null) return mail;
    }
  }
  return null;
}

function byMessageId(
  app: App,
  messageIds: readonly string[],
  addresses: readonly string[],
): ReportedMail | null {
  for (const messageId of messageIds) {
    const mail = findId(app, MESSAGE_ID.exec(messageId)?.[1] ?? null);
    if (mail === null) continue;
    const expected = messageIdOf(mail.id, mail.fromAddress);
    if (expected.toLowerCase() !== messageId.toLowerCase()) continue;
    const found = mail.groupId === null ? mail : copyIn(app, mail.groupId, addresses);
    if (found !== null) return found;
  }
  return null;
}

/** The only copy of a message that went to one of the addresses. */
function copyIn(app: App, groupId: string, addresses: readonly string[]): ReportedMail | null {
  const found = addresses.flatMap((address) => findCopyTo(app, groupId, address) ?? []);
  const [mail = null, ...others] = found;
  return others.every(({ seq }) => seq === mail?.seq) ? mail : null;
}

/** The recipients that a report names, as their addresses are stored. */
function addressesIn({ recipients }: ReportClues): string[] {
  return recipients.slice(0, MAX_RECIPIENTS).flatMap((recipient) => {
    const parsed = parseAddress(recipient);
    return parsed.ok ? [parsed.address] : [];
  });
}

/** Null if several mails match, for instance of two projects. */
function bySubmittedId(app: App, clues: ReportClues): ReportedMail | null {
  const { original, projectSeq } = clues;
  const addresses = addressesIn(clues);
  const found = original.messageIds.flatMap((messageId) =>
    addresses.flatMap((address) => findSubmittedMails(app, messageId, address)),
  );
  const [mail = null, ...others] = found.filter(
    (each) => projectSeq === undefined || each.projectSeq === projectSeq,
  );
  return others.every(({ seq }) => seq === mail?.seq) ? mail : null;
}

function byUnsubscribeLink(app: App, value: string | null): ReportedMail | null {
  const tokens = [...(value ?? "").matchAll(UNSUBSCRIBE_TOKEN)].slice(0, MAX_TOKENS);
  for (const [, token = ""] of tokens) {
    const mail = findId(
      app,
      openSignedId(app, ({ linkKey }) => openToken(linkKey, token)),
    );
    if (mail !== null) return mail;
  }
  return null;
}
