/** Contacts. Each project has one contact per address; all public endpoints upsert it. */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { insertedSeq } from "../../db/inserted.ts";
import { contacts } from "../../db/schema/contacts.ts";
import { statement } from "../../db/statement.ts";
import { bytesOfRow } from "../../db/usage.ts";
import type { Change } from "../../db/writer.ts";
import { dataFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { eventLog } from "../../events/log.ts";
import { contactMails } from "../../outbox/contact-mails.ts";
import { endRequests } from "../preferences/end-requests.ts";
import { suppressReturned } from "../privacy/returned.ts";
import { endStanding, standingOfErased } from "../suppressions.ts";
import { type ConsentInput, isOwnSource, recordConsent } from "../consents/record.ts";
import { type JsonObject, mergeData, parseData, serializeData } from "./data.ts";
import type { Contact, ContactPatch, UpsertedContact } from "./model.ts";
import { pauseEnd, setPause } from "./pause.ts";
import { contactRemoval } from "./remove.ts";
import { setTracking } from "./tracking.ts";

export type ContactRow = typeof contacts.$inferSelect;
export type Contacts = ReturnType<typeof createContacts>;

/** Input of an upsert. `email` is normalized already (mime/address.ts). */
type Upsert = {
  /** Id of a new contact; generated if omitted. */
  id?: string;
  projectSeq: number;
  email: string;
  /** If undefined, an existing contact keeps its state and a new one gets `defaultSubscribed`. */
  subscribed: boolean | undefined;
  defaultSubscribed: boolean;
  /** Data to merge into the contact's; null deletes all keys, undefined changes nothing. */
  data: JsonObject | null | undefined;
  /**
   * If true, an existing contact that is unsubscribed stays unsubscribed, even if `subscribed` is
   * true.
   */
  neverResubscribes?: boolean;
  /**
   * Limit of the merged data, as JSON, if the upsert makes it longer. It leaves room for secret keys
   * in the data of a contact that strangers fill with a public key.
   */
  maxDataKib?: number;
  consent?: ConsentCause | null;
};

/**
 * The cause of a change of the subscription, for the ledger of consents. If it is left out, the change
 * came from the API; null if the caller adds to the ledger itself.
 */
export type ConsentCause = Pick<ConsentInput, "source"> &
  Partial<Pick<ConsentInput, "clientAddress" | "wording">>;

type FoundContact = Omit<ContactRow, "isSubscribed" | "tracking"> & {
  isSubscribed: number;
  tracking: number | null;
};

/** The mail that caused a change of the subscription, the data of the event, and the consent. */
type Cause = {
  emailSeq?: number;
  data?: JsonObject;
  consent?: ConsentCause | null | undefined;
};

/** The project, contact and address of a mail; the last two are null once the contact was deleted. */
type MailRecipient = { projectSeq: number; contactSeq: number | null; to: string | null };

// Most projects have no erasures, so this short query saves the longer one.
const findErasure = statement<{ found: number }, [number]>(
  "SELECT 1 AS found FROM erasures WHERE project_seq = +? LIMIT 1",
);

const FROM_API: ConsentCause = { source: { type: "API" } };

export const contactService = perApp(createContacts);

function createContacts(app: App) {
  const { clock } = app;
  const events = eventLog(app);
  const mails = contactMails(app);
  const { remove } = contactRemoval(app);
  const rows = createContactRows(app);
  const { findByEmail } = rows;

  const get = (projectSeq: number, id: string) => getContact(app, projectSeq, id);

  /** Writes the contact if it differs, and records an event if the subscription changed. */
  function update(
    contact: ContactRow,
    next: Pick<ContactRow, "email" | "isSubscribed" | "data">,
    cause?: Cause,
  ): ContactRow {
    const becomesSubscribed =
      next.isSubscribed && (!contact.isSubscribed || contact.email !== next.email);
    if (becomesSubscribed && !maySubscribe(contact.projectSeq, next.email, cause?.consent)) {
      return update(contact, { ...next, isSubscribed: false }, cause);
    }
    const isSame =
      contact.email === next.email &&
      contact.isSubscribed === next.isSubscribed &&
      contact.data === next.data;
    if (isSame) return contact;
    const updated = { ...contact, ...next, updatedAt: clock.now() };
    rows.update(contact, updated);
    if (contact.email !== next.email) {
      mails.readdress(contact.seq, next.email);
      // The former address may belong to a stranger: its links must not reach the data of the person.
      endRequests(app, contact, null);
      keepSuppressed(updated);
    }
    if (contact.isSubscribed !== next.isSubscribed) recordSubscription(updated, cause);
    return updated;
  }

  function recordSubscription(contact: ContactRow, cause: Cause = {}): void {
    const { consent = FROM_API, ...event } = cause;
    events.record({
      projectSeq: contact.projectSeq,
      name: contact.isSubscribed ? "contact.subscribed" : "contact.unsubscribed",
      contactSeq: contact.seq,
      ...event,
      at: clock.now(),
    });
    if (consent === null) return;
    recordConsent(app, {
      contact,
      kind: contact.isSubscribed ? "GIVEN" : "WITHDRAWN",
      topicSeq: null,
      clientAddress: null,
      wording: null,
      ...consent,
    });
  }

  /**
   * True if the contact may become subscribed. A person who was erased after they had left comes back
   * only by themselves; then the standing of the address ends.
   */
  function maySubscribe(
    projectSeq: number,
    email: string,
    consent: ConsentCause | null = FROM_API,
  ): boolean {
    if (findErasure(app).get(projectSeq) === null) return true;
    if (standingOfErased(app, projectSeq, email) !== "UNSUBSCRIBED") return true;
    if (consent !== null && isOwnSource(consent.source)) return false;
    return endStanding(app, projectSeq, email);
  }

  /** The suppression of an erased person counts again for a contact that gets their address. */
  function keepSuppressed({ projectSeq, email }: ContactRow): void {
    if (findErasure(app).get(projectSeq) !== null) suppressReturned(app, projectSeq, email);
  }

  function create(fields: Upsert): ContactRow {
    const now = clock.now();
    const { projectSeq, email, consent } = fields;
    const isWanted = fields.subscribed ?? fields.defaultSubscribed;
    const contact = rows.insert(
      {
        id: fields.id ?? newId(now),
        projectSeq: fields.projectSeq,
        email: fields.email,
        isSubscribed: isWanted && maySubscribe(projectSeq, email, consent),
        data: serializeData(mergeData({}, fields.data ?? {}), fields.maxDataKib),
      },
      now,
    );
    if (contact.isSubscribed) recordSubscription(contact, { consent: fields.consent });
    keepSuppressed(contact);
    return contact;
  }

  return {
    get,

    findByEmail,
    findBySeq: rows.findBySeq,

    /**
     * The contact whom the links of a mail and the reports about it change: the one that has the
     * address of the mail now. If none has it, the contact of the mail, which has a new address.
     */
    findRecipient({ projectSeq, contactSeq, to }: MailRecipient): ContactRow | null {
      const holder = to === null ? null : findByEmail(projectSeq, to);
      return holder ?? (contactSeq === null ? null : rows.findBySeq(contactSeq));
    },

    /** Creates or updates the contact with this address. It must be called inside a change. */
    upsert(fields: Upsert): { contact: ContactRow; isNew: boolean } {
      const existing = findByEmail(fields.projectSeq, fields.email);
      if (existing === null) return { contact: create(fields), isNew: true };
      const staysUnsubscribed = fields.neverResubscribes === true && !existing.isSubscribed;
      const next = {
        email: existing.email,
        isSubscribed: staysUnsubscribed ? false : (fields.subscribed ?? existing.isSubscribed),
        data: mergedText(existing, fields.data, fields.maxDataKib),
      };
      const contact = update(existing, next, { consent: fields.consent });
      return { contact, isNew: false };
    },

    patch(
      projectSeq: number,
      id: string,
      patch: ContactPatch & { email?: string },
      consent?: ConsentCause,
    ): Change<ContactRow> {
      return () => {
        const contact = get(projectSeq, id);
        const email = patch.email ?? contact.email;
        const holder = findByEmail(projectSeq, email);
        if (holder !== null && holder.seq !== contact.seq) throw emailTaken(email);
        const next = {
          email,
          isSubscribed: patch.subscribed ?? contact.isSubscribed,
          data: mergedText(contact, patch.data),
        };
        const updated = update(contact, next, { consent });
        const { pausedUntil: until, tracking } = patch;
        const cause = consent ?? FROM_API;
        const chosen =
          tracking === undefined ? updated : setTracking(app, updated, tracking, cause);
        if (until === undefined) return chosen;
        const end = until === null ? null : pauseEnd(until, clock.now());
        return setPause(app, chosen, end, cause);
      };
    },

    /** Sets the subscription that a recipient chose in a mail. It must be called inside a change. */
    setSubscription(contact: ContactRow, isSubscribed: boolean, cause: Cause): ContactRow {
      const { email, data } = contact;
      return update(contact, { email, data, isSubscribed }, cause);
    },

    /** Removes a contact and anonymises its records (see `createRemoval`). */
    remove: (projectSeq: number, id: string): Change<void> => {
      return () => remove(get(projectSeq, id).seq);
    },
  };
}

/** Throws 404 without such a contact. */
export function getContact({ db }: Pick<App, "db">, projectSeq: number, id: string): ContactRow {
  const match = and(eq(contacts.projectSeq, projectSeq), eq(contacts.id, id));
  const contact = db.select().from(contacts).where(match).limit(1).get();
  if (contact === undefined) throw notFound("CONTACT");
  return contact;
}

/**
 * Reads and writes rows of contacts, and counts their bytes. The statements are prepared without the
 * query builder, because each accepted mail, event and workflow step runs them.
 */
function createContactRows({ db, usage }: App) {
  const selectByEmail = db.sqlite.prepare<FoundContact, [number, string]>(`
    SELECT seq, id, project_seq AS projectSeq, email, is_subscribed AS isSubscribed, data,
           created_at AS createdAt, updated_at AS updatedAt, paused_until AS pausedUntil, tracking
    FROM contacts WHERE project_seq = +? AND email = +?`);
  const selectBySeq = db.sqlite.prepare<FoundContact, [number]>(`
    SELECT seq, id, project_seq AS projectSeq, email, is_subscribed AS isSubscribed, data,
           created_at AS createdAt, updated_at AS updatedAt, paused_until AS pausedUntil, tracking
    FROM contacts WHERE seq = +?`);
  const change = db.sqlite.prepare<unknown, [string, number, string, number, number]>(`
    UPDATE contacts SET email = ?, is_subscribed = ?, data = ?, updated_at = ? WHERE seq = +?`);
  // Used if only the data changes, which is most frequent, so that no index is updated.
  const changeData = db.sqlite.prepare<unknown, [string, number, number]>(
    "UPDATE contacts SET data = ?, updated_at = ? WHERE seq = +?",
  );
  const insert = db.sqlite.prepare<
    unknown,
    [string, number, string, number, string, number, number]
  >(`
    INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);

  return {
    findByEmail(projectSeq: number, email: string): ContactRow | null {
      const row = selectByEmail.get(projectSeq, email);
      return row === null ? null : contactOf(row);
    },

    findBySeq(seq: number): ContactRow | null {
      const row = selectBySeq.get(seq);
      return row === null ? null : contactOf(row);
    },

    /** Part of a change: adds a contact that is created at `now`. */
    insert(
      fields: Omit<ContactRow, "seq" | "createdAt" | "updatedAt" | "pausedUntil" | "tracking">,
      now: number,
    ): ContactRow {
      const { id, projectSeq, email, isSubscribed, data } = fields;
      const seq = insertedSeq(
        insert.run(id, projectSeq, email, Number(isSubscribed), data, now, now),
      );
      usage.addBytes(projectSeq, bytesOfRow("contacts", fields));
      const times = { createdAt: now, updatedAt: now, pausedUntil: null, tracking: null };
      return { seq, id, projectSeq, email, isSubscribed, data, ...times };
    },

    /** Part of a change: writes `after`, which differs from the stored row `before`. */
    update(before: ContactRow, after: ContactRow): void {
      const { email, isSubscribed, data, updatedAt, seq } = after;
      const isOnlyData = before.email === email && before.isSubscribed === isSubscribed;
      if (isOnlyData) changeData.run(data, updatedAt, seq);
      else change.run(email, Number(isSubscribed), data, updatedAt, seq);
      const added = bytesOfRow("contacts", after) - bytesOfRow("contacts", before);
      usage.addBytes(before.projectSeq, added);
    },
  };
}

function contactOf(row: FoundContact): ContactRow {
  const tracking = row.tracking === null ? null : row.tracking === 1;
  return { ...row, isSubscribed: row.isSubscribed === 1, tracking };
}

function mergedText(
  contact: ContactRow,
  patch: JsonObject | null | undefined,
  maxKib?: number,
): string {
  if (patch === undefined || (patch !== null && isEmpty(patch))) return contact.data;
  const merged = mergeData(parseData(contact.data), patch);
  if (maxKib === undefined) return serializeData(merged);
  const isLonger = JSON.stringify(merged).length > contact.data.length;
  return serializeData(merged, isLonger ? maxKib : undefined);
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

export function presentContact(contact: ContactRow): Contact {
  return {
    id: contact.id,
    email: contact.email,
    subscribed: contact.isSubscribed,
    data: parseData(contact.data),
    createdAt: isoTime(contact.createdAt),
    updatedAt: isoTime(contact.updatedAt),
    ...(contact.tracking === null ? {} : { tracking: contact.tracking }),
    ...(contact.pausedUntil === null ? {} : { pausedUntil: isoTime(contact.pausedUntil) }),
  };
}

/** The answer to an upsert. */
export function presentUpserted(upserted: {
  contact: ContactRow;
  isNew: boolean;
}): UpsertedContact {
  const { contact, isNew } = upserted;
  return { ...presentContact(contact), _meta: { isNew, isUpdate: !isNew } };
}

/**
 * True for a patch that is stored even if the storage quota is reached: it only unsubscribes or pauses.
 */
export function onlyUnsubscribes(patch: ContactPatch): boolean {
  const { email, subscribed, data, pausedUntil, tracking } = patch;
  const isLess = Boolean(pausedUntil) || tracking === false;
  const isWithdrawal = subscribed === false || (subscribed === undefined && isLess);
  return isWithdrawal && email === undefined && data === undefined && tracking !== true;
}

/** The contact as a role sees it. */
export function readableContact(role: Role | null, contact: Contact): Contact {
  return { ...contact, data: dataFor(role, contact.data) };
}

function emailTaken(email: string): AppError {
  return new AppError(409, "CONFLICT", `Another contact has the address ${email}.`, {
    suggestion: "Update that contact instead, or delete it first.",
  });
}
