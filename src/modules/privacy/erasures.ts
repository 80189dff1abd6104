/**
 * Erasures of persons.
 *
 * 1. `erasePerson` is a part of a change: it removes the contact, empties its mails and events, and
 *    stores the receipt, which is the order for the rest of the work. A contact with many mails and events
 *    is removed in parts (`removePart`), each a change, after the receipt is stored.
 * 2. The worker (erasure-work.ts) searches all tables of the project for the address, overwrites free
 *    pages and empties the write-ahead log. Each step stores its position in the change of its work, so
 *    the work goes on after a crash.
 * 3. The completed receipt is written to a file of the data folder too (receipt-file.ts), so that a
 *    restored backup is erased again.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { erasures } from "../../db/schema/erasures.ts";
import { statement } from "../../db/statement.ts";
import { eventLog } from "../../events/log.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, Nullable } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { operations, read, write } from "../../http/operations.ts";
import { PageQuery, smallPage } from "../../http/pagination.ts";
import { OneOf } from "../../http/validation.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { contactMails } from "../../outbox/contact-mails.ts";
import { eraseMessagesOf, mailsUnderWay } from "../../outbox/erase-content.ts";
import { chooseTexts } from "../../render/language.ts";
import { contactLanguage } from "../contacts/language.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { contactService, getContact } from "../contacts/service.ts";
import { projectBySeq } from "../projects.ts";
import { removeSuppressionOf, standingOfErased } from "../suppressions.ts";
import { addressDigest, type ErasedStanding, storeErasureKey } from "./erased.ts";
import { ErasureInput, ErasureReceipt, PersonFile, PersonQuery } from "./erasure-model.ts";
import { exportPerson } from "./export.ts";
import { clearingFreedPages } from "./secure-delete.ts";
import { useOfAddress } from "./used-addresses.ts";

export type ErasureRow = typeof erasures.$inferSelect;

/** The user, key or person that requested the erasure. */
type ErasureCause = {
  kind: ErasureRow["actorKind"];
  id?: string | null;
};

/** The position of the work. The phases are explained in erasure-work.ts. */
export const ErasurePosition = Type.Object({
  phase: OneOf(["CONTACT", "WAIT", "SEARCH", "FILES", "INDEX", "FILL", "EMPTY", "LOG", "DONE"]),
  /** Mails that were under way. */
  underWay: Type.Array(Type.Integer()),
  /** The table that is searched, the row up to which it was searched, and its last row. */
  table: Type.Integer(),
  after: Type.Integer(),
  last: Nullable(Type.Integer()),
  /** Rows that are left for the next search, because mail with them still waits. */
  postponed: Type.Integer(),
  /** Failed attempts to empty the log. */
  tries: Type.Integer(),
  isLogEmptied: Nullable(Type.Boolean()),
  /** `seq` of the contact while it is removed in parts. */
  contact: Type.Optional(Type.Integer()),
  /** Keyed digest of the id of the contact; absent if there was none. */
  contactDigest: Type.Optional(Type.String()),
});
export type ErasurePosition = Static<typeof ErasurePosition>;

export const ErasureCounts = Type.Record(Type.String(), Type.Integer());
const ErasedAddresses = Type.Array(Type.String(), { minItems: 1 });

export const START: Omit<ErasurePosition, "underWay"> = {
  phase: "WAIT",
  table: 0,
  after: 0,
  last: null,
  postponed: 0,
  tries: 0,
  isLogEmptied: null,
};

/** Most events of a contact that is removed in one change. */
const MAX_EVENTS_AT_ONCE = 500;
/** Most mails of such a contact, received ones as well: each may have a body of many megabytes. */
const MAX_MAILS_AT_ONCE = 10;
/** Time for a part of the removal. The commit takes about as long again. */
const PART_MS = 4;
/** Events that are forgotten together: about 1 ms. */
const EVENTS_OF_PART = 100;

/** Seals the addresses of an erasure while it runs. */
const subjectKey = perApp(({ secret }: App) => deriveKey(secret, "erasure-subjects"));

/** Called after the commit of a new erasure. */
export const erasureWake = perApp(() => {
  const state = { wake: () => {} };
  return state;
});

type Person = {
  projectSeq: number;
  /** A normalized address. */
  email: string;
};

const formerAddresses = statement<{ email: string }, [number, string]>(`
  SELECT to_address AS email FROM emails
  WHERE contact_seq = +? AND to_address <> +? AND source <> 'TEST'`);
const hasUnsubscribed = statement<{ found: number }, [number, number]>(`
  SELECT 1 AS found FROM contact_events s JOIN event_names n ON n.seq = s.name_seq
  WHERE s.contact_seq = +? AND n.project_seq = +? AND n.name = 'contact.unsubscribed' LIMIT 1`);
const lastConsent = statement<{ kind: string }, [number]>(`
  SELECT kind FROM consents WHERE contact_seq = +? AND topic_seq IS NULL AND purpose = 'MARKETING'
  ORDER BY seq DESC LIMIT 1`);
const findSuppression = statement<
  { reason: ErasedStanding; expiresAt: number | null },
  [number, string]
>("SELECT reason, expires_at AS expiresAt FROM suppressions WHERE project_seq = +? AND email = +?");
const findReceipt = statement<{ seq: number }, [string]>("SELECT seq FROM erasures WHERE id = +?");
const findPartial = statement<{ seq: number }, [number]>(`
  SELECT seq FROM erasures WHERE state = 'RUNNING' AND position ->> '$.contact' = +? LIMIT 1`);
const findAddress = statement<{ email: string }, [number]>(
  "SELECT email FROM contacts WHERE seq = +?",
);
const findHolder = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM contacts WHERE project_seq = +? AND email = +?",
);

const countMails = statement<{ n: number }, [number]>(
  "SELECT count(*) AS n FROM emails WHERE contact_seq = +?",
);
const countReceived = statement<{ n: number }, [number]>(
  "SELECT count(*) AS n FROM received_mails WHERE contact_seq = +?",
);
const COUNTED: Readonly<Record<string, ReturnType<typeof statement<{ n: number }, [number]>>>> = {
  emails: countMails,
  consents: statement("SELECT count(*) AS n FROM consents WHERE contact_seq = +?"),
  segment_members: statement("SELECT count(*) AS n FROM segment_members WHERE contact_seq = +?"),
  received_mails: countReceived,
  workflow_executions: statement(
    "SELECT count(*) AS n FROM workflow_executions WHERE contact_seq = +?",
  ),
};
const countEvents = statement<{ n: number }, [number, number]>(`
  SELECT coalesce(sum(s.count), 0) AS n FROM event_names n CROSS JOIN contact_events s
    ON s.contact_seq = +? AND s.name_seq = n.seq
  WHERE n.project_seq = +?`);

/**
 * Part of a change: erases the contact that has the address, or an address that no contact has, and
 * returns the receipt. A contact that is being removed in parts keeps its receipt. Throws 409 ADDRESS_IN_USE if mail of the project is sent with the address, for
 * instance as its sender. `former` is the receipt of the same erasure before a backup was restored.
 */
export function erasePerson(
  app: App,
  { projectSeq, email }: Person,
  cause: ErasureCause,
  former: { id: string; standing: ErasedStanding | null } | null = null,
): ErasureRow {
  const use = useOfAddress(app, projectSeq, email);
  if (use !== null) throw addressInUse(use);
  const now = app.clock.now();
  const contact = contactService(app).findByEmail(projectSeq, email);
  const begun = contact === null ? undefined : partialErasureOf(app, contact.seq);
  if (begun !== undefined) return begun;
  const standing =
    standingOf(app, { projectSeq, email }, contact, cause) ?? former?.standing ?? null;
  const formerOnes = contact === null ? [] : formerAddresses(app).all(contact.seq, email);
  const addresses = [...new Set([email, ...formerOnes.map((row) => row.email)])].filter(
    (address) => address === email || findHolder(app).get(projectSeq, address) === null,
  );
  storeErasureKey(app, projectSeq);
  const digest = addressDigest(app, projectSeq, email);
  if (digest === null) throw otherSecret();
  const id = former?.id ?? newId(now);
  const counts = contact === null ? {} : countsOf(app, contact);
  const isInParts = contact !== null && isLarge(app, contact.seq, projectSeq);
  const underWay = contact === null || isInParts ? [] : mailsUnderWay(app, contact.seq);
  clearingFreedPages(app, () => {
    if (isInParts) contactRemoval(app).begin(contact.seq);
    else if (contact !== null) removeRest(app, contact.seq);
    for (const address of addresses) removeSuppressionOf(app, projectSeq, address);
  });
  const contactDigest = contact === null ? null : addressDigest(app, projectSeq, contact.id);
  const position: ErasurePosition = {
    ...START,
    ...(isInParts ? { phase: "CONTACT", contact: contact.seq } : {}),
    underWay,
    ...(contactDigest === null ? {} : { contactDigest }),
  };
  const row = app.db
    .insert(erasures)
    .values({
      id,
      projectSeq,
      digest,
      standing,
      state: "RUNNING",
      actorKind: cause.kind,
      actorId: cause.id ?? null,
      counts: JSON.stringify(counts),
      position: JSON.stringify(position),
      subject: sealed(app, addresses),
      requestedAt: now,
    })
    .returning()
    .get();
  const data = { erasureId: id, contactId: contact?.id ?? null };
  eventLog(app).record({ projectSeq, name: "contact.erased", contactSeq: null, data, at: now });
  app.writer.afterCommit(() => erasureWake(app).wake());
  return row;
}

/** The erasure of a contact that is being removed in parts. */
function partialErasureOf(app: App, contactSeq: number): ErasureRow | undefined {
  const found = findPartial(app).get(contactSeq);
  if (found === null) return undefined;
  return app.db.select().from(erasures).where(eq(erasures.seq, found.seq)).get();
}

const sealed = (app: App, addresses: readonly string[]): Buffer =>
  seal(subjectKey(app), Buffer.from(JSON.stringify(addresses)));

/** The addresses of an erasure that runs. Throws if they were sealed with another secret. */
export function erasedAddresses(app: App, { subject }: Pick<ErasureRow, "subject">): string[] {
  const opened = subject === null ? null : unseal(subjectKey(app), subject);
  if (opened === null) {
    throw new Error("the addresses of an erasure were sealed with another secret");
  }
  return Value.Parse(ErasedAddresses, JSON.parse(opened.toString()));
}

/** Whether a contact has so many mails and events that a change with all of them would hold other work. */
function isLarge(app: App, contactSeq: number, projectSeq: number): boolean {
  const sent = countMails(app).get(contactSeq)?.n ?? 0;
  const received = countReceived(app).get(contactSeq)?.n ?? 0;
  const events = countEvents(app).get(contactSeq, projectSeq)?.n ?? 0;
  return sent + received > MAX_MAILS_AT_ONCE || events > MAX_EVENTS_AT_ONCE;
}

/** Removes the contact, and empties its mails and events. */
function removeRest(app: App, contactSeq: number): void {
  eraseMessagesOf(app, contactMails(app).all(contactSeq));
  contactRemoval(app).remove(contactSeq);
}

/**
 * Part of a change: empties some mails and events of a contact that is removed in parts. The last part
 * removes the contact. Returns false after it.
 */
export function removePart(app: App, erasureSeq: number): boolean {
  const row = app.db.select().from(erasures).where(eq(erasures.seq, erasureSeq)).get();
  if (row === undefined) return false;
  const position = Value.Parse(ErasurePosition, JSON.parse(row.position));
  const { phase, contact, ...rest } = position;
  if (phase !== "CONTACT" || contact === undefined) return false;
  if (clearingFreedPages(app, () => emptySome(app, contact))) return true;
  const underWay = mailsUnderWay(app, contact);
  // The contact may have got another address since the first part.
  const present = findAddress(app).get(contact);
  const addresses = new Set([
    ...erasedAddresses(app, row),
    ...(present === null ? [] : [present.email]),
  ]);
  clearingFreedPages(app, () => removeRest(app, contact));
  const next: ErasurePosition = { ...rest, phase: "WAIT", underWay };
  const changes = { position: JSON.stringify(next), subject: sealed(app, [...addresses]) };
  app.db.update(erasures).set(changes).where(eq(erasures.seq, erasureSeq)).run();
  return false;
}

/** Returns false if nothing is left but what still waits. */
function emptySome(app: App, contactSeq: number): boolean {
  const endsAt = app.clock.elapsed() + PART_MS;
  do {
    const mails = contactMails(app).ended(contactSeq, 1);
    if (mails.length > 0) {
      eraseMessagesOf(app, mails);
      contactRemoval(app).forgetMails(mails);
    } else if (
      !contactRemoval(app).forgetEvents(contactSeq, EVENTS_OF_PART) &&
      !contactRemoval(app).removeRows(contactSeq, 1)
    ) {
      return false;
    }
  } while (app.clock.elapsed() < endsAt);
  return true;
}

/**
 * Removes a contact that is removed in parts, after the change that has stored its receipt. The worker
 * does the same meanwhile, and after a crash.
 */
async function finishRemoval(app: App, receiptId: string): Promise<void> {
  const row = findReceipt(app).get(receiptId);
  if (row === null) return;
  while (await app.writer.write(() => removePart(app, row.seq)));
}

/** A person who left, or who erases themselves, must not get newsletters again by an import. */
function standingOf(
  app: App,
  { projectSeq, email }: Person,
  contact: { seq: number; isSubscribed: boolean } | null,
  cause: ErasureCause,
): ErasedStanding | null {
  const suppression = findSuppression(app).get(projectSeq, email);
  if (suppression !== null && suppression.expiresAt === null) return suppression.reason;
  const known = standingOfErased(app, projectSeq, email);
  if (known !== null || cause.kind === "PERSON") return known ?? "UNSUBSCRIBED";
  if (contact === null || contact.isSubscribed) return null;
  const hasLeft =
    lastConsent(app).get(contact.seq)?.kind === "WITHDRAWN" ||
    hasUnsubscribed(app).get(contact.seq, projectSeq) !== null;
  return hasLeft ? "UNSUBSCRIBED" : null;
}

function countsOf(app: App, { seq, projectSeq }: { seq: number; projectSeq: number }) {
  const counts: Record<string, number> = {
    contacts: 1,
    events: countEvents(app).get(seq, projectSeq)?.n ?? 0,
  };
  for (const [table, count] of Object.entries(COUNTED)) counts[table] = count(app).get(seq)?.n ?? 0;
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0));
}

function presentErasure(row: ErasureRow): ErasureReceipt {
  const position = Value.Parse(ErasurePosition, JSON.parse(row.position));
  return {
    id: row.id,
    state: row.state,
    requestedAt: isoTime(row.requestedAt),
    completedAt: isoTimeOrNull(row.completedAt),
    digest: row.digest,
    standing: row.standing,
    by: { kind: row.actorKind, id: row.actorId },
    counts: Value.Parse(ErasureCounts, JSON.parse(row.counts)),
    isLogEmptied: position.isLogEmptied,
  };
}

export const erasureOperations = operations(
  "Privacy",
  { parameters: { id: "Id of the contact or erasure" } },
  [
    write("POST /contacts/:id/erasure", {
      id: "eraseContact",
      role: "ADMIN",
      needsConfirmation: true,
      summary: "Erase a person: the contact, and the address wherever it stands",
      description:
        "Removes the contact at once, cancels its mail, and then removes its address from all that the " +
        "project has stored: mails, events, texts, logs, free pages of the database. This cannot be undone. " +
        "The answer is the receipt, which GET /erasures/{id} shows until the work is completed.",
      isIdempotent: true,
      isWithinQuota: false,
      answer: Envelope(ErasureReceipt),
      status: 201,
      run(app, { project, params, actor }) {
        const { email } = getContact(app, project.seq, params.id);
        return presentErasure(erasePerson(app, { projectSeq: project.seq, email }, actor()));
      },
      finish: (app, { id }) => finishRemoval(app, id),
    }),
    write("POST /erasures", {
      id: "eraseAddress",
      role: "ADMIN",
      needsConfirmation: true,
      summary: "Erase a person by the address",
      description: "The same for an address, also if no contact has it any more.",
      isIdempotent: true,
      isWithinQuota: false,
      body: limited(ErasureInput, BODY_LIMITS.settings),
      answer: Envelope(ErasureReceipt),
      status: 201,
      run(app, { project, body, actor }) {
        const person = { projectSeq: project.seq, email: normalizedAddress(body.email) };
        return presentErasure(erasePerson(app, person, actor()));
      },
      finish: (app, { id }) => finishRemoval(app, id),
    }),
    read("GET /contacts/:id/export", {
      id: "exportPerson",
      role: "ADMIN",
      needsConfirmation: true,
      summary: "Export all that is stored about a person",
      description:
        "Streams the contact with its consents, topics, segments, mails and their bodies, events, workflows, " +
        "received mails and refused rows of imports: JSON, or a page to read (`format=html`) in the language of " +
        "the contact, else of the project, else in English.",
      headers: ["Content-Disposition"],
      query: PersonQuery,
      answer: PersonFile,
      run(app, { project, params, query }) {
        const contact = getContact(app, project.seq, params.id);
        if (query.format !== "html") return exportPerson(app, contact, { format: "json" });
        const { language } = projectBySeq(app, project.seq);
        const texts = chooseTexts(contactLanguage(contact) ?? language, null);
        return exportPerson(app, contact, { format: "html", texts });
      },
    }),
    read("GET /erasures", {
      id: "listErasures",
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List the receipts of erasures",
      description: "Newest first. Receipts have no personal data and are kept for good.",
      query: PageQuery,
      answer: ListEnvelope(ErasureReceipt),
      run: (app, { project, query }) =>
        smallPage(app, project, {
          name: "erasures",
          query,
          table: erasures,
          filter: eq(erasures.projectSeq, project.seq),
          present: presentErasure,
        }),
    }),
    read("GET /erasures/:id", {
      id: "getErasure",
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Get the receipt of an erasure",
      description: "It is COMPLETED when nothing is left.",
      answer: Envelope(ErasureReceipt),
      run(app, { project, params }) {
        const match = and(eq(erasures.projectSeq, project.seq), eq(erasures.id, params.id));
        const row = app.db.select().from(erasures).where(match).get();
        if (row === undefined) throw notFound("ERASURE");
        return presentErasure(row);
      },
    }),
  ],
);

function addressInUse(use: string): AppError {
  return new AppError(409, "ADDRESS_IN_USE", `The project itself uses this address: ${use}.`, {
    suggestion: "Put another address there first, and then erase the person.",
  });
}

function otherSecret(): AppError {
  return new AppError(409, "INVALID_STATE", "The key of this project's digests cannot be read.", {
    suggestion: "Start the server with the secret that this database was used with.",
  });
}
