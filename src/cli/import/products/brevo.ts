/** Brevo: its interface by key, or the CSV export of its contacts with their subscription status. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { mailboxText } from "../../../protocols/mime/mailbox.ts";
import { convertedTemplate } from "../converted-template.ts";
import { convertBrevo } from "../convert-brevo.ts";
import { type HttpClient, parseShape } from "../http-client.ts";
import type { ImportSource } from "../source.ts";
import { addTables } from "../table.ts";

const DROPPED = new Set(["contactid", "modifiedtime"]);
const MAX_PAGES = 20_000;

const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Count = Type.Optional(Type.Union([Type.Integer(), Type.Null()]));
const Contact = Type.Object({
  email: MaybeText,
  emailBlacklisted: Type.Boolean(),
  listIds: Type.Optional(Type.Array(Type.Integer())),
  listUnsubscribed: Type.Optional(Type.Union([Type.Array(Type.Integer()), Type.Null()])),
  attributes: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
const List = Type.Object({ id: Type.Integer(), name: Type.String() });
const Template = Type.Object({
  name: Type.String(),
  subject: MaybeText,
  htmlContent: MaybeText,
});
const ListedCampaign = Type.Object({ id: Type.Integer() });
const Campaign = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  subject: MaybeText,
  subjectA: MaybeText,
  previewText: MaybeText,
  htmlContent: MaybeText,
  replyTo: MaybeText,
  sentDate: MaybeText,
  sender: Type.Optional(Type.Object({ name: MaybeText, email: MaybeText })),
  statistics: Type.Optional(
    Type.Object({
      globalStats: Type.Optional(
        Type.Object({
          sent: Count,
          delivered: Count,
          hardBounces: Count,
          softBounces: Count,
          uniqueViews: Count,
          viewed: Count,
          uniqueClicks: Count,
          clickers: Count,
          complaints: Count,
          unsubscriptions: Count,
        }),
      ),
    }),
  ),
});

export async function readBrevo(source: ImportSource): Promise<void> {
  const { client, collection } = source;
  if (client === null) {
    addTables(source, {
      dropped: DROPPED,
      statuses: new Set(["emailmarketing", "emailmarketingstatus", "emailsubscriptionstatus"]),
      tags: new Map([["listids", readLists]]),
    });
    collection.notes.add("Lists become STATIC segments with the number that the export gives");
    collection.notes.add(
      "Templates and campaigns stay behind: the export does not contain them. Import them with BREVO_API_KEY",
    );
  } else {
    await readContacts(client, source);
    await readTemplates(client, source);
    await readCampaigns(client, source);
    collection.notes.add("Lists become STATIC segments");
  }
  collection.notes.add("A blocklisted contact is suppressed: it gets no transactional mail either");
  collection.notes.add("Segments by conditions, automations and forms stay behind");
}

/** The numbers in `2,5` or `[2, 5]`. */
function readLists(cell: string): string[] {
  return [...cell.matchAll(/\d{1,12}/g)].map(([number]) => listName(number));
}

const listName = (id: string | number): string => `Brevo list ${id}`;

const LISTS = { member: "lists", item: List };
const CONTACTS = { member: "contacts", item: Contact, limit: 500 };
const TEMPLATES = { member: "templates", item: Template };
const CAMPAIGNS = { member: "campaigns", item: ListedCampaign };

async function readContacts(client: HttpClient, { collection }: ImportSource): Promise<void> {
  const names = new Map<number, string>();
  for await (const { id, name } of itemsOf(client, "/v3/contacts/lists", LISTS)) {
    names.set(id, name);
  }
  const pages = itemsOf(client, "/v3/contacts", CONTACTS);
  for await (const { email, emailBlacklisted, listIds, listUnsubscribed, attributes } of pages) {
    if (email === null || email === undefined || email === "") {
      collection.notes.add("Contacts without an address, such as those for SMS, are not imported");
      continue;
    }
    const hasLeft = (listUnsubscribed ?? []).length > 0;
    const standing = emailBlacklisted ? "MANUAL" : hasLeft ? "UNSUBSCRIBED" : "SUBSCRIBED";
    collection.addContact({ email, standing, data: attributes ?? {} });
    for (const id of listIds ?? []) collection.addMember(names.get(id) ?? listName(id), email);
  }
}

async function readTemplates(client: HttpClient, { collection }: ImportSource): Promise<void> {
  for await (const template of itemsOf(client, "/v3/smtp/templates", TEMPLATES)) {
    const { name, subject, htmlContent } = template;
    collection.templates.push(
      convertedTemplate({ name, subject, html: htmlContent }, convertBrevo),
    );
  }
}

/** The list of campaigns has the numbers of six months only, so each campaign is asked for its own. */
async function readCampaigns(client: HttpClient, { collection }: ImportSource): Promise<void> {
  const path = "/v3/emailCampaigns?status=sent&excludeHtmlContent=true";
  for await (const { id } of itemsOf(client, path, CAMPAIGNS)) {
    const answer = await client.get(`/v3/emailCampaigns/${id}?statistics=globalStats`);
    const campaign = parseShape(Campaign, answer, `Brevo's campaign ${id}`);
    const { name, subject, subjectA, previewText, htmlContent, replyTo, sender } = campaign;
    const address = sender?.email;
    collection.campaigns.push({
      id: String(id),
      name,
      subject: subject || subjectA || name,
      body: htmlContent ?? null,
      preheader: previewText,
      from: address && mailboxText({ address, name: sender?.name ?? null }),
      replyTo,
      sentAt: campaign.sentDate,
      counts: countsIn(campaign.statistics?.globalStats ?? {}),
      convert: (text) => convertBrevo(text).liquid,
    });
  }
}

type GlobalStats = NonNullable<NonNullable<Static<typeof Campaign>["statistics"]>["globalStats"]>;

function countsIn(stats: GlobalStats) {
  const { sent, delivered, hardBounces, softBounces, complaints, unsubscriptions } = stats;
  const areBouncesTold = typeof hardBounces === "number" || typeof softBounces === "number";
  return {
    sent,
    delivered,
    opened: stats.uniqueViews,
    opens: stats.viewed,
    clicked: stats.uniqueClicks,
    clicks: stats.clickers,
    bounced: areBouncesTold ? (hardBounces ?? 0) + (softBounces ?? 0) : null,
    complained: complaints,
    unsubscribed: unsubscriptions,
  };
}

/** The items of all pages; the last page is shorter than the others, or empty. */
async function* itemsOf<T extends TSchema>(
  client: HttpClient,
  path: string,
  { member, item, limit = 50 }: { member: string; item: T; limit?: number },
): AsyncGenerator<Static<T>> {
  const Page = Type.Object({ [member]: Type.Optional(Type.Array(item)) });
  const mark = path.includes("?") ? "&" : "?";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = `limit=${limit}&offset=${page * limit}&sort=asc`;
    const answer = await client.get(`${path}${mark}${query}`);
    const items = parseShape(Page, answer, `Brevo's answer to ${path}`)[member] ?? [];
    yield* items;
    if (items.length < limit) return;
  }
  throw new Error(`Brevo has more than ${MAX_PAGES} pages of ${path}`);
}
