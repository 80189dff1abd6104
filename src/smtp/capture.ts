/**
 * The SMTP listener that catches mail for development and tests. It accepts every sender, recipient
 * and password, and stores each message in an inbox before it answers 250.
 *
 * 1. A session chooses its inbox by the user of AUTH; else a recipient's domain chooses it.
 * 2. At each stage the failure rules of the inbox may delay, refuse or disconnect.
 * 3. DATA goes to the inbox in pieces; bare LFs become CRLF, a bare CR is refused.
 */

import type { AddressInfo } from "node:net";
import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Envelope } from "../modules/inboxes/envelope.ts";
import type { Certificate } from "./certificate.ts";
import { createFraming } from "./framing.ts";
import { traceFields } from "./trace.ts";
import { type RecordLine, SmtpRefusal, SmtpServer } from "./server.ts";

const MAX_BYTES = 50 * 1024 * 1024;
const MAX_COMMAND_BYTES = 2_048;
const IDLE_MS = 5 * 60_000;
const DATA_MS = 10 * 60_000;
const MAX_RECIPIENTS = 100;
const MAX_SESSIONS = 500;

/** The part of a message's transaction that a failure rule compares. */
export type Stage = "connect" | "auth" | "mail" | "rcpt" | "data" | "dot";
export type StageFacts = {
  user: string;
  ip: string;
  from?: string;
  to?: string;
  /** The beginning of the message, at the stage `dot`. */
  head?: Uint8Array;
};
/** The action of a rule; null if no rule matches. */
export type StageAction =
  | { kind: "reply"; code: number; text: string }
  | { kind: "delay"; ms: number }
  | { kind: "disconnect" };

/** What the listener needs of the module of inboxes. */
export type CaptureInbox = {
  /** The inbox for a user of AUTH; without one, for the recipients. */
  resolve(user: string, recipients: readonly string[]): Promise<number>;
  /** The action of the first rule that matches; null if there is none, at once if there are no rules. */
  decide(stage: Stage, facts: StageFacts): Promise<StageAction | null> | null;
  open(inboxSeq: number): {
    add(piece: Uint8Array): Promise<void>;
    complete(arrived: {
      inboxSeq: number;
      envelope: Envelope;
      username: string;
      emailId: null;
    }): Promise<{ id: string }>;
    discard(): Promise<void>;
  };
  recordLine: RecordLine;
  endSession(session: { id: string; user: string; peer: string }): void;
};

export type CaptureListener = ReturnType<typeof createCaptureListener>;

export function createCaptureListener(deps: {
  inbox: CaptureInbox;
  clock: Clock;
  log: Log;
  /** Name of this server in its greeting. */
  hostname: string;
  certificate: Certificate | null;
}) {
  const { inbox, clock, log } = deps;
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
      ...(deps.certificate ?? {}),
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
        reply(() => at("rcpt", session, { from: senderOf(session), to: address }), callback),
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
    { maxClients: MAX_SESSIONS },
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

  /** Carries out the action of a matching rule. Rejects with the refusal that a rule demands. */
  function at(
    stage: Stage,
    session: SMTPServerSession,
    facts: Partial<StageFacts>,
  ): Promise<void> | null {
    const decision = inbox.decide(stage, {
      user: userOf(session),
      ip: session.remoteAddress,
      ...facts,
    });
    return decision === null ? null : decision.then((action) => carryOut(action, session));
  }

  async function carryOut(action: StageAction | null, session: SMTPServerSession): Promise<void> {
    if (action === null) return;
    if (action.kind === "delay") {
      await new Promise<void>((resolve) => void clock.after(action.ms, resolve));
    } else if (action.kind === "reply") throw new SmtpRefusal(action.code, action.text);
    else throw new Disconnect(session.id);
  }

  async function receive(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
  ): Promise<string> {
    const { rcptTo } = session.envelope;
    const recipients = rcptTo.map(({ address }) => address);
    await at("data", session, { from: senderOf(session), to: recipients.join(", ") });
    const inboxSeq = await inbox.resolve(userOf(session), recipients);
    const arrival = inbox.open(inboxSeq);
    try {
      await arrival.add(traceOf(session, recipients));
      const { framing, head } = await readAll(stream, arrival.add);
      if (stream.sizeExceeded) throw new SmtpRefusal(552, "5.3.4 The message is too large");
      if (framing.hasBareCr()) throw new SmtpRefusal(550, "5.6.0 The message has a bare CR");
      const facts = { from: senderOf(session), to: recipients.join(", "), head };
      await at("dot", session, facts);
      const { id } = await arrival.complete({
        inboxSeq,
        envelope: envelopeOf(session, framing.hasBareLf()),
        username: userOf(session),
        emailId: null,
      });
      return `2.0.0 Ok: queued as ${id}`;
    } catch (error) {
      await arrival
        .discard()
        .catch((reason: unknown) =>
          log.warn("a partial message was not removed", { error: describeError(reason) }),
        );
      throw error;
    }
  }

  function traceOf(session: SMTPServerSession, recipients: readonly string[]): Uint8Array {
    const { hostNameAppearsAs, remoteAddress, secure, id } = session;
    return traceFields({
      from: senderOf(session),
      recipients,
      helo: typeof hostNameAppearsAs === "string" ? hostNameAppearsAs : "unknown",
      peer: remoteAddress,
      hasTls: secure,
      hasUser: userOf(session) !== "",
      hostname: deps.hostname,
      id,
      at: clock.now(),
    });
  }

  async function readAll(
    stream: SMTPServerDataStream,
    add: (piece: Uint8Array) => Promise<void>,
  ): Promise<{ framing: ReturnType<typeof createFraming>; head: Uint8Array }> {
    const framing = createFraming();
    let head: Uint8Array = new Uint8Array();
    const cancel = clock.after(DATA_MS, () => stream.destroy(new Error("DATA took too long")));
    try {
      for await (const piece of stream) {
        if (!(piece instanceof Uint8Array) || stream.sizeExceeded) continue;
        if (head.byteLength === 0) head = piece;
        await add(framing.add(piece));
      }
    } finally {
      cancel();
    }
    return { framing, head };
  }

  function refusalOf(error: unknown): Error {
    if (error instanceof Disconnect) {
      for (const connection of server.connections) {
        if (connection.id === error.sessionId) connection._socket.destroy();
      }
      return error;
    }
    if (error instanceof SmtpRefusal) return error;
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

    /** Offers STARTTLS with this certificate to later sessions. */
    useCertificate(certificate: Certificate): void {
      server.updateSecureContext({ ...certificate });
      server.options.hideSTARTTLS = false;
    },

    /** Ends the sessions, and resolves when all are closed. */
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

class Disconnect extends Error {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super("The connection is closed by a rule.");
    this.sessionId = sessionId;
  }
}

function userOf(session: SMTPServerSession): string {
  const user: unknown = session.user;
  if (typeof user !== "object" || user === null || !("username" in user)) return "";
  return typeof user.username === "string" ? user.username : "";
}

function senderOf({ envelope }: SMTPServerSession): string {
  return envelope.mailFrom === false ? "" : envelope.mailFrom.address;
}

function envelopeOf(session: SMTPServerSession, hasBareLf: boolean): Envelope {
  const { envelope, remoteAddress, hostNameAppearsAs, tlsOptions, id } = session;
  return {
    from: senderOf(session),
    to: envelope.rcptTo.map(({ address, args }) => ({
      address,
      notify: textOf(args, "NOTIFY"),
      originalRecipient: textOf(args, "ORCPT"),
    })),
    peer: remoteAddress,
    helo: typeof hostNameAppearsAs === "string" ? hostNameAppearsAs : "",
    tls: session.secure ? (textOf(tlsOptions, "version") ?? "TLS") : null,
    sessionId: id,
    hasBareLf,
  };
}

function textOf(from: unknown, name: string): string | null {
  if (typeof from !== "object" || from === null) return null;
  const value: unknown = Reflect.get(from, name);
  return typeof value === "string" ? value : null;
}
