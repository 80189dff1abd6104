/** Creates, reads, updates, copies and deletes campaigns. lifecycle.ts changes their status. */

import { and, eq, isNotNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { emails } from "../../db/schema/emails.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { newestPage } from "../../http/pagination.ts";
import { ensureRevision } from "../../http/if-match.ts";
import type { Role } from "../../http/roles.ts";
import { AppError, notFound, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { layoutIn } from "../layouts.ts";
import {
  copyAbTest,
  refuseLocalTimes,
  requireSendableAbTest,
  storeAbTest,
} from "./ab-tests/ab-drafts.ts";
import { winnerContent } from "./ab-tests/ab-tests.ts";
import {
  type Content,
  copiedColumns,
  audienceColumnsOf,
  mergedAudience,
  NO_AUDIENCE,
  optionalColumns,
  touchesAudience,
} from "./columns.ts";
import {
  type Campaign,
  type CampaignDraft,
  type CampaignInput,
  type CampaignPatch,
  type CampaignQuery,
  categoryIn,
  type FollowUpInput,
  type ListedCampaign,
  restrictionErrors,
  typeErrors,
} from "./model.ts";
import { type CampaignRow, presentCampaign } from "./present.ts";
import { requireMarketing, topicColumn } from "../topics/choices.ts";
import { archiveColumns } from "./archive.ts";
import { requireTemplate, templateColumns } from "./template-content.ts";
import {
  refuseImported,
  requireComplete,
  requireNoticeRole,
  requireVerifiedSender,
} from "./sending-rules.ts";
import { nextStatus } from "./states.ts";
import { campaignUsage } from "./usage.ts";
import { perApp } from "../../lib/per-app.ts";
import { noteCampaignChange } from "./log.ts";

export const campaignService = perApp(createCampaigns);

function createCampaigns(app: App) {
  const { db, clock } = app;
  const users = campaignUsage(app);
  const audienceColumns = audienceColumnsOf(app);

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
    noteCampaignChange(app, campaign);
    return campaign;
  }

  const present = (row: CampaignRow): Campaign => presentCampaign(app, row);

  function requireLayout(projectSeq: number, { layoutId }: CampaignPatch): void {
    if (layoutId) layoutIn(app, projectSeq, layoutId);
  }

  /** Part of a change: shows or hides the public page of a campaign, as a request asks for it. */
  function archive(campaign: CampaignRow, fields: CampaignPatch): CampaignRow {
    const columns = archiveColumns(app, campaign, fields);
    if (columns === null) return campaign;
    refuseImported(campaign, "An imported campaign has no public page.");
    noteCampaignChange(app, campaign);
    return db
      .update(campaigns)
      .set({ ...columns, updatedAt: clock.now() })
      .where(eq(campaigns.seq, campaign.seq))
      .returning()
      .get();
  }

  return {
    get,
    audienceColumns,

    ...users,
    present,

    /** Creates a DRAFT. One that is `complete` has everything that it needs to be sent. */
    create(
      projectSeq: number,
      input: CampaignInput | CampaignDraft,
      { isComplete }: { isComplete: boolean },
    ): Change<CampaignRow> {
      return () => {
        const { name, audienceType } = input;
        const content = {
          ...NO_CONTENT,
          ...(isComplete ? {} : templateColumns(app, projectSeq, input)),
          ...optionalColumns(input),
          ...topicColumn(app, projectSeq, input.topicId),
          name,
        };
        requireTopicFits(content);
        if (content.from !== "") requireVerifiedSender(app, projectSeq, content.from);
        requireLayout(projectSeq, input);
        requireTemplate(app, projectSeq, input);
        const audience =
          audienceType === undefined
            ? NO_AUDIENCE
            : audienceColumns(projectSeq, {
                audienceType,
                segmentId: input.segmentId ?? null,
                audienceFilter: input.audienceFilter ?? null,
              });
        const campaign = insert(projectSeq, { ...content, ...NO_AUDIENCE, ...audience });
        if (input.abTest) storeAbTest(app, campaign, input.abTest);
        return archive(campaign, input);
      };
    },

    patch(
      projectSeq: number,
      id: string,
      patch: CampaignPatch,
      { request, role }: { request: Request; role: Role | null },
    ): Change<CampaignRow> {
      return () => {
        const campaign = get(projectSeq, id);
        ensureRevision(request, "campaign", campaign.revision);
        // The public page may be shown and hidden at any time.
        if (isOnlyArchive(patch)) return archive(campaign, patch);
        nextStatus(campaign.status, "edit");
        if (patch.from) requireVerifiedSender(app, projectSeq, patch.from);
        const { audienceType } = campaign;
        const whole = { audienceType, ...patch };
        const misplaced = [...restrictionErrors(whole), ...typeErrors(whole)];
        if (misplaced.length > 0) throw validationError(misplaced);
        requireMayEdit(campaign, patch, role);
        requireLayout(projectSeq, patch);
        noteCampaignChange(app, campaign);
        const patched = db
          .update(campaigns)
          .set({
            ...templateColumns(app, projectSeq, patch),
            ...optionalColumns(patch),
            ...topicColumn(app, projectSeq, patch.topicId),
            ...(patch.name === undefined ? {} : { name: patch.name }),
            ...(touchesAudience(patch)
              ? audienceColumns(projectSeq, mergedAudience(present(campaign), patch))
              : {}),
            revision: campaign.revision + 1,
            updatedAt: clock.now(),
          })
          .where(and(eq(campaigns.seq, campaign.seq), eq(campaigns.status, campaign.status)))
          .returning()
          .get();
        requireTopicFits(patched);
        if (patch.abTest !== undefined) storeAbTest(app, patched, patch.abTest);
        if (patched.status === "SCHEDULED") requireStillSendable(app, patched);
        return archive(patched, patch);
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const campaign = get(projectSeq, id);
        if (campaign.importedFrom === null) nextStatus(campaign.status, "delete");
        if (hasOpenMails(db, campaign.seq)) throw stillCancelling();
        // The mails stay as records and refer to a campaign that no longer exists.
        db.delete(campaigns).where(eq(campaigns.seq, campaign.seq)).run();
        noteCampaignChange(app, campaign);
      };
    },

    /**
     * Creates a DRAFT with the same content for the contacts who got a campaign and did not open it,
     * or did not click. Throws 409 if it was not sent yet.
     */
    followUp(projectSeq: number, id: string, input: FollowUpInput): Change<CampaignRow> {
      return () => {
        const campaign = get(projectSeq, id);
        refuseImported(campaign, "Nobody here has got this campaign.");
        if (campaign.startedAt === null) throw notSentYet();
        const { audience: reaction = "NOT_OPENED", subject, name } = input;
        const { operator, words } = FOLLOW_UPS[reaction];
        const filters = [{ field: `campaign.${id}`, operator }];
        return insert(projectSeq, {
          ...copiedColumns(winnerContent(app, campaign)),
          name: name ?? `${campaign.name.slice(0, 255 - words.length - 3)} (${words})`,
          ...(subject === undefined ? {} : { subject }),
          ...audienceColumns(projectSeq, {
            audienceType: "FILTERED",
            segmentId: null,
            audienceFilter: { logic: "AND", groups: [{ filters }] },
          }),
        });
      };
    },

    /** Creates a DRAFT with the same content, from a campaign of any status. */
    duplicate(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = get(projectSeq, id);
        const copy = insert(projectSeq, copiedColumns(campaign));
        copyAbTest(app, campaign, copy);
        return copy;
      };
    },
  };
}

/** A page of campaigns, newest first. */
export function listCampaigns(
  app: App,
  project: { seq: number },
  { status, ...query }: CampaignQuery,
): Promise<Page<ListedCampaign>> {
  return newestPage(app, project, {
    name: "campaigns",
    query,
    table: campaigns,
    filter: and(
      eq(campaigns.projectSeq, project.seq),
      status === undefined ? undefined : eq(campaigns.status, status),
    ),
    present(row): ListedCampaign {
      const { design: _design, abTest: _abTest, ...campaign } = presentCampaign(app, row);
      return campaign;
    },
  });
}

/** A campaign that is scheduled is sent without another request. */
function requireStillSendable(app: App, campaign: CampaignRow): void {
  requireComplete(campaign);
  requireSendableAbTest(app, campaign);
  refuseLocalTimes(app, campaign, campaign.timeZone);
}

function requireTopicFits({ topicSeq, category }: Partial<Content>): void {
  if (topicSeq) requireMarketing(category ?? "MARKETING");
}

/** A draft without content. */
const NO_CONTENT = { subject: "", body: "", from: "" };

const ARCHIVE_FIELDS = ["archived", "archiveSlug"];

function isOnlyArchive(patch: CampaignPatch): boolean {
  const names = Object.keys(patch);
  return names.length > 0 && names.every((name) => ARCHIVE_FIELDS.includes(name));
}

/**
 * Only an admin may send a notice to all contacts, so no other role may change one that is scheduled, or
 * make a notice of a scheduled campaign.
 */
function requireMayEdit(
  { status, category: current }: CampaignRow,
  patch: CampaignPatch,
  role: Role | null,
): void {
  if (status !== "SCHEDULED") return;
  const category = categoryIn(patch) ?? current;
  if (current === "TRANSACTIONAL" || category === "TRANSACTIONAL") requireNoticeRole(role);
}

const FOLLOW_UPS = {
  NOT_OPENED: { operator: "wasNotOpened", words: "not opened" },
  NOT_CLICKED: { operator: "wasNotClicked", words: "not clicked" },
} as const;

function notSentYet(): AppError {
  return new AppError(409, "INVALID_STATE", "Nobody has got this campaign yet.", {
    suggestion: "Send it first.",
  });
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
