/** The data of the event `email.received`, which webhooks and workflows get. */

import type { Authentication } from "../../checks/authentication.ts";
import type { ReadMail } from "./read-mail.ts";

export function dataOfEvent(received: {
  id: string;
  url: string;
  mail: ReadMail;
  recipients: readonly string[];
  authentication: Authentication;
  /** Id of the mail of ours to which it replies. */
  inReplyTo: string | null;
  forwarded: readonly string[];
}) {
  const { id, url, mail, recipients, authentication, inReplyTo, forwarded } = received;
  const base = `${url}/received-mails/${id}`;
  return {
    id,
    from: mail.from,
    fromName: mail.fromName,
    to: recipients,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    isShortened: mail.isShortened,
    isAutomatic: mail.isAutomatic,
    attachments: mail.parts.map(({ partId, filename, contentType, size }) => ({
      id: partId,
      filename,
      contentType,
      size,
      url: linkOf(base, partId),
    })),
    raw: `${base}/raw`,
    spf: authentication.spf.result,
    dkim: summaryOfDkim(authentication),
    dmarc: authentication.dmarc.result,
    arc: authentication.arc.result,
    messageId: mail.messageId,
    inReplyTo,
    forwarded,
  };
}

/** The link to an attachment; it needs a secret key or a session. */
export function linkOf(base: string, partId: string): string {
  return `${base}/attachments/${encodeURIComponent(partId)}`;
}

/** `pass` if any signature is valid; otherwise the result of the first one, or `none`. */
function summaryOfDkim({ dkim }: Pick<Authentication, "dkim">): string {
  const results = dkim.map(({ result }) => result);
  return results.includes("pass") ? "pass" : (results[0] ?? "none");
}
