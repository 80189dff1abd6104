/**
 * Leads the A/B test of a campaign from one phase to the next: TEST, until every mail of the test was
 * tried once; WAITING, until the winner is chosen; REST. Without a contact who would get the winner, REST
 * follows TEST at once, and no winner is chosen. Each step is one conditional change, so a
 * repetition after a crash changes nothing, and the winner is chosen once. A paused campaign waits in its
 * phase.
 */

import { and, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import { abTests, abVariants, campaigns } from "../../../db/schema/campaigns.ts";
import { statement } from "../../../db/statement.ts";
import { AppError, fieldError } from "../../../lib/errors.ts";
import type { DueShift } from "../../../lib/steady-clock.ts";
import { emailStore } from "../../../outbox/enqueue.ts";
import { campaignLog, noteCampaignChange } from "../log.ts";
import { sharedMessage } from "../message.ts";
import type { CampaignRow } from "../present.ts";
import { abFigures, type VariantFigures } from "./ab-report.ts";
import { type AbTestRow, findAbTest, hasAbRest, variantContent } from "./ab-tests.ts";

const MINUTE_MS = 60_000;
/**
 * This is long because no request waits for it, and the mails of a large campaign may not be in memory.
 */
const DECISION_LIMIT_MS = 120_000;

/** Part of a change: fixes the contents of the variants when sending starts. */
export function beginAbTest(app: App, campaign: CampaignRow): void {
  const test = findAbTest(app, campaign.seq);
  if (test === null) return;
  const { db, clock } = app;
  for (const variant of test.variants) {
    const content = variantContent(campaign, variant);
    const messageSeq = emailStore(app).saveMessage(sharedMessage(app, content), clock.now());
    db.update(abVariants)
      .set({ messageSeq })
      .where(and(eq(abVariants.campaignSeq, campaign.seq), eq(abVariants.id, variant.id)))
      .run();
  }
  db.update(abTests)
    .set({ phase: "TEST", hasRest: false })
    .where(eq(abTests.campaignSeq, campaign.seq))
    .run();
}

/** True if the campaign waits for no winner, so its written mails are all that it will have. */
export function isAbTestOver(app: Pick<App, "db">, campaignSeq: number): boolean {
  const test = findAbTest(app, campaignSeq);
  return test === null || test.phase === "REST";
}

const findNext = statement<{ at: number | null }, []>(
  `SELECT min(ab_tests.waits_until) AS at FROM ab_tests INDEXED BY ab_tests_waiting
   CROSS JOIN campaigns ON campaigns.seq = ab_tests.campaign_seq AND campaigns.status = 'SENDING'
   WHERE ab_tests.phase = 'WAITING'`,
);

/** The time at which the next winner is chosen by its rule; null if none is. */
export const nextDecisionAt = (app: App): number | null => findNext(app).get()?.at ?? null;

/** Part of a change, after the clock was set: a test waits as long as it was meant to. */
export function shiftDecisions({ db }: App, { byMs, after }: DueShift): void {
  db.update(abTests)
    .set({ waitsUntil: sql`${abTests.waitsUntil} + ${byMs}` })
    .where(and(eq(abTests.phase, "WAITING"), gt(abTests.waitsUntil, after)))
    .run();
}

/**
 * Takes the step that is due for a campaign that is SENDING. Resolves to whether the campaign goes on
 * now, and false if no step is due.
 */
export async function advanceAbTest(app: App, campaign: CampaignRow): Promise<boolean> {
  const test = findAbTest(app, campaign.seq);
  if (test === null || test.phase === "REST" || !isWritten(campaign)) return false;
  if (test.winnerId !== null) return await startRest(app, campaign);
  if (test.phase === "TEST") return await endTest(app, campaign, test);
  if (test.waitsUntil === null || test.waitsUntil > app.clock.now()) return false;
  return await chooseByRule(app, campaign, test);
}

const isWritten = ({ audienceCursor, audienceEnd }: CampaignRow): boolean =>
  audienceCursor !== null && audienceEnd !== null && audienceCursor >= audienceEnd;

async function endTest(app: App, campaign: CampaignRow, test: AbTestRow): Promise<boolean> {
  if (await hasUntried(app, campaign)) return false;
  const { clock, db, writer } = app;
  await writer.write(() => {
    const phase = test.hasRest && hasAbRest(test) ? "WAITING" : "REST";
    const waitsUntil =
      phase === "REST" || test.winnerBy === "MANUAL"
        ? null
        : clock.now() + test.afterMinutes * MINUTE_MS;
    db.update(abTests)
      .set({ phase, waitsUntil })
      .where(and(eq(abTests.campaignSeq, campaign.seq), eq(abTests.phase, "TEST")))
      .run();
    noteCampaignChange(app, campaign);
  });
  return true;
}

/** True if a mail was not tried yet. One that is deferred is tried again while the test waits. */
async function hasUntried({ reader }: App, { seq, projectSeq }: CampaignRow): Promise<boolean> {
  const { rows } = await reader.find(projectSeq, {
    sql: `SELECT 1 FROM emails INDEXED BY emails_campaign_queue
          WHERE campaign_seq = +? AND campaign_seq IS NOT NULL AND next_at IS NOT NULL
            AND (attempts = 0 OR status = 'SENDING') AND in_time() LIMIT 1`,
    values: [seq],
  });
  return rows.length > 0;
}

async function chooseByRule(app: App, campaign: CampaignRow, test: AbTestRow): Promise<boolean> {
  const figures = await abFigures(app, { campaign, test, limitMs: DECISION_LIMIT_MS });
  const best = bestOf(test, figures);
  const { writer } = app;
  const isChosen = await writer.write(() => {
    if (!isSending(app, campaign.seq) || !choose(app, campaign, best, "RULE")) return false;
    storeFigures(app, campaign, figures);
    moveToRest(app, campaign);
    return true;
  });
  if (isChosen) {
    campaignLog(app).info("the winner of an A/B test was chosen", {
      campaign: campaign.id,
      variant: best,
    });
  }
  return isChosen;
}

/** The variant with the highest rate; of equal ones the first. */
function bestOf({ variants }: AbTestRow, figures: readonly VariantFigures[]): string {
  let best = { id: variants[0]?.id ?? "A", rate: -1 };
  for (const { id, sent, hits } of figures) {
    const rate = sent === 0 ? 0 : hits / sent;
    if (rate > best.rate) best = { id, rate };
  }
  return best.id;
}

const findStatus = statement<{ status: string }, [number]>(
  "SELECT status FROM campaigns WHERE seq = +?",
);

const isSending = (app: App, seq: number): boolean =>
  findStatus(app).get(seq)?.status === "SENDING";

/** Part of a change: stores the winner. False if there is one already. */
function choose(
  app: App,
  campaign: CampaignRow,
  winnerId: string,
  chosenBy: "RULE" | "PERSON",
): boolean {
  const chosen = app.db
    .update(abTests)
    .set({ winnerId, chosenBy, decidedAt: app.clock.now() })
    .where(and(eq(abTests.campaignSeq, campaign.seq), isNull(abTests.winnerId)))
    .returning({ seq: abTests.campaignSeq })
    .all();
  noteCampaignChange(app, campaign);
  return chosen.length > 0;
}

/** Part of a change: the figures by which a rule has decided. */
function storeFigures(
  { db }: App,
  campaign: CampaignRow,
  figures: readonly VariantFigures[],
): void {
  for (const { id, sent, hits } of figures) {
    db.update(abVariants)
      .set({ decidedSent: sent, decidedHits: hits })
      .where(and(eq(abVariants.campaignSeq, campaign.seq), eq(abVariants.id, id)))
      .run();
  }
}

async function startRest(app: App, campaign: CampaignRow): Promise<boolean> {
  await app.writer.write(() => moveToRest(app, campaign));
  return true;
}

/** Part of a change: begins the second walk through the audience, once. */
function moveToRest(app: App, campaign: CampaignRow): void {
  const { db } = app;
  const [moved] = db
    .update(abTests)
    .set({ phase: "REST" })
    .where(
      and(
        eq(abTests.campaignSeq, campaign.seq),
        inArray(abTests.phase, ["TEST", "WAITING"]),
        sql`winner_id IS NOT NULL`,
      ),
    )
    .returning({ winnerId: abTests.winnerId })
    .all();
  if (moved === undefined) return;
  db.update(campaigns)
    .set({
      audienceCursor: 0,
      // The public page shows the content that most contacts got.
      messageSeq: sql`(SELECT v.message_seq FROM ab_variants v
                       WHERE v.campaign_seq = ${campaign.seq} AND v.id = ${moved.winnerId})`,
      updatedAt: app.clock.now(),
    })
    .where(eq(campaigns.seq, campaign.seq))
    .run();
}

/** Part of a change: a person chooses the winner, before or instead of the rule. */
export function chooseWinner(app: App, campaign: CampaignRow, variantId: string): void {
  const test = findAbTest(app, campaign.seq);
  if (test === null) throw notPossible("This campaign has no A/B test.", "Add abTest to a draft.");
  if (!test.variants.some(({ id }) => id === variantId)) {
    throw fieldError("variantId", "unknown_reference", "names no variant of this campaign");
  }
  if (test.phase === null) {
    throw notPossible("This campaign was not sent yet.", "Send it, then choose the winner.");
  }
  if (campaign.status !== "SENDING" && campaign.status !== "PAUSED") {
    throw notPossible(`This campaign is ${campaign.status}.`, "Nobody is left to get the winner.");
  }
  if (!hasAbRest(test)) {
    const suggestion = "Use a smaller share or a larger audience to keep contacts for the winner.";
    throw notPossible("All contacts of this campaign are in its A/B test.", suggestion);
  }
  if (test.winnerId === variantId) return;
  if (!choose(app, campaign, variantId, "PERSON")) {
    const message = `Variant ${test.winnerId ?? ""} was already chosen.`;
    throw notPossible(message, "A winner cannot be changed: the rest of the audience gets it.");
  }
  // While the test is still being written, the runner begins the second walk when it has ended.
  if (isWritten(campaign)) moveToRest(app, campaign);
}

const notPossible = (message: string, suggestion: string): AppError =>
  new AppError(409, "INVALID_STATE", message, { suggestion });
