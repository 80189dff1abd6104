/**
 * Writes mails with their attempts, and adds their events to the journal. The outcome of a mail is
 * chosen at random: most are delivered, some of these are opened and clicked, a few bounce.
 */

import type { Database } from "bun:sqlite";
import type { EmailStatus } from "../../../src/db/schema/emails.ts";
import { type Random, uuidAt } from "../random.ts";
import { createEngagement, type Engagement } from "./engagement.ts";
import type { Journal } from "./journal.ts";
import { DAY_MS, type Person } from "./people.ts";
import { converse, DEFERRALS, OTHER_REFUSALS, reasonOf, unknownRecipient } from "./transcripts.ts";

export type Mail = {
  id?: string;
  /** Null for a test mail. */
  person: Person | null;
  to: string;
  source: "TRANSACTIONAL" | "CAMPAIGN" | "WORKFLOW" | "TEST";
  isMarketing: boolean;
  messageSeq: number;
  templateId: string | null;
  campaignSeq: number | null;
  executionSeq: number | null;
  subject: string;
  variables: string | null;
  createdAt: number;
  /** When it leaves, unless it is stopped. */
  leavesAt: number;
  /** Links that may be clicked. */
  links: readonly string[];
  /** The state of a mail that has not left. */
  held?: "QUEUED" | "CANCELLED";
  /** The next attempt comes after the end of the demonstration. */
  isDeferred?: boolean;
  /** Share of bounces in units of 1/10,000; the usual one if absent. */
  bounces?: number;
};

export type Post = ReturnType<typeof createPost>;

type State = Engagement & {
  status: EmailStatus;
  attempts: number;
  nextAt: number | null;
  sentAt: number | null;
  deliveredAt: number | null;
  bouncedAt: number | null;
  lastError: string | null;
};

const NOTHING = {
  openedAt: null,
  clickedAt: null,
  complainedAt: null,
  machineOpenedAt: null,
  machineClickedAt: null,
};
const UNSENT = { ...NOTHING, sentAt: null, deliveredAt: null, bouncedAt: null, lastError: null };

/** Shares in units of 1/10,000. */
const USUAL_BOUNCES = 165;
const FAILURES = 28;
const HANDED_TO_RELAY = 40;
const DELAYED = 140;
const MINUTE = 60_000;

export function createPost(deps: {
  sqlite: Database;
  projectSeq: number;
  random: Random;
  journal: Journal;
  untilMs: number;
}) {
  const { sqlite, projectSeq, random, journal, untilMs } = deps;
  const { engage } = createEngagement(deps);
  const insertEmail = sqlite.prepare(`
    INSERT INTO emails (seq, id, project_seq, contact_seq, message_seq, source, template_id,
      campaign_seq, execution_seq, to_address, subject, variables, status, priority, attempts,
      next_at, created_at, sent_at, delivered_at, opened_at, clicked_at, bounced_at, complained_at,
      machine_opened_at, machine_clicked_at, last_error)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertAttempt = sqlite.prepare(`
    INSERT INTO attempts
      (email_seq, number, started_at, duration_ms, outcome, class, reason, conversations)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  let lastSeq = 0;

  const oneIn10k = (share: number) => random.integer(10_000) < share;

  function note(mail: Mail, name: string, at: number, data?: object): void {
    const contactSeq = mail.person?.seq ?? null;
    journal.add({
      at,
      name,
      contactSeq,
      emailSeq: lastSeq,
      ...(data === undefined ? {} : { data }),
    });
  }

  type Try = {
    number: number;
    at: number;
    outcome: string;
    refusal: (typeof DEFERRALS)[number] | null;
  };

  /** Writes an attempt and returns when it ended. */
  function attempt(mail: Mail, { number, at, outcome, refusal }: Try): number {
    const { conversation, durationMs } = converse(random, mail.to, refusal);
    const conversations = JSON.stringify([conversation]);
    const reason = refusal === null ? null : reasonOf(refusal, mail.to);
    const kind = refusal?.class ?? "accepted";
    insertAttempt.run(lastSeq, number, at, durationMs, outcome, kind, reason, conversations);
    return at + durationMs;
  }

  function accepted(mail: Mail, number: number, at: number): State {
    const sentAt = attempt(mail, { number, at, outcome: "accepted", refusal: null });
    note(mail, "email.sent", sentAt);
    const base = { ...UNSENT, attempts: number, nextAt: null, sentAt };
    if (oneIn10k(HANDED_TO_RELAY)) return { ...base, status: "SENT" };
    note(mail, "email.delivered", sentAt);
    const engagement = engage(mail, lastSeq, sentAt);
    const { clickedAt, openedAt, complainedAt } = engagement;
    const status =
      complainedAt !== null
        ? "COMPLAINED"
        : clickedAt !== null
          ? "CLICKED"
          : openedAt === null
            ? "DELIVERED"
            : "OPENED";
    return { ...base, ...engagement, status, deliveredAt: sentAt };
  }

  function bounced(mail: Mail): State {
    const { person, to } = mail;
    const isUnknown = person !== null && person.suppression === null && random.integer(10) < 2;
    const domain = to.slice(to.lastIndexOf("@") + 1);
    const refusal = isUnknown ? unknownRecipient(domain) : random.pick(OTHER_REFUSALS);
    const at = attempt(mail, { number: 1, at: mail.leavesAt, outcome: "bounced", refusal });
    const reason = reasonOf(refusal, to);
    note(mail, "email.bounced", at, { class: refusal.class, reason });
    if (isUnknown) suppress(person, at);
    return {
      ...UNSENT,
      status: "BOUNCED",
      attempts: 1,
      nextAt: null,
      bouncedAt: at,
      lastError: reason,
    };
  }

  /** The address does not exist; most such contacts are also unsubscribed by hand a day later. */
  function suppress(person: Person, at: number): void {
    person.suppression = "HARD_BOUNCE";
    person.suppressedAt = at;
    person.suppressedByMail = lastSeq;
    const removedAt = at + DAY_MS;
    if (person.unsubscribedAt !== Infinity || random.integer(10) === 0) return;
    const isAdded = journal.add({
      at: removedAt,
      name: "contact.unsubscribed",
      contactSeq: person.seq,
    });
    if (isAdded) person.unsubscribedAt = removedAt;
  }

  function deferred(mail: Mail): State {
    const number = 1 + random.integer(3);
    const refusal = random.pick(DEFERRALS);
    for (let i = 1; i <= number; i++) {
      const at = mail.leavesAt + (i - 1) * 7 * MINUTE;
      attempt(mail, { number: i, at: Math.min(at, untilMs), outcome: "deferred", refusal });
    }
    const nextAt = untilMs + (2 + random.integer(100)) * MINUTE;
    const lastError = reasonOf(refusal, mail.to);
    return { ...UNSENT, status: "QUEUED", attempts: number, nextAt, lastError };
  }

  function failed(mail: Mail): State {
    const reason = "The body could not be rendered: undefined filter: price_in, line 14, column 9";
    const { leavesAt } = mail;
    insertAttempt.run(lastSeq, 1, leavesAt, 2, "failed", "content", reason, "[]");
    note(mail, "email.failed", leavesAt, { class: "content", reason });
    return { ...UNSENT, status: "FAILED", attempts: 1, nextAt: null, lastError: reason };
  }

  function stopped(mail: Mail, status: "CANCELLED" | "SUPPRESSED", reason: string): State {
    note(mail, status === "CANCELLED" ? "email.cancelled" : "email.suppressed", mail.leavesAt, {
      reason,
    });
    return { ...UNSENT, status, attempts: 0, nextAt: null, lastError: reason };
  }

  function stateOf(mail: Mail): State {
    const { person, leavesAt, held, createdAt } = mail;
    if (person !== null && person.suppressedAt <= leavesAt) {
      return stopped(mail, "SUPPRESSED", person.suppression ?? "MANUAL");
    }
    if (mail.isMarketing && person !== null && person.unsubscribedAt <= leavesAt) {
      return stopped(mail, "CANCELLED", "The recipient is not subscribed any more.");
    }
    if (held === "CANCELLED") return stopped(mail, held, "The campaign was cancelled.");
    if (mail.isDeferred === true) return deferred(mail);
    if (held === "QUEUED" || leavesAt > untilMs - MINUTE) {
      return { ...UNSENT, status: "QUEUED", attempts: 0, nextAt: createdAt };
    }
    if (oneIn10k(mail.bounces ?? USUAL_BOUNCES)) return bounced(mail);
    if (oneIn10k(FAILURES)) return failed(mail);
    if (!oneIn10k(DELAYED) || leavesAt > untilMs - 10 * MINUTE) return accepted(mail, 1, leavesAt);
    const refusal = random.pick(DEFERRALS);
    const at = attempt(mail, { number: 1, at: leavesAt, outcome: "deferred", refusal });
    return accepted(mail, 2, at + (4 + random.integer(3)) * MINUTE);
  }

  return {
    /** Writes one mail. Mails must come in the order of their creation. */
    send(mail: Mail): { id: string; status: EmailStatus } {
      lastSeq++;
      const id = mail.id ?? uuidAt(mail.createdAt, random);
      const state = stateOf(mail);
      insertEmail.run(
        lastSeq,
        id,
        projectSeq,
        mail.person?.seq ?? null,
        mail.messageSeq,
        mail.source,
        mail.templateId,
        mail.campaignSeq,
        mail.executionSeq,
        mail.to,
        mail.subject,
        mail.variables,
        state.status,
        mail.source === "CAMPAIGN" ? 1 : 0,
        state.attempts,
        state.nextAt,
        mail.createdAt,
        state.sentAt,
        state.deliveredAt,
        state.openedAt,
        state.clickedAt,
        state.bouncedAt,
        state.complainedAt,
        state.machineOpenedAt,
        state.machineClickedAt,
        state.lastError,
      );
      return { id, status: state.status };
    },

    /** Number of mails so far. */
    count: (): number => lastSeq,
  };
}
