/** Stores a received mail with its event and the mails by which it is forwarded, in one change. */

import type { Authentication } from "../../checks/authentication.ts";
import type { App } from "../../core/app.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { SubmittedStore } from "../../outbox/submitted.ts";
import type { Contacts } from "../contacts/service.ts";
import { runWithinReceived } from "../quotas.ts";
import type { ArrivedMail } from "./arrival.ts";
import { dataOfEvent } from "./event.ts";
import { createForwarding } from "./forward.ts";
import type { ReadMail } from "./read-mail.ts";
import { findRepliedMail } from "./replies.ts";
import type { ReceivedRows } from "./rows.ts";
import type { Targets } from "./targets.ts";

/** The session in which a message arrived. */
export type ReceivedEnvelope = {
  /** Sender of the envelope; empty for the null sender. */
  sender: string;
  /** Address of the client. */
  peer: string;
  helo: string;
  /** Aborts when the session ends: the message is not stored then, because the sending server gets no answer. */
  signal: AbortSignal;
  /** The Received field that is put in front of a forwarded message. */
  trace: Uint8Array;
};

type MailToStore = {
  arrived: ArrivedMail;
  envelope: ReceivedEnvelope;
  targets: Targets;
  mail: ReadMail;
  /** Null for a bounce of forwarded mail, which is no event. */
  authentication: Authentication | null;
};

export type StoringDeps = {
  rows: ReceivedRows;
  writer: Writer;
  clock: Clock;
  app: App;
  /** The sender of the envelope of a forwarded message. */
  senderOf: (targets: Targets, forwarded: { sender: string; number: number }) => string;
  events: EventLog;
  contacts: Pick<Contacts, "findByEmail">;
  store: EmailStore;
  submitted: SubmittedStore;
  /** Base of the links to attachments. */
  url: string;
};

/** Returns the function that resolves to the id of the mail when all is on disk. */
export function createMailStore(deps: StoringDeps) {
  const { app, rows, writer, clock } = deps;
  const forwarding = createForwarding(deps);

  async function store(work: MailToStore): Promise<string> {
    const { arrived, envelope, targets, mail } = work;
    const { projectSeq } = targets;
    const now = clock.now();
    const id = newId(now);
    const forward = {
      projectSeq,
      to: targets.forwardTo,
      subject: mail.subject,
      trace: traceOf(targets, envelope),
      arrived,
    };
    await forwarding.withCopies(forward, now, (copied) =>
      writer.write(() => {
        // A sender that got no answer sends the message again.
        envelope.signal.throwIfAborted();
        runWithinReceived(app, projectSeq, () => {
          const seq = arrived.stored?.seq ?? rows.begin(projectSeq, now);
          const message = {
            fromAddress: mail.from ?? envelope.sender,
            fromName: mail.fromName,
            messageId: mail.messageId ?? `<${id}@${targets.host}>`,
            envelopeFrom: deps.senderOf(targets, { sender: envelope.sender, number: seq }),
          };
          const forwarded = forwarding.send({ ...forward, message }, copied, now);
          storeMail(work, { seq, id, now, forwarded });
        });
      }),
    );
    return id;
  }

  /** Part of a change. */
  function storeMail(
    { arrived, envelope, targets, mail, authentication }: MailToStore,
    { seq, id, now, forwarded }: { seq: number; id: string; now: number; forwarded: string[] },
  ): void {
    const { projectSeq, recipients } = targets;
    const replied = findRepliedMail(app, projectSeq, mail);
    const contactSeq = replied?.contactSeq ?? knownSender(projectSeq, mail, authentication);
    const { text: _text, html: _html, isShortened: _shortened, ...rest } = mail;
    const { repliesTo: _repliesTo, hops: _hops, deliveredTo: _deliveredTo, ...read } = rest;
    const content = { ...read, to: [...recipients], authentication, forwarded };
    const last = Bun.zstdCompressSync(arrived.rest, { level: 1 });
    rows.insertPiece(seq, arrived.stored?.pieces ?? 0, last);
    const { size } = arrived;
    const emailSeq = replied?.seq ?? targets.about;
    const { sender } = envelope;
    rows.finish(seq, id, { receivedAt: now, size, sender, content, emailSeq, contactSeq });
    if (authentication === null) return;
    deps.events.record({
      projectSeq,
      name: "email.received",
      contactSeq,
      ...(replied === null ? {} : { emailSeq: replied.seq }),
      data: dataOfEvent({
        id,
        url: deps.url,
        mail,
        recipients,
        authentication,
        inReplyTo: replied?.id ?? null,
        forwarded,
      }),
      at: now,
    });
  }

  /** The contact with the address of From, if DMARC proves that the mail is from there. */
  function knownSender(
    projectSeq: number,
    { from }: ReadMail,
    authentication: Authentication | null,
  ): number | null {
    if (from === null || authentication?.dmarc.result !== "pass") return null;
    return deps.contacts.findByEmail(projectSeq, from)?.seq ?? null;
  }

  return store;
}

/** Delivered-To tells this server that it has forwarded the message before. */
function traceOf({ routes }: Targets, { trace }: ReceivedEnvelope): Buffer {
  const marks = routes.map((address) => `Delivered-To: ${address}\r\n`);
  return Buffer.concat([Buffer.from(marks.join("")), trace]);
}
