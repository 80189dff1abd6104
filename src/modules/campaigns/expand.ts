/**
 * Writes one mail for each contact in the audience of a campaign, a slice at a time. The condition,
 * the time that its relative times count from, and the newest contact are fixed when the campaign
 * starts; each contact is evaluated when its slice is read. The cursor is committed together with
 * the rows before it, so a process that crashed continues at the next slice, and the unique index
 * on campaign and contact makes any repetition harmless. The first mails leave while the rest of
 * the audience is still being written. The audience of an A/B test is written in two walks.
 */

import { and, eq, inArray, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import type { Writer } from "../../db/writer.ts";
import { systemClock } from "../../lib/clock.ts";
import { emailStore, wakeSending } from "../../outbox/enqueue.ts";
import { segmentService } from "../segments/service.ts";
import { type AbMails, abMails } from "./ab-tests/ab-mails.ts";
import { type AbTestRow, findAbTest } from "./ab-tests/ab-tests.ts";
import { campaignAudience } from "./audience.ts";
import { dueGroups } from "./local-times.ts";
import { storedMessage } from "./message.ts";
import type { CampaignRow } from "./present.ts";
import { perApp } from "../../lib/per-app.ts";

/** Rows written in one change: a few milliseconds of work. */
const SLICE = 250;
const MOST_PENDING = 3;
/** Delay after a slice if others wrote meanwhile: mails need only be written faster than sent. */
const REST_MS = 15;

/** Number of recipients written, and how long the database worked on them, in milliseconds. */
type Written = { recipients: number; workMs: number };

/** `goesOn` is false if the campaign was cancelled. */
type Slice = { goesOn: boolean; inserted: number };

/** One walk through the audience. That of an A/B test is walked twice. */
type Walk = { campaign: CampaignRow; test: AbTestRow | null };

/** Numbers of rows; `suppressed` is a part of `inserted`. */
type Inserted = { inserted: number; suppressed: number };

export const campaignExpansion = perApp(createExpansion);

function createExpansion(app: App) {
  const { db, writer, clock } = app;
  const audience = campaignAudience(app);
  const store = emailStore(app);

  /** Part of a change: writes one slice. */
  function writeSlice({ campaign, test }: Walk, seqs: readonly number[], cursor: number): Slice {
    if (!moveCursor(campaign, cursor)) return { goesOn: false, inserted: 0 };
    const inserted = insertMails({ campaign, test }, seqs);
    countRecipients(campaign, inserted);
    wakeSending(app);
    return { goesOn: true, inserted: inserted.inserted };
  }

  /** False if the campaign was cancelled. */
  function moveCursor(campaign: CampaignRow, cursor: number): boolean {
    const [moved] = db
      .update(campaigns)
      .set({ audienceCursor: cursor })
      .where(and(eq(campaigns.seq, campaign.seq), inArray(campaigns.status, ["SENDING", "PAUSED"])))
      .returning({ seq: campaigns.seq })
      .all();
    return moved !== undefined;
  }

  function insertMails({ campaign, test }: Walk, seqs: readonly number[]): Inserted {
    const sum: Inserted = { inserted: 0, suppressed: 0 };
    if (seqs.length === 0) return sum;
    const mails: AbMails[] =
      test === null
        ? [{ content: campaign, variant: null, contactSeqs: seqs }]
        : abMails(app, { campaign, test }, seqs);
    const now = clock.now();
    for (const { content, variant, contactSeqs } of mails) {
      const shared = { campaign: content, messageSeq: storedMessage(app, store, content), variant };
      for (const group of dueGroups(app, content, contactSeqs)) {
        const found = store.insertCampaignEmails({ ...shared, ...group, now });
        sum.inserted += found.inserted;
        sum.suppressed += found.suppressed;
      }
    }
    return sum;
  }

  function countRecipients(campaign: CampaignRow, { inserted, suppressed }: Inserted): void {
    db.update(campaignCounts)
      .set({
        totalRecipients: sql`total_recipients + ${inserted}`,
        suppressed: sql`suppressed + ${suppressed}`,
      })
      .where(eq(campaignCounts.campaignSeq, campaign.seq))
      .run();
  }

  /** The contacts of the audience after `from` and up to `end`, in slices. */
  async function* slicesOf(
    campaign: CampaignRow,
    { from, end }: { from: number; end: number },
  ): AsyncGenerator<number[]> {
    const { members } = segmentService(app).audiences;
    for await (const found of oneAhead(members(audience.subscribed(campaign), from))) {
      const seqs = found.filter((seq) => seq <= end);
      for (let start = 0; start < seqs.length; start += SLICE) {
        yield seqs.slice(start, start + SLICE);
      }
      if (seqs.length < found.length) return;
    }
  }

  return {
    /** Writes the rest of an audience, and stops between two slices if `isStopping` returns true. */
    async run(campaign: CampaignRow, isStopping: () => boolean): Promise<Written> {
      const { audienceCursor: from, audienceEnd: end } = campaign;
      if (from === null || end === null) return { recipients: 0, workMs: 0 };
      const walk = { campaign, test: findAbTest(app, campaign.seq) };
      const { written, ...slices } = createSliceWriter(writer, (seqs, cursor) =>
        writeSlice(walk, seqs, cursor),
      );
      try {
        for await (const seqs of slicesOf(campaign, { from, end })) {
          await slices.giveWay();
          const goesOn = await slices.write(seqs, seqs.at(-1) ?? from);
          if (!goesOn || isStopping()) return written;
        }
        await slices.write([], end);
        await slices.allWritten();
        return written;
      } finally {
        await slices.settled();
      }
    },
  };
}

/** Yields the values of `pages`, and reads each page while the consumer works on the one before it. */
async function* oneAhead<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  const read = () => {
    const page = pages.next();
    // A consumer that stops early does not await the last page. Otherwise, the loop sees the fault.
    page.catch(() => undefined);
    return page;
  };
  try {
    for (let page = await read(); page.done !== true;) {
      const next = read();
      yield page.value;
      page = await next;
    }
  } finally {
    await pages.return(undefined);
  }
}

/** Writes slices, each one while the commits of those before it are not on disk yet. */
function createSliceWriter(
  writer: Writer,
  writeSlice: (seqs: readonly number[], cursor: number) => Slice,
) {
  const written: Written = { recipients: 0, workMs: 0 };
  const pending: Promise<boolean>[] = [];
  let requested = writer.requestedWrites();

  return {
    /** The sums of the slices that are written. */
    written,

    /** Other writers take precedence: waits if they wrote since the last slice. */
    async giveWay(): Promise<void> {
      if (written.recipients > 0 && writer.requestedWrites() !== requested)
        await Bun.sleep(REST_MS);
    },

    /** Resolves to false if the campaign is known to be cancelled. */
    async write(seqs: readonly number[], cursor: number): Promise<boolean> {
      pending.push(writer.write(() => timed(written, () => writeSlice(seqs, cursor))));
      requested = writer.requestedWrites();
      return pending.length < MOST_PENDING || (await pending.shift()) === true;
    },

    /** Resolves when all slices are on disk; rejects if one of them failed. */
    allWritten: () => Promise.all(pending),

    /** The caller sees the first failure; this handles the rejections of the other slices. */
    settled: () => Promise.allSettled(pending),
  };
}

function timed(written: Written, write: () => Slice): boolean {
  const startedAt = systemClock.elapsed();
  const { goesOn, inserted } = write();
  written.workMs += systemClock.elapsed() - startedAt;
  written.recipients += inserted;
  return goesOn;
}
