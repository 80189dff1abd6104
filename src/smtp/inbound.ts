/**
 * The SMTP listener for mail from other servers (docs/smtp-inbound.md): reports about mail that we
 * sent, mail for inbound routes, and mail for the postmaster. It is neither a relay nor a mailbox
 * server: RCPT accepts only addresses of these kinds, so a report about an undelivered mail is never
 * sent.
 *
 * 1. RCPT finds the kind of the address, and refuses all others.
 * 2. DATA keeps the beginning of the message for reports, and stores the message for inbound routes
 *    and for the postmaster.
 * 3. 250 is answered when the effects are on disk.
 */

import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { AppError } from "../lib/errors.ts";
import { ReceiveRefusal } from "../modules/inbound-routes/refusal.ts";
import type { MailReceipt } from "../modules/inbound-routes/receive.ts";
import {
  gatherTargets,
  type RecipientTarget,
  type Targets,
} from "../modules/inbound-routes/targets.ts";
import type { MessageEnvelope } from "../modules/inboxes/envelope.ts";
import type { Certificate } from "../tls/certificate.ts";
import { createSmtpListener, type SmtpListener } from "./listener.ts";
import { MAIL_PARAMETERS, RCPT_PARAMETERS, refuseUnknownParameters } from "./parameters.ts";
import { receiveMessage } from "./receive-message.ts";
import { createSessionSignals } from "./session-signals.ts";
import { SmtpRefusal } from "./server.ts";
import { envelopeOf, senderOf } from "./session.ts";
import { createNetworkCounts } from "./network-counts.ts";
import { receivedField } from "./trace.ts";

const MAX_PER_ADDRESS = 50;
/** A report says what happened before the message that it returns, of which the header is enough. */
const MAX_REPORT_BYTES = 1024 * 1024;
/** Reports that are received or read at a time, of all clients and of one network. */
const MAX_REPORTS = 32;
const MAX_REPORTS_OF_NETWORK = 4;

export type Recipient = { kind: "report" } | { kind: "postmaster" } | RecipientTarget;

export type InboundDeps = {
  /** The kind of an address; null if nothing is received for it. */
  find: (address: string) => Recipient | null;
  received: Pick<MailReceipt, "open">;
  /** Reads a report and resolves when its effect is on disk. */
  processReport: (
    raw: Uint8Array,
    recipient: string,
    from: { peer: string },
  ) => Promise<{ kind: string; effect: string }>;
  /** Starts to store a message for the postmaster. */
  openForPostmaster: () => {
    add(piece: Uint8Array): Promise<void> | null;
    complete(envelope: MessageEnvelope): Promise<void>;
    discard(): Promise<void>;
  };
  clock: Clock;
  log: Log;
  /** Name of this server in its greeting. */
  hostname: string;
  maxBytes: number;
};

export function createInboundListener(
  deps: InboundDeps,
  certificate: Certificate | null,
): SmtpListener {
  const { log } = deps;
  const underWay = createSessionSignals();
  const receive = createReceiving(deps);
  return createSmtpListener({
    log,
    certificate,
    maxPerAddress: MAX_PER_ADDRESS,
    needsTlsForAuth: true,
    recordLine: () => {},
    hooks: ({ replyAfter, refusalOf }) => ({
      options: {
        name: deps.hostname,
        banner: "Mailstead",
        size: deps.maxBytes,
        disabledCommands: ["AUTH"],
        authOptional: true,
        hideDSN: true,
        hideREQUIRETLS: true,
        onMailFrom: (sender, _, callback) =>
          replyAfter(() => {
            refuseUnknownParameters(sender, MAIL_PARAMETERS);
            return null;
          }, callback),
        onRcptTo: (recipient, session, callback) =>
          replyAfter(() => {
            refuseUnknownParameters(recipient, RCPT_PARAMETERS);
            refuseRecipient(recipient.address, session, deps.find);
            return null;
          }, callback),
        onData: (stream, session, callback) =>
          void underWay
            .during(session.id, (signal) => receive(stream, session, signal))
            .then(
              () => callback(null, "2.0.0 Ok: received"),
              (error: unknown) => callback(refusalOf(answerOf(error))),
            ),
        onClose: ({ id }) => underWay.end(id),
      },
      beforeData: (_, callback) => queueMicrotask(callback),
    }),
  });
}

/** Throws the refusal of a recipient that is not accepted, or not together with those before it. */
function refuseRecipient(
  address: string,
  session: SMTPServerSession,
  find: InboundDeps["find"],
): void {
  const recipient = find(address);
  if (recipient === null) throw new SmtpRefusal(550, "5.1.1 No such address here");
  // A report is about one mail. One to many return paths would be read for each of them.
  const earlier = session.envelope.rcptTo.map((each) => each.address.toLowerCase());
  const isOther = (each: string) => each !== address.toLowerCase() && find(each)?.kind === "report";
  if (recipient.kind === "report" && earlier.some(isOther)) throw otherTransaction();
  if (!("projectSeq" in recipient)) return;
  if (recipient.kind === "returned" && senderOf(session) !== "") {
    throw new SmtpRefusal(550, "5.7.1 Only bounces are received for this address");
  }
  // The mail of two projects is kept apart, so each of them gets a transaction.
  const others = targetsIn(session, find);
  if (others.some(({ projectSeq }) => projectSeq !== recipient.projectSeq)) {
    throw otherTransaction();
  }
}

function otherTransaction(): SmtpRefusal {
  return new SmtpRefusal(452, "4.5.3 Send to this recipient in another transaction");
}

function targetsIn({ envelope }: SMTPServerSession, find: InboundDeps["find"]): RecipientTarget[] {
  return envelope.rcptTo.flatMap(({ address }) => {
    const recipient = find(address);
    return recipient !== null && "projectSeq" in recipient ? [recipient] : [];
  });
}

/** The refusal of a message in the terms of SMTP; other errors stay as they are. */
function answerOf(error: unknown): unknown {
  if (error instanceof ReceiveRefusal) return new SmtpRefusal(error.code, error.message);
  if (!(error instanceof AppError) || error.status >= 500) return error;
  return new SmtpRefusal(452, "4.3.1 A quota of the recipient is reached, try again later");
}

/** Returns the function that receives a message. */
function createReceiving(deps: InboundDeps) {
  const { find, processReport, clock, log } = deps;
  const reports = createNetworkCounts({ total: MAX_REPORTS, each: MAX_REPORTS_OF_NETWORK });

  return async (
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    signal: AbortSignal,
  ): Promise<void> => {
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    // A route may have been removed since RCPT; without it the message would be stored nowhere.
    const isRefusedNow = recipients.some((address) => find(address) === null);
    const reportedTo = recipients.find((address) => find(address)?.kind === "report");
    const peer = session.remoteAddress;
    const endReport = reportedTo !== undefined && reports.mayAdd(peer) ? reports.add(peer) : null;
    const isForPostmaster = recipients.some((address) => find(address)?.kind === "postmaster");
    const targets = gatherTargets(targetsIn(session, find));
    const stored = isForPostmaster ? deps.openForPostmaster() : null;
    const received = targets === null ? null : deps.received.open(targets.projectSeq);
    const head = createHead(endReport === null ? 0 : MAX_REPORT_BYTES);
    try {
      const { hasBareLf } = await receiveMessage(stream, clock, (piece) => {
        head.add(piece);
        return both(stored?.add(piece) ?? null, received?.add(piece) ?? null);
      });
      if (hasBareLf) throw new SmtpRefusal(550, "5.6.0 The message has a bare LF");
      if (isRefusedNow) {
        throw new SmtpRefusal(451, "4.2.1 A recipient is no longer accepted, try again later");
      }
      if (reportedTo !== undefined) {
        if (endReport === null)
          throw new SmtpRefusal(452, "4.3.2 Too many reports, try again later");
        const { kind, effect } = await processReport(head.bytes(), reportedTo, { peer });
        const fields = { session: session.id, recipient: reportedTo, kind, effect };
        log.info("a report was received", fields);
      }
      if (received !== null && targets !== null) {
        await complete(received, targets, { session, signal });
      }
      await stored?.complete(envelopeOf(session, false));
    } catch (error) {
      await stored?.discard();
      await received?.discard();
      throw error;
    } finally {
      endReport?.();
    }
  };

  async function complete(
    received: ReturnType<MailReceipt["open"]>,
    targets: Targets,
    { session, signal }: { session: SMTPServerSession; signal: AbortSignal },
  ): Promise<void> {
    const { from, peer, helo, tls } = envelopeOf(session, false);
    const [recipient] = targets.recipients.length === 1 ? targets.recipients : [];
    const { hostname } = deps;
    const at = clock.now();
    const trace = receivedField({ helo, peer, tls, hostname, id: session.id, recipient, at });
    const id = await received.complete({ sender: from, peer, helo, trace, signal }, targets);
    log.info("mail was received", { session: session.id, id, recipients: targets.recipients });
  }
}

function both(a: Promise<void> | null, b: Promise<void> | null): Promise<void> | null {
  if (a === null || b === null) return a ?? b;
  return Promise.all([a, b]).then(() => undefined);
}

/** Keeps the first bytes of a message. */
function createHead(max: number) {
  const pieces: Buffer[] = [];
  let missing = max;
  return {
    add(piece: Uint8Array): void {
      // The memory of the piece is used again.
      if (missing > 0) pieces.push(Buffer.from(piece.subarray(0, missing)));
      missing -= Math.min(missing, piece.byteLength);
    },
    bytes: () => Buffer.concat(pieces),
  };
}
