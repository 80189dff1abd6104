/**
 * GET    /contacts         list, filtered by subscribed and search
 * POST   /contacts         upsert by email
 * GET    /contacts/{id}
 * PATCH  /contacts/{id}
 * DELETE /contacts/{id}
 */

import { Elysia, status } from "elysia";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import { IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import {
  Contact,
  ContactInput,
  ContactList,
  ContactPatch,
  ContactQuery,
  UpsertedContact,
} from "./model.ts";
import { type Contacts, presentContact } from "./service.ts";

const tags = ["Contacts"];

export function contactRoutes(deps: { admission: Admission; contacts: Contacts; writer: Writer }) {
  const { admission, contacts, writer } = deps;
  return new Elysia({ name: "contact-routes", prefix: "/contacts" })
    .use(admission.secretKey)
    .get(
      "",
      ({ project, query }) => {
        const { items, nextCursor, ...rest } = contacts.list(project.seq, query);
        return { contacts: items, cursor: nextCursor, ...rest };
      },
      {
        query: ContactQuery,
        response: withErrors({ 200: ContactList }),
        detail: { tags, summary: "List contacts" },
      },
    )
    .post(
      "",
      ({ project, body, once }) =>
        once(() => () => {
          const { contact, isNew } = contacts.upsert({
            projectSeq: project.seq,
            email: normalizedAddress(body.email),
            subscribed: body.subscribed,
            defaultSubscribed: true,
            data: body.data,
          });
          return {
            status: isNew ? 201 : 200,
            body: { ...presentContact(contact), _meta: { isNew, isUpdate: !isNew } },
          };
        }),
      {
        body: ContactInput,
        response: withErrors({ 200: UpsertedContact, 201: UpsertedContact }),
        detail: { tags, summary: "Create or update a contact by email" },
      },
    )
    .get("/:id", ({ project, params }) => presentContact(contacts.get(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Contact }),
      detail: { tags, summary: "Contact details" },
    })
    .patch(
      "/:id",
      async ({ project, params, body }) => {
        const patch =
          body.email === undefined ? body : { ...body, email: normalizedAddress(body.email) };
        return presentContact(await writer.write(contacts.patch(project.seq, params.id, patch)));
      },
      {
        params: IdParams,
        body: ContactPatch,
        response: withErrors({ 200: Contact }),
        detail: { tags, summary: "Update a contact" },
      },
    )
    .delete(
      "/:id",
      async ({ project, params }) => {
        await writer.write(contacts.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: { tags, summary: "Delete a contact; its mail and event records stay, anonymised" },
      },
    );
}
