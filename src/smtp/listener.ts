/**
 * The parts that all SMTP listeners share: limits, the answers to errors, the address that they listen
 * on, and their certificate.
 */

import type { AddressInfo } from "node:net";
import type { SMTPServerOptions } from "smtp-server";
import { describeError, type Log } from "../lib/log.ts";
import type { Certificate } from "../tls/certificate.ts";
import { type BeforeData, type RecordLine, SmtpRefusal, SmtpServer } from "./server.ts";
import { Disconnect } from "./stages.ts";

const MAX_COMMAND_BYTES = 2_048;
const IDLE_MS = 5 * 60_000;
const MAX_RECIPIENTS = 100;
const MAX_SESSIONS = 500;

export type SmtpListener = ReturnType<typeof createSmtpListener>;

/** The callback of a hook of the package. */
type Callback = (error?: Error | null) => void;

/** Waits for a step of a session, if it returns a promise, and answers. */
type ReplyAfter = (step: () => Promise<void> | null, callback: Callback) => void;

/** The error of a refused step, for the package. */
type RefusalOf = (error: unknown) => Error;

/** Makes an error that a step throws at once a rejection. */
function started(step: () => Promise<void> | null): Promise<void> | null {
  try {
    return step();
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

/** True for the error of the package for a connection that is closed during DATA. */
const isDisconnect = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ECONNECTION";

export function createSmtpListener(deps: {
  log: Log;
  certificate: Certificate | null;
  /** Sessions of one address at the same time; there is no limit for this machine. */
  maxPerAddress: number;
  /** Whether AUTH needs TLS for clients that are not on this machine. */
  needsTlsForAuth: boolean;
  recordLine: RecordLine;
  /** Creates the hooks of the listener. */
  hooks: (answers: { replyAfter: ReplyAfter; refusalOf: RefusalOf }) => {
    options: SMTPServerOptions;
    beforeData: BeforeData;
  };
}) {
  const { log } = deps;
  const { options, beforeData } = deps.hooks({ replyAfter, refusalOf });
  const server = new SmtpServer(
    {
      disableReverseLookup: true,
      hideENHANCEDSTATUSCODES: false,
      hideSTARTTLS: deps.certificate === null,
      ...deps.certificate,
      socketTimeout: IDLE_MS,
      closeTimeout: 1_000,
      maxRecipients: MAX_RECIPIENTS,
      maxCommandLength: MAX_COMMAND_BYTES,
      ...options,
    },
    deps.recordLine,
    {
      maxClients: MAX_SESSIONS,
      maxPerAddress: deps.maxPerAddress,
      needsTlsForAuth: deps.needsTlsForAuth,
      beforeData,
    },
  );
  server.on("error", (error: Error) => log.debug("SMTP session ended", { error: error.message }));

  /** Waits for no timer if the step returns null: this runs several times for each message. */
  function replyAfter(step: () => Promise<void> | null, callback: Callback): void {
    const action = started(step);
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
      log.info("a client disconnected before its message was answered");
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
     * Accepts TLS with this certificate in later sessions. STARTTLS is announced only if clients can
     * trust the certificate: most of them use it when it is announced, and then end the session
     * because of a self-signed certificate.
     */
    useCertificate(certificate: Certificate, { isTrusted }: { isTrusted: boolean }): void {
      server.updateSecureContext({ ...certificate });
      server.options.hideSTARTTLS = !isTrusted;
    },

    /** Ends the sessions, and resolves when all are closed. */
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
