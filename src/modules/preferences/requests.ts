/**
 * Requests from the preference page that the person confirms by a link in a mail: a copy of the data,
 * their erasure, or another address. The link of the preference page may have been forwarded, so a
 * fresh mail to the person's address proves who asks.
 *
 * 1. `requestByMail` stores the request with the digest of a random token, and queues the mail with
 *    the link in the same change: after a crash there are both or none.
 * 2. The link shows a page with a button (request-pages.ts), which uses the token up.
 * 3. Requests are removed a day after they were made.
 */

import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { preferenceRequests } from "../../db/schema/preferences.ts";
import { statement } from "../../db/statement.ts";
import type { Brand } from "../../http/brand.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { fillPlaceholders, type Texts } from "../../render/language.ts";
import { preferenceTexts } from "../../render/preference-texts.ts";
import type { ContactRow } from "../contacts/service.ts";
import { ensureProjectMail, sendProjectMail } from "../project-mails.ts";
import { projectBySeq } from "../projects.ts";
import { type ButtonMail, buttonMail } from "./button-mail.ts";
import { endRequests } from "./end-requests.ts";

export type PreferenceRequest = typeof preferenceRequests.$inferSelect;
type Kind = PreferenceRequest["kind"];

const HOUR_MS = 60 * 60_000;
const LIFETIME_MS = 24 * HOUR_MS;
const TOKEN_CHARACTERS = 43;
/** Shortest time between two mails of a kind to a contact. */
const MAIL_INTERVAL_MS = HOUR_MS;
/** Most new addresses that a contact may name within this time, because one may be misspelled. */
const MAX_ADDRESSES = 3;
/** A download that broke off can be repeated. */
const USES: Readonly<Record<Kind, number>> = { EXPORT: 3, ERASURE: 1, ADDRESS: 1, NEW_ADDRESS: 1 };

const latestOf = statement<{ newAddress: string | null }, [number, Kind, number]>(`
  SELECT new_address AS newAddress FROM preference_requests
  WHERE contact_seq = +? AND kind = +? AND created_at > +?`);

const latestTo = statement<{ found: number }, [number, string, Kind, number]>(`
  SELECT 1 AS found FROM preference_requests
  WHERE project_seq = +? AND new_address = +? AND kind = +? AND created_at > +? LIMIT 1`);

type Asked = { contact: ContactRow; kind: Kind; newAddress: string | null };

/** True if the mail would come too soon after another one. */
function isTooSoon(app: App, { contact, kind, newAddress }: Asked): boolean {
  const since = app.clock.now() - MAIL_INTERVAL_MS;
  if (kind === "NEW_ADDRESS" && newAddress !== null) {
    return latestTo(app).get(contact.projectSeq, newAddress, kind, since) !== null;
  }
  const earlier = latestOf(app).all(contact.seq, kind, since);
  if (kind !== "ADDRESS") return earlier.length > 0;
  const isKnown = earlier.some((request) => request.newAddress === newAddress);
  return isKnown || earlier.length >= MAX_ADDRESSES;
}

/**
 * Part of a change: stores a request and queues its mail, to the new address for NEW_ADDRESS and else
 * to the present one. Nothing is sent to a suppressed address, or too soon after a mail of this kind;
 * the caller says the same in all cases. Throws as `sendProjectMail`, for each address alike. A change
 * for NEW_ADDRESS takes the use of a link as well, so its answer always waits for the disk, and its time
 * does not tell whether the address gets a mail.
 */
export function requestByMail(
  app: App,
  asked: Asked,
  { brand, texts }: { brand: Brand; texts: Texts },
): void {
  const { contact, kind, newAddress } = asked;
  const project = projectBySeq(app, contact.projectSeq);
  ensureProjectMail(app, project);
  if (isTooSoon(app, asked)) return;
  const token = randomBase62(TOKEN_CHARACTERS);
  const link = `${app.url}/preference-requests/${token}`;
  const to = kind === "NEW_ADDRESS" && newAddress !== null ? newAddress : contact.email;
  const mail = mailOf(kind, { brand, texts, link, newAddress });
  if (sendProjectMail(app, project, { to, ...mail }) === null) return;
  const now = app.clock.now();
  // A newer request replaces those before it, so that an old mail cannot undo the change of a later
  // one, and a stranger whose address was given by mistake cannot take the contact over.
  if (kind === "ADDRESS" || kind === "NEW_ADDRESS") endRequests(app, contact, kind);
  app.db
    .insert(preferenceRequests)
    .values({
      projectSeq: contact.projectSeq,
      contactSeq: contact.seq,
      kind,
      newAddress,
      digest: sha256(token),
      usesLeft: USES[kind],
      createdAt: now,
      expiresAt: now + LIFETIME_MS,
    })
    .run();
}

function mailOf(
  kind: Kind,
  {
    brand,
    texts,
    link,
    newAddress,
  }: { brand: Brand; texts: Texts; link: string; newAddress: string | null },
): ButtonMail {
  const words = preferenceTexts(texts);
  const { subject, text, button } = {
    EXPORT: words.exportMail,
    ERASURE: words.erasureMail,
    ADDRESS: words.addressMail,
    NEW_ADDRESS: words.newAddressMail,
  }[kind];
  const values = { project: brand.name, email: newAddress ?? "" };
  return buttonMail(brand, {
    language: texts.language,
    subject: fillPlaceholders(subject, values),
    text: fillPlaceholders(text, values),
    button: { label: button, link },
    note: words.mailNote,
  });
}

/** Part of a change: tells the former address that it was replaced. */
export function tellFormerAddress(
  app: App,
  contact: ContactRow,
  { brand, texts, newAddress }: { brand: Brand; texts: Texts; newAddress: string },
): void {
  const { subject, text } = preferenceTexts(texts).addressNotice;
  const values = { project: brand.name, email: newAddress };
  const mail = buttonMail(brand, {
    language: texts.language,
    subject: fillPlaceholders(subject, values),
    text: fillPlaceholders(text, values),
    button: null,
    note: null,
  });
  sendProjectMail(app, projectBySeq(app, contact.projectSeq), { to: contact.email, ...mail });
}

/** The request of a token that still works; null if there is none. */
export function findRequest({ db, clock }: App, token: string): PreferenceRequest | null {
  const isValid = and(
    eq(preferenceRequests.digest, sha256(token)),
    gt(preferenceRequests.usesLeft, 0),
    gt(preferenceRequests.expiresAt, clock.now()),
  );
  return db.select().from(preferenceRequests).where(isValid).limit(1).get() ?? null;
}

/** Part of a change: takes one use of a link. */
export function useRequest({ db }: App, { seq }: PreferenceRequest): void {
  db.update(preferenceRequests)
    .set({ usesLeft: sql`${preferenceRequests.usesLeft} - 1` })
    .where(eq(preferenceRequests.seq, seq))
    .run();
}

/** Part of a change. */
export function removeOldRequests({ db, clock }: App): void {
  db.delete(preferenceRequests).where(lt(preferenceRequests.expiresAt, clock.now())).run();
}

/** Part of a change, after the clock was set: lifetimes and the hour between two mails go on. */
export function shiftRequests({ db }: App, { byMs }: DueShift): void {
  db.update(preferenceRequests)
    .set({
      createdAt: sql`${preferenceRequests.createdAt} + ${byMs}`,
      expiresAt: sql`${preferenceRequests.expiresAt} + ${byMs}`,
    })
    .run();
}

/** Part of a change: removes a request. */
export function removeRequest(app: App, seq: number): void {
  app.db.delete(preferenceRequests).where(eq(preferenceRequests.seq, seq)).run();
}
