/**
 * Campaigns that another product has sent, as a record of the past. Such a campaign is SENT, with an
 * empty audience and without a start, so that nothing here sends it, counts it or writes to its
 * recipients. The totals of the other product are kept beside it, apart from the counters of this server.
 */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { created, operations, write } from "../../http/operations.ts";
import { fieldError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { ensureTemplates } from "../content-work/content-work.ts";
import { NO_AUDIENCE } from "./columns.ts";
import { CampaignImportInput, NO_COUNTS } from "./imported-model.ts";
import { noteCampaignChange } from "./log.ts";
import { Campaign } from "./model.ts";
import { type CampaignRow, presentCampaign } from "./present.ts";

/** The other product may write the time of a zone that is not known, so a day ahead is not refused. */
const ZONE_TOLERANCE_MS = 24 * 60 * 60_000;

export const campaignImportOperations = operations("Campaigns", {}, [
  write("POST /campaigns/import", {
    id: "importCampaign",
    role: "EDITOR",
    summary: "Store a campaign that another product has sent",
    description:
      "The campaign is SENT, and `imported` says where it comes from and what that product has counted. " +
      "It sends nothing, has no recipients, and counts in no statistics. A campaign with the same " +
      "`source` and `sourceId` is not changed, and answered with 200 instead of 201.",
    isIdempotent: true,
    links: { getCampaign: { id: "/data/id" } },
    body: limited(CampaignImportInput, BODY_LIMITS.campaign),
    answer: Envelope(Campaign),
    status: [200, 201],
    prepare(app, { project, body: { subject, body, sentAt } }) {
      if (sentAt && Date.parse(sentAt) > app.clock.now() + ZONE_TOLERANCE_MS) {
        throw fieldError("sentAt", "invalid_value", "must not be in the future");
      }
      return ensureTemplates(app, project.seq, { subject, body: body ?? undefined }, false);
    },
    run(app, { project, body }) {
      const known = findImported(app, project.seq, body);
      if (known !== null) return presentCampaign(app, known);
      return created(presentCampaign(app, insertImported(app, project.seq, body)));
    },
  }),
]);

function findImported(
  { db }: App,
  projectSeq: number,
  { source, sourceId }: CampaignImportInput,
): CampaignRow | null {
  const match = and(
    eq(campaigns.projectSeq, projectSeq),
    eq(campaigns.importedFrom, source),
    eq(campaigns.importedId, sourceId),
  );
  return db.select().from(campaigns).where(match).limit(1).get() ?? null;
}

function insertImported(app: App, projectSeq: number, input: CampaignImportInput): CampaignRow {
  const { db, clock } = app;
  const { source, sourceId, sentAt = null, counts = {}, ...content } = input;
  const now = clock.now();
  const row = db
    .insert(campaigns)
    .values({
      ...NO_AUDIENCE,
      id: newId(now),
      projectSeq,
      name: content.name,
      subject: content.subject,
      body: content.body ?? "",
      preheader: content.preheader || null,
      from: content.from ? normalizedAddress(content.from) : "",
      fromName: content.fromName ?? null,
      replyTo: content.replyTo ?? null,
      status: "SENT",
      audienceCursor: 0,
      audienceEnd: 0,
      importedFrom: source,
      importedId: sourceId,
      importedAt: now,
      importedSentAt: sentAt === null ? null : Date.parse(sentAt),
      importedCounts: JSON.stringify({ ...NO_COUNTS, ...counts }),
      createdAt: now,
      updatedAt: now,
    })
    .returning()
    .get();
  db.insert(campaignCounts).values({ campaignSeq: row.seq }).run();
  noteCampaignChange(app, row);
  return row;
}
