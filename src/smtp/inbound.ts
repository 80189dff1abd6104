/**
 * The SMTP listener for mail from other servers (docs/smtp-inbound.md): reports about mail that we
 * sent, and mail for the postmaster. It is neither a relay nor a mailbox server: RCPT accepts only
 * addresses of these two kinds, so no report about an undelivered mail is ever sent to anybody.
 *
 * 1. RCPT finds the kind of the address, and refuses all others.
 * 2. DATA keeps the beginning of the message for reports, and stores the message for the postmaster.
 * 3. 250 is answered when the effects are on disk.
 */

import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MessageEnvelope } from "../modules/inboxes/envelope.ts";
import type { Certificate } from "./certificate.ts";
import { createSmtpListener, type SmtpListener } from "./listener.ts";
import { receiveMessage } from "./receive-message.ts";
import { SmtpRefusal } from "./server.ts";
import { envelopeOf } from "./session.ts";

const MAX_PER_ADDRESS = 50;
/** A report says what happened before the message that it returns, of which the header is enough. */
const MAX_REPORT_BYTES = 1024 * 1024;

export type AddressKind = "report" | "postmaster";

export type InboundDeps = {
  /** The kind of an address; null if nothing is received for it. */
  kindOf: (address: string) => AddressKind | null;
  /** Reads a report and resolves when its effect is on disk. */
  processReport: (raw: Uint8Array, recipient: string) => Promise<{ kind: string; effect: string }>;
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
        onRcptTo: ({ address }, _, callback) =>
          replyAfter(() => {
            if (deps.kindOf(address) !== null) return null;
            throw new SmtpRefusal(550, "5.1.1 No such address here");
          }, callback),
        onData: (stream, session, callback) =>
          void receive(stream, session).then(
            () => callback(null, "2.0.0 Ok: received"),
            (error: unknown) => callback(refusalOf(error)),
          ),
      },
      beforeData: (_, callback) => queueMicrotask(callback),
    }),
  });
}

/** Returns the function that receives a message. */
function createReceiving(deps: InboundDeps) {
  const { kindOf, processReport, clock, log } = deps;

  return async (stream: SMTPServerDataStream, session: SMTPServerSession): Promise<void> => {
    const recipients = session.envelope.rcptTo.map(({ address }) => address);
    const ofReports = recipients.filter((address) => kindOf(address) === "report");
    const isForPostmaster = ofReports.length < recipients.length;
    const stored = isForPostmaster ? deps.openForPostmaster() : null;
    const head = createHead(ofReports.length === 0 ? 0 : MAX_REPORT_BYTES);
    try {
      const { hasBareLf } = await receiveMessage(stream, clock, (piece) => {
        head.add(piece);
        return stored === null ? null : stored.add(piece);
      });
      if (hasBareLf) throw new SmtpRefusal(550, "5.6.0 The message has a bare LF");
      for (const recipient of ofReports) {
        const { kind, effect } = await processReport(head.bytes(), recipient);
        log.info("a report was received", { session: session.id, recipient, kind, effect });
      }
      await stored?.complete(envelopeOf(session, false));
    } catch (error) {
      await stored?.discard();
      throw error;
    }
  };
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
