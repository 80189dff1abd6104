/** The six sections of a draft, and the missing values of each. Pure. */

import type { AudienceBreakdown } from "../../../../modules/campaigns/audience-model.ts";
import type { EmailChecks } from "../../../../modules/emails/content/model.ts";
import type { TemplateDraftPreview } from "../../../../modules/template-editor/draft-model.ts";
import { counted } from "../numbers.ts";
import type { CampaignSource } from "./campaign-source.ts";

export const SECTIONS = [
  { key: "audience", title: "Audience" },
  { key: "sender", title: "Sender" },
  { key: "content", title: "Content" },
  { key: "ab", title: "A/B test" },
  { key: "checks", title: "Checks" },
  { key: "when", title: "When" },
] as const;
export type SectionKey = (typeof SECTIONS)[number]["key"];

/**
 * OPEN: the campaign cannot be sent before. WARNING: it can be sent. WAITING: the state is not
 * known yet.
 */
export type SectionState = { status: "DONE" | "OPEN" | "WARNING" | "WAITING"; text: string };
export type SectionStates = Readonly<Record<SectionKey, SectionState>>;

const done = (text: string): SectionState => ({ status: "DONE", text });
const open = (text: string): SectionState => ({ status: "OPEN", text });
const waiting = (text: string): SectionState => ({ status: "WAITING", text });

export type Audience = {
  /** The reason why the page has no audience to save yet; null if it has one. */
  incomplete: string | null;
  count: AudienceBreakdown | undefined;
  isFailed: boolean;
};

export function audienceState({ incomplete, count, isFailed }: Audience): SectionState {
  if (incomplete !== null) return open(incomplete);
  if (count === undefined) return isFailed ? open("Cannot be counted") : waiting("Counting…");
  if (count.recipients === 0) return open("Nobody would get it");
  return done(`${count.isExact ? "" : "About "}${counted(count.recipients, "recipient")}`);
}

type Sender = Pick<CampaignSource, "from" | "fromName">;

/** `unverified` is the domain of the sender if it must be verified and is not. */
export function senderState({ from, fromName }: Sender, unverified: string | null): SectionState {
  if (from === "") return open("Needs an address");
  if (unverified !== null) return open(`${unverified} is not verified`);
  return done(fromName === null ? from : `${fromName} <${from}>`);
}

type Fault = TemplateDraftPreview["errors"][number];

/** The faults of the written values; a new draft has no faults because it is empty. */
export const writtenFaults = (
  { subject, body }: Pick<CampaignSource, "subject" | "body">,
  faults: readonly Fault[],
): Fault[] =>
  faults.filter(
    ({ field }) => !(field === "subject" && subject === "") && !(field === "body" && body === ""),
  );

/** `hasWords` is false for a body of blocks without text and images. */
export function contentState(
  { subject, body }: Pick<CampaignSource, "subject" | "body">,
  { faults, hasWords }: { faults: number; hasWords: boolean },
): SectionState {
  if (faults > 0) return open(`${counted(faults, "fault")} to mend`);
  const isEmpty = body === "" || !hasWords;
  const missing = [...(subject === "" ? ["a subject"] : []), ...(isEmpty ? ["a body"] : [])];
  return missing.length === 0 ? done(subject) : open(`Needs ${missing.join(" and ")}`);
}

export function checksState(
  content: SectionState,
  checks: Pick<EmailChecks, "findings"> | undefined,
): SectionState {
  if (content.status !== "DONE") return waiting("After the content");
  if (checks === undefined) return waiting("Checking…");
  const count = (status: string) => checks.findings.filter((each) => each.status === status).length;
  const [errors, warnings] = [count("ERROR"), count("WARNING")];
  if (errors + warnings === 0) return done("All passed");
  const found = [
    ...(errors > 0 ? [counted(errors, "error")] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
  ];
  return { status: "WARNING", text: found.join(", ") };
}

/** The sections without which the campaign cannot be sent. */
export const openSections = (states: SectionStates) =>
  SECTIONS.filter(({ key }) => states[key].status === "OPEN");

/** Before a campaign is sent to this many recipients or more, their number is typed. */
const TYPED_FROM = 1_001;

export const mustType = (recipients: number): boolean => recipients >= TYPED_FROM;

/** True if the typed number is that of the recipients; separators may be as the page shows them. */
export const isTyped = (typed: string, recipients: number): boolean =>
  typed.replaceAll(/[\s.,'’]/g, "") === String(recipients);

/** Fields of conditions whose values change when a mail is sent, opened or clicked. */
const MAIL_FIELD = /"field":"(?:campaign|template|link|email)\./;

/** True if opens and clicks change the audience, as that of a follow-up. */
export const dependsOnMails = ({
  audienceType,
  audienceFilter,
}: Pick<CampaignSource, "audienceType" | "audienceFilter">): boolean =>
  audienceType === "FILTERED" && MAIL_FIELD.test(JSON.stringify(audienceFilter));
