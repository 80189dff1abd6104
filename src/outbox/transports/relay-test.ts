/**
 * Tests a relay: a real session with EHLO, TLS and AUTH, and one mail if one is given. The result is
 * the transcript without secrets, the line that failed, and the remedy for the operator.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Conversation, Step } from "../../protocols/smtp/conversation.ts";
import type { Delivery } from "../../protocols/smtp/decision.ts";
import { describeFailure, type Failure, type Fault } from "../../protocols/smtp/failure.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { Reply } from "../../protocols/smtp/reply.ts";
import type { SmtpStep } from "../../protocols/smtp/reply-classes.ts";
import { Session } from "../../protocols/smtp/session.ts";
import type { MailObject } from "../../protocols/smtp/stream.ts";
import type { Timeouts } from "../../protocols/smtp/timeouts.ts";
import { type RelayOptions, relaySessionOptions } from "./relay.ts";

type RelayTestOptions = Omit<RelayOptions, "concurrency" | "sessionClock"> & {
  /** Sent after the login; null to only log in. */
  mail?: MailObject | null;
  clock?: Clock | undefined;
};

export type RelayTestResult = {
  /** Null if everything worked. */
  problem: RelayProblem | null;
  conversation: Conversation;
  /** Index in `conversation.steps`; null if nothing failed, or if nothing was sent. */
  failedStep: number | null;
  isAuthenticated: boolean;
  /** True if the relay accepted the mail. */
  isMailAccepted: boolean;
};

type RelayProblem = {
  step: SmtpStep;
  /** One line for people. */
  reason: string;
  /** The remedy, in the form of a finding's fix: "check the port". */
  fix: string;
};

/** A person waits for the result, so these are far below those of RFC 5321. */
const TEST_TIMEOUTS: Partial<Timeouts> = {
  connectMs: 8_000,
  tlsMs: 8_000,
  greetingMs: 10_000,
  commandMs: 10_000,
  dataMs: 10_000,
  blockMs: 10_000,
  dotMs: 15_000,
  quitMs: 2_000,
  totalMs: 30_000,
};

/** Takes at most 35 seconds. Throws if the options would send a password in cleartext. */
export async function testRelay({
  mail = null,
  clock,
  ...options
}: RelayTestOptions): Promise<RelayTestResult> {
  const timeouts = { ...TEST_TIMEOUTS, ...options.timeouts };
  const session = new Session(relaySessionOptions({ ...options, timeouts, sessionClock: clock }));
  const failure = await session.open();
  if (failure !== null) {
    return resultOf(session.conversation, options.relay, { failure, isMailAccepted: false });
  }
  const delivery = mail === null ? null : await sendMail(session, mail);
  const { conversation } = session;
  await session.quit();
  const problem = delivery === null ? null : problemOfMail(delivery);
  const isMailAccepted = delivery?.kind === "accepted";
  return resultOf(conversation, options.relay, { failure: problem, isMailAccepted });
}

function sendMail(session: Session, object: MailObject): Promise<Delivery> {
  return new Promise((resolve) => {
    const stream = session.stream({
      takeFollower: () => null,
      ended: (_, delivery) => resolve(delivery),
      returned: () => {},
      lost: () => {},
    });
    stream.send({ object });
  });
}

/** A mail that the relay can never accept has no step of its own: it is refused before MAIL. */
function problemOfMail(delivery: Delivery): Failure | null {
  if (delivery.kind === "accepted") return null;
  if (delivery.kind === "refused") return { step: delivery.step, cause: delivery.reply };
  if (delivery.kind === "unsendable") {
    return { step: "mail", cause: { kind: "address", message: delivery.message } };
  }
  return delivery.failure;
}

function resultOf(
  conversation: Conversation,
  relay: Relay,
  { failure, isMailAccepted }: { failure: Failure | null; isMailAccepted: boolean },
): RelayTestResult {
  const { steps } = conversation;
  const failed = failure === null ? -1 : steps.findLastIndex(({ step }) => step === failure.step);
  return {
    problem: failure && {
      step: failure.step,
      reason: describeFailure(failure),
      fix: explainFailure(failure, relay),
    },
    conversation,
    failedStep: failed === -1 ? null : failed,
    isAuthenticated: isLoggedIn(steps),
    isMailAccepted,
  };
}

const isLoggedIn = (steps: readonly Step[]): boolean =>
  steps.some(({ step, code }) => step === "auth" && code === 235);

const READ_REPLY = "read the reply of the relay, which says what it does not accept";
const LATER = "try again in some minutes, because the relay refuses only for the moment";

/** Returns the remedy for a failure of a session with a relay, in the form of a finding's fix. */
function explainFailure({ step, cause }: Failure, relay: Relay): string {
  return cause.kind === "reply"
    ? explainReply(step, cause, relay)
    : explainFault(step, cause, relay);
}

function explainFault(step: SmtpStep, { kind, message }: Fault, { tls, port }: Relay): string {
  if (kind === "dns") {
    return "check the spelling of the host; if it is right, the name servers of this machine do not know it (--dns)";
  }
  if (kind === "address") return "choose a relay, a sender and a recipient that may be used here";
  if (kind === "unroutable") {
    return "use a relay with an address that this machine has a route to; for an IPv6 address it has none without IPv6";
  }
  if (step === "connect") {
    return kind === "timeout"
      ? `try the other ports of the relay, usually 587, 465 and 2525, because a firewall or the provider of this machine may block port ${port}`
      : "check the port: it is usually 587 with STARTTLS, and 465 with TLS from the first byte";
  }
  if (kind === "auth") {
    return "use the port for sending, usually 587, or leave out the user, because the relay offers no login with a password here";
  }
  if (step === "starttls") {
    return "use TLS from the first byte, usually on port 465, or another port of the relay; without TLS only if the relay is on this machine";
  }
  if (step === "tls") return explainTls(message, tls);
  if (step === "greeting" && tls !== "implicit") {
    return "use TLS from the first byte if the port needs it, as port 465 does; otherwise it is no port for SMTP";
  }
  return "try again, and look at the log or the status page of the relay, which did not go on with the session";
}

function explainTls(message: string, tls: Relay["tls"]): string {
  if (message.startsWith("the certificate of")) {
    return "use the host name that the certificate is for, or give the relay a certificate of a public CA; a relay on this machine needs no TLS";
  }
  return tls === "implicit"
    ? "use STARTTLS if the port needs it, as port 587 does"
    : "use a relay that supports TLS 1.2 or newer";
}

/** RFC 4954 §6: the server wants a login first. */
const LOGIN_NEEDED = 530;

function explainReply(step: SmtpStep, reply: Reply, { user }: Relay): string {
  if (user === undefined && (reply.code === LOGIN_NEEDED || isRelayingDenied(step, reply))) {
    return "fill in the user and the password, because the relay wants a login";
  }
  if (reply.code >= 400 && reply.code < 500) return LATER;
  return WHAT_TO_CHANGE[step] ?? READ_REPLY;
}

const EHLO_REFUSED =
  "set --hostname to the public name of this server, because the relay refuses it";

/** The remedy for each step that the relay refuses for good. */
const WHAT_TO_CHANGE: { readonly [step in SmtpStep]?: string } = {
  greeting: "allow the IP address of this machine at the relay, or use another port",
  ehlo: EHLO_REFUSED,
  helo: EHLO_REFUSED,
  auth: "check the user and the password; many providers want an API key or an app password instead of that of the account",
  mail: "verify the domain of the sender at the relay, or choose another sender",
  rcpt: "check the address, and whether this login may send to it",
};

/** A refusal of RCPT because of the policy of the relay (RFC 3463 §3.8). */
function isRelayingDenied(step: SmtpStep, { enhanced }: Reply): boolean {
  return step === "rcpt" && enhanced?.startsWith("5.7.") === true;
}
