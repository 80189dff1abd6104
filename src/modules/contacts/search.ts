/**
 * Selects the contacts of a list, an export or a bulk action: the SQL of its filters, for reads in a
 * thread (db/queries.ts). A search looks at all contacts of the project, and nothing has to be kept up
 * to date for it: contacts change often and are searched rarely.
 */

import { and, asc, count, desc, eq, gt, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { folded } from "../../db/queries.ts";
import { contacts } from "../../db/schema/contacts.ts";
import { statement } from "../../db/statement.ts";
import { asQuery, inTime, toRow } from "../../http/pagination.ts";
import type { FieldError } from "../../lib/errors.ts";
import { trimBlanks } from "../../lib/trim.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import { searchedAddress } from "../../protocols/mime/mailbox.ts";

/** The filters of a query string. `data` is JSON. */
type ContactFilters = {
  subscribed?: "true" | "false" | undefined;
  search?: string | undefined;
  data?: string | undefined;
  topic?: string | undefined;
};

/** The keys under which people keep names, in the order of their parts. */
const NAME_KEYS = [
  ["name", "Name", "NAME", "full_name", "fullName"],
  ["firstName", "first_name", "FIRSTNAME", "FNAME", "First Name"],
  ["lastName", "last_name", "LASTNAME", "LNAME", "Last Name"],
].flat();
const MAX_DATA_FILTERS = 10;
/** Contacts of one page of an export. */
const PAGE_SIZE = 500;
/** Contacts that one read of an export looks at. */
const SCANNED_AT_ONCE = 20_000;

type Contact = typeof contacts.$inferSelect;

/** The condition of the filters; undefined if all contacts of the project match. */
export function contactFilter({
  subscribed,
  search,
  data,
  topic,
}: ContactFilters): SQL | undefined {
  const parts = data === undefined ? [] : Object.entries(readDataFilter(data) ?? {});
  return and(
    subscribed === undefined ? undefined : eq(contacts.isSubscribed, subscribed === "true"),
    topic === undefined ? undefined : isInTopicWith(topic),
    search === undefined ? undefined : hasAddressOrName(search),
    ...parts.map(([key, part]) => hasValue(key, folded(part))),
  );
}

/** True if the contact is in the topic with a key, by its choice or the default of the topic. */
const isInTopicWith = (key: string): SQL => sql`(
  SELECT coalesce(
    (SELECT chosen.is_subscribed FROM topic_subscriptions AS chosen
     WHERE chosen.topic_seq = topic.seq AND chosen.contact_seq = ${contacts.seq}),
    topic.default_state = 'SUBSCRIBED')
  FROM topics AS topic WHERE topic.project_seq = ${contacts.projectSeq} AND topic.key = ${key})`;

export const hasId = (ids: readonly string[]): SQL => inArray(contacts.id, [...ids]);

/** Text that is not ASCII may be stored as an A-label in a domain (protocols/mime/address.ts). */
function hasAddressOrName(search: string): SQL | undefined {
  const [spelling = "", other = spelling] = storedSpellings(searchedAddress(search));
  if (spelling === "") return undefined;
  const names = sql.join(
    NAME_KEYS.map((key) => sql`json_extract(${contacts.data}, ${pathOf(key)})`),
    sql`, `,
  );
  const part = folded(trimBlanks(search));
  return or(
    sql`instr(${contacts.email}, ${spelling}) > 0`,
    sql`instr(${contacts.email}, ${other}) > 0`,
    and(
      // Most contacts are excluded here, without reading their JSON.
      sql`has_text(${contacts.data}, ${wordIn(part)})`,
      sql`has_text(concat_ws(' ', ${names}), ${part})`,
    ),
  );
}

/** The first word that JSON does not escape; the empty text, which each text has, without one. */
const wordIn = (text: string): string => /^[^\s"\\\p{Cc}]+/u.exec(text)?.[0] ?? "";

const pathOf = (...keys: readonly string[]): string =>
  `$${keys.map((key) => `.${JSON.stringify(key)}`).join("")}`;

/**
 * True if the value at a key of the data has a part. A key with dots may also be a path. A contact
 * without the key is compared by its keys that differ from it in letter case only.
 */
function hasValue(key: string, part: string): SQL {
  const { data } = contacts;
  const paths = [...new Set([pathOf(key), pathOf(...key.split("."))])];
  const matches = paths.map(
    (path) => sql`WHEN json_type(${data}, ${path}) IS NOT NULL
      THEN has_text(${textOf(sql`json_type(${data}, ${path})`, sql`json_extract(${data}, ${path})`)}, ${part})`,
  );
  // The first `has_text` excludes most contacts without reading their JSON.
  return sql`(has_text(${data}, ${wordIn(part)})
    AND CASE ${sql.join(matches, sql` `)}
      ELSE EXISTS (SELECT 1 FROM json_each(${data}) AS pair
        WHERE folded(pair.key) = ${folded(key)}
          AND has_text(${textOf(sql`pair.type`, sql`pair.value`)}, ${part})) END)`;
}

/** A value of JSON as a text. SQLite reads `true` as 1. */
const textOf = (type: SQL, value: SQL): SQL =>
  sql`CASE ${type} WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(${value} AS TEXT) END`;

/** The keys and texts of the parameter `data`; null if it is not valid. */
function readDataFilter(text: string): Record<string, string> | null {
  const data = objectIn(text);
  if (data === null) return null;
  const parts: Record<string, string> = {};
  for (const [key, part] of Object.entries(data)) {
    if (typeof part !== "string" || key === "" || part === "") return null;
    parts[key] = part;
  }
  return Object.keys(parts).length > MAX_DATA_FILTERS ? null : parts;
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** The faults of the parameters `data` and `sort`. */
export function filterFaults(query: Readonly<Record<string, unknown>>): FieldError[] {
  const { data, sort } = query;
  const errors: FieldError[] = [];
  if (typeof data === "string" && readDataFilter(data) === null) {
    const message =
      `must be a JSON object of at most ${MAX_DATA_FILTERS} keys, each with the text that its ` +
      'value contains, such as {"city":"Berlin"}';
    errors.push({ field: "data", message, code: "invalid_value" });
  }
  if (typeof sort === "string" && !isSortKey(sort)) {
    const message = `must be one of ${Object.keys(SORTED_COLUMNS).join(", ")}, or data.KEY`;
    errors.push({ field: "sort", message, code: "invalid_value" });
  }
  return errors;
}

const SORTED_COLUMNS = {
  email: contacts.email,
  subscribed: contacts.isSubscribed,
  createdAt: contacts.seq,
  updatedAt: contacts.updatedAt,
} as const;

const DATA_PREFIX = "data.";
const isColumn = (sort: string): sort is keyof typeof SORTED_COLUMNS =>
  Object.hasOwn(SORTED_COLUMNS, sort);
const isSortKey = (sort: string): boolean =>
  isColumn(sort) || (sort.startsWith(DATA_PREFIX) && sort.length > DATA_PREFIX.length);

/** True if a list is filtered or sorted by the data of contacts, which viewers do not see in full. */
export const readsData = ({ data, sort }: { data?: string; sort?: string }): boolean =>
  data !== undefined || sort?.startsWith(DATA_PREFIX) === true;

/** Contacts without the value come last in both orders; numbers come before texts. */
export function sortOrder(sort: string, direction: "asc" | "desc"): SQL[] {
  const inOrder = direction === "desc" ? desc : asc;
  if (isColumn(sort)) return [inOrder(SORTED_COLUMNS[sort]), desc(contacts.seq)];
  const key = sort.slice(DATA_PREFIX.length);
  const value = sql`coalesce(json_extract(${contacts.data}, ${pathOf(key)}),
    json_extract(${contacts.data}, ${pathOf(...key.split("."))}))`;
  return [sql`${value} IS NULL`, inOrder(sql`${value} COLLATE NOCASE`), desc(contacts.seq)];
}

/** All contacts of the project that match, the oldest first, in pages. */
export async function* contactPages(
  app: App,
  projectSeq: number,
  filter: SQL | undefined,
  afterSeq = 0,
): AsyncGenerator<Contact[]> {
  for (const { after: start, until } of contactRanges(app, projectSeq, afterSeq)) {
    let after = start;
    let rows: Contact[];
    do {
      const range = and(gt(contacts.seq, after), lte(contacts.seq, until));
      rows = await readContacts(app, projectSeq, and(range, filter));
      if (rows.length > 0) yield rows;
      after = rows.at(-1)?.seq ?? after;
    } while (rows.length === PAGE_SIZE);
  }
}

/** Ranges of `seq` that together have all contacts of the project, each as many as one read scans. */
export function* contactRanges(
  app: App,
  projectSeq: number,
  afterSeq: number,
): Generator<{ after: number; until: number }> {
  for (let after = afterSeq; after < Number.MAX_SAFE_INTEGER;) {
    const until = findEnd(app).get(projectSeq, after)?.seq ?? Number.MAX_SAFE_INTEGER;
    yield { after, until };
    after = until;
  }
}

/** The contacts with these `seq` that match, the oldest first. */
export async function contactsAmong(
  app: App,
  projectSeq: number,
  seqs: readonly number[],
  filter: SQL | undefined,
): Promise<Contact[]> {
  const found: Contact[] = [];
  for (let i = 0; i < seqs.length; i += PAGE_SIZE) {
    const some = JSON.stringify(seqs.slice(i, i + PAGE_SIZE));
    const isAmong = sql`${contacts.seq} IN (SELECT value FROM json_each(${some}))`;
    found.push(...(await readContacts(app, projectSeq, and(isAmong, filter))));
  }
  return found;
}

/** Longest time for counting the contacts of a job, which no request waits for. */
export const JOB_COUNT_MS = 5 * 60_000;

export async function countContacts(
  { db, reader }: App,
  projectSeq: number,
  filter: SQL | undefined,
): Promise<number> {
  const query = db
    .select({ total: count() })
    .from(contacts)
    .where(and(inTime(contacts), eq(contacts.projectSeq, projectSeq), filter));
  const { rows } = await reader.find(projectSeq, asQuery(query), JOB_COUNT_MS);
  return Number(rows[0]?.[0]);
}

const findEnd = statement<{ seq: number }, [number, number]>(`
  SELECT seq FROM contacts INDEXED BY contacts_page WHERE project_seq = +? AND seq > +?
  ORDER BY seq LIMIT 1 OFFSET ${SCANNED_AT_ONCE - 1}`);

async function readContacts(
  { db, reader }: App,
  projectSeq: number,
  filter: SQL | undefined,
): Promise<Contact[]> {
  const query = db
    .select()
    .from(contacts)
    .where(and(inTime(contacts), eq(contacts.projectSeq, projectSeq), filter))
    .orderBy(asc(contacts.seq))
    .limit(PAGE_SIZE);
  const { rows } = await reader.find(projectSeq, asQuery(query));
  return rows.map((values) => toRow(contacts, values));
}
