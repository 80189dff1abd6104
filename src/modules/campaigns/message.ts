/** The content that all mails of a campaign share. The outbox stores it once. */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { layouts } from "../../db/schema/templates.ts";
import { statement } from "../../db/statement.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import { assembleBody, assembledFault } from "../../render/layout.ts";
import { winnerContent } from "./ab-tests/ab-tests.ts";
import { archiveUrlOf } from "./archive.ts";
import type { CampaignRow } from "./present.ts";

export function sharedMessage(app: App, campaign: CampaignRow) {
  return {
    projectSeq: campaign.projectSeq,
    fromAddress: campaign.from,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    html: campaignSource(app, campaign),
    headers: [],
    isMarketing: campaign.category === "MARKETING",
    attachments: [],
    ...(campaign.utm === null ? {} : { utm: campaign.utm }),
    ...(campaign.topicSeq === null ? {} : { topicSeq: campaign.topicSeq }),
  };
}

const findContent = statement<{ seq: number }, [number]>(
  "SELECT seq FROM messages WHERE seq = +? AND digest NOT LIKE 'purged %'",
);

/**
 * Part of a change: the `seq` of the content with which a campaign has started. It is stored again if
 * it was purged meanwhile, and for a campaign that an earlier version has started.
 */
export function storedMessage(
  app: App,
  store: Pick<EmailStore, "saveMessage">,
  campaign: CampaignRow,
): number {
  const { messageSeq } = campaign;
  const found = messageSeq === null ? null : findContent(app).get(messageSeq);
  return found?.seq ?? store.saveMessage(sharedMessage(app, campaign), app.clock.now());
}

/** The variable with the address of the public page; empty if the campaign has none. */
const VARIABLE = "viewInBrowserUrl";

/** The source of the body: with its layout, its preheader and the address of its public page. */
function campaignSource(app: App, campaign: CampaignRow): string {
  const source = assembleBody(partsOf(app, campaign));
  if (!source.includes(VARIABLE)) return source;
  return `{% assign ${VARIABLE} = ${quoted(archiveUrlOf(app, campaign) ?? "")} %}${source}`;
}

/** The reason why the body does not fit into its layout; null if it does. */
export const bodyFault = (app: App, campaign: CampaignRow): string | null =>
  assembledFault(partsOf(app, campaign));

function partsOf({ db }: App, { projectSeq, layoutId, preheader, body }: CampaignRow) {
  if (layoutId === null) return { body, preheader, layout: null };
  const match = and(eq(layouts.projectSeq, projectSeq), eq(layouts.id, layoutId));
  const [layout] = db.select({ body: layouts.body }).from(layouts).where(match).limit(1).all();
  return { body, preheader, layout: layout?.body ?? null };
}

/** A text of Liquid. An address contains no quotes. */
const quoted = (text: string): string => `"${text.replaceAll('"', "%22")}"`;

/** The members of a campaign that a preview renders. */
export const previewSource = (app: App, campaign: CampaignRow) => ({
  subject: campaign.subject,
  body: campaignSource(app, campaign),
  isMarketing: campaign.category === "MARKETING",
  utm: campaign.utm,
});

const findHtml = statement<{ html: string }, [number]>(
  "SELECT html FROM messages WHERE seq = +? AND digest NOT LIKE 'purged %'",
);

/** The content with which a campaign has started, or that of its winner, as far as it is still stored. */
export function archivedSource(app: App, campaign: CampaignRow): { subject: string; html: string } {
  const content = winnerContent(app, campaign);
  const { subject, messageSeq } = content;
  const stored = messageSeq === null ? null : findHtml(app).get(messageSeq);
  return { subject, html: stored?.html ?? campaignSource(app, content) };
}
