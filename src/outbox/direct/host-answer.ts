/**
 * Interprets one host's answer to a mail: either it decides the outcome, or another host may accept
 * the mail (docs/delivery.md#S3, docs/delivery.md#S4, docs/delivery.md#S5, RFC 5321 §4.2.1, §5.1).
 * Pure functions.
 */

import type { ReplyClass, SmtpStep } from "../../protocols/smtp/reply-classes.ts";
import type { Decision } from "../outcome.ts";
import type { Unsendable } from "../../protocols/smtp/envelope.ts";
import { describeFailure, type Failure } from "../../protocols/smtp/failure.ts";
import { readReply, readUnsendable } from "../../protocols/smtp/classify-reply.ts";
import { quoteReply, type Reply } from "../../protocols/smtp/reply.ts";
import { type Delivery, SERVICE_CLOSING, UNKNOWN_END } from "../../protocols/smtp/decision.ts";
import type { SiteResult } from "./site.ts";

/**
 * The consequences of one host's answer for the mail and its site. `result` is null if the answer
 * says nothing about the site.
 *
 * `contact` says how far the mail came:
 * - notDialled: the host was not dialled, or this machine has no route to it.
 * - unreachable: the connection failed.
 * - answered: the host was reached.
 */
export type HostAnswer = {
  host: string;
  decision: Decision;
  result: SiteResult | null;
  contact: "notDialled" | "unreachable" | "answered";
  /**
   * Whether to try the next address of the same host, or the next host; null if the decision is
   * the outcome of the mail.
   */
  next: "address" | "host" | null;
};

export function interpretDelivery(host: string, delivery: Delivery): HostAnswer {
  switch (delivery.kind) {
    case "accepted": {
      const reason = `${host} accepted it: ${quoteReply(delivery.reply)}`;
      const decision = { kind: "accepted", class: "accepted", final: true, reason } as const;
      return decided(host, decision, { kind: "accepted" });
    }
    case "refused":
      return interpretRefusal(host, delivery.step, delivery.reply);
    case "unsendable": {
      const decision = unsendable(host, delivery);
      return decided(host, decision, { kind: "answered" });
    }
    case "broken":
      return interpretBreak(host, delivery);
    case "unopened":
      return interpretOpening(host, delivery.failure);
  }
}

function interpretRefusal(host: string, step: SmtpStep, reply: Reply): HostAnswer {
  const decision = decide(step, reply, `${host} refused at ${step}: ${quoteReply(reply)}`);
  const isAboutHost = step !== "dot" && isHostProblem(step, reply, decision.class);
  if (decision.kind === "bounced" || !isAboutHost) {
    return decided(host, decision, siteResultOf(reply, decision));
  }
  return { host, contact: "answered", decision, result: { kind: "failed" }, next: "host" };
}

/**
 * True for a temporary refusal because of this host, not because of the mail, its recipient or this
 * server: X.3.x is the state of the system (RFC 3463 §3.4), and at MAIL the host knows nothing
 * else.
 */
function isHostProblem(step: SmtpStep, reply: Reply, found: ReplyClass): boolean {
  if (found !== "temporary") return false;
  const isSystem = reply.enhanced?.startsWith("4.3.") === true;
  return reply.code === SERVICE_CLOSING || step === "mail" || isSystem;
}

/**
 * A temporary reply about the rate or the reputation of this server applies to all its mail to the
 * site (docs/delivery.md#S7), but X.2.x is about a single mailbox (RFC 3463 §3.3).
 */
function siteResultOf(reply: Reply, decision: Decision): SiteResult {
  if (decision.kind !== "deferred") return { kind: "answered" };
  const isAboutSender = decision.class === "rate_limited" || decision.class === "reputation";
  const isAboutMailbox = reply.enhanced?.startsWith("4.2.") === true;
  return isAboutSender && !isAboutMailbox
    ? { kind: "limited", retryAfterMs: decision.retryAfterMs }
    : { kind: "answered" };
}

function unsendable(host: string, found: Unsendable): Decision {
  const reason = `${host} cannot accept it: ${found.enhanced} ${found.message}`;
  return { ...readUnsendable(found), reason };
}

/** After the final dot the mail may have arrived: no other host is tried (docs/delivery.md#S5). */
function interpretBreak(
  host: string,
  broken: { failure: Failure; isUnknown: boolean },
): HostAnswer {
  const reason = `${host} failed at ${describeFailure(broken.failure)}`;
  const result = { kind: "failed" } as const;
  if (broken.isUnknown) {
    return decided(host, later(`${reason}; ${UNKNOWN_END}`), result);
  }
  return { host, contact: "answered", decision: later(reason), result, next: "host" };
}

function interpretOpening(host: string, { step, cause }: Failure): HostAnswer {
  if (cause.kind === "reply" && cause.code >= 400 && GREETING_STEPS.has(step)) {
    return interpretGreeting(host, step, cause);
  }
  const reason = `${host} failed at ${describeFailure({ step, cause })}`;
  const setback = { host, decision: later(reason) };
  if (step !== "connect") {
    const next = step === "tls" || step === "starttls" ? "host" : "address";
    return { ...setback, contact: "answered", result: { kind: "failed" }, next };
  }
  const wasNotDialled = cause.kind === "address" || cause.kind === "unroutable";
  return wasNotDialled
    ? { ...setback, contact: "notDialled", result: null, next: "address" }
    : {
        ...setback,
        contact: "unreachable",
        result: { kind: "unreachable", reason },
        next: "address",
      };
}

const GREETING_STEPS: ReadonlySet<SmtpStep> = new Set(["greeting", "ehlo", "helo"]);

/** After a refusal in the greeting the next host is tried (docs/delivery.md#S3). */
function interpretGreeting(host: string, step: SmtpStep, reply: Reply): HostAnswer {
  const decision = decide(step, reply, `${host} refused at ${step}: ${quoteReply(reply)}`);
  const found = siteResultOf(reply, decision);
  const isHostProblem = decision.kind === "deferred" && found.kind === "answered";
  const result: SiteResult = isHostProblem ? { kind: "failed" } : found;
  return { host, contact: "answered", decision, result, next: "host" };
}

function decide(step: SmtpStep, reply: Reply, reason: string) {
  return { ...readReply(step, reply), reason };
}

function decided(host: string, decision: Decision, result: SiteResult): HostAnswer {
  return { host, contact: "answered", decision, result, next: null };
}

function later(reason: string): Decision {
  return { kind: "deferred", class: "infrastructure", reason };
}

const EVIDENCE = { notDialled: 0, unreachable: 1, answered: 2 } as const;

/**
 * The outcome of a mail that no host accepted; null if there is no setback. The reason is from the
 * last host with the most evidence. The outcome is permanent only if every host refused permanently
 * (docs/delivery.md#S3): `hosts` are all hosts of the domain.
 */
export function conclude(
  setbacks: readonly HostAnswer[],
  hosts: readonly string[],
): HostAnswer | null {
  const [first, ...rest] = setbacks;
  if (first === undefined) return null;
  const last = rest.reduce(
    (best, each) => (EVIDENCE[each.contact] >= EVIDENCE[best.contact] ? each : best),
    first,
  );
  const refusing = new Set(
    setbacks.filter(({ decision }) => decision.kind === "bounced").map(({ host }) => host),
  );
  const isUnanimous = hosts.every((host) => refusing.has(host));
  const { decision } = last;
  if (decision.kind !== "bounced" || isUnanimous) return last;
  const reason = `${decision.reason}; not every host of the domain refused permanently`;
  return { ...last, decision: { kind: "deferred", class: decision.class, reason } };
}
