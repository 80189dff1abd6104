/**
 * GET    /plunk/campaigns                    a numbered page, searched and sorted
 * POST   /plunk/campaigns
 * POST   /plunk/campaigns/bulk-update        deletes several, all or none
 * GET    /plunk/campaigns/{id}
 * PUT    /plunk/campaigns/{id}               changes the given fields
 * DELETE /plunk/campaigns/{id}
 * POST   /plunk/campaigns/{id}/duplicate
 * POST   /plunk/campaigns/{id}/send          now, or at a time
 * POST   /plunk/campaigns/{id}/cancel
 * POST   /plunk/campaigns/{id}/test
 * GET    /plunk/campaigns/{id}/stats
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq, inArray } from "drizzle-orm";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { AUDIENCE_TYPES, campaigns as campaignTable } from "../../db/schema/campaigns.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { Envelope, envelope, IdParams, Nullable, withErrors } from "../../http/envelope.ts";
import { EmailAddress, normalizedAddress } from "../../http/formats.ts";
import { conditionFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { PLUNK } from "../../http/route-path.ts";
import { ensureChecks, Input, OneOf } from "../../http/validation.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { campaignAudience } from "../campaigns/audience.ts";
import { campaignLifecycle } from "../campaigns/lifecycle.ts";
import { CampaignInput, CampaignPatch } from "../campaigns/model.ts";
import { prepareSend } from "../campaigns/prepare-send.ts";
import { type CampaignRow, presentCampaign } from "../campaigns/present.ts";
import { readCampaignStats } from "../campaigns/report.ts";
import type { CampaignStats } from "../campaigns/results-model.ts";
import { campaignRunner } from "../campaigns/runner.ts";
import { campaignService } from "../campaigns/service.ts";
import { readCounts } from "../campaigns/stats.ts";
import { campaignTests } from "../campaigns/test-mail.ts";
import { ensureTemplates } from "../content-work/content-work.ts";
import { ourCondition, plunkCondition } from "./conditions.ts";
import { asPlunk } from "./errors.ts";
import { ListParameters, NumberedPage, numberedPage } from "./pages.ts";
import {
  bulkDelete,
  BulkResult,
  BulkUpdate,
  CONTENT_MEMBERS,
  ensureHeadless,
  MailFields,
  presentMailContent,
  storedType,
} from "./shapes.ts";

const PLUNK_STATUSES = ["DRAFT", "SCHEDULED", "SENDING", "SENT", "CANCELLED"] as const;

const Count = Type.Integer();
const COUNTS = {
  totalRecipients: Count,
  sentCount: Count,
  deliveredCount: Count,
  openedCount: Count,
  clickedCount: Count,
  bouncedCount: Count,
};
const Time = Nullable(Type.String());

const PlunkCampaign = Type.Object({
  ...CONTENT_MEMBERS,
  from: Type.String(),
  status: OneOf(PLUNK_STATUSES),
  audienceType: OneOf(AUDIENCE_TYPES),
  audienceCondition: Type.Unknown(),
  segmentId: Nullable(Type.String()),
  scheduledFor: Time,
  ...COUNTS,
  projectId: Type.String(),
  sentAt: Time,
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

const Fields = Input({
  ...MailFields.properties,
  audienceType: OneOf(AUDIENCE_TYPES),
  audienceCondition: Type.Optional(Type.Unknown()),
  segmentId: Type.Optional(Nullable(Type.String())),
});
const Patch = Type.Partial(Fields);

const ListQuery = Input({ ...ListParameters, status: Type.Optional(Type.String()) });

const SendInput = Input({ scheduledFor: Type.Optional(Nullable(Type.String({ maxLength: 100 }))) });

const Message = Type.Object({ success: Type.Literal(true), message: Type.String() });
const WithMessage = Type.Object({ ...Message.properties, data: PlunkCampaign });

const Stats = Type.Object({
  ...COUNTS,
  openRate: Type.Number(),
  clickRate: Type.Number(),
  bounceRate: Type.Number(),
  deliveryRate: Type.Number(),
});

/** The differences in the errors of campaigns: Plunk refuses a faulty audience or time with 400. */
const DIFFERENCES = {
  names: { audienceFilter: "audienceCondition", category: "type" },
  badRequests: ["audienceFilter", "segmentId", "scheduledFor", "status"],
} as const;

export function plunkCampaignRoutes(app: App, admission: Admission) {
  const [campaigns, lifecycle] = [campaignService(app), campaignLifecycle(app)];
  const [runner, testMails] = [campaignRunner(app), campaignTests(app)];

  return new Elysia({ name: "plunk-campaign-routes", prefix: `${PLUNK}/campaigns` })
    .use(admission.secretKey)
    .get(
      "",
      ({ project, role, query }) =>
        asPlunk(DIFFERENCES, () => {
          const { status } = query;
          return numberedPage(app, project, {
            query,
            table: campaignTable,
            filter: and(
              eq(campaignTable.projectSeq, project.seq),
              status === undefined ? undefined : inArray(campaignTable.status, statusesOf(status)),
            ),
            searched: [campaignTable.name, campaignTable.subject, campaignTable.from],
            present: (row) => present(app, row, { project, role }),
          });
        }),
      {
        query: ListQuery,
        response: withErrors({ 200: NumberedPage(PlunkCampaign) }),
        detail: imitated("listCampaigns", "VIEWER"),
      },
    )
    .post(
      "",
      ({ project, role, body, once }) =>
        asPlunk(DIFFERENCES, () =>
          once(async () => {
            const input = ourFields(body);
            ensureHeadless(body.type, body.body);
            ensureChecks(CampaignInput, input);
            await ensureTemplates(app, project.seq, body, false);
            const audience = campaignAudience(app);
            const described = audience.described(project.seq, input);
            const { recipients } = await audience.breakdown(described);
            const create = campaigns.create(project.seq, input, { isComplete: true });
            const shown = { project, role, recipients };
            return () => ({ status: 201, body: envelope(present(app, create(), shown)) });
          }),
        ),
      {
        body: limited(Fields, BODY_LIMITS.campaign),
        response: withErrors({ 201: Envelope(PlunkCampaign) }),
        detail: imitated("createCampaign", "EDITOR"),
      },
    )
    .post(
      "/bulk-update",
      ({ project, body, storeWithoutQuota }) =>
        asPlunk(DIFFERENCES, () =>
          bulkDelete(body, storeWithoutQuota, (id) => campaigns.remove(project.seq, id)()),
        ),
      {
        body: limited(BulkUpdate, BODY_LIMITS.settings),
        response: withErrors({ 200: BulkResult }),
        detail: imitated("deleteCampaign", "EDITOR"),
      },
    )
    .get(
      "/:id",
      async ({ project, role, params }) => {
        const campaign = campaigns.get(project.seq, params.id);
        return envelope(await presentCounted(app, campaign, { project, role }));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(PlunkCampaign) }),
        detail: imitated("getCampaign", "VIEWER"),
      },
    )
    .put(
      "/:id",
      ({ project, role, request, params, body, store }) =>
        asPlunk(DIFFERENCES, async () => {
          const patch: CampaignPatch = ourFields(body);
          ensureChecks(CampaignPatch, patch);
          ensureAudience(body);
          await ensureTemplates(app, project.seq, body, false);
          const change = campaigns.patch(project.seq, params.id, patch, { request, role });
          const campaign = await store(() => {
            ensureHeadless(body.type, body.body ?? campaigns.get(project.seq, params.id).body);
            return change();
          });
          runner.wake();
          return envelope(await presentCounted(app, campaign, { project, role }));
        }),
      {
        params: IdParams,
        body: limited(Patch, BODY_LIMITS.campaign),
        response: withErrors({ 200: Envelope(PlunkCampaign) }),
        detail: imitated("updateCampaign", "EDITOR"),
      },
    )
    .delete(
      "/:id",
      ({ project, params, storeWithoutQuota }) =>
        asPlunk(DIFFERENCES, async () => {
          await storeWithoutQuota(campaigns.remove(project.seq, params.id));
          return done("Campaign deleted successfully");
        }),
      {
        params: IdParams,
        response: withErrors({ 200: Message }),
        detail: imitated("deleteCampaign", "EDITOR"),
      },
    )
    .post(
      "/:id/duplicate",
      ({ project, role, params, once }) =>
        once(async () => {
          const campaign = campaigns.get(project.seq, params.id);
          const answer = await prepareAnswer(app, campaign, { project, role });
          const duplicate = campaigns.duplicate(project.seq, params.id);
          return () => ({
            status: 201,
            body: answer("Campaign duplicated successfully", duplicate()),
          });
        }),
      {
        params: IdParams,
        response: withErrors({ 201: WithMessage }),
        detail: imitated("duplicateCampaign", "EDITOR"),
      },
    )
    .post(
      "/:id/send",
      ({ project, role, params, body, once }) =>
        asPlunk(DIFFERENCES, () =>
          once(async () => {
            const scheduledFor = timeIn(body?.scheduledFor);
            const input = { scheduledFor };
            const send = await prepareSend(app, project.seq, params.id, { input, role });
            const campaign = campaigns.get(project.seq, params.id);
            const answer = await prepareAnswer(app, campaign, { project, role });
            const message =
              scheduledFor === null
                ? "Campaign is being sent"
                : `Campaign scheduled for ${scheduledFor}`;
            return () => ({ status: 200, body: answer(message, send()) });
          }),
        ),
      {
        params: IdParams,
        body: limited(Type.Optional(SendInput), BODY_LIMITS.settings),
        response: withErrors({ 200: WithMessage }),
        detail: imitated("sendCampaign", "EDITOR"),
      },
    )
    .post(
      "/:id/cancel",
      ({ project, role, params, once }) =>
        asPlunk(DIFFERENCES, () =>
          once(async () => {
            const campaign = campaigns.get(project.seq, params.id);
            const answer = await prepareAnswer(app, campaign, { project, role });
            const cancel = lifecycle.cancel(project.seq, params.id);
            return () => {
              const body = answer("Campaign cancelled successfully", cancel());
              app.writer.afterCommit(runner.wake);
              return { status: 200, body };
            };
          }),
        ),
      {
        params: IdParams,
        response: withErrors({ 200: WithMessage }),
        detail: imitated("cancelCampaign", "EDITOR"),
      },
    )
    .post(
      "/:id/test",
      ({ project, params, body, once }) =>
        once(async () => {
          const campaign = campaigns.get(project.seq, params.id);
          const address = normalizedAddress(body.email);
          const send = await testMails.send(project, campaign, address, null);
          return () => {
            send();
            return { status: 200, body: done(`Test email sent to ${body.email}`) };
          };
        }),
      {
        params: IdParams,
        body: limited(Input({ email: EmailAddress }), BODY_LIMITS.settings),
        response: withErrors({ 200: Message }),
        detail: imitated("testCampaign", "EDITOR"),
      },
    )
    .get(
      "/:id/stats",
      async ({ project, params }) => {
        const campaign = campaigns.get(project.seq, params.id);
        const stats = await readCampaignStats(app, campaign);
        return envelope({
          ...presentCounts(await countRecipients(app, campaign), stats),
          openRate: stats.openRate * 100,
          clickRate: stats.clickRate * 100,
          bounceRate: stats.bounceRate * 100,
          deliveryRate: stats.deliveryRate * 100,
        });
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Stats) }),
        detail: imitated("getCampaignStats", "VIEWER"),
      },
    );
}

const done = (message: string) => ({ success: true as const, message });

/** The fields of a request in our names. A member that the request lacks stays absent. */
function ourFields<T extends Static<typeof Patch>>(body: T) {
  const { type, audienceCondition, ...fields } = body;
  return {
    ...fields,
    ...(type === undefined ? {} : { category: storedType(type) }),
    ...(audienceCondition === undefined ? {} : { audienceFilter: ourCondition(audienceCondition) }),
  };
}

/** A change of the audience needs its segment or condition in the same request. */
function ensureAudience({ audienceType, segmentId, audienceCondition }: Static<typeof Patch>) {
  if (audienceType === "SEGMENT" && segmentId === undefined) {
    throw fieldError("segmentId", "required", "is required for the audienceType SEGMENT");
  }
  if (audienceType === "FILTERED" && audienceCondition === undefined) {
    throw fieldError("audienceFilter", "required", "is required for the audienceType FILTERED");
  }
}

/** Plunk has no status PAUSED: a campaign that was paused is one that is being sent. */
function statusesOf(text: string): CampaignRow["status"][] {
  const status = PLUNK_STATUSES.find((each) => each === text);
  if (status === undefined) {
    throw fieldError("status", "invalid_value", `must be one of ${PLUNK_STATUSES.join(", ")}`);
  }
  return status === "SENDING" ? ["SENDING", "PAUSED"] : [status];
}

/** The time to send at, in every notation that JavaScript reads; null for now. */
function timeIn(text: string | null | undefined): string | null {
  if (text === undefined || text === null || text === "") return null;
  const at = Date.parse(text);
  if (Number.isFinite(at)) return isoTime(at);
  throw fieldError("scheduledFor", "invalid_format", "must be a date and a time");
}

/** The number of contacts that get a campaign: those that match it now, until it is started. */
async function countRecipients(app: App, campaign: CampaignRow): Promise<number> {
  if (campaign.startedAt !== null) return readCounts(app, campaign.seq).totalRecipients;
  try {
    return (await campaignAudience(app).breakdown(campaign)).recipients;
  } catch (error) {
    // A campaign whose segment was deleted has no recipients. To send it is refused with this reason.
    if (error instanceof AppError && error.status < 500) return 0;
    throw error;
  }
}

type Reader = { project: { id: string }; role: Role | null };

/**
 * Counts the recipients of a campaign before an action on it, because the action is a change, which
 * cannot wait. The function that is returned makes the answer from the row that the action leaves.
 */
async function prepareAnswer(app: App, row: CampaignRow, reader: Reader) {
  const recipients = await countRecipients(app, row);
  return (message: string, changed: CampaignRow): Static<typeof WithMessage> => ({
    ...done(message),
    data: present(app, changed, { ...reader, recipients }),
  });
}

/** A campaign with the number of its recipients as of now. */
async function presentCounted(app: App, row: CampaignRow, reader: Reader) {
  return present(app, row, { ...reader, recipients: await countRecipients(app, row) });
}

/** `recipients` replaces the stored number, which is 0 until the campaign is started. */
function present(
  app: App,
  row: CampaignRow,
  { project, role, recipients }: Reader & { recipients?: number },
): Static<typeof PlunkCampaign> {
  const { segmentId, audienceFilter } = presentCampaign(app, row);
  const counts = readCounts(app, row.seq);
  return {
    ...presentMailContent(row),
    type: row.category,
    status: row.status === "PAUSED" ? "SENDING" : row.status,
    audienceType: row.audienceType,
    audienceCondition: conditionFor(role, plunkCondition(audienceFilter)),
    segmentId,
    scheduledFor: isoTimeOrNull(row.scheduledAt),
    ...presentCounts(recipients ?? counts.totalRecipients, counts),
    projectId: project.id,
    sentAt: isoTimeOrNull(row.startedAt ?? row.importedSentAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

type Counts = Pick<CampaignStats, "sent" | "delivered" | "opened" | "clicked" | "bounced">;

function presentCounts(totalRecipients: number, counts: Counts) {
  return {
    totalRecipients,
    sentCount: counts.sent,
    deliveredCount: counts.delivered,
    openedCount: counts.opened,
    clickedCount: counts.clicked,
    bouncedCount: counts.bounced,
  };
}
