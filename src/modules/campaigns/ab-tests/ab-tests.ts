/**
 * A/B tests of campaigns: two to four variants go to a share of the audience, and the rest gets the
 * one that wins. In order: a request stores the test with its campaign (ab-drafts.ts); when sending
 * starts, the contents of all variants are fixed. The audience is walked once for the test: each
 * contact is in a group (ab-groups.ts), and those of a variant get its mail (expand.ts). When every
 * mail of the test was tried, the test waits, and then the winner is chosen once (ab-progress.ts). The
 * audience is walked again for those who are in no group yet, and they get the winner. If the first walk
 * found no such contact, the test ends without a winner. The figures of the variants, and the
 * verdict about them, are read at any time (ab-report.ts, ab-verdict.ts).
 */

import { eq, sql } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import { abTests, abVariants, type campaigns } from "../../../db/schema/campaigns.ts";
import { isoTimeOrNull } from "../../../lib/clock.ts";
import { fieldError } from "../../../lib/errors.ts";
import type { AbPlan } from "./ab-groups.ts";
import { type AbTest, type AbTestState, VARIANT_IDS } from "./ab-model.ts";

type Campaign = typeof campaigns.$inferSelect;
type AbVariantRow = typeof abVariants.$inferSelect;
/** A test with its variants in their order. */
export type AbTestRow = typeof abTests.$inferSelect & { variants: readonly AbVariantRow[] };

/** Null if the campaign has no A/B test. */
export function findAbTest({ db }: Pick<App, "db">, campaignSeq: number): AbTestRow | null {
  const test = db.select().from(abTests).where(eq(abTests.campaignSeq, campaignSeq)).limit(1).get();
  if (test === undefined) return null;
  const variants = db
    .select()
    .from(abVariants)
    .where(eq(abVariants.campaignSeq, campaignSeq))
    .orderBy(sql`id`)
    .all();
  return { ...test, variants };
}

export const abPlan = ({ share, holdOut, variants }: AbTestRow): AbPlan => ({
  share,
  holdOut,
  variantIds: variants.map(({ id }) => id),
});

/**
 * True if contacts remain who are neither in the test nor held out. Until the test has ended, only its
 * percents tell.
 */
export function hasAbRest({ share, holdOut, phase, hasRest }: AbTestRow): boolean {
  if (share + holdOut >= 100) return false;
  return phase === null || phase === "TEST" || hasRest;
}

/** The campaign with the content of a variant. */
export function variantContent(campaign: Campaign, variant: AbVariantRow): Campaign {
  const { subject, preheader, from, fromName, replyTo, body, format, design, layoutId } = variant;
  return {
    ...campaign,
    subject: subject ?? campaign.subject,
    preheader: preheader ?? campaign.preheader,
    from: from ?? campaign.from,
    fromName: fromName ?? campaign.fromName,
    replyTo: replyTo ?? campaign.replyTo,
    ...(body === null ? {} : { body, format, design, layoutId }),
    messageSeq: variant.messageSeq,
  };
}

/** The campaign as a preview, a test mail or a rehearsal shows it. Throws 422 for an unknown variant. */
export function contentToShow(
  app: Pick<App, "db">,
  campaign: Campaign,
  variantId: string | undefined,
): Campaign {
  if (variantId === undefined) return campaign;
  const variants = findAbTest(app, campaign.seq)?.variants ?? [];
  const variant = variants.find(({ id }) => id === variantId);
  if (variant !== undefined) return variantContent(campaign, variant);
  throw fieldError("variantId", "unknown_reference", "names no variant of this campaign");
}

/** The campaign with the content of its winner; the campaign itself until there is one. */
export function winnerContent(app: Pick<App, "db">, campaign: Campaign): Campaign {
  const test = findAbTest(app, campaign.seq);
  const winner = test?.variants.find(({ id }) => id === test.winnerId);
  return winner === undefined ? campaign : variantContent(campaign, winner);
}

/** The addresses from which mails of the campaign may still have to be sent. */
export function abSenders(app: Pick<App, "db">, campaign: Campaign): readonly string[] {
  const test = findAbTest(app, campaign.seq);
  if (test === null) return [campaign.from];
  if (test.phase === "REST" && hasAbRest(test)) return [winnerContent(app, campaign).from];
  return test.variants.map((variant) => variantContent(campaign, variant).from);
}

const idOf = (id: string | null) => VARIANT_IDS.find((each) => each === id) ?? null;

function parsedJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}

function presentVariant(variant: AbVariantRow): AbTest["variants"][number] {
  const { id, name, subject, preheader, from, fromName, replyTo, body, format, design } = variant;
  return {
    id: idOf(id) ?? "A",
    name,
    subject,
    preheader,
    from,
    fromName,
    replyTo,
    body,
    format: body === null ? null : format,
    layoutId: variant.layoutId,
    templateId: variant.templateId,
    design: design === null ? null : parsedJson(design),
  };
}

export function presentAbTest(test: AbTestRow | null): AbTest | null {
  if (test === null) return null;
  const { share, holdOut, winnerBy, eventName, afterMinutes } = test;
  const winner = { by: winnerBy, eventName, afterMinutes };
  return { variants: test.variants.map(presentVariant), share, holdOut, winner };
}

export function presentAbState(
  test: Omit<AbTestRow, "variants"> | null | undefined,
): AbTestState | null {
  if (test === null || test === undefined || test.phase === null) return null;
  const { phase, waitsUntil, winnerId, chosenBy, decidedAt } = test;
  return {
    phase,
    waitsUntil: phase === "WAITING" ? isoTimeOrNull(waitsUntil) : null,
    winnerId: idOf(winnerId),
    chosenBy,
    decidedAt: isoTimeOrNull(decidedAt),
  };
}
