/** Tools for operators: they explain what became of a mail, of a campaign and of a domain. */

import { Type } from "@sinclair/typebox";
import { isRecord } from "../../http/validation.ts";
import { searchedAddress } from "../../protocols/mime/mailbox.ts";
import { CampaignStats } from "../campaigns/results-model.ts";
import { type ApiClient, apiPath } from "./api-client.ts";
import { inWords, listItems, pickMembers, readTool, type Tool, toolInput } from "./tool.ts";

const MAX_ITEMS = 100;
/** The latest mails to a recipient, with their attempts. */
const RECENT = 10;
/** Links and bounces in the report of a campaign. */
const EXAMPLES = 10;

const Id = Type.String({ minLength: 1, maxLength: 100 });
const Address = Type.String({ minLength: 3, maxLength: 320 });
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: "Default 20" }));

const EMAIL = [
  "id",
  "to",
  "from",
  "subject",
  "status",
  "source",
  "campaignId",
  "createdAt",
  "lastError",
];
const EMAIL_IN_FULL = [
  ...EMAIL,
  "sentAt",
  "deliveredAt",
  "openedAt",
  "bouncedAt",
  "complainedAt",
  "nextAttemptAt",
  "wait",
  "reports",
];

export const operatorTools: readonly Tool[] = [
  readTool(
    {
      name: "explain_recipient",
      description:
        "Why did this person get nothing? Shows the contact, the subscription, the suppression and the " +
        "latest mails to the address with their attempts, and says what holds mail back.",
      input: toolInput({ email: Address }),
    },
    explainRecipient,
  ),
  readTool(
    {
      name: "find_emails",
      description: "Find mails that were sent or are to be sent, newest first.",
      input: toolInput({
        to: Type.Optional({ ...Address, description: "Address, or @ and a domain" }),
        from: Type.Optional({ ...Address, description: "Address, or @ and a domain" }),
        subject: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, description: "Part of it" }),
        ),
        status: Type.Optional(
          Type.String({
            maxLength: 20,
            description: "Such as QUEUED, DEFERRED, SENT or BOUNCED",
          }),
        ),
        campaignId: Type.Optional(Id),
        since: Type.Optional(Type.String({ maxLength: 64, description: "RFC 3339" })),
        until: Type.Optional(Type.String({ maxLength: 64, description: "RFC 3339" })),
        limit: Limit,
      }),
    },
    async (api, { limit = 20, ...query }) => {
      const list = await api.get("/emails", { ...query, limit });
      return { ...pickMembers(list, ["total"]), emails: shownItems(list, EMAIL) };
    },
  ),
  readTool(
    {
      name: "get_email",
      description: "Get the record of a mail with each attempt and what the mail servers answered.",
      input: toolInput({ id: Id }),
    },
    (api, { id }) => api.get(apiPath`/emails/${id}`),
  ),
  readTool(
    {
      name: "list_campaigns",
      description: "List the campaigns with their status and main numbers, newest first.",
      input: toolInput({ limit: Limit }),
    },
    async (api, { limit = 20 }) => listItems(await api.get("/campaigns/summaries", { limit })),
  ),
  readTool(
    {
      name: "campaign_report",
      description:
        "The numbers of a campaign: sent, opened, clicked, bounced, links, and examples of bounces " +
        "with their reasons.",
      input: toolInput({ id: Id }),
    },
    reportCampaign,
  ),
  readTool(
    {
      name: "domain_status",
      description:
        "Whether the project may send from its domains, and the DNS records that are missing or wrong.",
      input: toolInput({
        domain: Type.Optional(
          Type.String({ minLength: 1, maxLength: 253, description: "Default: all domains" }),
        ),
      }),
    },
    showDomains,
  ),
];

const shownItems = (list: unknown, names: readonly string[]) =>
  listItems(list).map((item) => pickMembers(item, names));

/** The item of a list whose address is the given one; null if there is none. */
function findAddress(list: unknown, email: string) {
  const wanted = searchedAddress(email).toLowerCase();
  const isWanted = (item: unknown) =>
    isRecord(item) && inWords(item["email"]).toLowerCase() === wanted;
  return listItems(list).find(isWanted) ?? null;
}

export async function readSuppression(api: ApiClient, email: string) {
  return findAddress(await api.get("/suppressions", { email, limit: MAX_ITEMS }), email);
}

async function explainRecipient(api: ApiClient, { email }: { email: string }) {
  const contact = findAddress(
    await api.get("/contacts", { search: email, limit: MAX_ITEMS }),
    email,
  );
  const suppression = await readSuppression(api, email);
  const found = await api.get("/emails", { to: email, limit: RECENT });
  const emails = listItems(found).map((item) => ({
    ...pickMembers(item, EMAIL_IN_FULL),
    attempts: listItems(pickMembers(item, ["attempts"])["attempts"]).map((attempt) =>
      pickMembers(attempt, ["number", "startedAt", "outcome", "class", "reason"]),
    ),
  }));
  const findings = [
    ...suppressionFindings(suppression),
    ...contactFindings(contact),
    ...mailFindings(emails[0]),
  ];
  return { findings, contact, suppression, emails, ...pickMembers(found, ["total"]) };
}

function suppressionFindings(suppression: unknown): string[] {
  if (suppression === null) return ["The address is not suppressed."];
  const { reason, createdAt, expiresAt } = pickMembers(suppression, [
    "reason",
    "createdAt",
    "expiresAt",
  ]);
  const end = expiresAt === null ? "" : ` until ${inWords(expiresAt)}`;
  return [
    `The address is suppressed since ${inWords(createdAt)}${end} (${inWords(reason)}): the project sends it no mail.`,
  ];
}

function contactFindings(contact: unknown): string[] {
  if (contact === null) {
    return ["No contact has this address, so no campaign and no workflow reaches it."];
  }
  const { subscribed } = pickMembers(contact, ["subscribed"]);
  return subscribed === true
    ? ["The contact is subscribed."]
    : ["The contact is unsubscribed: it gets transactional mail, but no marketing mail."];
}

function mailFindings(latest: Readonly<Record<string, unknown>> | undefined): string[] {
  if (latest === undefined) return ["No mail to this address is recorded."];
  const { status, createdAt, lastError, wait } = latest;
  const { cause, reason, until } = isRecord(wait) ? wait : {};
  const parts = [
    `The latest mail, of ${inWords(createdAt)}, is ${inWords(status)}.`,
    cause === undefined
      ? ""
      : `It waits: ${inWords(cause)}${reason === null ? "" : ` (${inWords(reason)})`}.`,
    typeof until === "string" ? `It is tried next at ${until}.` : "",
    lastError === null ? "" : `Its last error: ${inWords(lastError)}`,
    status === "SENT" || status === "DELIVERED"
      ? "A mail server accepted it: if it is not in the inbox, look into the folder for spam."
      : "",
  ];
  return [parts.filter((part) => part !== "").join(" ")];
}

const CAMPAIGN = [
  "id",
  "name",
  "subject",
  "status",
  "statusReason",
  "scheduledAt",
  "startedAt",
  "finishedAt",
  "imported",
];

const NUMBERS = Object.keys(CampaignStats.properties).filter(
  (name) => !["links", "timeline", "sentByHour"].includes(name),
);

async function reportCampaign(api: ApiClient, { id }: { id: string }) {
  const campaign = pickMembers(await api.get(apiPath`/campaigns/${id}`), CAMPAIGN);
  const stats = await api.get(apiPath`/campaigns/${id}/stats`);
  const links = listItems(pickMembers(stats, ["links"])["links"]);
  const bounced = await api.get(apiPath`/campaigns/${id}/recipients`, {
    status: "BOUNCED",
    limit: EXAMPLES,
  });
  return {
    campaign,
    numbers: pickMembers(stats, NUMBERS),
    links: links.slice(0, EXAMPLES),
    linksInTotal: links.length,
    bouncesInTotal: pickMembers(bounced, ["total"])["total"],
    bounces: shownItems(bounced, ["email", "bouncedAt", "lastError"]),
  };
}

async function showDomains(api: ApiClient, { domain }: { domain?: string }) {
  const name = domain?.toLowerCase();
  const all = listItems(await api.get("/domains", { limit: MAX_ITEMS }));
  const shown = all.filter(
    (item) => name === undefined || (isRecord(item) && item["domain"] === name),
  );
  return {
    domains: shown.map((item) => ({
      ...pickMembers(item, ["domain", "status", "verified", "lastCheckedAt", "failingSince"]),
      missingRecords: listItems(pickMembers(item, ["records"])["records"])
        .filter((record) => isRecord(record) && record["status"] !== "OK")
        .map((record) =>
          pickMembers(record, [
            "purpose",
            "required",
            "type",
            "host",
            "name",
            "value",
            "status",
            "found",
            "note",
          ]),
        ),
    })),
  };
}
