/**
 * Names of fields and query parameters that other email services use, and what they are called here.
 * They come from the interfaces of Resend, SendGrid, Postmark, Mailgun, Amazon SES, Brevo, Mailjet
 * and Plunk. Names are compared without `_`, `-`, blanks and letter case, so `reply_to`, `ReplyTo`
 * and `replyTo` are one entry. A name that begins with a dot is refused only inside another field,
 * such as the subject of one recipient.
 */

export type ForeignField = {
  /** Our names for it: the first one that the endpoint has at this place is the right one. */
  ours: readonly string[];
  /**
   * The advice where the endpoint has none of our names. If it is null, the name is not refused
   * there, because it does not change what is sent.
   */
  otherwise: string | null;
};

const NOT_SUPPORTED = "is not supported; leave it out";
const OWN_MAIL = "is not supported; list the address in to: each recipient gets a mail of its own";
const TEXT = "is not supported; the text part is made from body";
const PREHEADER =
  "is not supported here; use a template with a preheader, or put it first into body";
const LATER =
  "is not supported here; only a campaign is sent later: scheduledFor of POST /campaigns/{id}/send";
const PROJECT_TRACKING = "is not supported here; tracking is a setting of the project";
const GROUP_LOGIC =
  "is not a field of a group, whose filters must all be met; make several groups to join them by OR";

const TABLE: readonly (readonly [names: string, ours: string, otherwise: string | null])[] = [
  ["cc ccAddresses ccList ccRecipients", "cc", OWN_MAIL],
  ["bcc bccAddresses bccList bccRecipients", "bcc", OWN_MAIL],
  ["text textBody textContent textPart plain plainText bodyText bodyPlain alt", "text", TEXT],
  ["amp ampHtml", "", NOT_SUPPORTED],
  ["html htmlBody htmlContent htmlPart bodyHtml content contents message", "body", NOT_SUPPORTED],
  ["subjectLine mailSubject emailSubject title", "subject", null],
  ["previewText preHeaderText preview", "preheader", PREHEADER],
  ["preheader", "", PREHEADER],
  [
    "replyTo replyToEmail replyToAddress replyToAddresses replyToList",
    "replyTo reply",
    NOT_SUPPORTED,
  ],
  ["reply", "replyTo", NOT_SUPPORTED],
  ["fromEmail fromAddress fromEmailAddress sender senderEmail", "from sender", NOT_SUPPORTED],
  ["fromName senderName", "fromName name", NOT_SUPPORTED],
  ["toEmail toAddress recipient recipients destination destinations", "to recipient email", null],
  ["returnPath bounceAddress envelopeFrom", "", NOT_SUPPORTED],
  [
    "scheduledAt scheduledFor scheduled schedule scheduleAt scheduleTime scheduledTime sendAt " +
      "sendTime sendOn deliverAt deliveryTime deliverTime delay deliverWithin oDeliveryTime",
    "scheduledAt scheduledFor",
    LATER,
  ],
  ["tag tags oTag category categories emailTags", "tags", NOT_SUPPORTED],
  ["metadata customArgs customVariables customId eventPayload", "data", NOT_SUPPORTED],
  [
    "variables vars templateData templateVariables templateModel dynamicTemplateData dynamicData " +
      "substitutions substitutionData mergeVars globalMergeVars mergeTags mergeData params " +
      "recipientVariables personalization personalizations replacementTags",
    "data",
    NOT_SUPPORTED,
  ],
  ["templateId templateUuid templateAlias templateName templateKey", "template", null],
  ["template", "templateId", NOT_SUPPORTED],
  [
    "configurationSet configurationSetName messenger messageStream messageStreamId topicId batchId ipPoolName ipPool",
    "",
    NOT_SUPPORTED,
  ],
  [
    "trackOpens trackClicks trackLinks trackingSettings trackingOptions openTracking clickTracking " +
      "oTracking oTrackingClicks oTrackingOpens tracking",
    "tracking",
    PROJECT_TRACKING,
  ],
  ["mailSettings sandbox sandboxMode testMode oTestmode asm dkim oDkim", "", NOT_SUPPORTED],
  ["attachment attachedFiles files", "attachments", NOT_SUPPORTED],
  ["attachments", "", NOT_SUPPORTED],
  ["inlineCss inlinedAttachments inlineImages", "", NOT_SUPPORTED],
  ["headers customHeaders emailHeaders", "headers", NOT_SUPPORTED],
  ["idempotencyKey", "", "is not a field; send the header Idempotency-Key"],
  ["priority importance", "priority headers", null],
  [
    "list lists listId listIds audience audienceId audiences segments segmentIds contactLists",
    "segmentId",
    NOT_SUPPORTED,
  ],
  ["audienceType segmentId audienceFilter", "", null],
  ["type campaignType audience", "audienceType", null],
  ["unsubscribed optOut optedOut optIn optedIn isSubscribed emailBlacklisted", "subscribed", null],
  ["status", "subscribed", null],
  ["address emailAddress mail", "email", null],
  [
    "firstName lastName fullName attributes customFields customAttributes mergeFields fields " +
      "properties traits",
    "data",
    null,
  ],
  ["from", "sender", null],
  ["to", "recipient audienceType", null],
  ["data .from .subject .body", "", NOT_SUPPORTED],
  ["name", "filename event data", null],
  ["eventName", "event", null],
  ["path href fileUrl", "url content", null],
  ["contentBytes", "content", null],
  ["mimeType mediaType", "contentType", null],
  ["cid contentDisposition", "contentId", null],
  // Members of a condition that belong to another level of it, or to another query language.
  [".filters .conditions .rules .criteria .all .any .or .and", "filters groups", null],
  [".groups", "conditions", null],
  [".logic .combinator .conjunction", "logic", GROUP_LOGIC],
  [".match", "logic", null],
  [".field .property .attribute .column", "field filters groups", null],
  [".operator .op .comparison .comparator", "operator filters groups", null],
  [".timeUnit .period", "unit", null],
  [".not .negate .negated", "", "is not supported; use an operator such as notEquals"],
];

const PARAMETERS: typeof TABLE = [
  ["page offset skip after startingAfter pageToken nextToken startAt", "cursor", null],
  ["perPage pageSize size count take max maxResults first top", "limit", null],
  ["q query filter term", "search", null],
];

/** The form in which names are compared. */
export const comparedName = (name: string): string => name.toLowerCase().replace(/[-_ :]/g, "");

function entries(table: typeof TABLE): ReadonlyMap<string, ForeignField> {
  const found = new Map<string, ForeignField>();
  for (const [names, ours, otherwise] of table) {
    for (const name of names.split(" ")) {
      const key = comparedName(name);
      if (found.has(key)) continue;
      found.set(key, { ours: ours === "" ? [] : ours.split(" "), otherwise });
    }
  }
  return found;
}

export const FOREIGN_FIELDS = entries(TABLE);
export const FOREIGN_PARAMETERS = entries(PARAMETERS);
