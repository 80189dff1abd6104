/**
 * The A/B test of a draft: its groups in numbers, its changes, and the parts that are missing. Pure.
 */

import type { AbTest } from "../../../../modules/campaigns/ab-tests/ab-model.ts";
import type { AudienceBreakdown } from "../../../../modules/campaigns/audience-model.ts";
import { counted } from "../numbers.ts";

export type Variant = AbTest["variants"][number];
export type Winner = AbTest["winner"];

const IDS = ["A", "B", "C", "D"] as const;
export const MOST_VARIANTS = IDS.length;

const NEW_VARIANT: Variant = {
  id: "A",
  name: null,
  subject: null,
  preheader: null,
  from: null,
  fromName: null,
  replyTo: null,
  body: null,
  format: null,
  design: null,
  layoutId: null,
  templateId: null,
};

const inOrder = (variants: readonly Variant[]): Variant[] =>
  variants.flatMap((variant, place) => {
    const id = IDS[place];
    return id === undefined ? [] : [{ ...variant, id }];
  });

/** The test that "Add an A/B test" makes. */
export const newAbTest = (): AbTest => ({
  variants: inOrder([NEW_VARIANT, NEW_VARIANT]),
  share: 20,
  holdOut: 0,
  winner: { by: "CLICKS", eventName: null, afterMinutes: 240 },
});

export const withVariant = (test: AbTest): AbTest => ({
  ...test,
  variants: inOrder([...test.variants, NEW_VARIANT]),
});

export const withoutVariant = (test: AbTest, id: string): AbTest => ({
  ...test,
  variants: inOrder(test.variants.filter((variant) => variant.id !== id)),
});

export const changedVariant = (test: AbTest, id: string, fields: Partial<Variant>): AbTest => ({
  ...test,
  variants: test.variants.map((variant) =>
    variant.id === id ? { ...variant, ...fields } : variant,
  ),
});

/** The share, and the contacts held out as far as both fit. */
export const withShare = (test: AbTest, share: number): AbTest => ({
  ...test,
  share,
  holdOut: Math.min(test.holdOut, 100 - share),
});

export type Group = { key: string; label: string; percent: number; count: number | null };

/** The groups of the audience; the numbers are null while the recipients are not counted. */
export function audienceGroups(test: AbTest, recipients: number | undefined): Group[] {
  const { share, holdOut, variants } = test;
  const group = (key: string, label: string, percent: number): Group => ({
    key,
    label,
    percent,
    count: recipients === undefined ? null : Math.round((recipients * percent) / 100),
  });
  const rest = 100 - share - holdOut;
  return [
    ...variants.map(({ id }) => group(id, `Variant ${id}`, share / variants.length)),
    ...(rest > 0 ? [group("REST", "The winner", rest)] : []),
    ...(holdOut > 0 ? [group("HOLD_OUT", "Nothing", holdOut)] : []),
  ];
}

/** The number of recipients who are held out, on average. The server counts in the same way. */
export const heldOutOf = (recipients: number, test: Pick<AbTest, "holdOut"> | null): number =>
  test === null ? 0 : Math.round((recipients * test.holdOut) / 100);

/**
 * The count of the recipients without the contacts who are held out. These are chosen at random, so
 * the count is not exact.
 */
export function withoutHeldOut(count: AudienceBreakdown, test: AbTest | null): AudienceBreakdown {
  const heldOut = heldOutOf(count.recipients, test);
  if (heldOut === 0) return count;
  return { ...count, recipients: count.recipients - heldOut, isExact: false };
}

/** The fields in which a variant differs, in words. */
export function differences(variant: Variant): string[] {
  const names = {
    subject: "subject",
    preheader: "preheader",
    from: "sender",
    fromName: "sender's name",
    replyTo: "address for replies",
    body: "body",
  } as const;
  const different = Object.entries(names).filter(
    ([field]) => (Reflect.get(variant, field) ?? null) !== null,
  );
  return different.map(([, name]) => name);
}

/** Fewer people than this say little about a rate. */
const FEW = 100;

/** The state of the test's settings: complete, a setting that is missing, or a warning. */
export function abState(
  test: AbTest | null,
  { recipients, isLocalTime }: { recipients: number | undefined; isLocalTime: boolean },
): { status: "DONE" | "OPEN" | "WARNING"; text: string } {
  if (test === null) return { status: "DONE", text: "None" };
  const same = test.variants.slice(1).find((variant) => differences(variant).length === 0);
  if (same !== undefined) return { status: "OPEN", text: `Write what is different in ${same.id}` };
  if (isLocalTime) return { status: "OPEN", text: "Not possible at each contact's own time" };
  const each = audienceGroups(test, recipients)[0]?.count ?? null;
  const text = `${counted(test.variants.length, "variant")} to ${test.share} %`;
  if (each !== null && each < FEW) {
    return { status: "WARNING", text: `${text}, about ${counted(each, "contact")} each` };
  }
  return { status: "DONE", text };
}

const RULES: Readonly<Record<Winner["by"], string>> = {
  OPENS: "most opens",
  CLICKS: "most clicks",
  EVENT: "the event",
  MANUAL: "your choice",
};

export const AFTER_CHOICES = [
  { value: "15", label: "15 minutes" },
  { value: "60", label: "1 hour" },
  { value: "120", label: "2 hours" },
  { value: "240", label: "4 hours" },
  { value: "480", label: "8 hours" },
  { value: "1440", label: "1 day" },
  { value: "2880", label: "2 days" },
  { value: "4320", label: "3 days" },
  { value: "10080", label: "7 days" },
];

export function afterText(minutes: number): string {
  const known = AFTER_CHOICES.find(({ value }) => value === String(minutes));
  if (known !== undefined) return known.label;
  return minutes % 60 === 0 ? counted(minutes / 60, "hour") : counted(minutes, "minute");
}

/** "most clicks after 4 hours" */
export function ruleText({ by, eventName, afterMinutes }: Winner): string {
  if (by === "MANUAL") return "your choice";
  const what = by === "EVENT" ? `most contacts with ${eventName ?? "the event"}` : RULES[by];
  return `${what} after ${afterText(afterMinutes)}`;
}
