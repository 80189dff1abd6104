/**
 * POST   /contacts                               create, or update the one with the address
 * GET    /contacts
 * GET    /contacts/{contact}                     a contact is named by its id or its address
 * PATCH  /contacts/{contact}
 * DELETE /contacts/{contact}
 * GET    /contacts/{contact}/segments
 * POST   /contacts/{contact}/segments/{segment}
 * DELETE /contacts/{contact}/segments/{segment}
 *
 * The same below /audiences/{segment}/contacts, an older form. Contacts belong to the project, so
 * DELETE there only takes the contact out of the segment.
 */

import { type Static, Type } from "@sinclair/typebox";
import { eq, inArray } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { contacts as contactTable } from "../../db/schema/contacts.ts";
import { segments as segmentTable } from "../../db/schema/segments.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { EmailAddress, normalizedAddress } from "../../http/formats.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError, notFound } from "../../lib/errors.ts";
import { parseAddress } from "../../protocols/mime/address.ts";
import { isReserved, type JsonObject, parseData } from "../contacts/data.ts";
import {
  type ContactRow,
  contactService,
  getContact,
  onlyUnsubscribes,
} from "../contacts/service.ts";
import { segmentService } from "../segments/service.ts";
import {
  CONTACTS,
  Fields,
  Maybe,
  refuseGiven,
  refuseOther,
  type ResendCall,
  resendRoute,
  type ResendRoute,
} from "./call.ts";
import { resendLimit, resendList, resendPage, ResendPageQuery } from "./pages.ts";
import { FIRST_NAME, LAST_NAME, shownContact } from "./views.ts";

const Properties = Maybe(
  Type.Record(
    Type.String(),
    Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
  ),
);
const SHARED = {
  first_name: Maybe(Type.String()),
  last_name: Maybe(Type.String()),
  unsubscribed: Maybe(Type.Boolean()),
  properties: Properties,
  /** Clients in Python and Go repeat what the path has. */
  audience_id: Maybe(Type.String()),
};

const NewContact = Fields({
  ...SHARED,
  email: EmailAddress,
  segments: Maybe(Type.Array(Fields({ id: Type.String() }), { maxItems: 100 })),
  topics: Maybe(Type.Array(Type.Unknown())),
});
type NewContact = Static<typeof NewContact>;

const ContactChange = Fields({ ...SHARED, id: Maybe(Type.String()), email: Maybe(Type.String()) });
type ContactChange = Static<typeof ContactChange>;

/** All routes of contacts need the role of an editor, also those that only read. */
const editor = { role: "EDITOR", scopes: CONTACTS } as const;
const withData = { ...editor, limit: BODY_LIMITS.data } as const;
const creation = { ...withData, audit: ["upsertContact", "contact"], body: NewContact } as const;
const change = { ...withData, audit: ["updateContact", "contact"], body: ContactChange } as const;
const addition = { ...editor, audit: ["addSegmentMembers", "segment"] } as const;
const removal = { ...editor, audit: ["removeSegmentMembers", "segment"] } as const;
const page = { ...editor, query: ResendPageQuery } as const;

export const resendContactRoutes: readonly ResendRoute[] = [
  resendRoute("POST /contacts", creation, createContact),
  resendRoute("GET /contacts", page, (app, { project, query }) =>
    resendPage(app, query, {
      table: contactTable,
      filter: eq(contactTable.projectSeq, project.seq),
      present: shownContact,
    }),
  ),
  resendRoute("GET /contacts/:contact", editor, readContact),
  resendRoute("PATCH /contacts/:contact", change, changeContact),
  resendRoute(
    "DELETE /contacts/:contact",
    { ...editor, audit: ["deleteContact", "contact"] },
    async (app, call) => {
      const { id } = contactOf(app, call);
      await call.storeWithoutQuota(() => {
        contactService(app).remove(call.project.seq, id)();
        return { id };
      });
      return { object: "contact", contact: id, deleted: true };
    },
  ),
  resendRoute("GET /contacts/:contact/segments", page, listSegmentsOf),
  resendRoute("POST /contacts/:contact/segments/:segment", addition, async (app, call) => {
    const { seq } = contactOf(app, call);
    const { segment = "" } = call.params;
    await call.store(() => move(app, "enter", call.project.seq, { segment, seq }));
    return { id: segment };
  }),
  resendRoute("DELETE /contacts/:contact/segments/:segment", removal, async (app, call) => {
    const { segment } = await leaveSegment(app, call, "segment");
    return { id: segment, deleted: true };
  }),

  resendRoute("POST /audiences/:segment/contacts", creation, createContact),
  resendRoute("GET /audiences/:segment/contacts", page, listMembers),
  resendRoute("GET /segments/:segment/contacts", page, listMembers),
  resendRoute("GET /audiences/:segment/contacts/:contact", editor, (app, call) => {
    requireSegment(app, call);
    return readContact(app, call);
  }),
  resendRoute("PATCH /audiences/:segment/contacts/:contact", change, (app, call) => {
    requireSegment(app, call);
    return changeContact(app, call);
  }),
  resendRoute(
    "DELETE /audiences/:segment/contacts/:contact",
    { ...editor, audit: ["updateContact", "contact"] },
    async (app, call) => {
      const { contact: id } = await leaveSegment(app, call, "contact");
      return { object: "contact", contact: id, deleted: true };
    },
  ),
];

/** Throws 404 if neither the id nor the address of the path belongs to a contact. */
function contactOf(app: App, { project, params }: Pick<ResendCall, "project" | "params">) {
  const { contact = "" } = params;
  if (!contact.includes("@")) return getContact(app, project.seq, contact);
  const parsed = parseAddress(contact);
  const found = parsed.ok ? contactService(app).findByEmail(project.seq, parsed.address) : null;
  if (found === null) throw notFound("CONTACT");
  return found;
}

/** Throws 404 for an unknown segment. */
function requireSegment(app: App, { project, params }: ResendCall): void {
  segmentService(app).audienceOf(project.seq, params["segment"] ?? "");
}

function createContact(app: App, { project, params, body, once }: ResendCall<NewContact>) {
  refuseGiven(body, { topics: "is not supported" });
  const { segment } = params;
  if (segment !== undefined) refuseOther(body, { audience_id: segment });
  const audience = segment ?? (body.audience_id || undefined);
  const segments = [
    ...(audience === undefined ? [] : [audience]),
    ...(body.segments ?? []).map(({ id }) => id),
  ];
  const data = dataIn(body);
  return once(() => () => {
    const { contact } = contactService(app).upsert({
      projectSeq: project.seq,
      email: normalizedAddress(body.email),
      subscribed: subscribedIn(body),
      defaultSubscribed: true,
      data,
    });
    for (const id of segments) {
      move(app, "enter", project.seq, { segment: id, seq: contact.seq });
    }
    return { status: 201, body: { object: "contact", id: contact.id } };
  });
}

async function changeContact(app: App, call: ResendCall<ContactChange>) {
  const { project, params, body, store, storeWithoutQuota } = call;
  const { id, email } = contactOf(app, call);
  const given = body.email ? parseAddress(body.email) : null;
  if (given !== null && !(given.ok && given.address === email)) {
    throw fieldError("email", "invalid_value", "cannot be changed");
  }
  refuseOther(body, { id, audience_id: params["segment"] ?? "" });
  const data = dataIn(body);
  const subscribed = subscribedIn(body);
  const patch = {
    ...(subscribed === undefined ? {} : { subscribed }),
    ...(data === undefined ? {} : { data: { ...data } }),
  };
  const change = contactService(app).patch(project.seq, id, patch);
  await (onlyUnsubscribes(patch) ? storeWithoutQuota(change) : store(change));
  return { object: "contact", id };
}

function subscribedIn({ unsubscribed }: Pick<NewContact, "unsubscribed">): boolean | undefined {
  return typeof unsubscribed === "boolean" ? !unsubscribed : undefined;
}

/** The data of the contact that a request sets; undefined if it sets none. */
function dataIn(body: Pick<NewContact, "first_name" | "last_name" | "properties">) {
  const { first_name: first, last_name: last, properties } = body;
  for (const name of Object.keys(properties ?? {})) {
    const field = `properties.${name}`;
    if (isReserved(name)) throw fieldError(field, "invalid_value", "is a name of the service");
    const isGivenTwice =
      (name === FIRST_NAME && first !== undefined) || (name === LAST_NAME && last !== undefined);
    if (isGivenTwice) {
      throw fieldError(field, "invalid_value", "is the first_name or last_name; give one of them");
    }
  }
  const data: JsonObject = {
    ...properties,
    ...(first === undefined ? {} : { [FIRST_NAME]: first }),
    ...(last === undefined ? {} : { [LAST_NAME]: last }),
  };
  return Object.keys(data).length === 0 ? undefined : data;
}

/** Part of a change. Throws 404 for an unknown segment, and 409 for one that has a condition. */
function move(
  app: App,
  direction: "enter" | "leave",
  projectSeq: number,
  { segment, seq }: { segment: string; seq: number },
): void {
  segmentService(app).members.move(direction, { projectSeq, id: segment }, [seq]);
}

/** `audited` is the object that the audit log names. */
async function leaveSegment(app: App, call: ResendCall, audited: "contact" | "segment") {
  const { seq, id: contact } = contactOf(app, call);
  const ids = { contact, segment: call.params["segment"] ?? "" };
  await call.storeWithoutQuota(() => {
    move(app, "leave", call.project.seq, { segment: ids.segment, seq });
    return { id: ids[audited] };
  });
  return ids;
}

function readContact(app: App, call: ResendCall) {
  const contact = contactOf(app, call);
  return { object: "contact", ...shownContact(contact), properties: propertiesOf(contact) };
}

/** The data of a contact as far as Resend has types for it. */
function propertiesOf(row: ContactRow) {
  const { [FIRST_NAME]: _first, [LAST_NAME]: _last, ...data } = parseData(row.data);
  const properties = Object.entries(data).flatMap(([key, value]) => {
    const type = typeof value;
    return type === "string" || type === "number" || type === "boolean"
      ? [[key, { type, value }] as const]
      : [];
  });
  return Object.fromEntries(properties);
}

/** The members of a segment, which a reader finds; it goes only from newer to older ones. */
async function listMembers(
  app: App,
  { project, params, query }: ResendCall<unknown, ResendPageQuery>,
) {
  const { audiences, audienceOf } = segmentService(app);
  const { after, before } = query;
  if (before !== undefined) {
    throw fieldError("before", "invalid_value", "is not supported for the contacts of a segment");
  }
  const audience = audienceOf(project.seq, params["segment"] ?? "");
  const beforeSeq = after === undefined ? null : getContact(app, project.seq, after).seq;
  const limit = resendLimit(query);
  const rows = await audiences.page(audience, { beforeSeq, limit: limit + 1 });
  return resendList(rows.slice(0, limit).map(shownContact), rows.length > limit);
}

async function listSegmentsOf(app: App, call: ResendCall<unknown, ResendPageQuery>) {
  const { project, query } = call;
  const { after, before } = query;
  if (after !== undefined || before !== undefined) {
    const field = after === undefined ? "before" : "after";
    throw fieldError(field, "invalid_value", "is not supported for the segments of a contact");
  }
  const { id } = contactOf(app, call);
  const limit = String(resendLimit(query));
  const found = await segmentService(app).ofContact(project.seq, id, { limit });
  const ids = found.items.map((segment) => segment.id);
  const rows = app.db.select().from(segmentTable).where(inArray(segmentTable.id, ids)).all();
  const createdAt = new Map(rows.map((row) => [row.id, isoTime(row.createdAt)]));
  return resendList(
    found.items.map(({ id: segment, name }) => ({
      id: segment,
      name,
      created_at: createdAt.get(segment) ?? null,
    })),
    found.hasMore,
  );
}
