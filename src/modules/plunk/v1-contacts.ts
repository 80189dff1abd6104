/**
 * The contacts of the first version of Plunk's interface, which older clients call. Ids are in the
 * body, and the data of a contact is a JSON text.
 *
 * GET    /plunk/v1/contacts                all contacts in an array, or the newest `limit`
 * POST   /plunk/v1/contacts                creates a contact; 409 if it exists
 * PUT    /plunk/v1/contacts                changes the contact with an id or an address
 * DELETE /plunk/v1/contacts
 * GET    /plunk/v1/contacts/count
 * POST   /plunk/v1/contacts/subscribe
 * POST   /plunk/v1/contacts/unsubscribe
 * GET    /plunk/v1/contacts/{id}
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { IdParams, Nullable, withErrors } from "../../http/envelope.ts";
import { EmailAddress, normalizedAddress } from "../../http/formats.ts";
import type { Role } from "../../http/roles.ts";
import { PLUNK } from "../../http/route-path.ts";
import { Input } from "../../http/validation.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { listContacts } from "../contacts/list.ts";
import { type Contact, Data } from "../contacts/model.ts";
import {
  onlyUnsubscribes,
  type ContactRow,
  contactService,
  presentContact,
  readableContact,
} from "../contacts/service.ts";
import { readPages } from "./pages.ts";
import { numberIn } from "./shapes.ts";

const OldContact = Type.Object({
  id: Type.String(),
  email: Type.String(),
  subscribed: Type.Boolean(),
  data: Nullable(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});
const Done = Type.Object({ success: Type.Literal(true), ...OldContact.properties });
const Subscription = Type.Object({
  success: Type.Literal(true),
  contact: Type.String(),
  subscribed: Type.Boolean(),
});

const STATE = {
  subscribed: Type.Optional(Type.Boolean()),
  data: Type.Optional(Nullable(Data)),
};
const NewContact = Input({ email: EmailAddress, ...STATE });
/** The contact that a request is about, by its id or its address. */
const Identity = Input({
  id: Type.Optional(Type.String()),
  email: Type.Optional(EmailAddress),
});
type Identity = Static<typeof Identity>;
const Change = Input({ ...Identity.properties, ...STATE });
const WithId = Input({ id: Type.String() });

/** The most contacts of one answer. */
const MAX_CONTACTS = 10_000;
const MAX_PAGE_SIZE = 100;

export function plunkV1ContactRoutes(app: App, admission: Admission) {
  const contacts = contactService(app);

  /** The contact with the id of a request, or without an id with its address. Throws 404 if none has it. */
  function find(projectSeq: number, { id, email }: Identity): ContactRow {
    if (id !== undefined) return contacts.get(projectSeq, id);
    if (email === undefined) throw fieldError("id", "required", "is required without an email");
    const contact = contacts.findByEmail(projectSeq, normalizedAddress(email));
    if (contact === null) throw notFound("CONTACT");
    return contact;
  }

  /** Part of a change: subscribes or unsubscribes the contact of a request. */
  function setSubscribed(projectSeq: number, identity: Identity, subscribed: boolean) {
    const { id } = find(projectSeq, identity);
    contacts.patch(projectSeq, id, { subscribed })();
    return { success: true as const, contact: id, subscribed };
  }

  return new Elysia({ name: "plunk-v1-contact-routes", prefix: `${PLUNK}/v1/contacts` })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const options = { otherwise: Number.POSITIVE_INFINITY, maximum: MAX_CONTACTS };
        const limit = numberIn("limit", query.limit, options);
        const found: Contact[] = [];
        const pages = readPages((position) => {
          const pageSize = Math.min(MAX_PAGE_SIZE, limit - found.length);
          return listContacts(app, project, { limit: String(pageSize), ...position });
        });
        for await (const { items, total } of pages) {
          if (limit === Number.POSITIVE_INFINITY && total > MAX_CONTACTS) throw tooMany(total);
          found.push(...items);
          if (found.length >= limit) break;
        }
        return found.map((contact) => present(role, contact));
      },
      {
        query: Input({ limit: Type.Optional(Type.String()) }),
        response: withErrors({ 200: Type.Array(OldContact) }),
        detail: imitated("listContacts", "VIEWER"),
      },
    )
    .post(
      "",
      ({ project, role, body, once }) =>
        once(() => () => {
          const email = normalizedAddress(body.email);
          if (contacts.findByEmail(project.seq, email) !== null) throw contactExists(email);
          const { contact } = contacts.upsert({
            projectSeq: project.seq,
            email,
            subscribed: body.subscribed,
            defaultSubscribed: true,
            data: body.data,
          });
          return { status: 200, body: done(role, contact) };
        }),
      {
        body: limited(NewContact, BODY_LIMITS.data),
        response: withErrors({ 200: Done }),
        detail: imitated("upsertContact", "EDITOR"),
      },
    )
    .put(
      "",
      async ({ project, role, body, store, storeWithoutQuota }) => {
        const { id, email, subscribed, data } = body;
        const patch = {
          // With an id, the address is a new one.
          ...(id === undefined || email === undefined ? {} : { email: normalizedAddress(email) }),
          ...(subscribed === undefined ? {} : { subscribed }),
          ...(data === undefined || data === null ? {} : { data: nullForEmptyTexts(data) }),
        };
        const change = () => contacts.patch(project.seq, find(project.seq, body).id, patch)();
        return done(
          role,
          await (onlyUnsubscribes(patch) ? storeWithoutQuota(change) : store(change)),
        );
      },
      {
        body: limited(Change, BODY_LIMITS.data),
        response: withErrors({ 200: Done }),
        detail: imitated("updateContact", "EDITOR"),
      },
    )
    .delete(
      "",
      ({ project, role, body, storeWithoutQuota }) =>
        storeWithoutQuota(() => {
          const contact = contacts.get(project.seq, body.id);
          contacts.remove(project.seq, body.id)();
          return done(role, contact);
        }),
      {
        body: limited(WithId, BODY_LIMITS.settings),
        response: withErrors({ 200: Done }),
        detail: imitated("deleteContact", "EDITOR"),
      },
    )
    .get(
      "/count",
      async ({ project }) => {
        const { total } = await listContacts(app, project, { limit: "1" });
        return { count: total };
      },
      {
        response: withErrors({ 200: Type.Object({ count: Type.Integer() }) }),
        detail: imitated("listContacts", "VIEWER"),
      },
    )
    .post(
      "/subscribe",
      ({ project, body, store }) => store(() => setSubscribed(project.seq, body, true)),
      {
        body: limited(Identity, BODY_LIMITS.settings),
        response: withErrors({ 200: Subscription }),
        detail: imitated("updateContact", "EDITOR"),
      },
    )
    .post(
      "/unsubscribe",
      ({ project, body, storeWithoutQuota }) =>
        storeWithoutQuota(() => setSubscribed(project.seq, body, false)),
      {
        body: limited(Identity, BODY_LIMITS.settings),
        response: withErrors({ 200: Subscription }),
        detail: imitated("updateContact", "EDITOR"),
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) =>
        present(role, presentContact(contacts.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: OldContact }),
        detail: imitated("getContact", "VIEWER"),
      },
    );
}

function present(role: Role | null, contact: Contact): Static<typeof OldContact> {
  const { data, ...rest } = readableContact(role, contact);
  return { ...rest, data: Object.keys(data).length === 0 ? null : JSON.stringify(data) };
}

const done = (role: Role | null, row: ContactRow): Static<typeof Done> => ({
  success: true,
  ...present(role, presentContact(row)),
});

/** In this version, an empty text removes a key from the data of a contact, as null does with us. */
function nullForEmptyTexts(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(data).map(([key, value]) => [key, value === "" ? null : value]);
  return Object.fromEntries(entries);
}

function contactExists(email: string): AppError {
  return new AppError(409, "CONFLICT", `Contact already exists: ${email}.`, {
    suggestion: "Change it with PUT instead.",
  });
}

function tooMany(total: number): AppError {
  const message = `The project has ${total} contacts, and one answer has at most ${MAX_CONTACTS}.`;
  return new AppError(400, "BAD_REQUEST", message, {
    suggestion: `Add a limit to this request, or read pages with GET ${PLUNK}/contacts.`,
  });
}
