/** Texts of the operations on campaigns for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const id = "/data/id";
const toCampaign = {
  getCampaign: { id },
  updateCampaign: { id },
  sendCampaign: { id },
  previewCampaign: { id },
  testCampaign: { id },
  getCampaignStats: { id },
};

export const campaignOperations = describeOperations(
  { tag: "Campaigns", id: "Id of the campaign" },
  {
    listCampaigns: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List campaigns",
      description: "Campaigns that match the filter, newest first, without their designs.",
    },
    createCampaign: {
      role: "EDITOR",
      summary: "Create a campaign",
      description: "The campaign is a DRAFT until it is sent or scheduled.",
      isIdempotent: true,
      links: toCampaign,
    },
    createCampaignDraft: {
      role: "EDITOR",
      summary: "Create a campaign that is not complete yet",
      description:
        "Only the name is required. `missing` of the campaign lists what it needs before it can be " +
        "sent. With `templateId` the content of that template is copied.",
      isIdempotent: true,
      links: toCampaign,
    },
    getCampaign: {
      role: "VIEWER",
      scopes: ["READ"],
      headers: ["ETag"],
      summary: "Campaign details",
      description: "The campaign with its content, audience and status.",
    },
    updateCampaign: {
      role: "EDITOR",
      isConditional: true,
      headers: ["ETag"],
      summary: "Update a campaign that is DRAFT or SCHEDULED",
      description:
        "Changes the given fields. A campaign of another status is refused with 409, except that its " +
        "public page (`archived`, `archiveSlug`) may always be changed.",
    },
    deleteCampaign: {
      role: "EDITOR",
      summary: "Delete a campaign that is DRAFT, CANCELLED or imported",
      description: "A campaign of another status is refused with 409.",
    },
    sendCampaign: {
      role: "EDITOR",
      summary: "Send a campaign now, or schedule it",
      description:
        "Without a body, sending starts now. With `scheduledFor` it starts at that time, and a " +
        "second call changes the time. A campaign without recipients is refused with 409, and one that " +
        "lacks something with 422. Only an admin or a key may send a TRANSACTIONAL campaign.",
      isIdempotent: true,
    },
    unscheduleCampaign: {
      role: "EDITOR",
      summary: "Make a SCHEDULED campaign a DRAFT again",
      description: "Nothing is sent until it is sent or scheduled again.",
      isIdempotent: true,
    },
    cancelCampaign: {
      role: "EDITOR",
      summary: "Cancel a campaign; mails not yet handed to a mail server are not sent",
      description: "A cancelled campaign cannot be resumed.",
      isIdempotent: true,
    },
    pauseCampaign: {
      role: "EDITOR",
      summary:
        "Pause a campaign that is SENDING, or keep a campaign paused that would resume once its " +
        "domain is verified again",
      description: "Mails that wait are sent after the campaign is resumed.",
      isIdempotent: true,
    },
    resumeCampaign: {
      role: "EDITOR",
      summary: "Resume a paused campaign",
      description: "Sending continues with the mails that were not sent yet.",
      isIdempotent: true,
    },
    duplicateCampaign: {
      role: "EDITOR",
      summary: "Copy a campaign into a new DRAFT",
      description: "The copy has the content and the audience, and no statistics.",
      isIdempotent: true,
      links: toCampaign,
    },
    followUpCampaign: {
      role: "EDITOR",
      summary: "Create a campaign for those who did not open this one",
      description:
        "A DRAFT with the same content, for the contacts who got this campaign and did not open it, or " +
        "did not click. Opens by machines do not count. Its audience is a condition that is " +
        "evaluated when it is sent. The body may be omitted.",
      isIdempotent: true,
      links: toCampaign,
    },
    testCampaign: {
      role: "EDITOR",
      summary: "Send a test mail, which is not counted in the statistics",
      description:
        "Renders the campaign with the data of `contactId`, or else of the contact that has the " +
        "address, and queues one mail.",
      isIdempotent: true,
      links: { getEmail: { id: "/data/email" } },
    },
    rehearseCampaign: {
      role: "EDITOR",
      isAudited: false,
      summary: "Render a campaign for contacts whose data differ, and check each message",
      description:
        "The messages are stored in the project's inbox `rehearsal`. Nothing is sent, counted or " +
        "tracked, and no contact changes. The body may be omitted.",
    },
    previewCampaign: {
      role: "VIEWER",
      isAudited: false,
      summary: "Render a campaign for a contact or with sample data",
      description: "Stores and sends nothing. The body may be omitted.",
    },
    showCampaign: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "The rendered campaign as a document",
      description:
        "A document for a frame: without scripts, and without images of other servers unless they " +
        "are asked for.",
    },
    listCampaignSummaries: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List campaigns with their main numbers",
      description: "Campaigns that match the filters, newest first, without their content.",
    },
    getCampaignAudience: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Count who gets a campaign, and who does not",
      description:
        "The contacts that match the audience at the moment, and how many of them get no mail for " +
        "which reason.",
    },
    countAudience: {
      role: "EDITOR",
      isAudited: false,
      summary: "Count who would get a campaign with an audience",
      description:
        "Stores nothing. With `counted=RECENT` the numbers are estimates if counting takes long.",
    },
    listCampaignAudience: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List who gets a campaign, or who gets none of it for a reason",
      description: "The contacts that match the audience at the moment, newest first.",
    },
    getCampaignStats: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Statistics of a campaign",
      description: "Counts and rates of all its mails, clicks by link, and a timeline by hour.",
    },
    listCampaignRecipients: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the recipients with the status of their mail and what they did",
      description: "Recipients that match all filters, newest mail first.",
    },
  },
);
