/**
 * POST   /broadcasts                  a campaign to the members of a segment
 * GET    /broadcasts
 * GET    /broadcasts/{id}
 * PATCH  /broadcasts/{id}
 * POST   /broadcasts/{id}/send        now, or at a time
 * POST   /broadcasts/{id}/cancel      one that is scheduled becomes a draft
 * POST   /broadcasts/{id}/duplicate
 * DELETE /broadcasts/{id}
 */

import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaigns as campaignTable } from "../../db/schema/campaigns.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import { campaignLifecycle } from "../campaigns/lifecycle.ts";
import { type Campaign, CampaignDraft, CampaignPatch } from "../campaigns/model.ts";
import { campaignRunner } from "../campaigns/runner.ts";
import { prepareSend } from "../campaigns/prepare-send.ts";
import { campaignService } from "../campaigns/service.ts";
import {
  Fields,
  hasValue,
  Maybe,
  refuseGiven,
  refuseOther,
  type ResendCall,
  resendRoute,
  type ResendRoute,
  textOr,
  withNames,
} from "./call.ts";
import {
  CONTENT,
  CONTENT_NAMES,
  contentIn,
  ensureContent,
  shownContent,
  templateIn,
} from "./content.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";
import { textOfTemplate } from "./placeholders.ts";
import { momentIn } from "./times.ts";

const Broadcast = Fields({
  name: Maybe(Type.String({ maxLength: 255 })),
  segment_id: Maybe(Type.String()),
  audience_id: Maybe(Type.String()),
  ...CONTENT,
  preview_text: Maybe(Type.String()),
  topic_id: Maybe(Type.String()),
  send: Maybe(Type.Boolean()),
  scheduled_at: Maybe(Type.String()),
  /** The client in Python repeats what the path has. */
  broadcast_id: Maybe(Type.String()),
});
type Broadcast = Static<typeof Broadcast>;

const Sending = Fields({
  scheduled_at: Maybe(Type.String()),
  broadcast_id: Maybe(Type.String()),
});

export const resendBroadcastRoutes: readonly ResendRoute[] = [
  resendRoute(
    "POST /broadcasts",
    {
      role: "EDITOR",
      audit: ["createCampaign", "campaign"],
      body: Broadcast,
      limit: BODY_LIMITS.campaign,
    },
    createBroadcast,
  ),
  resendRoute(
    "GET /broadcasts",
    { role: "VIEWER", query: ResendPageQuery },
    (app, { project, query }) => {
      const { present } = campaignService(app);
      return resendPage(app, query, {
        table: campaignTable,
        filter: eq(campaignTable.projectSeq, project.seq),
        present: (row) => listed(present(row)),
      });
    },
  ),
  resendRoute("GET /broadcasts/:id", { role: "VIEWER" }, (app, { project, params }) => {
    const { get, present } = campaignService(app);
    return shown(present(get(project.seq, params["id"] ?? "")));
  }),
  resendRoute(
    "PATCH /broadcasts/:id",
    {
      role: "EDITOR",
      audit: ["updateCampaign", "campaign"],
      body: Broadcast,
      limit: BODY_LIMITS.campaign,
    },
    changeBroadcast,
  ),
  resendRoute(
    "POST /broadcasts/:id/send",
    {
      role: "EDITOR",
      audit: ["sendCampaign", "campaign"],
      body: Type.Optional(Sending),
      limit: BODY_LIMITS.settings,
    },
    sendBroadcast,
  ),
  resendRoute(
    "POST /broadcasts/:id/cancel",
    { role: "EDITOR", audit: ["cancelCampaign", "campaign"] },
    async (app, { project, params: { id = "" }, storeWithoutQuota }) => {
      const { cancel, unschedule } = campaignLifecycle(app);
      await storeWithoutQuota(() => {
        const { status } = campaignService(app).get(project.seq, id);
        (status === "SCHEDULED" ? unschedule : cancel)(project.seq, id)();
        app.writer.afterCommit(campaignRunner(app).wake);
      });
      return { object: "broadcast", id };
    },
  ),
  resendRoute(
    "POST /broadcasts/:id/duplicate",
    { role: "EDITOR", audit: ["duplicateCampaign", "campaign"] },
    (app, { project, params: { id = "" }, once }) =>
      once(() => {
        const duplicate = campaignService(app).duplicate(project.seq, id);
        return () => ({ status: 201, body: { object: "broadcast", id: duplicate().id } });
      }),
  ),
  resendRoute(
    "DELETE /broadcasts/:id",
    { role: "EDITOR", audit: ["deleteCampaign", "campaign"] },
    async (app, { project, params: { id = "" }, storeWithoutQuota }) => {
      const campaigns = campaignService(app);
      await storeWithoutQuota(() => {
        const { status } = campaigns.get(project.seq, id);
        if (status === "SCHEDULED") campaignLifecycle(app).unschedule(project.seq, id)();
        campaigns.remove(project.seq, id)();
        app.writer.afterCommit(campaignRunner(app).wake);
      });
      return { object: "broadcast", id, deleted: true };
    },
  ),
];

/** Our names of the fields, and those of Resend. */
const NAMES = {
  ...CONTENT_NAMES,
  preheader: "preview_text",
  segmentId: "segment_id",
  scheduledFor: "scheduled_at",
};

function createBroadcast(app: App, { project, body, once }: ResendCall<Broadcast>) {
  return withNames(NAMES, () =>
    once(async () => {
      const fields = fieldsOf(body);
      if (fields.segmentId === undefined) throw required("segment_id");
      if (fields.from === undefined) throw required("from");
      if (fields.subject === undefined) throw required("subject");
      const name = textOr(body.name) ?? (body.subject ?? "").slice(0, 255).toWellFormed();
      const input = { ...fields, name, audienceType: "SEGMENT" as const };
      await ensureContent(app, project, { schema: CampaignDraft, input });
      const create = campaignService(app).create(project.seq, input, { isComplete: false });
      return () => ({ status: 201, body: { object: "broadcast", id: create().id } });
    }),
  );
}

function sendBroadcast(app: App, call: ResendCall<Static<typeof Sending> | undefined>) {
  const { project, params, body, once } = call;
  const { id = "" } = params;
  return withNames(NAMES, () =>
    once(async () => {
      refuseOther(body ?? {}, { broadcast_id: id });
      const text = textOr(body?.scheduled_at);
      const at = text === undefined ? null : momentIn("scheduled_at", text, app.clock.now());
      const input = at === null ? {} : { scheduledFor: isoTime(at) };
      const send = await prepareSend(app, project.seq, id, { input, role: "ADMIN" });
      return () => {
        send();
        return { status: 200, body: { id } };
      };
    }),
  );
}

async function changeBroadcast(app: App, call: ResendCall<Broadcast>) {
  const { project, params, body, request, store } = call;
  const { id = "" } = params;
  refuseOther(body, { broadcast_id: id });
  const name = textOr(body.name);
  const patch = { ...fieldsOf(body), ...(name === undefined ? {} : { name }) };
  await withNames(NAMES, async () => {
    await ensureContent(app, project, { schema: CampaignPatch, input: patch });
    const caller = { request, role: "ADMIN" } as const;
    return store(campaignService(app).patch(project.seq, id, patch, caller));
  });
  campaignRunner(app).wake();
  return { object: "broadcast", id };
}

const required = (field: string) => fieldError(field, "required", "is required");

const LATER = "is not supported; call POST /broadcasts/{id}/send after this";

/** The fields of a campaign that a request sets. */
function fieldsOf(body: Broadcast) {
  refuseGiven(body, {
    ...(hasValue(body.html) ? {} : { text: "is not supported without html, of which it is made" }),
    topic_id: "is not supported",
    send: LATER,
    scheduled_at: LATER,
  });
  const { segment_id: segment, audience_id: audience } = body;
  if (hasValue(segment) && hasValue(audience) && segment !== audience) {
    throw fieldError("audience_id", "invalid_value", "is an older name of segment_id; give one");
  }
  const segmentId = textOr(segment) ?? textOr(audience);
  const preheader = templateIn(body.preview_text);
  return {
    ...contentIn(body),
    ...(segmentId === undefined ? {} : { segmentId }),
    ...(preheader === undefined ? {} : { preheader }),
  };
}

const STATUSES: Readonly<Record<Campaign["status"], string>> = {
  DRAFT: "draft",
  SCHEDULED: "queued",
  SENDING: "queued",
  PAUSED: "queued",
  SENT: "sent",
  CANCELLED: "canceled",
};

function listed(campaign: Campaign) {
  const { id, name, segmentId, status, createdAt, scheduledAt, finishedAt, imported } = campaign;
  return {
    id,
    name,
    segment_id: segmentId,
    audience_id: segmentId,
    status: STATUSES[status],
    created_at: createdAt,
    scheduled_at: scheduledAt,
    sent_at: status === "SENT" ? (finishedAt ?? imported?.sentAt ?? null) : null,
  };
}

function shown(campaign: Campaign) {
  const { preheader } = campaign;
  return {
    object: "broadcast",
    ...listed(campaign),
    ...shownContent(campaign),
    preview_text: preheader === null ? null : textOfTemplate(preheader),
    topic_id: null,
  };
}
