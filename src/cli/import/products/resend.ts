/** Resend: its interface by key, or the CSV export of its contacts. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { AppError } from "../../../lib/errors.ts";
import { convertResendTemplate } from "../convert-template.ts";
import { type HttpClient, parseShape } from "../http-client.ts";
import type { ImportSource } from "../source.ts";
import { addTables } from "../table.ts";

const MAX_PAGES = 20_000;
const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));

const Contact = Type.Object({
  id: Type.String(),
  email: Type.String(),
  first_name: MaybeText,
  last_name: MaybeText,
  unsubscribed: Type.Boolean(),
  properties: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
});
const Member = Type.Object({ id: Type.String(), email: Type.String() });
const Segment = Type.Object({ id: Type.String(), name: Type.String() });
const Suppression = Type.Object({
  id: Type.String(),
  email: Type.String(),
  reason: MaybeText,
  origin: MaybeText,
});
const ListedTemplate = Type.Object({ id: Type.String(), name: Type.String() });
const Template = Type.Object({
  name: Type.String(),
  subject: MaybeText,
  html: MaybeText,
  variables: Type.Optional(
    Type.Union([
      Type.Null(),
      Type.Array(
        Type.Object({
          key: Type.String(),
          fallback_value: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
        }),
      ),
    ]),
  ),
});

const ListedBroadcast = Type.Object({ id: Type.String(), status: Type.String() });
const Broadcast = Type.Object({
  id: Type.String(),
  name: MaybeText,
  from: MaybeText,
  subject: MaybeText,
  reply_to: Type.Optional(Type.Union([Type.Array(Type.String()), Type.String(), Type.Null()])),
  preview_text: MaybeText,
  html: MaybeText,
  sent_at: MaybeText,
});

export async function readResend(source: ImportSource): Promise<void> {
  const { client, collection } = source;
  collection.notes.add(
    "The statistics of broadcasts, topics, automations, domains, keys, webhooks and logs stay behind",
  );
  if (client === null) return addTables(source, { names: NAMES });
  let hasProperties = false;
  for await (const contact of itemsOf(client, "/contacts", Contact)) {
    const { email, first_name, last_name, unsubscribed, properties } = contact;
    hasProperties ||= properties !== undefined;
    const standing = unsubscribed ? "UNSUBSCRIBED" : "SUBSCRIBED";
    const names = {
      ...(first_name ? { firstName: first_name } : {}),
      ...(last_name ? { lastName: last_name } : {}),
    };
    collection.addContact({ email, standing, data: { ...valuesIn(properties ?? {}), ...names } });
  }
  if (!hasProperties) {
    collection.notes.add(
      "Resend's list of contacts has no custom properties: import its CSV export for them",
    );
  }
  for await (const { id, name } of itemsOf(client, "/segments", Segment)) {
    collection.addSegment(name);
    const path = `/segments/${encodeURIComponent(id)}/contacts`;
    for await (const { email } of itemsOf(client, path, Member)) collection.addMember(name, email);
  }
  await readSuppressions(client, source);
  for await (const { id } of itemsOf(client, "/templates", ListedTemplate)) {
    const answer = await client.get(`/templates/${encodeURIComponent(id)}`);
    addTemplate(source, parseShape(Template, answer, `Resend's template ${id}`));
  }
  for await (const { id, status } of itemsOf(client, "/broadcasts", ListedBroadcast)) {
    if (status !== "sent") {
      collection.notes.add("Broadcasts that Resend has not sent stay behind");
      continue;
    }
    const answer = await client.get(`/broadcasts/${encodeURIComponent(id)}`);
    addBroadcast(source, parseShape(Broadcast, answer, `Resend's broadcast ${id}`));
  }
}

/** The names under which the interface of Resend here reads them (docs/resend.md). */
const NAMES = new Map([
  ["firstname", "firstName"],
  ["lastname", "lastName"],
]);

const Typed = Type.Object({ value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]) });

/** A property is a value, or an object with its type and its value. */
const valuesIn = (properties: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [
      name,
      Value.Check(Typed, property) ? property.value : property,
    ]),
  );

const REASONS = new Map<string, "HARD_BOUNCE" | "COMPLAINT">([
  ["bounce", "HARD_BOUNCE"],
  ["complaint", "COMPLAINT"],
]);

/** An account without the list of suppressions answers with 404. */
async function readSuppressions(client: HttpClient, { collection }: ImportSource): Promise<void> {
  try {
    for await (const { email, reason, origin } of itemsOf(client, "/suppressions", Suppression)) {
      collection.addLeft(email, REASONS.get(reason ?? origin ?? "") ?? "MANUAL");
    }
  } catch (error) {
    if (!(error instanceof AppError && error.status === 404)) throw error;
    collection.notes.add(
      "Resend has no list of suppressions for this key: export it from its dashboard",
    );
  }
}

function addTemplate({ collection }: ImportSource, template: Static<typeof Template>): void {
  const { name, html, variables } = template;
  if (html === null || html === undefined || html === "") {
    return collection.refuse(`template ${name}`, "has no HTML");
  }
  const fallbacks = new Map(
    (variables ?? []).flatMap(({ key, fallback_value: value }) =>
      value === null || value === undefined ? [] : [[key, String(value)] as const],
    ),
  );
  collection.templates.push({
    name,
    subject: convertResendTemplate(template.subject || name, fallbacks),
    body: convertResendTemplate(html, fallbacks),
    type: "TRANSACTIONAL",
  });
}

/** Resend's interface tells no numbers of a broadcast. */
function addBroadcast({ collection }: ImportSource, broadcast: Static<typeof Broadcast>): void {
  const { id, name, from, subject, reply_to: replyTo, html, sent_at: sentAt } = broadcast;
  collection.campaigns.push({
    id,
    name: name || subject || "Broadcast",
    subject: subject ?? "",
    body: html ?? null,
    preheader: broadcast.preview_text,
    from,
    replyTo: typeof replyTo === "string" ? replyTo : replyTo?.[0],
    sentAt,
    counts: {},
    convert: (source) => convertResendTemplate(source, new Map()),
  });
}

async function* itemsOf<T extends TSchema>(
  client: HttpClient,
  path: string,
  item: T,
): AsyncGenerator<Static<T>> {
  const List = Type.Object({ data: Type.Array(item), has_more: Type.Optional(Type.Boolean()) });
  let after = "";
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
    const answer = await client.get(`${path}?limit=100${query}`);
    const { data, has_more: hasMore } = parseShape(List, answer, `Resend's answer to ${path}`);
    yield* data;
    const last = data.at(-1);
    if (hasMore !== true || last === undefined) return;
    after = parseShape(Type.Object({ id: Type.String() }), last, `Resend's answer to ${path}`).id;
  }
  throw new Error(`Resend has more than ${MAX_PAGES} pages of ${path}`);
}
