/**
 * GET    /contacts                  list, filtered and sorted
 * POST   /contacts                  upsert by email
 * GET    /contacts/fields           keys of their data
 * GET    /contacts/{id}
 * PATCH  /contacts/{id}
 * DELETE /contacts/{id}
 * GET    /contacts/{id}/activity    events and mails in one timeline
 */

import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { consentBy } from "../consents/record.ts";
import { seesSecrets } from "../../http/role-views.ts";
import { roleForHistory } from "../../http/scopes.ts";
import { ensureChecks } from "../../http/validation.ts";
import { AppError } from "../../lib/errors.ts";
import { listActivity, readableActivity } from "./activity.ts";
import { recentSurvey, surveyNewest } from "./fields.ts";
import { listContacts } from "./list.ts";
import { Activity } from "./activity-model.ts";
import {
  Contact,
  ContactInput,
  ContactPage,
  ContactPatch,
  ContactQuery,
  FieldList,
  FieldQuery,
  UpsertedContact,
} from "./model.ts";
import {
  type Contacts,
  onlyUnsubscribes,
  presentContact,
  presentUpserted,
  readableContact,
} from "./service.ts";
import { contactOperations } from "./operations.ts";
import { readsData } from "./search.ts";

const MAX_FIELDS_SHOWN = 1000;

export function contactRoutes(deps: { app: App; admission: Admission; contacts: Contacts }) {
  const { app, admission, contacts } = deps;
  return new Elysia({ name: "contact-routes", prefix: "/contacts" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        ensureChecks(ContactQuery, query);
        if (readsData(query) && !seesSecrets(role)) throw dataNeedsEditor();
        const listed = await listContacts(app, project, query);
        const items = listed.items.map((contact) => readableContact(role, contact));
        const page = { ...listed, items };
        return { contacts: page.items, cursor: page.nextCursor, ...page };
      },
      {
        query: ContactQuery,
        response: withErrors({ 200: ContactPage }),
        detail: contactOperations.listContacts,
      },
    )
    .post(
      "",
      ({ project, actor, body, once }) =>
        once(() => () => {
          const upserted = contacts.upsert({
            consent: consentBy(actor()),
            projectSeq: project.seq,
            email: normalizedAddress(body.email),
            subscribed: body.subscribed,
            defaultSubscribed: true,
            data: body.data,
          });
          return { status: upserted.isNew ? 201 : 200, body: presentUpserted(upserted) };
        }),
      {
        body: limited(ContactInput, BODY_LIMITS.data),
        response: withErrors({ 200: UpsertedContact, 201: UpsertedContact }),
        detail: contactOperations.upsertContact,
      },
    )
    .get(
      "/fields",
      async ({ project, query }) => {
        const isQuick = query.counted === "NEWEST";
        const survey = await (isQuick
          ? surveyNewest(app, project.seq)
          : recentSurvey(app, project.seq));
        const items = survey.fields.slice(0, MAX_FIELDS_SHOWN);
        return envelope({ items, total: survey.fields.length, contacts: survey.contacts });
      },
      {
        query: FieldQuery,
        response: withErrors({ 200: Envelope(FieldList) }),
        detail: contactOperations.listContactFields,
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) =>
        readableContact(role, presentContact(contacts.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Contact }),
        detail: contactOperations.getContact,
      },
    )
    .patch(
      "/:id",
      async ({ project, actor, params, body, store, storeWithoutQuota }) => {
        const patch =
          body.email === undefined ? body : { ...body, email: normalizedAddress(body.email) };
        const change = contacts.patch(project.seq, params.id, patch, consentBy(actor()));
        return presentContact(
          await (onlyUnsubscribes(patch) ? storeWithoutQuota(change) : store(change)),
        );
      },
      {
        params: IdParams,
        body: limited(ContactPatch, BODY_LIMITS.data),
        response: withErrors({ 200: Contact }),
        detail: contactOperations.updateContact,
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
        detail: contactOperations.deleteContact,
      },
    )
    .get(
      "/:id/activity",
      async ({ project, role, scope, params, query }) => {
        const contact = contacts.get(project.seq, params.id);
        const { items, ...page } = await listActivity(app, project.seq, contact, query);
        const reader = roleForHistory(role, scope);
        return envelope({ ...page, items: items.map((entry) => readableActivity(reader, entry)) });
      },
      {
        params: IdParams,
        query: PageQuery,
        response: withErrors({ 200: ListEnvelope(Activity) }),
        detail: contactOperations.listContactActivity,
      },
    );
}

/** A filter would reveal the hidden data, letter by letter. */
function dataNeedsEditor(): AppError {
  return new AppError(403, "FORBIDDEN", "Viewers cannot filter or sort by the data of contacts.", {
    suggestion: "Leave out `data` and `sort`, or ask an admin of the project for the role EDITOR.",
  });
}
