/**
 * The SMTP listener for mail submission (RFC 6409): programs that speak only SMTP send through it. The
 * password of AUTH is an SMTP password or a secret key that may send. The message becomes one mail for each recipient, all in one
 * transaction, before 250 is answered (docs/smtp-submission.md).
 *
 * 1. AUTH finds the key. It is looked up again for each message, so a revoked key stops at once.
 * 2. RCPT refuses addresses that are not valid. The sender of the envelope is not used: bounces go to
 *    the return path of each mail.
 * 3. Before DATA the message is counted against the rate of the project.
 * 4. DATA goes to `Submissions` in pieces; a bare CR or LF is refused.
 */

import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import { isAddressAllowed, type KnownKey } from "../http/admission.ts";
import { slidingWindow } from "../http/rate-limit.ts";
import type { Clock } from "../lib/clock.ts";
import { clientNetwork } from "../lib/client-network.ts";
import { sha256 } from "../lib/crypto.ts";
import { AppError } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import type { Submissions } from "../modules/emails/submission/accept.ts";
import { SubmissionRefusal } from "../modules/emails/submission/refusal.ts";
import { parseAddress } from "../protocols/mime/address.ts";
import type { Certificate } from "../tls/certificate.ts";
import { createSmtpListener, type SmtpListener } from "./listener.ts";
import {
  MAIL_PARAMETERS_WITH_AUTH,
  RCPT_PARAMETERS,
  refuseUnknownParameters,
} from "./parameters.ts";
import { receiveMessage } from "./receive-message.ts";
import { SmtpRefusal } from "./server.ts";
import { textOf } from "./session.ts";

const MAX_PER_ADDRESS = 50;
const WINDOW_MS = 60_000;
const MAX_FAILURES_PER_MINUTE = 5;
const MAX_TRACKED_ADDRESSES = 10_000;
const LONGEST_PASSWORD = 512;
/** Text that may be a key, which is not logged; `task_force` is none. */
const KEYS = /(?<![a-z])(?:[sp]k|smtp)_\S*|(?:[sp]k|smtp)_[a-z0-9]{20}\S*/gi;

export type SubmissionDeps = {
  submissions: Pick<Submissions, "open">;
  /** Finds a key by the SHA-256 digest of its text. */
  findKey: (digest: string) => KnownKey | null;
  /** Counts a message of a key, by its id. */
  countUse: (keyId: string) => void;
  /** Counts a message. Returns the seconds after which one is possible again, or null if it is now. */
  takeRate: (projectSeq: number) => number | null;
  clock: Clock;
  log: Log;
  /** Name of this server in its greeting. */
  hostname: string;
  maxBytes: number;
};

export function createSubmissionListener(
  deps: SubmissionDeps,
  tls: { certificate: Certificate | null; isImplicit: boolean },
): SmtpListener {
  const { log } = deps;
  const access = createAccess(deps);
  const receive = createReceiving(deps, access.keyOf);
  return createSmtpListener({
    log,
    certificate: tls.certificate,
    maxPerAddress: MAX_PER_ADDRESS,
    needsTlsForAuth: true,
    recordLine: () => {},
    hooks: ({ replyAfter, refusalOf }) => ({
      options: {
        name: deps.hostname,
        banner: "Mailstead takes mail for sending",
        size: deps.maxBytes,
        secure: tls.isImplicit,
        authMethods: ["PLAIN", "LOGIN"],
        // The connection itself refuses AUTH without TLS (server.ts).
        allowInsecureAuth: true,
        authRequiredMessage:
          "5.7.0 Authentication is required, with an SMTP password of the project",
        hideDSN: true,
        hideREQUIRETLS: true,
        onAuth({ username, password }, session, callback) {
          try {
            const user = access.authenticate(username ?? "", password ?? "", session);
            callback(null, { user });
          } catch (error) {
            callback(refusalOf(error));
          }
        },
        onMailFrom: (sender, session, callback) =>
          replyAfter(() => {
            refuseUnknownParameters(sender, MAIL_PARAMETERS_WITH_AUTH);
            access.keyOf(session);
            return null;
          }, callback),
        onRcptTo: (recipient, _, callback) =>
          replyAfter(() => {
            refuseUnknownParameters(recipient, RCPT_PARAMETERS);
            const parsed = parseAddress(recipient.address);
            if (!parsed.ok) throw new SmtpRefusal(553, `5.1.3 ${parsed.reason}`);
            return null;
          }, callback),
        onData: (stream, session, callback) =>
          void receive(stream, session).then(
            (text) => callback(null, text),
            (error: unknown) => callback(refusalOf(answerOf(error))),
          ),
      },
      beforeData: (session, callback) =>
        replyAfter(() => {
          const { project, shown } = access.keyOf(session);
          const seconds = deps.takeRate(project.seq);
          if (seconds === null && shown !== null) deps.countUse(shown.id);
          if (seconds === null) return null;
          throw new SmtpRefusal(452, `4.3.2 Too many messages; try again in ${seconds} s`);
        }, callback),
    }),
  });
}

/** Finds the key of a session. */
function createAccess({ findKey, clock, log }: SubmissionDeps) {
  const failures = slidingWindow({
    limit: MAX_FAILURES_PER_MINUTE,
    windowMs: WINDOW_MS,
    now: clock.elapsed,
    maxKeys: MAX_TRACKED_ADDRESSES,
  });

  /** Throws the refusal of a key that may not send mail from the address of the client. */
  function findUsableKey(digest: string, client: string): KnownKey {
    const key = findKey(digest);
    if (key === null)
      throw refused("the password must be an SMTP password (smtp_…) or a secret key");
    if (!key.isUsable) throw refused("this key was revoked or has expired");
    if (key.kind === "PUBLIC") throw refused("a public key cannot send mail; use an SMTP password");
    if (key.scope !== "SEND" && key.scope !== "EVERYTHING") {
      throw refused(`sending needs the scope SEND, and the scope of this key is ${key.scope}`);
    }
    if (!isAddressAllowed(key, client)) {
      throw refused(`this key may not be used from the address ${client}`);
    }
    if (!key.isProjectEnabled) throw refused("the project of this key is disabled");
    return key;
  }

  return {
    /** Returns the user that the session keeps. */
    authenticate(username: string, password: string, { id, remoteAddress }: SMTPServerSession) {
      const digest = sha256(password.slice(0, LONGEST_PASSWORD));
      try {
        findUsableKey(digest, remoteAddress);
      } catch (error) {
        if (!(error instanceof SmtpRefusal)) throw error; // The storage could not tell.
        const user = username.replace(KEYS, "(a key)").slice(0, 100);
        log.info("SMTP authentication failed", { session: id, peer: remoteAddress, user });
        if (failures.take(clientNetwork(remoteAddress)).isAllowed) throw error;
        throw new SmtpRefusal(454, "4.7.0 Too many failed authentications; try again in a minute");
      }
      return { digest };
    },

    keyOf: (session: SMTPServerSession): KnownKey =>
      findUsableKey(textOf(session.user, "digest") ?? "", session.remoteAddress),
  };
}

function refused(reason: string): SmtpRefusal {
  return new SmtpRefusal(535, `5.7.8 Authentication failed: ${reason}`);
}

/** Returns the function that receives a message and resolves to the text of the reply. */
function createReceiving(
  { submissions, clock, log }: SubmissionDeps,
  keyOf: (session: SMTPServerSession) => KnownKey,
) {
  return async (stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> => {
    const { project, domains: senderDomains } = keyOf(session);
    const arrival = submissions.open(project, senderDomains);
    try {
      const { hasBareLf } = await receiveMessage(stream, clock, arrival.add);
      if (hasBareLf) throw new SmtpRefusal(550, "5.6.0 The message has a bare LF");
      const recipients = recipientsOf(session);
      const { id, isReplay } = await arrival.complete(recipients);
      const { remoteAddress: peer, id: sessionId } = session;
      const fields = { session: sessionId, peer, project: project.id, email: id };
      log.debug("mail was submitted", { ...fields, recipients: recipients.length, isReplay });
      return `2.0.0 Ok: queued as ${id}`;
    } catch (error) {
      await arrival.discard();
      throw error;
    }
  };
}

/** The addresses in their canonical form, each once. */
function recipientsOf({ envelope }: SMTPServerSession): string[] {
  const parsed = envelope.rcptTo.map(({ address }) => parseAddress(address));
  return [...new Set(parsed.flatMap((each) => (each.ok ? [each.address] : [])))];
}

/** The refusal of a message in the terms of SMTP; other errors stay as they are. */
function answerOf(error: unknown): unknown {
  if (error instanceof SubmissionRefusal) return new SmtpRefusal(error.code, error.message);
  if (!(error instanceof AppError)) return error;
  if (error.code === "QUOTA_EXCEEDED") return new SmtpRefusal(452, `4.3.1 ${error.message}`);
  if (error.status >= 500) return error;
  return new SmtpRefusal(550, `5.6.0 ${error.message}`);
}
