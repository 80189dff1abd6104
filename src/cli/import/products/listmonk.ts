/**
 * listmonk: its JSON interface by URL and key, answers of it in files, or its CSV export. In listmonk a
 * person leaves a list and stays `enabled`, so a person wants mail only if a list has it: the CSV
 * export has no lists, and is taken only beside an export of those who unsubscribed.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Standing } from "../../../modules/contacts/import/standing.ts";
import { AppError } from "../../../lib/errors.ts";
import { UsageError } from "../../command.ts";
import type { Collection } from "../collection.ts";
import { convertTemplate } from "../convert-template.ts";
import { type HttpClient, parseShape } from "../http-client.ts";
import type { ImportSource } from "../source.ts";
import type { SourceFile } from "../source-files.ts";
import { addTable } from "../table.ts";

const PAGE_SIZE = 500;
const MAX_PAGES = 10_000;

const Subscription = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  subscription_status: Type.String(),
  optin: Type.Optional(Type.String()),
});
const Subscriber = Type.Object({
  email: Type.String(),
  name: Type.String(),
  status: Type.String(),
  attribs: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  lists: Type.Union([Type.Array(Subscription), Type.Null()]),
});
type Subscriber = Static<typeof Subscriber>;
const List = Type.Object({ id: Type.Integer(), name: Type.String(), optin: Type.String() });
const Bounce = Type.Object({ email: Type.String(), type: Type.String() });
const Template = Type.Object({
  name: Type.String(),
  type: Type.String(),
  body: Type.String(),
  subject: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const Count = Type.Optional(Type.Integer());
const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Campaign = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  subject: Type.String(),
  from_email: MaybeText,
  body: MaybeText,
  status: Type.String(),
  content_type: Type.String(),
  started_at: MaybeText,
  to_send: Count,
  sent: Count,
  views: Count,
  clicks: Count,
  bounces: Count,
});
const Item = Type.Union([Campaign, Subscriber, List, Bounce, Template]);
const Results = <T extends typeof Item>(item: T) =>
  Type.Object({ data: Type.Object({ results: Type.Array(item), total: Type.Integer() }) });
const Answer = Type.Union([Results(Item), Type.Object({ data: Type.Array(Item) })]);

const Page = Type.Object({
  data: Type.Object({ results: Type.Array(Type.Unknown()), total: Type.Integer() }),
});

type Found = {
  subscribers: Subscriber[];
  lists: Static<typeof List>[];
  bounces: Static<typeof Bounce>[];
  templates: Static<typeof Template>[];
  campaigns: Static<typeof Campaign>[];
};

export async function readListmonk(source: ImportSource): Promise<void> {
  const { client, collection } = source;
  const found: Found = { subscribers: [], lists: [], bounces: [], templates: [], campaigns: [] };
  if (client === null) readFiles(source, found);
  else await readAll(client, found, collection);
  addSubscribers(collection, found);
  for (const { email, type } of found.bounces) {
    if (type === "hard") collection.addLeft(email, "HARD_BOUNCE");
    if (type === "complaint") collection.addLeft(email, "COMPLAINT");
  }
  for (const template of found.templates) addTemplate(collection, template);
  addCampaigns(collection, found.campaigns);
  collection.notes.add(
    "Lists become STATIC segments with those who are on them; who is on no list is not subscribed",
  );
  collection.notes.add("Media, users, settings and the clicks of single links stay behind");
}

async function readAll(
  client: HttpClient,
  found: Found,
  { notes }: Pick<Collection, "notes">,
): Promise<void> {
  await readPages(client, "/api/subscribers", found);
  await readPages(client, "/api/bounces", found);
  try {
    await readPages(client, "/api/campaigns", found, CAMPAIGNS_AT_ONCE);
  } catch (error) {
    if (!(error instanceof AppError && error.status === 403)) throw error;
    notes.add("The API user may not read campaigns, so their history stays behind");
  }
  for (const path of ["/api/lists?per_page=all", "/api/templates"]) {
    sortItems(itemsOf(await client.get(path), `The answer of listmonk to ${path}`), found);
  }
}

/** Each has a body, and the answer with all of them must fit into memory. */
const CAMPAIGNS_AT_ONCE = 20;

async function readPages(
  client: HttpClient,
  path: string,
  found: Found,
  pageSize = PAGE_SIZE,
): Promise<void> {
  const query = `order_by=created_at&order=asc&per_page=${pageSize}`;
  for (let page = 1, read = 0; ; page++) {
    if (page > MAX_PAGES) throw new Error(`listmonk has more than ${MAX_PAGES} pages`);
    const answer = await client.get(`${path}?${query}&page=${page}`);
    const { data } = parseShape(Results(Item), answer, `The answer of listmonk to ${path}`);
    sortItems(data.results, found);
    read += data.results.length;
    if (data.results.length === 0 || read >= data.total) return;
  }
}

function readFiles({ files, collection, reading }: ImportSource, found: Found): void {
  const tables: SourceFile[] = [];
  for (const file of files()) {
    if (/\.csv$/i.test(file.name)) tables.push(file);
    else if (/\.json$/i.test(file.name)) {
      const answer = parseFile(file);
      requireWhole(answer, file.name);
      sortItems(itemsOf(answer, file.name), found);
    } else if (file.isNamed) throw new UsageError(`${file.name}: expected a .csv or .json file`);
  }
  const saysWhoLeft = tables.some(({ name }) => LEFT_FILE.test(name));
  if (tables.length > 0 && !saysWhoLeft) {
    throw new UsageError(
      "the CSV export of listmonk does not say who left a list: add the answer of " +
        "/api/subscribers?per_page=all as a .json file instead, or the export with " +
        "subscription_status=unsubscribed as a .csv file whose name contains “unsubscribed”",
    );
  }
  for (const file of tables) {
    const standing: { standing?: Standing } = LEFT_FILE.test(file.name)
      ? { standing: "UNSUBSCRIBED" }
      : {};
    addTable(collection, file, { reading, dialect: { ...standing, dropped: DROPPED } });
  }
}

const LEFT_FILE = /unsubscribed/i;
const DROPPED = new Set(["uuid", "updatedat"]);

function parseFile({ name, bytes }: SourceFile): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return value;
  } catch {
    throw new UsageError(`${name} is no JSON`);
  }
}

/** One page of several: the people on the others, such as those who bounced, would count as in. */
function requireWhole(answer: unknown, name: string): void {
  if (!Value.Check(Page, answer)) return;
  const { results, total } = answer.data;
  if (results.length >= total) return;
  throw new UsageError(
    `${name} has only ${results.length} of ${total} entries: save it again with ?per_page=all`,
  );
}

function itemsOf(answer: unknown, what: string): Static<typeof Item>[] {
  const { data } = parseShape(Answer, answer, what);
  return "results" in data ? data.results : data;
}

function sortItems(items: readonly Static<typeof Item>[], found: Found): void {
  for (const item of items) {
    // A campaign has the fields of a template as well.
    if (Value.Check(Campaign, item)) found.campaigns.push(item);
    else if (Value.Check(Subscriber, item)) found.subscribers.push(item);
    else if (Value.Check(Template, item)) found.templates.push(item);
    else if (Value.Check(Bounce, item)) found.bounces.push(item);
    else if (Value.Check(List, item)) found.lists.push(item);
  }
}

function addSubscribers(collection: Collection, { subscribers, lists }: Found): void {
  const optins = new Map(lists.map(({ id, optin }) => [id, optin]));
  const isActive = ({ id, optin, subscription_status: status }: Static<typeof Subscription>) =>
    status === "confirmed" || (status === "unconfirmed" && (optin ?? optins.get(id)) === "single");
  for (const { email, name, status, attribs, lists: given } of subscribers) {
    const active = (given ?? []).filter(isActive);
    const standing = standingOf(status, active.length > 0);
    if (standing === null) {
      collection.addUnclear(
        email,
        `the meaning of the status ${JSON.stringify(status)} is not known`,
      );
      continue;
    }
    collection.addContact({ email, standing, data: { ...attribs, name } });
    for (const list of active) collection.addMember(list.name, email);
  }
}

function standingOf(status: string, hasList: boolean): Standing | null {
  switch (status) {
    case "enabled":
      return hasList ? "SUBSCRIBED" : "UNSUBSCRIBED";
    case "disabled":
      return "UNSUBSCRIBED";
    case "blocklisted":
      return "MANUAL";
    default:
      return null;
  }
}

function addTemplate(collection: Collection, { name, type, body, subject }: Found["templates"][0]) {
  const liquid = convertTemplate("listmonk", body);
  if (type !== "tx") {
    collection.layouts.push({ name, body: liquid });
    collection.notes.add("Templates of campaigns become layouts");
    return;
  }
  const line = subject === null || subject === undefined || subject === "" ? name : subject;
  collection.templates.push({
    name,
    subject: convertTemplate("listmonk", line),
    body: liquid,
    type: "TRANSACTIONAL",
  });
}

/** Texts that are no HTML are shown as they are. listmonk counts all views and clicks, not people. */
function addCampaigns(collection: Collection, campaigns: Found["campaigns"]): void {
  for (const campaign of campaigns) {
    const { id, name, subject, status, from_email: from, started_at: sentAt } = campaign;
    if (status !== "finished") {
      collection.notes.add("Campaigns that listmonk has not finished stay behind");
      continue;
    }
    const { body = null, content_type: format } = campaign;
    const isText = format === "plain" || format === "markdown";
    const { to_send: recipients, sent, views: opens, clicks, bounces: bounced } = campaign;
    collection.campaigns.push({
      id: String(id),
      name,
      subject,
      body: isText && body !== null ? `<pre>${Bun.escapeHTML(body)}</pre>` : body,
      from,
      sentAt,
      counts: { recipients, sent, opens, clicks, bounced },
      convert: (source) => convertTemplate("listmonk", source),
    });
    collection.notes.add("Campaigns come without the template around their body");
  }
}
