/** Contacts: one per project and address, upserted by every public endpoint. */

import { and, eq, sql } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { contacts } from "../../db/schema/contacts.ts";
import type { Change } from "../../db/writer.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { Events } from "../events/service.ts";
import { type JsonObject, mergeData, parseData, serializeData } from "./data.ts";
import type { Contact, ContactPatch } from "./model.ts";
import type { RemoveContact } from "./removal.ts";

export type ContactRow = typeof contacts.$inferSelect;
export type Contacts = ReturnType<typeof createContacts>;

/** `email` is normalised already (mail/address). */
export type Upsert = {
  /** For a new contact; made here if it is left out. */
  id?: string;
  projectSeq: number;
  email: string;
  /** Undefined: an existing contact keeps its state, a new one gets `defaultSubscribed`. */
  subscribed: boolean | undefined;
  defaultSubscribed: boolean;
  /** Merged; null clears; undefined changes nothing. */
  data: JsonObject | null | undefined;
};

/** What a change of the subscription is put down to. */
export type Cause = { emailSeq: number; data: JsonObject };

export function createContacts(deps: {
  db: Db;
  clock: Clock;
  events: Events;
  remove: RemoveContact;
}) {
  const { db, clock, events, remove } = deps;
  const findByEmail = db
    .select()
    .from(contacts)
    .where(and(eq(contacts.projectSeq, bound("projectSeq")), eq(contacts.email, bound("email"))))
    .limit(1)
    .prepare();
  const insert = db
    .insert(contacts)
    .values({
      id: sql.placeholder("id"),
      projectSeq: sql.placeholder("projectSeq"),
      email: sql.placeholder("email"),
      isSubscribed: sql.placeholder("isSubscribed"),
      data: sql.placeholder("data"),
      createdAt: sql.placeholder("createdAt"),
      updatedAt: sql.placeholder("createdAt"),
    })
    .returning()
    .prepare();

  function find(projectSeq: number, id: string): ContactRow | null {
    const match = and(eq(contacts.projectSeq, projectSeq), eq(contacts.id, id));
    return db.select().from(contacts).where(match).limit(1).get() ?? null;
  }

  function get(projectSeq: number, id: string): ContactRow {
    const contact = find(projectSeq, id);
    if (contact === null) throw notFound("CONTACT");
    return contact;
  }

  /** Writes what differs, and the event if the subscription changed. */
  function update(
    contact: ContactRow,
    next: Pick<ContactRow, "email" | "isSubscribed" | "data">,
    cause?: Cause,
  ): ContactRow {
    const isSame =
      contact.email === next.email &&
      contact.isSubscribed === next.isSubscribed &&
      contact.data === next.data;
    if (isSame) return contact;
    const updated = db
      .update(contacts)
      .set({ ...next, updatedAt: clock.now() })
      .where(eq(contacts.seq, contact.seq))
      .returning()
      .get();
    if (contact.isSubscribed !== next.isSubscribed) recordSubscription(updated, cause);
    return updated;
  }

  function recordSubscription(contact: ContactRow, cause?: Cause): void {
    events.record({
      projectSeq: contact.projectSeq,
      name: contact.isSubscribed ? "contact.subscribed" : "contact.unsubscribed",
      contactSeq: contact.seq,
      ...cause,
      at: clock.now(),
    });
  }

  function create(fields: Upsert): ContactRow {
    const now = clock.now();
    const contact = insert.get({
      id: fields.id ?? newId(now),
      projectSeq: fields.projectSeq,
      email: fields.email,
      isSubscribed: fields.subscribed ?? fields.defaultSubscribed,
      data: serializeData(mergeData({}, fields.data ?? {})),
      createdAt: now,
    });
    if (contact === undefined) throw new Error("an inserted contact came back empty");
    if (contact.isSubscribed) recordSubscription(contact);
    return contact;
  }

  return {
    get,

    findByEmail: (projectSeq: number, email: string): ContactRow | null =>
      findByEmail.get({ projectSeq, email }) ?? null,

    /** Part of a change. */
    upsert(fields: Upsert): { contact: ContactRow; isNew: boolean } {
      const existing = findByEmail.get({ projectSeq: fields.projectSeq, email: fields.email });
      if (existing === undefined) return { contact: create(fields), isNew: true };
      const contact = update(existing, {
        email: existing.email,
        isSubscribed: fields.subscribed ?? existing.isSubscribed,
        data: mergedText(existing, fields.data),
      });
      return { contact, isNew: false };
    },

    patch(
      projectSeq: number,
      id: string,
      patch: ContactPatch & { email?: string },
    ): Change<ContactRow> {
      return () => {
        const contact = get(projectSeq, id);
        const email = patch.email ?? contact.email;
        const holder = findByEmail.get({ projectSeq, email });
        if (holder !== undefined && holder.seq !== contact.seq) throw emailTaken(email);
        return update(contact, {
          email,
          isSubscribed: patch.subscribed ?? contact.isSubscribed,
          data: mergedText(contact, patch.data),
        });
      };
    },

    /** Part of a change: what the recipient of a mail decided there. */
    decide(contact: ContactRow, isSubscribed: boolean, cause: Cause): ContactRow {
      const { email, data } = contact;
      return update(contact, { email, data, isSubscribed }, cause);
    },

    /** As `createRemoval` says. */
    remove: (projectSeq: number, id: string): Change<void> => {
      return () => remove(get(projectSeq, id).seq);
    },
  };
}

function mergedText(contact: ContactRow, patch: JsonObject | null | undefined): string {
  if (patch === undefined) return contact.data;
  return serializeData(mergeData(parseData(contact.data), patch));
}

export function presentContact(contact: ContactRow): Contact {
  return {
    id: contact.id,
    email: contact.email,
    subscribed: contact.isSubscribed,
    data: parseData(contact.data),
    createdAt: isoTime(contact.createdAt),
    updatedAt: isoTime(contact.updatedAt),
  };
}

function emailTaken(email: string): AppError {
  return new AppError(409, "CONFLICT", `Another contact has the address ${email}.`, {
    suggestion: "Update that contact, or delete it first.",
  });
}
