/** Finds out why mail does not reach a contact, from the data of the server about it. */

import type { Contact } from "../../../modules/contacts/model.ts";
import type { Email, EmailWait } from "../../../modules/emails/record-model.ts";
import type { Event } from "../../../modules/events/model.ts";
import type { Suppression } from "../../../modules/suppressions.ts";
import { adviceFor, explainClass } from "../../ui/message/explain.ts";
import { waitWords } from "../../ui/message/wait-texts.ts";
import { sentence, withEnd } from "../../ui/sentence.ts";
import type { Tone } from "../../ui/status.tsx";
import { REASONS } from "../suppressions/reasons.ts";
import { viaWords } from "./timeline-days.ts";

export type Obstacle = {
  key: string;
  tone: Tone;
  title: string;
  /** The time since when it is so, or when it happened; null if that is not known. */
  since: string | null;
  /** The time when it ends by itself, or when mail is tried again; null if that is not known. */
  until: string | null;
  /** Words for the event at that time. */
  untilLabel: string;
  /** The reason and the remedy, one paragraph each. */
  texts: string[];
  link: { label: string; path: string } | null;
};

type Known = {
  isProjectEnabled: boolean;
  contact: Pick<Contact, "email" | "subscribed" | "pausedUntil">;
  nowMs: number;
  suppression: Suppression | null;
  /** The latest change of the subscription; null if none is recorded. */
  lastChange: Pick<Event, "name" | "data" | "createdAt"> | null;
  /** The last mail to the contact that has ended; null if none has. */
  last: Email | null;
  /** The mails to the contact that wait. */
  waiting: readonly Email[];
};

/** The obstacles to all mail come first. Links have paths below the project. */
export function obstaclesOf(known: Known): Obstacle[] {
  const { contact, suppression, lastChange, last, waiting } = known;
  const unsubscription = contact.subscribed ? null : unsubscribed(known);
  // A contact that unsubscribed has made a decision; other contacts were never subscribed.
  const isChosen = lastChange?.name === "contact.unsubscribed";
  return [
    known.isProjectEnabled ? null : PROJECT_DISABLED,
    suppression === null ? null : suppressed(suppression),
    isChosen ? unsubscription : null,
    contact.subscribed ? paused(known) : null,
    lastFailure(last, suppression),
    ...waitingMails(waiting.filter(({ wait }) => wait?.cause !== "PROJECT_DISABLED")),
    isChosen ? null : unsubscription,
  ].filter((obstacle) => obstacle !== null);
}

/** Told once for the project, not for the mails that wait. */
const PROJECT_DISABLED: Obstacle = {
  key: "project",
  tone: "held",
  title: "The project is disabled, so no mail is sent to anybody.",
  since: null,
  until: null,
  untilLabel: "",
  texts: ["Mail that was accepted waits. An owner enables the project again in its settings."],
  link: null,
};

function suppressed({ email, reason, createdAt, expiresAt, cause }: Suppression): Obstacle {
  const words = cause?.reason ?? "";
  return {
    key: "suppressed",
    tone: "held",
    title: "The address is suppressed, so no mail is sent to it.",
    since: createdAt,
    until: expiresAt,
    untilLabel: "Ends",
    texts: [
      `${REASONS[reason].meaning}${words === "" ? "" : ` Answer: ${withEnd(words)}`}`,
      NEXT_STEPS[reason],
    ],
    link: {
      label: "Open the suppression",
      path: `/suppressions?address=${encodeURIComponent(email)}`,
    },
  };
}

const NEXT_STEPS: Readonly<Record<Suppression["reason"], string>> = {
  HARD_BOUNCE:
    "Ask the person for the right address. Remove the suppression only if the mailbox exists now.",
  SOFT_BOUNCE: "The suppression ends by itself, and mail is sent again.",
  COMPLAINT: "Remove the suppression only if the person asked you for mail again.",
  MANUAL: "Remove the suppression if mail is to be sent to the address again.",
};

function unsubscribed({ lastChange, suppression }: Known): Obstacle {
  const isRecorded = lastChange?.name === "contact.unsubscribed";
  const via = isRecorded ? viaWords(lastChange.data) : "";
  const texts = [
    isRecorded
      ? ""
      : "No change is recorded. Contacts that a transactional mail creates are not subscribed.",
    via === "" ? "" : sentence(via),
    suppression === null ? "Transactional mail is still sent." : "",
    `Subscribe the contact ${isRecorded ? "again " : ""}only if the person asks for it.`,
  ];
  return {
    key: "unsubscribed",
    tone: isRecorded ? "held" : "waiting",
    title: `The contact is ${isRecorded ? "unsubscribed" : "not subscribed"}, so it gets no campaigns and no other marketing mail.`,
    since: isRecorded ? lastChange.createdAt : null,
    until: null,
    untilLabel: "",
    texts: texts.filter((text) => text !== ""),
    link: null,
  };
}

function paused({ contact: { pausedUntil }, nowMs }: Known): Obstacle | null {
  if (pausedUntil === undefined || Date.parse(pausedUntil) <= nowMs) return null;
  return {
    key: "paused",
    tone: "held",
    title: "The contact has paused, so it gets no campaigns and no other marketing mail.",
    since: null,
    until: pausedUntil,
    untilLabel: "Ends",
    texts: ["Transactional mail is still sent. A campaign of this time is not sent later."],
    link: null,
  };
}

/** The time when a mail server accepted the last mail; null if it was not sent or was returned. */
export const lastAcceptance = (last: Email | null): string | null =>
  last === null || last.status === "BOUNCED" ? null : last.sentAt;

/** The last mail, if it failed and the suppression does not name it as its cause. */
function lastFailure(last: Email | null, suppression: Suppression | null): Obstacle | null {
  if (last === null || suppression?.cause?.emailId === last.id) return null;
  const { id, status, reports, attempts, lastError, bouncedAt, subject } = last;
  if (status !== "BOUNCED" && status !== "FAILED") return null;
  const cause = reports.at(-1)?.class ?? attempts.at(-1)?.class;
  const reply = reports.at(-1)?.reason ?? lastError ?? "";
  const explained = cause === undefined ? null : explainClass(cause);
  return {
    key: "failed",
    tone: "failed",
    title: `The last mail ${status === "BOUNCED" ? "bounced" : "could not be sent"}: ${subject}`,
    since: bouncedAt ?? attempts.at(-1)?.startedAt ?? null,
    until: null,
    untilLabel: "",
    texts: [
      [explained?.text ?? "", reply === "" ? "" : `Answer: ${withEnd(reply)}`]
        .filter((text) => text !== "")
        .join(" "),
      adviceFor(cause ?? ""),
    ].filter((text) => text !== ""),
    link: { label: "Open the mail", path: `/emails/${id}?tab=transcript` },
  };
}

/** One obstacle for all mails that wait for the same reason. */
function waitingMails(waiting: readonly Email[]): Obstacle[] {
  const groups = new Map<string, { wait: EmailWait; mails: Email[] }>();
  for (const email of waiting) {
    const { wait } = email;
    if (wait === null) continue;
    const key = `${wait.cause} ${wait.name ?? ""}`;
    const group = groups.get(key) ?? { wait, mails: [] };
    groups.set(key, group);
    group.mails.push(email);
  }
  return [...groups].map(([key, { wait, mails }]) => {
    const { waits, text } = waitWords(wait);
    const [only] = mails;
    const subject = mails.length === 1 ? only?.subject : undefined;
    return {
      key,
      tone: wait.cause === "QUEUE" ? "waiting" : "held",
      title: `${mails.length === 1 ? "1 mail waits" : `${mails.length} mails wait`} ${waits}.`,
      since: null,
      until: wait.cause === "QUEUE" ? null : wait.until,
      untilLabel: "Next attempt",
      texts: [
        wait.cause === "RETRY" ? `Answer: ${withEnd(wait.reason ?? "")}` : "",
        text,
        subject === undefined || subject === "" ? "" : `Subject: ${subject}`,
      ].filter((each) => each !== ""),
      link: only === undefined ? null : { label: "Open the mail", path: `/emails/${only.id}` },
    };
  });
}
