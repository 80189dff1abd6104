/**
 * Writes one mail for each contact in the audience of a campaign, a slice at a time. The condition,
 * the time that its relative times count from, and the newest contact are fixed when the campaign
 * starts; each contact is evaluated when its slice is read. The cursor is committed together with
 * the rows before it, so a process that crashed continues at the next slice, and the unique index
 * on campaign and contact makes any repetition harmless. The first mails leave while the rest of
 * the audience is still being written.
 */

import { and, eq, inArray, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import type { Change, Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { Segments } from "../segments/service.ts";
import type { CampaignAudience } from "./audience.ts";
import { sharedMessage } from "./message.ts";
import type { CampaignRow } from "./present.ts";

export type Expansion = ReturnType<typeof createExpansion>;

/** Rows written in one change: a few milliseconds of work. */
const SLICE = 250;
const MOST_PENDING = 3;
/** Delay after a slice if others wrote meanwhile: mails need only be written faster than sent. */
const REST_MS = 15;

type Slice = { goesOn: boolean; inserted: number };

/** Numbers of rows; `suppressed` is a part of `inserted`. */
type Inserted = { inserted: number; suppressed: number };

export function createExpansion(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  segments: Pick<Segments, "audiences">;
  audience: Pick<CampaignAudience, "subscribed">;
  store: Pick<EmailStore, "saveMessage" | "insertCampaignEmails">;
  /** Part of a change: wakes the dispatcher, because there is mail to send. */
  wake: Change<void>;
}) {
  const { db, writer, clock, audience } = deps;

  /** Part of a change: writes one slice. `goesOn` is false if the campaign was cancelled. */
  function writeSlice(campaign: CampaignRow, seqs: readonly number[], cursor: number): Slice {
    const [moved] = db
      .update(campaigns)
      .set({ audienceCursor: cursor })
      .where(and(eq(campaigns.seq, campaign.seq), inArray(campaigns.status, ["SENDING", "PAUSED"])))
      .returning({ seq: campaigns.seq })
      .all();
    if (moved === undefined) return { goesOn: false, inserted: 0 };
    const { inserted, suppressed } = insertAll(campaign, seqs);
    db.update(campaignCounts)
      .set({
        totalRecipients: sql`total_recipients + ${inserted}`,
        suppressed: sql`suppressed + ${suppressed}`,
      })
      .where(eq(campaignCounts.campaignSeq, campaign.seq))
      .run();
    deps.wake();
    return { goesOn: true, inserted };
  }

  function insertAll(campaign: CampaignRow, seqs: readonly number[]): Inserted {
    if (seqs.length === 0) return { inserted: 0, suppressed: 0 };
    const now = clock.now();
    return deps.store.insertCampaignEmails({
      campaign,
      messageSeq: deps.store.saveMessage(sharedMessage(campaign), now),
      contactSeqs: seqs,
      now,
    });
  }

  return {
    /**
     * Writes the rest of a campaign's audience, and stops between two slices once `isStopping`
     * returns true. Other writers take precedence: a slice is delayed after they wrote.
     */
    async run(campaign: CampaignRow, isStopping: () => boolean): Promise<Written> {
      const { audienceCursor, audienceEnd } = campaign;
      const written: Written = { recipients: 0, workMs: 0 };
      if (audienceCursor === null || audienceEnd === null) return written;
      /** Slices whose commit is not on disk yet, while the next ones are read and written. */
      const pending: Promise<boolean>[] = [];
      let asked = writer.requestedWrites();

      /** False if the expansion should end: the campaign was cancelled or the process stops. */
      async function write(seqs: readonly number[], cursor: number): Promise<boolean> {
        pending.push(writer.write(() => timed(written, () => writeSlice(campaign, seqs, cursor))));
        asked = writer.requestedWrites();
        const goesOn = pending.length < MOST_PENDING || (await pending.shift()) === true;
        return goesOn && !isStopping();
      }

      try {
        const { members } = deps.segments.audiences;
        for await (const found of members(audience.subscribed(campaign), audienceCursor)) {
          const seqs = found.filter((seq) => seq <= audienceEnd);
          for (let start = 0; start < seqs.length; start += SLICE) {
            const slice = seqs.slice(start, start + SLICE);
            if (written.recipients > 0 && writer.requestedWrites() !== asked)
              await Bun.sleep(REST_MS);
            if (!(await write(slice, slice.at(-1) ?? audienceCursor))) return written;
          }
          if (seqs.length < found.length) break;
        }
        await write([], audienceEnd);
        await Promise.all(pending);
        return written;
      } finally {
        // The caller sees the first failure; this handles the rejections of the other slices.
        await Promise.allSettled(pending);
      }
    },
  };
}

/** Number of recipients written, and how long the database worked on them, in milliseconds. */
type Written = { recipients: number; workMs: number };

function timed(written: Written, write: () => Slice): boolean {
  const startedAt = systemClock.elapsed();
  const { goesOn, inserted } = write();
  written.workMs += systemClock.elapsed() - startedAt;
  written.recipients += inserted;
  return goesOn;
}
