/**
 * Sends the queued mails of the product through the configured transport, one after the other. The
 * time of the next attempt is stored before each attempt, so that a crash neither loses a mail nor
 * repeats it at once. A mail is removed when it was accepted, was refused, or its link has expired.
 */

import type { Writer } from "../../db/writer.ts";
import { type BackoffPolicy, nextTryAt } from "../../lib/backoff.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { type Outcome, sendOne, type Transport } from "../../outbox/outcome.ts";
import { type Signer, signMessage } from "../../protocols/dkim/sign.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { composeMessage } from "../../protocols/mime/message.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import type { AccountMails, MailContent, QueuedMail } from "./account-mails.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const BACKOFF: BackoffPolicy = {
  delaysMs: [1, 5, 10, 15, 30, 60, 120, 240, 480, 720, 720, 720, 720].map((n) => n * MINUTE_MS),
  jitter: 0.2,
  requestedJitter: 0.2,
};
/** The next attempt of a mail whose attempt is interrupted by the end of the process. */
const INTERRUPTED_RETRY_MS = HOUR_MS / 4;

export function createMailSender(deps: {
  mails: AccountMails;
  transport: () => Pick<Transport, "start">;
  /** The keys that sign mail from a domain; null if it is not signed. */
  signerOf: (domain: string) => Signer | null;
  writer: Pick<Writer, "write">;
  clock: Clock;
  log: Log;
  random: () => number;
}) {
  const { mails, transport, signerOf, writer, clock, log, random } = deps;
  let isStopped = false;
  let underWay: Promise<void> = Promise.resolve();

  async function compose(mail: QueuedMail, content: MailContent): Promise<Uint8Array | null> {
    const { to, from, subject, text, html } = content;
    const composed = composeMessage({
      from,
      to: { address: to, name: null },
      replyTo: null,
      subject,
      html,
      text,
      headers: [["Auto-Submitted", "auto-generated"]],
      attachments: [],
      messageId: messageIdOf(mail.id, from.address),
      date: new Date(mail.createdAt),
    });
    if (!composed.ok) return null;
    const signer = signerOf(domainOf(from.address));
    if (signer === null) return composed.message;
    return signMessage(composed.message, signer, new Date(clock.now()));
  }

  async function attempt(mail: QueuedMail): Promise<Outcome["kind"] | "expired"> {
    if (mail.expiresAt <= clock.now()) return "expired";
    const content = mails.contentOf(mail.seq);
    const message = content === null ? null : await compose(mail, content);
    if (content === null || message === null) return "failed";
    // No null return path: that is for reports (RFC 5321 §4.5.5). A bounce has one, so none can loop.
    const envelope = { from: content.from.address, to: content.to };
    return (await sendOne(transport(), { envelope, message, isUrgent: true })).kind;
  }

  async function send(mail: QueuedMail): Promise<void> {
    const attempts = mail.attempts + 1;
    const again = { attempts, nextAt: clock.now() + INTERRUPTED_RETRY_MS };
    await writer.write(() => mails.postpone(mail.seq, again));
    const outcome = await attempt(mail);
    const nextAt =
      outcome === "deferred"
        ? nextTryAt(BACKOFF, {
            tries: attempts,
            now: clock.now(),
            retryAfterMs: null,
            random: random(),
          })
        : null;
    // The address and the reason of the server are not logged: both are personal data.
    if (outcome !== "accepted")
      log.warn("an invitation or a reset of a password was not sent", { id: mail.id, outcome });
    await writer.write(() => {
      // The link of the mail would not work any more.
      if (nextAt === null || nextAt >= mail.expiresAt) mails.remove(mail.seq);
      else mails.postpone(mail.seq, { attempts, nextAt });
    });
  }

  async function sendDue(): Promise<void> {
    for (const mail of mails.due()) {
      if (isStopped) return;
      await send(mail);
    }
  }

  return {
    /** Sends the mails that are due. */
    step(): Promise<void> {
      underWay = sendDue();
      return underWay;
    },

    /** Begins no further attempt. Resolves when the one under way has ended. */
    async stop(): Promise<void> {
      isStopped = true;
      await underWay.catch(() => {}); // The caller of `step` gets the error.
    },
  };
}
