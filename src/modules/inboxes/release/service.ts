/**
 * Sends a caught message to other recipients, through the transport of the server and at once: it
 * is not queued, there is no email record, and it is not tried again.
 *
 * 1. The sender's domain must be verified, as for mail over HTTP. Suppressed recipients get nothing.
 * 2. Bcc and the trace fields of the listener are removed; the other bytes stay.
 * 3. The message is signed, unless it is mail of the project that was signed before.
 * 4. Each recipient gets a transaction of its own.
 */

import type { App } from "../../../core/app.ts";
import { AppError, notFound } from "../../../lib/errors.ts";
import { signMessage } from "../../../protocols/dkim/sign.ts";
import { domainOf, parseAddress } from "../../../protocols/mime/address.ts";
import { isSenderVerified, senderNotVerified } from "../../domains/domains.ts";
import { signerOf } from "../../domains/keys.ts";
import { parseEnvelope } from "../envelope.ts";
import type { MessageRecord } from "../messages/record.ts";
import { suppressionReason } from "../../suppressions.ts";
import type { Release } from "./model.ts";
import { hasField, releasable } from "./raw-message.ts";
import { perApp } from "../../../lib/per-app.ts";
import { messageStore } from "../messages/store.ts";
import { inboxService } from "../service.ts";
import { transportOf } from "../../../outbox/transports/create-transport.ts";
import { sendOne } from "../../../outbox/outcome.ts";

/** Releases at the same time; each holds a whole message in memory. */
const MAX_CONCURRENT = 4;

export const messageReleases = perApp(createReleases);

function createReleases(app: App) {
  const { clock } = app;
  const store = messageStore(app);
  let active = 0;

  /** The address of From. Throws 403 if its domain is not verified, and 409 if there is none. */
  function senderOf(projectSeq: number, { addresses }: MessageRecord): string {
    const sender = parseAddress(addresses.from[0]?.address ?? "");
    if (!sender.ok) throw withoutSender();
    const domain = domainOf(sender.address);
    if (!isSenderVerified(app, projectSeq, domain)) throw senderNotVerified(domain);
    return sender.address;
  }

  async function compose(projectSeq: number, message: MessageRecord, from: string) {
    const { peer } = parseEnvelope(message.envelope);
    const raw = releasable(store.raw(message.seq), peer !== "");
    const signer = signerOf(app, projectSeq, domainOf(from));
    const isSigned = message.emailId !== null && hasField(raw, "dkim-signature");
    return signer === null || isSigned ? raw : signMessage(raw, signer, new Date(clock.now()));
  }

  /** Resolves to the outcome for each recipient, in their order. */
  async function release(
    projectSeq: number,
    message: MessageRecord,
    recipients: readonly string[],
  ): Promise<Release[]> {
    if (transportOf(app).name === "capture") throw captured();
    if (active >= MAX_CONCURRENT) throw tooMany();
    const from = senderOf(projectSeq, message);
    active++;
    try {
      const bytes = await compose(projectSeq, message, from);
      return await Promise.all(recipients.map((to) => sendTo(projectSeq, to, from, bytes)));
    } finally {
      active--;
    }
  }

  /** Like `release`, but rejects unless all recipients were accepted. */
  async function releaseToAll(
    message: MessageRecord,
    recipients: readonly string[],
  ): Promise<void> {
    const projectSeq = inboxService(app).projectOf(message.inboxSeq);
    if (projectSeq === null) throw notFound("INBOX");
    const results = await release(projectSeq, message, recipients);
    const failed = results.find(({ outcome }) => outcome !== "accepted");
    if (failed !== undefined) throw notAccepted(failed);
  }

  return {
    release,
    /** Null while the transport sends no mail. */
    findReleaseToAll: () => (transportOf(app).name === "capture" ? null : releaseToAll),
  };

  async function sendTo(
    projectSeq: number,
    given: string,
    from: string,
    message: Uint8Array,
  ): Promise<Release> {
    const parsed = parseAddress(given);
    const to = parsed.ok ? parsed.address : given;
    const suppression = suppressionReason(app, projectSeq, to);
    if (suppression !== null) {
      return { to, outcome: "suppressed", reason: suppression, conversations: [] };
    }
    const outcome = await sendOne(transportOf(app), { envelope: { from, to }, message });
    const { kind, reason, conversations } = outcome;
    return { to, outcome: kind, reason, conversations };
  }
}

function notAccepted({ to, reason }: Release): AppError {
  return new AppError(409, "CONFLICT", `${to} was not accepted: ${reason}`);
}

function captured(): AppError {
  return new AppError(409, "CONFLICT", "This server catches all mail and sends none.", {
    suggestion: "Start it with --transport relay and --relay-url, or with --transport direct.",
  });
}

function withoutSender(): AppError {
  return new AppError(409, "CONFLICT", "The message has no valid address in From.", {
    suggestion: "Release a message whose From header has an address of a verified domain.",
  });
}

function tooMany(): AppError {
  return new AppError(429, "RATE_LIMIT_EXCEEDED", "Too many messages are being released.", {
    headers: { "Retry-After": "5" },
    suggestion: "Send the request again when an earlier release has ended.",
  });
}
