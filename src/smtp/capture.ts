/**
 * The SMTP listener that catches mail for development and tests. It accepts every sender, recipient
 * and password unless the operator restricts them (CapturePolicy), and stores each message in an
 * inbox before it answers 250.
 *
 * 1. A session chooses its inbox by the user of AUTH; else a recipient's domain chooses it.
 * 2. At each stage the failure rules of the inbox may delay, refuse or disconnect.
 * 3. DATA goes to the inbox in pieces; bare LFs become CRLF, a bare CR is refused.
 */

import type { SMTPServerAuthentication, SMTPServerSession } from "smtp-server";
import { clientNetwork } from "../lib/client-network.ts";
import type { Clock } from "../lib/clock.ts";
import { QueueFullError } from "../lib/fair-queue.ts";
import type { Log } from "../lib/log.ts";
import type { LoginCheck } from "../lib/logins.ts";
import type { MessageEnvelope } from "../modules/inboxes/envelope.ts";
import type { Certificate } from "../tls/certificate.ts";
import { createSmtpListener, type SmtpListener } from "./listener.ts";
import { createReceive } from "./receive.ts";
import { type RecordLine, SmtpRefusal } from "./server.ts";
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

/** The restrictions that the operator chose. */
export type CapturePolicy = {
  /** Checks a login; null if every login is accepted and none is needed. */
  isLogin: LoginCheck | null;
  tls: "optional" | "starttls" | "implicit";
  /** Recipients that are taken; null for all. */
  recipients: RegExp | null;
  maxRecipients: number;
};

export function createCaptureListener(deps: {
  inbox: CaptureInbox;
  clock: Clock;
  log: Log;
  /** Name of this server in its greeting. */
  hostname: string;
  certificate: Certificate | null;
  policy: CapturePolicy;
}): SmtpListener {
  const { inbox, log, policy } = deps;
  const at = createStages(inbox.decide, deps.clock);
  const receive = createReceive({ ...deps, at });

  /** Answers AUTH: a wrong login is refused before the rules of an inbox. */
  async function authenticate(
    auth: SMTPServerAuthentication,
    session: SMTPServerSession,
  ): Promise<void> {
    const user = auth.username ?? "";
    if (!(await isAdmitted(user, auth.password ?? "", session))) throw wrongLogin();
    await at("auth", session, { user });
  }

  async function isAdmitted(
    user: string,
    password: string,
    { remoteAddress }: SMTPServerSession,
  ): Promise<boolean> {
    try {
      const network = clientNetwork(remoteAddress);
      return policy.isLogin === null || (await policy.isLogin(user, password, network));
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      throw new SmtpRefusal(454, "4.7.0 Too many passwords are being checked; try again");
    }
  }

  /** The package refuses MAIL without a login that is needed. */
  function requireTls({ secure }: SMTPServerSession): void {
    if (policy.tls === "optional" || secure) return;
    throw new SmtpRefusal(530, "5.7.0 Must issue a STARTTLS command first");
  }

  function requireTaken(recipient: string): void {
    if (policy.recipients === null || policy.recipients.test(recipient)) return;
    throw new SmtpRefusal(550, "5.7.1 This server does not take mail for this recipient");
  }

  return createSmtpListener({
    log,
    certificate: deps.certificate,
    maxPerAddress: MAX_PER_ADDRESS,
    needsTlsForAuth: policy.tls !== "optional",
    recordLine: inbox.recordLine,
    hooks: ({ replyAfter, refusalOf }) => ({
      options: {
        name: deps.hostname,
        banner: "Mailstead catches every mail",
        size: MAX_BYTES,
        // CRAM-MD5 (RFC 2195) shows no password, so a digest of one cannot be compared with it.
        authMethods: policy.isLogin === null ? ["PLAIN", "LOGIN", "CRAM-MD5"] : ["PLAIN", "LOGIN"],
        authOptional: policy.isLogin === null,
        allowInsecureAuth: true,
        maxRecipients: policy.maxRecipients,
        secure: policy.tls === "implicit",
        hideDSN: false,
        onConnect: (session, callback) => replyAfter(() => at("connect", session, {}), callback),
        onAuth(auth, session, callback) {
          const user = auth.username ?? "";
          const answer = (error?: Error | null) =>
            callback(error ?? null, { user: { username: user } });
          replyAfter(() => authenticate(auth, session), answer);
        },
        onMailFrom: ({ address }, session, callback) =>
          replyAfter(() => {
            requireTls(session);
            return at("mail", session, { from: address });
          }, callback),
        onRcptTo: ({ address }, session, callback) =>
          replyAfter(() => {
            requireTaken(address);
            return at("rcpt", session, { from: senderOf(session), recipients: [address] });
          }, callback),
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

function wrongLogin(): SmtpRefusal {
  return new SmtpRefusal(535, "5.7.8 Authentication credentials invalid");
}
