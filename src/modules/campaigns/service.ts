/** Creates, reads, updates, copies and deletes campaigns. lifecycle.ts changes their status. */

import { and, count, desc, eq, inArray, isNotNull, isNull, like, or, type SQL } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { emails } from "../../db/schema/emails.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { bySeq, type Cursors, olderThan } from "../../http/pagination.ts";
import { type Clock, isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, fieldError, notFound, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { parseCondition, wireCondition } from "../segments/condition/condition.ts";
import type { Segments } from "../segments/service.ts";
import {
  audienceErrors,
  type Campaign,
  type CampaignInput,
  type CampaignPatch,
  type CampaignQuery,
  restrictionErrors,
} from "./model.ts";
import { nextStatus } from "./states.ts";

export type CampaignRow = typeof campaigns.$inferSelect;
export type Campaigns = ReturnType<typeof createCampaigns>;

/** The columns that a request may set. */
type Content = Omit<
  typeof campaigns.$inferInsert,
  "seq" | "id" | "projectSeq" | "status" | "createdAt" | "updatedAt"
>;

/** Longest list of campaign names in an error message. */
const MAX_NAMED = 5;

export function createCampaigns(deps: {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  segments: Pick<Segments, "ensureResolvable">;
  /**
   * Throws 403 unless the sender's domain is verified for the project (docs/specification.md#s2.3).
   */
  requireVerified: (projectSeq: number, from: string) => void;
}) {
  const { db, clock, cursors } = deps;

  function find(projectSeq: number, id: string): CampaignRow | null {
    const match = and(eq(campaigns.projectSeq, projectSeq), eq(campaigns.id, id));
    return db.select().from(campaigns).where(match).limit(1).get() ?? null;
  }

  function get(projectSeq: number, id: string): CampaignRow {
    const campaign = find(projectSeq, id);
    if (campaign === null) throw notFound("CAMPAIGN");
    return campaign;
  }

  /** The columns of an audience; columns that its type does not use are cleared. */
  function audienceColumns(projectSeq: number, audience: Audience): Partial<Content> {
    const { audienceType, segmentId, audienceFilter } = audience;
    const errors = audienceErrors(audience);
    if (errors.length > 0) throw validationError(errors);
    if (audienceType === "SEGMENT") {
      return { audienceType, segmentSeq: segmentSeq(projectSeq, segmentId), audienceFilter: null };
    }
    if (audienceType === "ALL") return { audienceType, segmentSeq: null, audienceFilter: null };
    const condition = parseCondition(audienceFilter, "audienceFilter");
    deps.segments.ensureResolvable(projectSeq, condition);
    const text = JSON.stringify(wireCondition(condition));
    return { audienceType, segmentSeq: null, audienceFilter: text };
  }

  function segmentSeq(projectSeq: number, id: string | null): number {
    const seq = findSegmentSeq(projectSeq, id ?? "");
    if (seq !== null) return seq;
    throw fieldError("segmentId", "unknown_reference", "names no segment of this project");
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
    return campaign;
  }

  function segmentIds(rows: readonly CampaignRow[]): Map<number, string> {
    const seqs = rows.flatMap((row) => row.segmentSeq ?? []);
    if (seqs.length === 0) return new Map();
    const found = db.select().from(segments).where(inArray(segments.seq, seqs)).all();
    return new Map(found.map((segment) => [segment.seq, segment.id]));
  }

  return {
    get,

    present: (row: CampaignRow): Campaign => present(row, segmentIds([row])),

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
        return db
          .update(campaigns)
          .set({
            name,
            subject,
            body,
            ...optionalColumns(patch),
            ...(patch.from === undefined ? {} : { from: normalizedAddress(patch.from) }),
            ...(touchesAudience(patch)
              ? audienceColumns(
                  projectSeq,
                  mergedAudience(present(campaign, segmentIds([campaign])), patch),
                )
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
        if (hasOpenMails(campaign.seq)) throw stillCancelling();
        // The mails stay as records and refer to a campaign that no longer exists.
        db.delete(campaigns).where(eq(campaigns.seq, campaign.seq)).run();
      };
    },

    /** Creates a DRAFT with the same content, from a campaign of any status. */
    duplicate(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const { name, description, subject, body, from, fromName, replyTo, ...rest } = get(
          projectSeq,
          id,
        );
        const { audienceType, segmentSeq: segment, audienceFilter, rate } = rest;
        return insert(projectSeq, {
          name: `${name} (copy)`.slice(0, 255),
          description,
          subject,
          body,
          from,
          fromName,
          replyTo,
          audienceType,
          segmentSeq: segment,
          audienceFilter,
          rate,
        });
      };
    },

    list(projectSeq: number, query: CampaignQuery): Page<Campaign> {
      const scope = `${projectSeq}:campaigns`;
      const request = cursors.read(scope, query);
      const filter = and(
        eq(campaigns.projectSeq, projectSeq),
        query.status === undefined ? undefined : eq(campaigns.status, query.status),
      );
      const rows = db
        .select()
        .from(campaigns)
        .where(and(filter, olderThan(campaigns.seq, request)))
        .orderBy(desc(campaigns.seq))
        .limit(request.limit + 1)
        .all();
      const ids = segmentIds(rows);
      const total =
        db.select({ total: count() }).from(campaigns).where(filter).all()[0]?.total ?? 0;
      return cursors.page(scope, request, rows, {
        total,
        positionOf: bySeq,
        present: (row) => present(row, ids),
      });
    },

    /** Names of unfinished campaigns that use a segment and so prevent its deletion. */
    usersOfSegment(projectSeq: number, segmentId: string): string[] {
      const seq = findSegmentSeq(projectSeq, segmentId);
      if (seq === null) return [];
      return unfinished(
        and(
          eq(campaigns.projectSeq, projectSeq),
          or(
            eq(campaigns.segmentSeq, seq),
            // An id that was found in the database contains no wildcard of LIKE.
            like(campaigns.audienceFilter, `%"segment.${segmentId}"%`),
          ),
        ),
      );
    },

    /** Names of unfinished campaigns that send from a domain and so prevent its removal. */
    usersOfDomain(projectSeq: number, domain: string): string[] {
      // A domain contains no wildcard of LIKE.
      return unfinished(
        and(eq(campaigns.projectSeq, projectSeq), like(campaigns.from, `%@${domain}`)),
      );
    },
  };

  function hasOpenMails(campaignSeq: number): boolean {
    const open = and(eq(emails.campaignSeq, campaignSeq), isNotNull(emails.nextAt));
    return db.select({ seq: emails.seq }).from(emails).where(open).limit(1).all().length > 0;
  }

  function findSegmentSeq(projectSeq: number, id: string): number | null {
    const match = and(
      eq(segments.projectSeq, projectSeq),
      eq(segments.id, id),
      isNull(segments.deletedAt),
    );
    const [found] = db.select({ seq: segments.seq }).from(segments).where(match).limit(1).all();
    return found?.seq ?? null;
  }

  function unfinished(where: SQL | undefined): string[] {
    const open = inArray(campaigns.status, ["DRAFT", "SCHEDULED", "SENDING", "PAUSED"]);
    return db
      .select({ name: campaigns.name })
      .from(campaigns)
      .where(and(where, open))
      .limit(MAX_NAMED)
      .all()
      .map(({ name }) => `campaign "${name}"`);
  }
}

type Audience = {
  audienceType: Campaign["audienceType"];
  segmentId: string | null;
  audienceFilter: unknown;
};

function touchesAudience(patch: CampaignPatch): boolean {
  return (
    patch.audienceType !== undefined ||
    patch.segmentId !== undefined ||
    patch.audienceFilter !== undefined
  );
}

function mergedAudience(campaign: Campaign, patch: CampaignPatch): Audience {
  const { audienceType, segmentId, audienceFilter } = { ...campaign, ...patch };
  return { audienceType, segmentId, audienceFilter };
}

/** The columns of the given fields; a field that is undefined leaves its column unchanged. */
function optionalColumns(fields: CampaignPatch) {
  return {
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fields.fromName === undefined ? {} : { fromName: fields.fromName }),
    ...(fields.replyTo === undefined
      ? {}
      : { replyTo: fields.replyTo === null ? null : normalizedAddress(fields.replyTo) }),
    ...(fields.rate === undefined ? {} : { rate: fields.rate }),
  };
}

function stillCancelling(): AppError {
  return new AppError(409, "INVALID_STATE", "Mails of this campaign are still being cancelled.", {
    suggestion: "Try again in a few seconds.",
  });
}

function present(row: CampaignRow, segmentIds: ReadonlyMap<number, string>): Campaign {
  const { id, name, description, subject, body, from, fromName, replyTo, audienceType } = row;
  return {
    id,
    name,
    description,
    subject,
    body,
    from,
    fromName,
    replyTo,
    type: audienceType,
    audienceType,
    segmentId: row.segmentSeq === null ? null : (segmentIds.get(row.segmentSeq) ?? null),
    audienceFilter: row.audienceFilter === null ? null : JSON.parse(row.audienceFilter),
    rate: row.rate,
    status: row.status,
    statusReason: row.statusReason,
    scheduledAt: isoTimeOrNull(row.scheduledAt),
    startedAt: isoTimeOrNull(row.startedAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
