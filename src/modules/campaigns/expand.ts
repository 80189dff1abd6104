/**
 * Turns the audience of a campaign into mails, a slice at a time. The cursor is committed with the
 * rows it stands for, so a crash continues where it was; unique(campaign, contact) makes any
 * repetition harmless. First mails leave while this still runs.
 */

import { and, eq, inArray, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Change, Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { Segments } from "../segments/service.ts";
import { audienceOf } from "./audience.ts";
import { sharedMessage } from "./lifecycle.ts";
import type { CampaignRow } from "./service.ts";

export type Expansion = ReturnType<typeof createExpansion>;

/** Rows written in one go: about ten milliseconds of work. */
const SLICE = 1000;
const MOST_PENDING = 3;
/** After a slice in whose time others wrote: an audience need only grow faster than it is mailed. */
const REST_MS = 60;

type Slice = { goesOn: boolean; inserted: number };

/** `suppressed` are among the `inserted`. */
type Inserted = { inserted: number; suppressed: number };

export function createExpansion(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  segments: Pick<Segments, "audiences" | "audienceOf" | "audienceOfCondition">;
  store: Pick<EmailStore, "saveMessage">;
  /** Part of a change: there is something to send. */
  wake: Change<void>;
}) {
  const { db, writer, clock } = deps;
  // Ids are UUIDv7 (RFC 9562 §5.7) made by SQLite: a thousand round trips a slice would cost more.
  const insert = db.sqlite.prepare<unknown, [InsertValues]>(`
    INSERT INTO emails (id, project_seq, contact_seq, message_seq, source, campaign_seq, to_address,
                        subject, status, priority, next_at, created_at)
    SELECT $time || '-7' || substr(random, 1, 3) || '-' ||
             substr('89ab', 1 + (asked.key & 3), 1) || substr(random, 4, 3) || '-' ||
             substr(random, 7, 12),
           project_seq, seq, $messageSeq, 'CAMPAIGN', $campaignSeq, email, $subject,
           iif(suppressed, 'SUPPRESSED', 'QUEUED'), 1, iif(suppressed, NULL, $now), $now
    FROM (
      SELECT asked.key, contacts.seq, contacts.project_seq, contacts.email,
             lower(hex(randomblob(9))) AS random,
             EXISTS (SELECT 1 FROM suppressions
                     WHERE suppressions.project_seq = contacts.project_seq
                       AND suppressions.email = contacts.email) AS suppressed
      FROM json_each($seqs) AS asked CROSS JOIN contacts ON contacts.seq = asked.value
      WHERE contacts.is_subscribed) AS asked
    WHERE true
    ON CONFLICT DO NOTHING`);
  const lastEmail = db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM emails",
  );
  const countSuppressed = db.sqlite.prepare<{ n: number }, [number]>(
    "SELECT count(*) AS n FROM emails WHERE seq > +? AND status = 'SUPPRESSED'",
  );

  const findReachable = db.sqlite.prepare<{ seq: number }, [string]>(`
    SELECT contacts.seq FROM json_each(?) AS asked CROSS JOIN contacts ON contacts.seq = asked.value
    WHERE NOT EXISTS (SELECT 1 FROM suppressions
                      WHERE suppressions.project_seq = contacts.project_seq
                        AND suppressions.email = contacts.email)
    LIMIT 1`);

  /** It goes on unless it was cancelled. */
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
    const before = lastEmail.get()?.seq ?? 0;
    const now = clock.now();
    const hex = now.toString(16).padStart(12, "0");
    const { changes } = insert.run({
      time: `${hex.slice(0, 8)}-${hex.slice(8)}`,
      messageSeq: deps.store.saveMessage(sharedMessage(campaign), now),
      campaignSeq: campaign.seq,
      subject: campaign.subject,
      now,
      seqs: JSON.stringify(seqs),
    });
    return { inserted: changes, suppressed: countSuppressed.get(before)?.n ?? 0 };
  }

  function segmentIdOf({ segmentSeq }: CampaignRow): string | null {
    if (segmentSeq === null) return null;
    const match = eq(segments.seq, segmentSeq);
    return db.select({ id: segments.id }).from(segments).where(match).limit(1).get()?.id ?? null;
  }

  function audience(campaign: CampaignRow) {
    return audienceOf(deps.segments, campaign, segmentIdOf(campaign));
  }

  return {
    /** True if anybody at all would receive it; 404 or 422 where its audience cannot be resolved. */
    async hasRecipients(campaign: CampaignRow): Promise<boolean> {
      for await (const seqs of deps.segments.audiences.members(audience(campaign))) {
        if (findReachable.get(JSON.stringify(seqs)) !== null) return true;
      }
      return false;
    },

    /**
     * Writes the rest of a campaign's audience; `isStopping` is asked between slices. Where others
     * write as well, they go first.
     */
    async run(campaign: CampaignRow, isStopping: () => boolean): Promise<Written> {
      const { audienceCursor, audienceEnd } = campaign;
      const written: Written = { recipients: 0, workMs: 0 };
      if (audienceCursor === null || audienceEnd === null) return written;
      /** On their way to the disk: meanwhile the next ones are read and written. */
      const pending: Promise<boolean>[] = [];
      let asked = writer.asked();

      /** False once there is nothing more to write for it now. */
      async function write(seqs: readonly number[], cursor: number): Promise<boolean> {
        pending.push(writer.write(() => timed(written, () => writeSlice(campaign, seqs, cursor))));
        asked = writer.asked();
        const goesOn = pending.length < MOST_PENDING || (await pending.shift()) === true;
        return goesOn && !isStopping();
      }

      try {
        const { members } = deps.segments.audiences;
        for await (const found of members(audience(campaign), audienceCursor)) {
          const seqs = found.filter((seq) => seq <= audienceEnd);
          for (let start = 0; start < seqs.length; start += SLICE) {
            const slice = seqs.slice(start, start + SLICE);
            if (written.recipients > 0 && writer.asked() !== asked) await Bun.sleep(REST_MS);
            if (!(await write(slice, slice.at(-1) ?? audienceCursor))) return written;
          }
          if (seqs.length < found.length) break;
        }
        await write([], audienceEnd);
        await Promise.all(pending);
        return written;
      } finally {
        // Whoever hears of the first failure must not miss the others.
        await Promise.allSettled(pending);
      }
    },
  };
}

/** Of how many recipients, and how long the database was at work for them. */
export type Written = { recipients: number; workMs: number };

function timed(written: Written, write: () => Slice): boolean {
  const startedAt = systemClock.elapsed();
  const { goesOn, inserted } = write();
  written.workMs += systemClock.elapsed() - startedAt;
  written.recipients += inserted;
  return goesOn;
}

type InsertValues = {
  time: string;
  messageSeq: number;
  campaignSeq: number;
  subject: string;
  now: number;
  seqs: string;
};
