/**
 * The SMTP listener that catches mail for development and tests. It accepts every sender, recipient
 * and password, and stores each message in an inbox before it answers 250.
 *
 * 1. A session chooses its inbox by the user of AUTH; else a recipient's domain chooses it.
 * 2. At each stage the failure rules of the inbox may delay, refuse or disconnect.
 * 3. DATA goes to the inbox in pieces; bare LFs become CRLF, a bare CR is refused.
 */

import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MessageEnvelope } from "../modules/inboxes/envelope.ts";
import type { Certificate } from "./certificate.ts";
import { createSmtpListener, type SmtpListener } from "./listener.ts";
import { createReceive } from "./receive.ts";
import type { RecordLine } from "./server.ts";
import { senderOf, userOf } from "./session.ts";
import { createStages, type Decide } from "./stages.ts";

const MAX_BYTES = 50 * 1024 * 1024;
/** Sessions of one address at the same time, so that the others have some of the 500. */
const MAX_PER_ADDRESS = 400;

/** The functions of the module of inboxes that the listener calls. */
export type CaptureInbox = {
  /** The inbox for a user of AUTH; without one, for the recipients. */
  resolve(user: string, recipients: readonly string[]): Promise<number>;
  decide: Decide;
  /** Whether `decide` may find a rule. */
  hasRules(): boolean;
  open(inboxSeq: Promise<number>): {
    /** The promise is null if the piece was copied at once. */
    add(piece: Uint8Array): Promise<void> | null;
    complete(arrived: {
      inboxSeq: number;
      envelope: MessageEnvelope;
      username: string;
      emailId: null;
    }): Promise<{ id: string }>;
    discard(): Promise<void>;
  };
  recordLine: RecordLine;
  endSession(session: { id: string; user: string; peer: string }): void;
};

export function createCaptureListener(deps: {
  inbox: CaptureInbox;
  clock: Clock;
  log: Log;
  /** Name of this server in its greeting. */
  hostname: string;
  certificate: Certificate | null;
}): SmtpListener {
  const { inbox, log } = deps;
  const at = createStages(inbox.decide, deps.clock);
  const receive = createReceive({ ...deps, at });
  return createSmtpListener({
    log,
    certificate: deps.certificate,
    maxPerAddress: MAX_PER_ADDRESS,
    needsTlsForAuth: false,
    recordLine: inbox.recordLine,
    hooks: ({ replyAfter, refusalOf }) => ({
      options: {
        name: deps.hostname,
        banner: "Mailstead catches every mail",
        size: MAX_BYTES,
        authMethods: ["PLAIN", "LOGIN", "CRAM-MD5"],
        authOptional: true,
        allowInsecureAuth: true,
        hideDSN: false,
        onConnect: (session, callback) => replyAfter(() => at("connect", session, {}), callback),
        onAuth(auth, session, callback) {
          const user = auth.username ?? "";
          const answer = (error?: Error | null) =>
            callback(error ?? null, { user: { username: user } });
          replyAfter(() => at("auth", session, { user }), answer);
        },
        onMailFrom: ({ address }, session, callback) =>
          replyAfter(() => at("mail", session, { from: address }), callback),
        onRcptTo: ({ address }, session, callback) =>
          replyAfter(
            () => at("rcpt", session, { from: senderOf(session), recipients: [address] }),
            callback,
          ),
        onData: (stream, session, callback) =>
          void receive(stream, session).then(
            (text) => callback(null, text),
            (error: unknown) => callback(refusalOf(error)),
          ),
        onClose: (session, callback) => {
          const { id, remoteAddress } = session;
          inbox.endSession({ id, user: userOf(session), peer: remoteAddress });
          callback?.();
        },
      },
      beforeData(session, callback) {
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        const facts = { from: senderOf(session), recipients };
        replyAfter(() => at("data", session, facts), callback);
      },
    }),
  });
}
