/**
 * What one host's answer means for the mail: it is decided, or another host may do better
 * (delivery rules S3–S5, RFC 5321 §4.2.1, §5.1). Pure.
 */

import type { ReplyClass, SmtpStep } from "../../mail/reply-classes.ts";
import type { Outcome } from "../outcome.ts";
import type { Unsendable } from "../smtp/envelope.ts";
import { describeFailure, type Failure } from "../smtp/failure.ts";
import type { PoolDelivery } from "../smtp/pool.ts";
import { readReply, readUnsendable, UNKNOWN_END } from "../smtp/reading.ts";
import { quoteReply, type Reply } from "../smtp/reply.ts";
import { SERVICE_CLOSING } from "../smtp/transaction.ts";
import type { SiteResult } from "./site.ts";

type WithoutConversations<Kind> = Kind extends Outcome ? Omit<Kind, "conversations"> : never;

/** An outcome before the conversations are put to it. */
export type Decision = WithoutConversations<Outcome>;

/** What a mail and a site have to do with one answer; null where it says nothing about the site. */
export type Finding = { decision: Decision; result: SiteResult | null };

/**
 * One host that did not take the mail and did not decide about it.
 * - nothing: it was never dialled, or this machine has no way to it.
 * - silence: the network did not let us through to it.
 * - word: it was reached.
 */
export type Setback = Finding & {
  host: string;
  weight: "nothing" | "silence" | "word";
  /** What is worth trying next. */
  next: "address" | "host";
};

export type Judgement = ({ kind: "decided" } & Finding) | ({ kind: "setback" } & Setback);

export function judge(host: string, delivery: PoolDelivery["delivery"]): Judgement {
  switch (delivery.kind) {
    case "accepted": {
      const reason = `${host} accepted it: ${quoteReply(delivery.reply)}`;
      const decision = { kind: "accepted", class: "accepted", final: true, reason } as const;
      return { kind: "decided", decision, result: { kind: "accepted" } };
    }
    case "refused":
      return judgeRefusal(host, delivery.step, delivery.reply);
    case "unsendable": {
      const decision = unsendable(host, delivery);
      return { kind: "decided", decision, result: { kind: "answered" } };
    }
    case "broken":
      return judgeBreak(host, delivery);
    case "unopened":
      return judgeOpening(host, delivery.failure);
  }
}

function judgeRefusal(host: string, step: SmtpStep, reply: Reply): Judgement {
  const decision = read(step, reply, `${host} refused at ${step}: ${quoteReply(reply)}`);
  const isHostsTrouble = step !== "dot" && isTroubleOfHost(step, reply, decision.class);
  if (decision.kind === "bounced" || !isHostsTrouble) {
    return { kind: "decided", decision, result: siteResultOf(reply, decision) };
  }
  const result = { kind: "failed" } as const;
  return { kind: "setback", host, weight: "word", decision, result, next: "host" };
}

/**
 * A temporary refusal that is about this host, not about the mail, its recipient or us: X.3.x is the
 * state of the system (RFC 3463 §3.4), and to MAIL nothing else has been said yet.
 */
function isTroubleOfHost(step: SmtpStep, reply: Reply, found: ReplyClass): boolean {
  if (found !== "temporary") return false;
  const isSystem = reply.enhanced?.startsWith("4.3.") === true;
  return reply.code === SERVICE_CLOSING || step === "mail" || isSystem;
}

/**
 * A temporary reply about our rate or our standing is for all our mail (delivery rule S7); X.2.x
 * is about a single mailbox that gets too much (RFC 3463 §3.3).
 */
function siteResultOf(reply: Reply, decision: Judged): SiteResult {
  if (decision.kind === "bounced") return { kind: "answered" };
  const isAboutUs = decision.class === "rate_limited" || decision.class === "reputation";
  const isAboutMailbox = reply.enhanced?.startsWith("4.2.") === true;
  return isAboutUs && !isAboutMailbox
    ? { kind: "limited", retryAfterMs: decision.retryAfterMs }
    : { kind: "answered" };
}

function unsendable(host: string, found: Unsendable): Decision {
  const reason = `${host} cannot take it: ${found.enhanced} ${found.message}`;
  return { ...readUnsendable(found), reason };
}

/** After the final dot the mail may have arrived: no other host, and never at once (rule S5). */
function judgeBreak(host: string, broken: { failure: Failure; isUnknown: boolean }): Judgement {
  const reason = `${host} failed at ${describeFailure(broken.failure)}`;
  const result = { kind: "failed" } as const;
  if (broken.isUnknown) {
    const decision = later(`${reason}; ${UNKNOWN_END}`);
    return { kind: "decided", decision, result };
  }
  return { kind: "setback", host, weight: "word", decision: later(reason), result, next: "host" };
}

function judgeOpening(host: string, { step, cause }: Failure): Judgement {
  if (cause.kind === "reply" && cause.code >= 400 && GREETING_STEPS.has(step)) {
    return judgeGreeting(host, step, cause);
  }
  const reason = `${host} failed at ${describeFailure({ step, cause })}`;
  const setback = { kind: "setback", host, decision: later(reason) } as const;
  if (step !== "connect") {
    const next = step === "tls" || step === "starttls" ? "host" : "address";
    return { ...setback, weight: "word", result: { kind: "failed" }, next };
  }
  const isNothing = cause.kind === "address" || cause.kind === "unroutable";
  return isNothing
    ? { ...setback, weight: "nothing", result: null, next: "address" }
    : { ...setback, weight: "silence", result: { kind: "unreachable", reason }, next: "address" };
}

const GREETING_STEPS: ReadonlySet<SmtpStep> = new Set(["greeting", "ehlo", "helo"]);

/** Another host may be less busy or of another mind (delivery rule S3). */
function judgeGreeting(host: string, step: SmtpStep, reply: Reply): Judgement {
  const decision = read(step, reply, `${host} refused at ${step}: ${quoteReply(reply)}`);
  const found = siteResultOf(reply, decision);
  const isTrouble = decision.kind === "deferred" && found.kind === "answered";
  const result: SiteResult = isTrouble ? { kind: "failed" } : found;
  return { kind: "setback", host, weight: "word", decision, result, next: "host" };
}

type Judged = Extract<Decision, { kind: "deferred" | "bounced" }>;

function read(step: SmtpStep, reply: Reply, reason: string): Judged {
  return { ...readReply(step, reply), reason };
}

function later(reason: string): Decision {
  return { kind: "deferred", class: "infrastructure", reason };
}

const WEIGHTS = { nothing: 0, silence: 1, word: 2 } as const;

/**
 * What becomes of a mail that no host took. The reason is the last among those that mean most.
 * Permanent only if every host said so (rule S3): `hosts` are all that the domain has.
 */
export function conclude(setbacks: readonly Setback[], hosts: readonly string[]): Finding | null {
  const [first, ...rest] = setbacks;
  if (first === undefined) return null;
  const { decision, result } = rest.reduce(
    (best, each) => (WEIGHTS[each.weight] >= WEIGHTS[best.weight] ? each : best),
    first,
  );
  const refusing = new Set(
    setbacks.filter(({ decision }) => decision.kind === "bounced").map(({ host }) => host),
  );
  const isUnanimous = hosts.every((host) => refusing.has(host));
  if (decision.kind !== "bounced" || isUnanimous) return { decision, result };
  const reason = `${decision.reason}; not every host of the domain says so`;
  return { decision: { kind: "deferred", class: decision.class, reason }, result };
}
