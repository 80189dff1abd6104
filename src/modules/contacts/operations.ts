/** Texts of the operations on contacts for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const toContact = {
  getContact: { id: "/id" },
  updateContact: { id: "/id" },
  deleteContact: { id: "/id" },
  listContactActivity: { id: "/id" },
};

export const contactOperations = describeOperations(
  { tag: "Contacts", id: "Id of the contact" },
  {
    listContacts: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List contacts",
      description:
        "Contacts that match all given filters, newest first. The list is not wrapped in `data`.",
    },
    upsertContact: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Create or update a contact by email",
      description:
        "Creates a contact, which is answered with 201, or updates the contact that has the " +
        "address, which is answered with 200.",
      isIdempotent: true,
      links: toContact,
    },
    exportContacts: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      needsConfirmation: true,
      summary: "Export contacts; the CSV can be imported again",
      description:
        "Streams all contacts that match the filters: CSV with one column per key of their data, " +
        "or one JSON object per line (`format=ndjson`). CSV is refused with 422 if the contacts of " +
        "the project have more than 10,000 keys.",
      headers: ["Content-Disposition"],
    },
    listContactFields: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List the keys of contacts' data, with types and coverage",
      description: "The keys that can be used in templates, conditions and imports.",
    },
    getContact: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Get a contact",
      description: "The contact is not wrapped in `data`.",
    },
    updateContact: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Update a contact",
      description:
        "Changes the given fields. `data` is merged: null removes a key, and `data: null` removes " +
        "all keys. An address that another contact has is refused with 409.",
    },
    deleteContact: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Delete a contact; its mail and event records are anonymised and stay",
      description:
        "Also removes the contact from segments and cancels its workflow executions and its mails " +
        "that were not sent yet.",
    },
    listContactActivity: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List the events and mails of a contact, newest first",
      description: "One timeline of everything that was recorded for the contact.",
    },
  },
);
