/** Creates, reads, updates, copies and deletes campaigns. lifecycle.ts changes their status. */

import { and, eq, isNotNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { emails } from "../../db/schema/emails.ts";
import type { Change } from "../../db/writer.ts";
import { normalizedAddress } from "../../http/formats.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, notFound, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { Segments } from "../segments/service.ts";
import {
  type Content,
  copiedColumns,
  createAudienceColumns,
  mergedAudience,
  optionalColumns,
  touchesAudience,
} from "./columns.ts";
import { createCampaignList } from "./list.ts";
import {
  type Campaign,
  type CampaignInput,
  type CampaignPatch,
  restrictionErrors,
} from "./model.ts";
import type { NoteChange } from "./lifecycle.ts";
import { type CampaignRow, createPresenter } from "./present.ts";
import { nextStatus } from "./states.ts";
import { createUsage } from "./usage.ts";

export type Campaigns = ReturnType<typeof createCampaigns>;

export function createCampaigns(deps: {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  segments: Pick<Segments, "conditionErrors" | "ensureResolvable">;
  /**
   * Throws 403 unless the sender's domain is verified for the project (docs/specification.md#s2.3).
   */
  requireVerified: (projectSeq: number, from: string) => void;
  noteChange: NoteChange;
}) {
  const { db, clock, listPage, noteChange } = deps;
  const { findSegmentSeq, ...users } = createUsage(deps);
  const audienceColumns = createAudienceColumns({ segments: deps.segments, findSegmentSeq });
  const presenterOf = createPresenter(db);

  function get(projectSeq: number, id: string): CampaignRow {
    const match = and(eq(campaigns.projectSeq, projectSeq), eq(campaigns.id, id));
    const campaign = db.select().from(campaigns).where(match).limit(1).get();
    if (campaign === undefined) throw notFound("CAMPAIGN");
    return campaign;
  }

  /** Part of a change: stores a new DRAFT and its counters. */
  function insert(projectSeq: number, content: Content): CampaignRow {
    const now = clock.now();
    const campaign = db
      .insert(campaigns)
      .values({
        ...content,
        id: newId(now),
        projectSeq,
        status: "DRAFT",
        createdAt: now,
        updatedAt: now,
      })
      .returning()
      .get();
    db.insert(campaignCounts).values({ campaignSeq: campaign.seq }).run();
    noteChange(campaign);
    return campaign;
  }

  const present = (row: CampaignRow): Campaign => presenterOf([row])(row);

  return {
    get,

    list: createCampaignList({ db, listPage, presenterOf }),
    ...users,
    present,

    create(projectSeq: number, input: CampaignInput): Change<CampaignRow> {
      return () => {
        const { name, subject, body, from, audienceType } = input;
        deps.requireVerified(projectSeq, from);
        const audience = audienceColumns(projectSeq, {
          audienceType,
          segmentId: input.segmentId ?? null,
          audienceFilter: input.audienceFilter ?? null,
        });
        return insert(projectSeq, {
          name,
          subject,
          body,
          audienceType,
          ...optionalColumns(input),
          from: normalizedAddress(from),
          ...audience,
        });
      };
    },

    patch(projectSeq: number, id: string, patch: CampaignPatch): Change<CampaignRow> {
      return () => {
        const campaign = get(projectSeq, id);
        nextStatus(campaign.status, "edit");
        if (patch.from !== undefined) deps.requireVerified(projectSeq, patch.from);
        const { audienceType } = campaign;
        const misplaced = restrictionErrors({ audienceType, ...patch });
        if (misplaced.length > 0) throw validationError(misplaced);
        const { name, subject, body } = { ...campaign, ...patch };
        noteChange(campaign);
        return db
          .update(campaigns)
          .set({
            name,
            subject,
            body,
            ...optionalColumns(patch),
            ...(patch.from === undefined ? {} : { from: normalizedAddress(patch.from) }),
            ...(touchesAudience(patch)
              ? audienceColumns(projectSeq, mergedAudience(present(campaign), patch))
              : {}),
            updatedAt: clock.now(),
          })
          .where(and(eq(campaigns.seq, campaign.seq), eq(campaigns.status, campaign.status)))
          .returning()
          .get();
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const campaign = get(projectSeq, id);
        nextStatus(campaign.status, "delete");
        if (hasOpenMails(db, campaign.seq)) throw stillCancelling();
        // The mails stay as records and refer to a campaign that no longer exists.
        db.delete(campaigns).where(eq(campaigns.seq, campaign.seq)).run();
        noteChange(campaign);
      };
    },

    /** Creates a DRAFT with the same content, from a campaign of any status. */
    duplicate(projectSeq: number, id: string): Change<CampaignRow> {
      return () => insert(projectSeq, copiedColumns(get(projectSeq, id)));
    },
  };
}

function hasOpenMails(db: Db, campaignSeq: number): boolean {
  const open = and(eq(emails.campaignSeq, campaignSeq), isNotNull(emails.nextAt));
  return db.select({ seq: emails.seq }).from(emails).where(open).limit(1).all().length > 0;
}

function stillCancelling(): AppError {
  return new AppError(409, "INVALID_STATE", "Mails of this campaign are still being cancelled.", {
    suggestion: "Try again in a few seconds.",
  });
}
