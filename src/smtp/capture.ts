/**
 * The SMTP listener that catches mail for development and tests. It accepts every sender, recipient
 * and password, and stores each message in an inbox before it answers 250.
 *
 * 1. A session chooses its inbox by the user of AUTH; else a recipient's domain chooses it.
 * 2. At each stage the failure rules of the inbox may delay, refuse or disconnect.
 * 3. DATA goes to the inbox in pieces; bare LFs become CRLF, a bare CR is refused.
 */

import type { AddressInfo } from "node:net";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { MessageEnvelope } from "../modules/inboxes/envelope.ts";
import type { Certificate } from "./certificate.ts";
import { createReceive } from "./receive.ts";
import { type RecordLine, SmtpRefusal, SmtpServer } from "./server.ts";
import { senderOf, userOf } from "./session.ts";
import { createStages, type Decide, Disconnect } from "./stages.ts";

const MAX_BYTES = 50 * 1024 * 1024;
const MAX_COMMAND_BYTES = 2_048;
const IDLE_MS = 5 * 60_000;
const MAX_RECIPIENTS = 100;
const MAX_SESSIONS = 500;

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

/** True for the error of the package for a connection that is closed during DATA. */
const isDisconnect = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ECONNECTION";

export type CaptureListener = ReturnType<typeof createCaptureListener>;

export function createCaptureListener(deps: {
  inbox: CaptureInbox;
  clock: Clock;
  log: Log;
  /** Name of this server in its greeting. */
  hostname: string;
  certificate: Certificate | null;
}) {
  const { inbox, log } = deps;
  const at = createStages(inbox.decide, deps.clock);
  const receive = createReceive({ ...deps, at });
  const server = new SmtpServer(
    {
      name: deps.hostname,
      banner: "Mailstead catches every mail",
      size: MAX_BYTES,
      authMethods: ["PLAIN", "LOGIN", "CRAM-MD5"],
      authOptional: true,
      allowInsecureAuth: true,
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      hideDSN: false,
      hideSTARTTLS: deps.certificate === null,
      ...deps.certificate,
      socketTimeout: IDLE_MS,
      closeTimeout: 1_000,
      maxRecipients: MAX_RECIPIENTS,
      maxCommandLength: MAX_COMMAND_BYTES,
      onConnect: (session, callback) => reply(() => at("connect", session, {}), callback),
      onAuth(auth, session, callback) {
        const user = auth.username ?? "";
        const answer = (error?: Error | null) =>
          callback(error ?? null, { user: { username: user } });
        reply(() => at("auth", session, { user }), answer);
      },
      onMailFrom: ({ address }, session, callback) =>
        reply(() => at("mail", session, { from: address }), callback),
      onRcptTo: ({ address }, session, callback) =>
        reply(
          () => at("rcpt", session, { from: senderOf(session), recipients: [address] }),
          callback,
        ),
      onData: (stream, session, callback) =>
        void receive(stream, session).then(
          (text) => callback(null, text),
          (error: unknown) => callback(refusalOf(error)),
        ),
      onClose: (session, callback) => {
        inbox.endSession({ id: session.id, user: userOf(session), peer: session.remoteAddress });
        callback?.();
      },
    },
    inbox.recordLine,
    {
      maxClients: MAX_SESSIONS,
      beforeData(session, callback) {
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        reply(() => at("data", session, { from: senderOf(session), recipients }), callback);
      },
    },
  );
  server.on("error", (error: Error) => log.debug("SMTP session ended", { error: error.message }));

  /** Waits for no timer if no rule applies: this runs several times for each message. */
  function reply(step: () => Promise<void> | null, callback: (error?: Error | null) => void): void {
    const action = step();
    // Not in the same call: the package loses input that follows a message, if it is all answered
    // before the function returns that continued after that message.
    if (action === null) return queueMicrotask(callback);
    action.then(
      () => callback(),
      (error: unknown) => callback(refusalOf(error)),
    );
  }

  function refusalOf(error: unknown): Error {
    if (error instanceof Disconnect) {
      for (const connection of server.connections) {
        if (connection.id === error.sessionId) connection._socket.destroy();
      }
      return error;
    }
    if (error instanceof SmtpRefusal) return error;
    if (isDisconnect(error)) {
      log.info("a client disconnected before the end of its message");
      return error;
    }
    log.warn("a message was not stored", { error: describeError(error) });
    return new SmtpRefusal(452, "4.3.1 The message could not be stored, try again later");
  }

  return {
    /** Resolves to the port. */
    listen(address: { host: string; port: number }): Promise<number> {
      return new Promise((resolve, reject) => {
        server.server.once("error", reject);
        const listening = server.listen(address.port, address.host, () => {
          server.server.off("error", reject);
          const bound: AddressInfo | string | null = listening.address();
          resolve(typeof bound === "object" && bound !== null ? bound.port : address.port);
        });
      });
    },

    /**
     * Accepts STARTTLS with this certificate in later sessions. It is announced only if clients can
     * trust the certificate: most of them use STARTTLS when it is announced, and then end the
     * session because of a self-signed certificate.
     */
    useCertificate(certificate: Certificate, { isTrusted }: { isTrusted: boolean }): void {
      server.updateSecureContext({ ...certificate });
      server.options.hideSTARTTLS = !isTrusted;
    },

    /** Ends the sessions, and resolves when all are closed. */
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
