/**
 * GET    /plunk/contacts                     a page, with a cursor
 * POST   /plunk/contacts                     upsert by email
 * POST   /plunk/contacts/lookup              which of up to 500 addresses have a contact
 * POST   /plunk/contacts/bulk-subscribe      starts a job, as do the next two
 * POST   /plunk/contacts/bulk-unsubscribe
 * POST   /plunk/contacts/bulk-delete
 * GET    /plunk/contacts/bulk/{jobId}        its progress
 * GET    /plunk/contacts/{id}
 * PATCH  /plunk/contacts/{id}
 * DELETE /plunk/contacts/{id}
 */

import { type Static, type TObject, Type } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { IdParams, NoContent, Nullable, withErrors } from "../../http/envelope.ts";
import { EmailAddress, normalizedAddress } from "../../http/formats.ts";
import { PLUNK } from "../../http/route-path.ts";
import { Input, QueryBoolean } from "../../http/validation.ts";
import { newId } from "../../lib/id.ts";
import { parseMailbox } from "../../protocols/mime/mailbox.ts";
import { type AppError, fieldError } from "../../lib/errors.ts";
import { contactJobs } from "../contacts/contacts.ts";
import type { BulkInput, BulkProgress } from "../contacts/bulk/model.ts";
import { listContacts } from "../contacts/list.ts";
import { Contact, Data, UpsertedContact } from "../contacts/model.ts";
import {
  contactService,
  onlyUnsubscribes,
  presentContact,
  presentUpserted,
  readableContact,
} from "../contacts/service.ts";
import { bareError, OrderQuery, pageSizeIn, requireAddresses, requireFields } from "./shapes.ts";

const ListQuery = Input({
  limit: Type.Optional(Type.String()),
  cursor: Type.Optional(Type.String()),
  search: Type.Optional(Type.String({ maxLength: 320 })),
  subscribed: Type.Optional(QueryBoolean()),
  ...OrderQuery,
});

/** `items` and `nextCursor` repeat `data` and `cursor`, because the piece of Activepieces reads them. */
const ContactList = Type.Object({
  data: Type.Array(Contact),
  cursor: Nullable(Type.String()),
  items: Type.Array(Contact),
  nextCursor: Nullable(Type.String()),
  hasMore: Type.Boolean(),
  total: Type.Integer(),
});

/** A new contact needs `email`. It is optional here, because the answer without it is Plunk's older error. */
const Fields = Input({
  email: Type.Optional(EmailAddress),
  subscribed: Type.Optional(Type.Boolean()),
  data: Type.Optional(Nullable(Data)),
});

const MAX_LOOKED_UP = 500;
const Lookup = Input({ emails: Type.Optional(Type.Array(Type.String({ maxLength: 1_000 }))) });
const FoundAddresses = Type.Object({
  found: Type.Array(Type.String()),
  notFound: Type.Array(Type.String()),
});

const MAX_BULK_IDS = 1_000;
const SelectionFilter = Input({
  search: Type.Optional(Type.String({ maxLength: 255 })),
  subscribed: Type.Optional(Type.Boolean()),
});
/** Contacts by id, or by the filters of the list. `mode` may be left out with `contactIds`. */
const Selection = Input({
  mode: Type.Optional(Type.Union([Type.Literal("ids"), Type.Literal("query")])),
  contactIds: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: MAX_BULK_IDS })),
  filter: Type.Optional(SelectionFilter),
  excludeIds: Type.Optional(Type.Array(Type.String())),
});
type Selection = Static<typeof Selection>;

const QueuedJob = Type.Object({ message: Type.String(), jobId: Type.String() });

const BulkJob = Type.Object({
  id: Type.String(),
  state: Type.String(),
  progress: Type.Integer(),
  result: Nullable(
    Type.Object({
      operation: Type.String(),
      totalRequested: Type.Integer(),
      successCount: Type.Integer(),
      unchangedCount: Type.Integer(),
      failureCount: Type.Integer(),
      errors: Type.Array(
        Type.Object({ contactId: Type.String(), email: Type.String(), error: Type.String() }),
      ),
    }),
  ),
  data: Type.Object({ projectId: Type.String(), operation: Type.String() }),
  failedReason: Nullable(Type.String()),
});

const BULK_OPERATIONS = ["subscribe", "unsubscribe", "delete"] as const;

export const plunkContactRoutes = (app: App, admission: Admission) => [
  contactRoutes(app, admission),
  ...BULK_OPERATIONS.map((operation) => bulkRoute(app, admission, operation)),
];

function contactRoutes(app: App, admission: Admission) {
  const contacts = contactService(app);
  return new Elysia({ name: "plunk-contact-routes", prefix: `${PLUNK}/contacts` })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const { sort, dir, limit, ...filters } = query;
        const isSorted = sort === "email" || (sort === "createdAt" && dir === "asc");
        const order = dir === "asc" ? "asc" : "desc";
        const page = await listContacts(app, project, {
          ...filters,
          limit: String(pageSizeIn("limit", limit)),
          ...(isSorted ? { sort, order } : {}),
        });
        const data = page.items.map((contact) => readableContact(role, contact));
        const { nextCursor, hasMore, total } = page;
        return { data, cursor: nextCursor, items: data, nextCursor, hasMore, total };
      },
      {
        query: ListQuery,
        response: withErrors({ 200: ContactList }),
        detail: imitated("listContacts", "VIEWER"),
      },
    )
    .post(
      "",
      ({ project, body, once }) => {
        const { email = "", subscribed, data } = body;
        requireFields(body, ["email"]);
        return once(() => () => {
          const upserted = contacts.upsert({
            projectSeq: project.seq,
            email: normalizedAddress(email),
            subscribed,
            defaultSubscribed: true,
            data: data && withoutEmptyTexts(data),
          });
          return { status: upserted.isNew ? 201 : 200, body: presentUpserted(upserted) };
        });
      },
      {
        body: limited(Fields, BODY_LIMITS.data),
        response: withErrors({ 200: UpsertedContact, 201: UpsertedContact }),
        detail: imitated("upsertContact", "EDITOR"),
      },
    )
    .post(
      "/lookup",
      ({ project, body }) => {
        const emails = requireAddresses(body);
        if (emails.length > MAX_LOOKED_UP) {
          throw bareError(`emails must have at most ${MAX_LOOKED_UP} addresses`);
        }
        const isKnown = (text: string) => {
          const parsed = parseMailbox(text);
          return parsed.ok && contacts.findByEmail(project.seq, normalizedAddress(text)) !== null;
        };
        const known = new Set(emails.filter(isKnown));
        return {
          found: emails.filter((email) => known.has(email)),
          notFound: emails.filter((email) => !known.has(email)),
        };
      },
      {
        body: limited(Lookup, BODY_LIMITS.members),
        response: withErrors({ 200: FoundAddresses }),
        detail: imitated("getContact", "VIEWER", { isAudited: false }),
      },
    )
    .get(
      "/bulk/:id",
      ({ project, params }) =>
        presentBulk(project.id, contactJobs(app).bulk.progress(project.seq, params.id)),
      {
        params: IdParams,
        response: withErrors({ 200: BulkJob }),
        detail: imitated("getBulkAction", "VIEWER"),
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) =>
        readableContact(role, presentContact(contacts.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Contact }),
        detail: imitated("getContact", "VIEWER"),
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, store, storeWithoutQuota }) => {
        const { email, subscribed, data } = body;
        const patch = {
          ...(email === undefined ? {} : { email: normalizedAddress(email) }),
          ...(subscribed === undefined ? {} : { subscribed }),
          ...(data === undefined ? {} : { data: data && withoutEmptyTexts(data) }),
        };
        const change = contacts.patch(project.seq, params.id, patch);
        return presentContact(
          await (onlyUnsubscribes(patch) ? storeWithoutQuota(change) : store(change)),
        );
      },
      {
        params: IdParams,
        body: limited(Fields, BODY_LIMITS.data),
        response: withErrors({ 200: Contact }),
        detail: imitated("updateContact", "EDITOR"),
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(contacts.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: imitated("deleteContact", "EDITOR"),
      },
    );
}

function bulkRoute(app: App, admission: Admission, action: (typeof BULK_OPERATIONS)[number]) {
  const { bulk, worker } = contactJobs(app);
  const path = `${PLUNK}/contacts/bulk-${action}`;
  return new Elysia({ name: `plunk: ${path}` }).use(admission.secretKey).post(
    path,
    ({ project, body, onceWithoutQuota }) => {
      const input: BulkInput = { action, ...selected(body) };
      return onceWithoutQuota(() => {
        bulk.check(project.seq, input);
        return () => {
          const jobId = newId(app.clock.now());
          bulk.create(project.seq, jobId, input)();
          app.writer.afterCommit(worker.wake);
          return { status: 202, body: { message: `Bulk ${action} queued successfully`, jobId } };
        };
      });
    },
    {
      body: limited(Selection, BODY_LIMITS.condition),
      response: withErrors({ 202: QueuedJob }),
      detail: imitated("startBulkAction", "EDITOR"),
    },
  );
}

/** The contacts of a bulk action: those of the list, or those that the filters of the list match. */
function selected(selection: Selection): Pick<BulkInput, "ids" | "query"> {
  const { contactIds, filter, excludeIds = [], mode = contactIds && "ids" } = selection;
  refuseUnknown(selection, "", Selection);
  refuseUnknown(filter ?? {}, "filter.", SelectionFilter);
  if (excludeIds.length > 0) {
    const message = "is not supported; name the contacts in contactIds instead";
    throw fieldError("excludeIds", "invalid_value", message);
  }
  if (mode === undefined) throw bareError("mode is required");
  if (mode === "ids") {
    if (filter !== undefined) throw misplaced("filter", mode);
    if (contactIds === undefined) throw bareError("contactIds is required");
    return { ids: contactIds };
  }
  if (contactIds !== undefined) throw misplaced("contactIds", mode);
  return { query: filter ?? {} };
}

/** A filter that is not known would be ignored, and the action would mean too many contacts. */
function refuseUnknown(given: object, path: string, { properties }: TObject): void {
  const known = Object.keys(properties);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `is not a field of this endpoint; the fields are ${known.join(", ")}`;
  throw fieldError(`${path}${unknown}`, "unknown_field", message);
}

const misplaced = (field: string, mode: string): AppError =>
  fieldError(field, "invalid_value", `must be omitted with the mode ${mode}`);

/** Plunk does not store an empty text in the data of a contact. */
function withoutEmptyTexts(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== ""));
}

const STATES = {
  QUEUED: "waiting",
  RUNNING: "active",
  COMPLETED: "completed",
  FAILED: "failed",
} as const;

function presentBulk(projectId: string, job: BulkProgress): Static<typeof BulkJob> {
  const { id, action, processed, total, updated, unchanged, failed } = job;
  const isEnded = job.status === "COMPLETED";
  const share = total === null || total === 0 ? 0 : Math.round((processed / total) * 100);
  const errors = job.errors.map((error) => ({
    contactId: error.id ?? "batch",
    email: "",
    error: error.message,
  }));
  const result = {
    operation: action,
    totalRequested: total ?? processed,
    successCount: updated,
    unchangedCount: unchanged,
    failureCount: failed,
    errors,
  };
  return {
    id,
    state: STATES[job.status],
    progress: isEnded ? 100 : share,
    result: isEnded ? result : null,
    data: { projectId, operation: action },
    failedReason:
      job.status === "FAILED" ? (job.errors.at(-1)?.message ?? "The job failed.") : null,
  };
}
