/** The content that all mails of a campaign share. The outbox stores it once. */

import type { App } from "../../core/app.ts";
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
  };
}

/** The variable with the address of the public page; empty if the campaign has none. */
const VARIABLE = "viewInBrowserUrl";

/** The source of the body: with its layout, its preheader and the address of its public page. */
function campaignSource(app: App, campaign: CampaignRow): string {
  const { body } = campaign;
  if (!body.includes(VARIABLE)) return body;
  return `{% assign ${VARIABLE} = ${quoted(archiveUrlOf(app, campaign) ?? "")} %}${body}`;
}

/** A text of Liquid. An address contains no quotes. */
const quoted = (text: string): string => `"${text.replaceAll('"', "%22")}"`;

/** What a preview renders. */
export const previewSource = (app: App, campaign: CampaignRow) => ({
  subject: campaign.subject,
  body: campaignSource(app, campaign),
  isMarketing: campaign.category === "MARKETING",
});
