/** The content that all mails of a campaign share. The outbox stores it once. */

import type { CampaignRow } from "./present.ts";

export function sharedMessage(campaign: CampaignRow) {
  return {
    projectSeq: campaign.projectSeq,
    fromAddress: campaign.from,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    html: campaign.body,
    headers: [],
    isMarketing: true,
    attachments: [],
  };
}
