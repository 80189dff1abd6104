/** The events and mails of a contact, grouped by the days of the reader's time zone. */

import type { Activity } from "../../../modules/contacts/activity-model.ts";
import type { Tone } from "../../ui/status.tsx";
import { reasonLabel } from "../suppressions/reasons.ts";
import { valueText } from "./data-values.ts";

/** One line of the timeline. The mail that it is about is `emailId`. */
export type ActivityLine = {
  key: string;
  at: string;
  tone: Tone;
  title: string;
  detail: string;
  emailId: string | null;
};

export type ActivityDay = { day: string; label: string; lines: ActivityLine[] };

const dayLabel = new Intl.DateTimeFormat(undefined, {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
});
const DAY_MS = 86_400_000;

/** Days in the order of the activities, which is newest first. */
export function daysOf(activities: readonly Activity[], nowMs: number): ActivityDay[] {
  const days: ActivityDay[] = [];
  for (const activity of activities) {
    const time = new Date(activity.createdAt);
    const day = time.toDateString();
    const last = days.at(-1);
    if (last?.day === day) last.lines.push(lineOf(activity));
    else days.push({ day, label: labelOf(time, nowMs), lines: [lineOf(activity)] });
  }
  return days;
}

function labelOf(time: Date, nowMs: number): string {
  const day = time.toDateString();
  if (day === new Date(nowMs).toDateString()) return "Today";
  if (day === new Date(nowMs - DAY_MS).toDateString()) return "Yesterday";
  return dayLabel.format(time);
}

type EventWords = readonly [tone: Tone, title: string];

const EVENTS: Readonly<Record<string, EventWords>> = {
  "contact.subscribed": ["good", "Subscribed"],
  "contact.unsubscribed": ["held", "Unsubscribed"],
  "consent.given": ["good", "Agreed"],
  "consent.confirmed": ["good", "Confirmed the consent"],
  "consent.withdrawn": ["held", "Withdrew the consent"],
  "form.submitted": ["waiting", "Sign-up form sent"],
  "form.confirmed": ["good", "Sign-up form confirmed"],
  "contact.topic_subscribed": ["good", "Joined a topic"],
  "contact.topic_unsubscribed": ["held", "Left a topic"],
  "contact.paused": ["held", "Paused marketing mail"],
  "contact.resumed": ["good", "Ended the pause"],
  "email.sent": ["good", "Mail sent"],
  "email.delivered": ["good", "Mail delivered"],
  "email.opened": ["seen", "Mail opened"],
  "email.clicked": ["acted", "Link clicked"],
  "email.bounced": ["failed", "Mail bounced"],
  "email.failed": ["failed", "Mail failed"],
  "email.complained": ["complained", "Reported as spam"],
  "email.suppressed": ["held", "Mail not sent: the address is suppressed"],
  "email.cancelled": ["waiting", "Mail cancelled"],
};

/** The member of an event's data that says how a subscription was changed. */
const VIA: Readonly<Record<string, string>> = {
  page: "On the page that a mail leads to",
  "one-click": "By the button of a mail program",
  mail: "By a mail to the unsubscribe address",
  complaint: "By a spam report",
};

/** Says how the subscription was changed; the text is empty where the event does not say it. */
export const viaWords = (data: Readonly<Record<string, unknown>> | null): string =>
  VIA[valueText(data?.["via"])] ?? "";

const SEGMENT = /^segment\.(.+)\.(entry|exit)$/;
/** Fields of an event's data that are named in its line. */
const SHOWN_FIELDS = 4;

function lineOf({ createdAt: at, event, email }: Activity): ActivityLine {
  if (email !== null) {
    const { id, subject } = email;
    return {
      key: `mail ${id}`,
      at,
      tone: "waiting",
      title: "Mail queued",
      detail: subject === "" ? "No subject" : subject,
      emailId: id,
    };
  }
  const { id = "", name = "", emailId = null, emailSubject = null } = event ?? {};
  const data = event?.data ?? {};
  const [tone, title] = wordsOf(name, data);
  const details = [emailSubject ?? "", detailOf(name, data)].filter((text) => text !== "");
  return { key: `event ${id}`, at, tone, title, detail: details.join(" · "), emailId };
}

function wordsOf(name: string, data: Readonly<Record<string, unknown>>): EventWords {
  const known = Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
  if (known !== undefined) return known;
  const [, slug = "", change] = SEGMENT.exec(name) ?? [];
  if (change === undefined) return ["waiting", name];
  const segment = valueText(data["segmentName"]) || slug;
  return change === "entry"
    ? ["good", `Entered the segment ${segment}`]
    : ["waiting", `Left the segment ${segment}`];
}

function detailOf(name: string, data: Readonly<Record<string, unknown>>): string {
  if (SEGMENT.test(name)) return "";
  if (name.startsWith("contact.")) {
    return [valueText(data["topicName"]), viaWords(data)].filter((text) => text !== "").join(" · ");
  }
  if (name.startsWith("form.")) return formDetail(data);
  if (name.startsWith("consent.")) return ""; // The card of consents has the wording.
  if (name === "email.clicked") return valueText(data["url"]);
  if (name === "email.suppressed") return reasonLabel(valueText(data["reason"]));
  if (name.startsWith("email.")) return valueText(data["reason"] ?? data["error"]);
  return fieldsText(data);
}

function fieldsText(data: object): string {
  const fields = Object.entries(data).slice(0, SHOWN_FIELDS);
  return fields.map(([key, value]) => `${valueText(key)}: ${valueText(value)}`).join(" · ");
}

/** The name of the form, the topics by their names, and the values that the person has entered. */
function formDetail({ formName, topicNames, fields }: Readonly<Record<string, unknown>>): string {
  const topics = Array.isArray(topicNames) ? topicNames.map(valueText).join(", ") : "";
  const entered = typeof fields === "object" && fields !== null ? fieldsText(fields) : "";
  return [valueText(formName), topics, entered].filter((text) => text !== "").join(" · ");
}
