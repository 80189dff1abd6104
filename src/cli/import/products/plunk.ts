/** Plunk: its interface by key, or the CSV export of its contacts. */

import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../../lib/errors.ts";
import { mailboxText } from "../../../protocols/mime/mailbox.ts";
import type { Collection } from "../collection.ts";
import { type HttpClient, parseShape } from "../http-client.ts";
import type { ImportSource } from "../source.ts";
import { addTables } from "../table.ts";

const MAX_PAGES = 20_000;

const Contact = Type.Object({
  email: Type.String(),
  subscribed: Type.Boolean(),
  data: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
});
const Contacts = Type.Object({
  data: Type.Array(Contact),
  cursor: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  hasMore: Type.Boolean(),
});
const Segment = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.Optional(Type.String()),
  condition: Type.Optional(Type.Unknown()),
});
const Members = Type.Object({
  data: Type.Array(Type.Object({ email: Type.String() })),
  totalPages: Type.Integer(),
});
const Template = Type.Object({
  name: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  type: Type.String(),
});
const Templates = Type.Object({ data: Type.Array(Template), totalPages: Type.Integer() });
const Count = Type.Optional(Type.Integer());
const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Campaign = Type.Object({
  id: Type.String(),
  name: Type.String(),
  subject: Type.String(),
  body: Type.String(),
  from: MaybeText,
  fromName: MaybeText,
  replyTo: MaybeText,
  status: Type.String(),
  sentAt: MaybeText,
  totalRecipients: Count,
  sentCount: Count,
  deliveredCount: Count,
  openedCount: Count,
  clickedCount: Count,
  bouncedCount: Count,
});
const Campaigns = Type.Object({ data: Type.Array(Campaign), totalPages: Type.Integer() });
const Rules = Type.Array(
  Type.Object({
    name: Type.String(),
    kind: Type.String(),
    pattern: Type.String(),
    enabled: Type.Boolean(),
  }),
);

export async function readPlunk(source: ImportSource): Promise<void> {
  const { client, collection } = source;
  collection.notes.add("Workflows, events, domains, keys and members stay behind");
  if (client === null) return addTables(source, {});
  await readContacts(client, collection);
  await readSegments(client, collection);
  await readTemplates(client, collection);
  await readRules(client, collection);
  await readCampaigns(client, collection);
  collection.notes.add("Templates come without their sender, whose domain may not be verified yet");
}

async function readContacts(client: HttpClient, collection: Collection): Promise<void> {
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const answer: Static<typeof Contacts> = parseShape(
      Contacts,
      await client.get(`/contacts?limit=100${query}`),
      "Plunk's list of contacts",
    );
    for (const { email, subscribed, data } of answer.data) {
      const standing = subscribed ? "SUBSCRIBED" : "UNSUBSCRIBED";
      collection.addContact({ email, standing, data: data ?? {} });
    }
    cursor = answer.cursor ?? null;
    if (!answer.hasMore || cursor === null) return;
  }
  throw new Error(`Plunk has more than ${MAX_PAGES} pages of contacts`);
}

async function readSegments(client: HttpClient, collection: Collection): Promise<void> {
  const segments = parseShape(
    Type.Array(Segment),
    await client.get("/segments"),
    "Plunk's list of segments",
  );
  for (const { id, name, type, condition } of segments) {
    if (type !== "STATIC") {
      collection.conditions.push({ name, condition });
      continue;
    }
    collection.addSegment(name);
    const path = `/segments/${encodeURIComponent(id)}/contacts`;
    await eachPage(async (page) => {
      const answer = await client.get(`${path}?page=${page}&pageSize=100`);
      const { data, totalPages } = parseShape(Members, answer, "Plunk's list of members");
      for (const { email } of data) collection.addMember(name, email);
      return totalPages;
    });
  }
}

async function readTemplates(client: HttpClient, collection: Collection): Promise<void> {
  await eachPage(async (page) => {
    const answer = await client.get(`/templates?page=${page}&pageSize=100`);
    const { data, totalPages } = parseShape(Templates, answer, "Plunk's list of templates");
    for (const { name, subject, body, type } of data) {
      const own = type === "MARKETING" ? "MARKETING" : "TRANSACTIONAL";
      collection.templates.push({ name, subject, body, type: own });
    }
    return totalPages;
  });
}

async function readCampaigns(client: HttpClient, collection: Collection): Promise<void> {
  await eachPage(async (page) => {
    const answer = await client.get(`/campaigns?status=SENT&page=${page}&pageSize=20`);
    const { data, totalPages } = parseShape(Campaigns, answer, "Plunk's list of campaigns");
    for (const campaign of data.filter(({ status }) => status === "SENT")) {
      const { id, name, subject, body, from, fromName, replyTo, sentAt } = campaign;
      const { totalRecipients: recipients, sentCount: sent, deliveredCount: delivered } = campaign;
      const { openedCount: opened, clickedCount: clicked, bouncedCount: bounced } = campaign;
      collection.campaigns.push({
        id,
        name,
        subject,
        body,
        from: from && mailboxText({ address: from, name: fromName ?? null }),
        replyTo,
        sentAt,
        counts: { recipients, sent, delivered, opened, clicked, bounced },
        convert: (source) => source,
      });
    }
    return totalPages;
  });
  collection.notes.add("Campaigns that Plunk has not sent stay behind");
}

/** Versions of Plunk before these rules answer with 404. */
async function readRules(client: HttpClient, collection: Collection): Promise<void> {
  const answer = await client.get("/suppressions").catch((error: unknown) => {
    if (error instanceof AppError && error.status === 404) return [];
    throw error;
  });
  for (const { name, kind, pattern, enabled } of parseShape(Rules, answer, "Plunk's rules")) {
    if (kind === "ADDRESS" && enabled) collection.addLeft(pattern, "MANUAL");
    else if (enabled) {
      collection.refuse(
        `suppression rule ${name}`,
        `${kind} ${pattern}: only addresses are suppressed here`,
      );
    }
  }
}

/** Reads pages from 1 on; `read` returns their number. */
async function eachPage(read: (page: number) => Promise<number>): Promise<void> {
  for (let page = 1; page <= MAX_PAGES; page++) if (page >= (await read(page))) return;
  throw new Error(`Plunk has more than ${MAX_PAGES} pages`);
}
