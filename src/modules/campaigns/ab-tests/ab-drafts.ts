/** Stores the A/B test of a campaign that is not sent yet, and checks it before the campaign starts. */

import { eq } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import { abTests, abVariants } from "../../../db/schema/campaigns.ts";
import { projects } from "../../../db/schema/projects.ts";
import { normalizedAddress } from "../../../http/formats.ts";
import { AppError, fieldError, type FieldError, validationError } from "../../../lib/errors.ts";
import { trimmedEventName } from "../../../lib/event-name.ts";
import { ensureTemplates } from "../../content-work/content-work.ts";
import { layoutIn } from "../../layouts.ts";
import { optionalContent } from "../../templates/given-content.ts";
import { RECIPIENT_ZONE } from "../local-times.ts";
import { bodyFault, sharedMessage } from "../message.ts";
import type { Content } from "../columns.ts";
import type { CampaignRow } from "../present.ts";
import { requireVerifiedSender } from "../sending-rules.ts";
import { templateColumns } from "../template-content.ts";
import {
  type AbTestInput,
  type AbVariantInput,
  DEFAULT_AFTER_MINUTES,
  VARIANT_IDS,
} from "./ab-model.ts";
import { type AbTestRow, findAbTest, variantContent } from "./ab-tests.ts";

/** Throws 422 for the large templates of variants that cannot be compiled. */
export async function ensureAbTemplates(
  app: App,
  projectSeq: number,
  { abTest }: { abTest?: AbTestInput | null | undefined },
  isLenient: boolean,
): Promise<void> {
  for (const [place, { subject, body }] of (abTest?.variants ?? []).entries()) {
    const sources = { subject: subject ?? undefined, body: body ?? undefined };
    await atVariant(place, () => ensureTemplates(app, projectSeq, sources, isLenient));
  }
}

/** Runs a check of one variant, whose errors name the fields of the variant. */
async function atVariant(place: number, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (!(error instanceof AppError) || error.errors === undefined) throw error;
    throw validationError(error.errors.map((each) => inVariant(place, each)));
  }
}

const inVariant = (place: number, error: FieldError): FieldError => ({
  ...error,
  field: `abTest.variants.${place}.${error.field}`,
});

/** Part of a change: replaces the A/B test of a campaign; null removes it. */
export function storeAbTest(app: App, campaign: CampaignRow, input: AbTestInput | null): void {
  const { db } = app;
  const { seq: campaignSeq, projectSeq } = campaign;
  db.delete(abVariants).where(eq(abVariants.campaignSeq, campaignSeq)).run();
  db.delete(abTests).where(eq(abTests.campaignSeq, campaignSeq)).run();
  if (input === null) return;
  const { share, holdOut = 0, winner } = input;
  const eventName = winner.eventName ? trimmedEventName(winner.eventName) : null;
  const { afterMinutes = DEFAULT_AFTER_MINUTES } = winner;
  db.insert(abTests)
    .values({ campaignSeq, share, holdOut, winnerBy: winner.by, eventName, afterMinutes })
    .run();
  for (const [place, variant] of input.variants.entries()) {
    const id = VARIANT_IDS[place];
    if (id === undefined) throw new Error("a test with more variants than ids");
    const columns = named(place, () => variantColumns(app, projectSeq, variant));
    db.insert(abVariants)
      .values({ ...columns, campaignSeq, id })
      .run();
  }
}

/** Calls `find`; errors that it throws name the fields of the variant. */
function named<T>(place: number, find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof AppError) || error.errors === undefined) throw error;
    throw validationError(error.errors.map((each) => inVariant(place, each)));
  }
}

/** Fields that the request leaves out come from its template. */
function variantColumns(app: App, projectSeq: number, variant: AbVariantInput) {
  const { templateId = null } = variant;
  const template: Partial<Content> = templateColumns(app, projectSeq, { templateId });
  const {
    name,
    subject = template.subject,
    body = template.body,
    preheader = template.preheader,
  } = variant;
  const {
    from = template.from,
    fromName = template.fromName,
    replyTo = template.replyTo,
  } = variant;
  if (from) requireVerifiedSender(app, projectSeq, from);
  const names = optionalContent({
    from: from ?? null,
    ...(fromName ? { fromName } : {}),
    replyTo: replyTo ?? null,
  });
  return {
    name: name || null,
    subject: subject || null,
    preheader: preheader || null,
    from: from ? normalizedAddress(from) : null,
    fromName: names.fromName || null,
    replyTo: names.replyTo || null,
    templateId,
    ...(body ? bodyColumns(app, projectSeq, { body, ...contentParts(variant, template) }) : {}),
  };
}

/** A design and a layout belong to one body, so they come from where the body comes from. */
function contentParts(
  { body, format, design, layoutId }: AbVariantInput,
  template: Partial<Content>,
) {
  const { format: ofTemplate, design: itsDesign = null, layoutId: itsLayout = null } = template;
  return body
    ? {
        format: format ?? "CODE",
        design: design ? JSON.stringify(design) : null,
        layoutId: layoutId ?? null,
      }
    : { format: ofTemplate ?? "CODE", design: itsDesign, layoutId: itsLayout };
}

function bodyColumns<C extends { layoutId: string | null }>(
  app: App,
  projectSeq: number,
  columns: C,
): C {
  if (columns.layoutId !== null) layoutIn(app, projectSeq, columns.layoutId);
  return columns;
}

/** Part of a change: gives a copy of a campaign the same A/B test, which has not started. */
export function copyAbTest({ db }: App, from: CampaignRow, to: CampaignRow): void {
  const test = findAbTest({ db }, from.seq);
  if (test === null) return;
  const { share, holdOut, winnerBy, eventName, afterMinutes } = test;
  const campaignSeq = to.seq;
  db.insert(abTests)
    .values({ campaignSeq, share, holdOut, winnerBy, eventName, afterMinutes })
    .run();
  for (const variant of test.variants) {
    db.insert(abVariants)
      .values({ ...variant, campaignSeq, messageSeq: null, decidedSent: null, decidedHits: null })
      .run();
  }
}

/** Throws 422 if the test cannot be sent as it is, or 403 for a sender that is not verified. */
export function requireSendableAbTest(app: App, campaign: CampaignRow): void {
  const test = findAbTest(app, campaign.seq);
  if (test === null) return;
  requireTracking(app, campaign, test);
  const contents = test.variants.map((variant) => variantContent(campaign, variant));
  for (const [place, content] of contents.entries()) {
    requireVerifiedSender(app, campaign.projectSeq, content.from);
    const fault = bodyFault(app, content);
    if (fault !== null) throw fieldError(`abTest.variants.${place}.body`, "too_big", fault);
  }
  requireDifferent(contents.map((content) => textOf(app, content)));
}

const textOf = (app: App, content: CampaignRow): string =>
  JSON.stringify([content.subject, sharedMessage(app, content)]);

function requireDifferent(texts: readonly string[]): void {
  for (const [place, text] of texts.entries()) {
    const first = texts.indexOf(text);
    if (first === place) continue;
    const message = `has the same content as variant ${VARIANT_IDS[first]}: change what is compared`;
    throw fieldError(`abTest.variants.${place}`, "invalid_value", message);
  }
}

/** Without tracking there are no opens and clicks that could decide. */
function requireTracking(
  { db }: App,
  { projectSeq, category }: CampaignRow,
  test: AbTestRow,
): void {
  if (test.winnerBy !== "OPENS" && test.winnerBy !== "CLICKS") return;
  const match = eq(projects.seq, projectSeq);
  const row = db.select({ tracking: projects.tracking }).from(projects).where(match).get();
  const isTracked =
    row?.tracking === "ENABLED" || (row?.tracking !== "DISABLED" && category === "MARKETING");
  if (isTracked) return;
  const message = "must be EVENT or MANUAL: opens and clicks of this campaign are not tracked";
  throw fieldError("abTest.winner.by", "invalid_value", message);
}

/** Throws 422 for a test whose mails would leave at different times for different contacts. */
export function refuseLocalTimes(app: App, campaign: CampaignRow, timeZone: string | null): void {
  if (timeZone !== RECIPIENT_ZONE || findAbTest(app, campaign.seq) === null) return;
  const message =
    "must not be RECIPIENT for a campaign with an A/B test, whose mails leave together";
  throw fieldError("timeZone", "invalid_value", message);
}
