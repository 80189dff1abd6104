/**
 * Submissions. With DOUBLE, or for an address that is a contact already, a submission waits for its
 * confirmation: nothing is changed before, so that a stranger neither subscribes a person nor changes their
 * data. The link works for seven days; then the submission is removed together with the address in its
 * mail.
 *
 * A person sees the same answer whether an address is known, unsubscribed or suppressed, and whether a
 * mail was sent. The conditions below are checked inside one change, after everything that may be
 * refused for all addresses. Each path through the change counts the submission: a change that wrote
 * nothing would not wait for the disk, and its earlier answer would tell which address it was.
 */

import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { formSubmissions } from "../../db/schema/forms.ts";
import { statement } from "../../db/statement.ts";
import { eventLog } from "../../events/log.ts";
import type { Project } from "../../http/admission.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { contactMails } from "../../outbox/contact-mails.ts";
import type { FormTexts } from "../../render/form-texts.ts";
import { recordConsent } from "../consents/record.ts";
import { type ContactRow, contactService } from "../contacts/service.ts";
import { sendProjectMail } from "../project-mails.ts";
import { ensureQueue, ensureStorage } from "../quotas.ts";
import { standingOfErased, suppressionReason } from "../suppressions.ts";
import { setTopicChoices, topicsOf } from "../topics/choices.ts";
import { confirmationMail } from "./confirmation-mail.ts";
import { countForm } from "./counts.ts";
import type { FormRow } from "./form-store.ts";
import type { FormValues } from "./values.ts";

const HOUR_MS = 60 * 60_000;
/** Confirmation mails in an hour to addresses that differ only in the part after a plus sign. */
const MAX_TAGGED = 5;
const LIFETIME_MS = 7 * 24 * HOUR_MS;
/** 43 characters of base 62 have 256 bits of entropy. */
const TOKEN_CHARACTERS = 43;
/** Rows that one change removes. */
const PURGE_CHUNK = 100;
/** A stranger must not fill the data of a contact (as modules/track.ts). */
const MAX_CONTACT_DATA_KIB = 32;

/** A submission: the form as the person saw it, and the values that they sent. */
type Sent = {
  project: Project;
  form: FormRow;
  values: FormValues;
  texts: FormTexts;
  language: string;
  /** The text by which the person agreed. */
  wording: string;
  clientAddress: string | null;
};

/** Stores a submission, or subscribes at once. Throws if the project has no sender or no space. */
export async function submitForm(app: App, sent: Sent): Promise<void> {
  const token = randomBase62(TOKEN_CHARACTERS);
  const id = newId(app.clock.now());
  const confirmUrl = `${app.url}/confirm/${token}`;
  // For every address, also one that will get no mail, so that the time of the answer tells nothing.
  const mail = await confirmationMail(app, { ...sent, confirmUrl, id });
  await app.writer.write(() => {
    const { project, form, values } = sent;
    ensureStorage(app, project.seq, true);
    ensureQueue(app, project.seq, 1, true);
    if (form.confirmation === "SINGLE" && isNew(app, project.seq, values.email)) {
      const isSuppressed = suppressionReason(app, project.seq, values.email) !== null;
      return isSuppressed ? withhold(app, form) : subscribeAtOnce(app, sent);
    }
    if (hasRecent(app, project.seq, values.email)) return withhold(app, form);
    if (sendProjectMail(app, project, mail) === null) return withhold(app, form);
    storeSubmission(app, sent, { token, emailId: id });
    countForm(app, form.seq, { submitted: 1 });
    // It belongs to no contact: a stranger who knows an address could otherwise start workflows for it.
    recordFormEvent(app, "form.submitted", { form, contactSeq: null, values: null });
  });
}

const withhold = (app: App, form: FormRow): void => countForm(app, form.seq, { withheld: 1 });

/** True if no contact has the address, and no erased person with it had unsubscribed. */
function isNew(app: App, projectSeq: number, email: string): boolean {
  if (contactService(app).findByEmail(projectSeq, email) !== null) return false;
  return standingOfErased(app, projectSeq, email) === null;
}

const findRecent = statement<{ seq: number }, [number, string, number]>(`
  SELECT seq FROM form_submissions INDEXED BY form_submissions_email
  WHERE project_seq = +? AND email = +? AND created_at > +? LIMIT 1`);

const countTagged = statement<{ total: number }, [number, string, string, string, number]>(`
  SELECT count(*) AS total FROM form_submissions INDEXED BY form_submissions_email
  WHERE project_seq = +? AND email >= +? AND email < +? AND substr(email, instr(email, '@')) = +?
    AND created_at > +?`);

/** True if a confirmation mail went to the address in the last hour, or too many to its mailbox. */
function hasRecent(app: App, projectSeq: number, email: string): boolean {
  const since = app.clock.now() - HOUR_MS;
  if (findRecent(app).get(projectSeq, email, since) !== null) return true;
  // ada+news@ and ada+shop@ are one mailbox at many providers (RFC 5233 §1).
  const [, name, domain] = /^([^"+@]+)\+[^@]*(@.+)$/.exec(email) ?? [];
  if (name === undefined || domain === undefined) return false;
  // The comma is the character after the plus sign.
  const tagged = countTagged(app).get(projectSeq, `${name}+`, `${name},`, domain, since);
  return (tagged?.total ?? 0) >= MAX_TAGGED;
}

function storeSubmission(
  app: App,
  { project, form, values, wording, clientAddress }: Sent,
  { token, emailId }: { token: string; emailId: string },
): void {
  const now = app.clock.now();
  app.db
    .insert(formSubmissions)
    .values({
      projectSeq: project.seq,
      formSeq: form.seq,
      tokenDigest: sha256(token),
      email: values.email,
      data: values.data,
      topics: values.topicIds,
      wording,
      clientAddress,
      emailId,
      createdAt: now,
      expiresAt: now + LIFETIME_MS,
    })
    .run();
}

function subscribeAtOnce(app: App, { form, values, wording, clientAddress }: Sent): void {
  const contact = subscribe(app, form, values);
  const consent = { contact, topicSeq: null, source: { type: "FORM", id: form.id } as const };
  recordConsent(app, { ...consent, kind: "GIVEN", clientAddress, wording });
  countForm(app, form.seq, { submitted: 1, confirmed: 1 });
  recordFormEvent(app, "form.submitted", { form, contactSeq: contact.seq, values });
}

/** Creates or changes the contact. Data and topics that are not in the form stay. */
function subscribe(app: App, form: FormRow, { email, data, topicIds }: FormValues): ContactRow {
  const { contact, isNew } = upsert(app, form, email, data);
  const known = new Set(topicsOf(app, form.projectSeq).map(({ id }) => id));
  const choices = form.topics
    .filter(({ topicId }) => known.has(topicId))
    .map(({ topicId }) => ({ topicId, isSubscribed: topicIds.includes(topicId) }))
    // A box that is not ticked is a choice only of who is new: others may have ticked it elsewhere.
    .filter(({ isSubscribed }) => isSubscribed || isNew);
  setTopicChoices(app, contact, choices, { consent: null });
  return contact;
}

function upsert(app: App, form: FormRow, email: string, data: FormValues["data"]) {
  const fields = {
    projectSeq: form.projectSeq,
    email,
    subscribed: true,
    defaultSubscribed: true,
    consent: null,
  };
  const limit = { maxDataKib: MAX_CONTACT_DATA_KIB };
  try {
    return contactService(app).upsert({ ...fields, data, ...limit });
  } catch (error) {
    // The person agreed, so a contact whose data is full is subscribed without the new values.
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    app.log.warn("the values of a form do not fit into the data of the contact", { form: form.id });
    return contactService(app).upsert({ ...fields, data: undefined });
  }
}

function recordFormEvent(
  app: App,
  name: "form.submitted" | "form.confirmed",
  {
    form,
    contactSeq,
    values,
  }: { form: FormRow; contactSeq: number | null; values: FormValues | null },
): void {
  const { id, projectSeq, name: formName } = form;
  const sent =
    values === null
      ? {}
      : {
          fields: values.data,
          topicIds: values.topicIds,
          topicNames: namesOf(app, projectSeq, values.topicIds),
        };
  const data = { formId: id, formName, ...sent };
  eventLog(app).record({ projectSeq, name, contactSeq, data, at: app.clock.now() });
}

/** The names are kept beside the ids, because a topic may be deleted. */
const namesOf = (app: App, projectSeq: number, ids: readonly string[]): string[] =>
  topicsOf(app, projectSeq).flatMap(({ id, name }) => (ids.includes(id) ? [name] : []));

type SubmissionRow = typeof formSubmissions.$inferSelect;

/** The state of the link with this token. A confirmed submission has no address any more. */
export type LinkState =
  | { kind: "unknown" }
  | { kind: "expired" | "confirmed"; row: SubmissionRow }
  | { kind: "waiting"; row: SubmissionRow; email: string };

export function findSubmission(app: App, token: string): LinkState {
  const match = eq(formSubmissions.tokenDigest, sha256(token));
  const row = app.db.select().from(formSubmissions).where(match).limit(1).get();
  if (row === undefined) return { kind: "unknown" };
  if (row.confirmedAt !== null || row.email === null) return { kind: "confirmed", row };
  if (row.expiresAt <= app.clock.now()) return { kind: "expired", row };
  return { kind: "waiting", row, email: row.email };
}

/**
 * Part of a change: subscribes the person behind a link, once. Returns the state before it.
 * `wording` is the text above the button.
 */
export function confirmSubmission(
  app: App,
  token: string,
  by: { form: (seq: number) => FormRow | null; wording: string; clientAddress: string | null },
): LinkState {
  const state = findSubmission(app, token);
  if (state.kind !== "waiting") return state;
  const { row, email } = state;
  const form = by.form(row.formSeq);
  if (form === null) return { kind: "unknown" };
  ensureStorage(app, row.projectSeq, true);
  const confirmedAt = app.clock.now();
  app.db
    .update(formSubmissions)
    .set({ ...FORGOTTEN, confirmedAt })
    .where(
      and(
        eq(formSubmissions.seq, row.seq),
        isNull(formSubmissions.confirmedAt),
        gt(formSubmissions.expiresAt, confirmedAt),
      ),
    )
    .run();
  const values = { email, data: readData(row), topicIds: row.topics ?? [] };
  const contact = subscribe(app, form, values);
  if (row.emailId !== null) contactMails(app).adopt(row.emailId, contact.seq);
  const consent = { contact, topicSeq: null, source: { type: "FORM", id: form.id } as const };
  const { wording, clientAddress, createdAt } = row;
  recordConsent(app, { ...consent, kind: "GIVEN", wording, clientAddress, at: createdAt });
  const { wording: shown, clientAddress: client } = by;
  recordConsent(app, { ...consent, kind: "CONFIRMED", wording: shown, clientAddress: client });
  countForm(app, form.seq, { confirmed: 1 });
  recordFormEvent(app, "form.confirmed", { form, contactSeq: contact.seq, values });
  return state;
}

const FORGOTTEN = {
  email: null,
  data: null,
  topics: null,
  wording: null,
  clientAddress: null,
  emailId: null,
};

/** The values were checked when they were stored, so they are texts, numbers, true and false. */
function readData({ data }: SubmissionRow): FormValues["data"] {
  return Object.fromEntries(
    Object.entries(data ?? {}).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? [[name, value]]
        : [],
    ),
  );
}

type Ended = { seq: number; emailId: string | null };

const findExpired = statement<Ended, [number]>(`
  SELECT seq, email_id AS emailId FROM form_submissions INDEXED BY form_submissions_expiry
  WHERE expires_at <= +? LIMIT ${PURGE_CHUNK}`);

const findOfForm = statement<Ended, [number]>(`
  SELECT seq, email_id AS emailId FROM form_submissions INDEXED BY form_submissions_form
  WHERE form_seq = +? LIMIT ${PURGE_CHUNK}`);

/** Removes submissions that have expired, and the addresses in the mails that were not confirmed. */
export function purgeSubmissions(app: App): Promise<void> {
  return removeAll(app, () => findExpired(app).all(app.clock.now()));
}

/** Removes the submissions of a form that is about to be deleted. */
export function removeSubmissions(app: App, { seq }: Pick<FormRow, "seq">): Promise<void> {
  return removeAll(app, () => findOfForm(app).all(seq));
}

/** Removes the found submissions until there are none, some in each change. */
async function removeAll(app: App, find: () => Ended[]): Promise<void> {
  let removed = PURGE_CHUNK;
  while (removed === PURGE_CHUNK) {
    removed = await app.writer.write(() => removeSome(app, find()));
  }
}

/** Part of a change. Returns the number of removed submissions. */
function removeSome(app: App, ended: readonly Ended[]): number {
  for (const { seq, emailId } of ended) {
    if (emailId !== null) contactMails(app).forgetOne(emailId);
    app.db.delete(formSubmissions).where(eq(formSubmissions.seq, seq)).run();
  }
  return ended.length;
}

/** Part of a change: removes the submissions that came while the others were removed. */
export function removeLatest(app: App, { seq }: Pick<FormRow, "seq">): void {
  removeSome(app, findOfForm(app).all(seq));
}

/** Part of a change: removes a submission, and the address in its mail. */
export function removeSubmission(app: App, seq: number): void {
  const removed = app.db
    .delete(formSubmissions)
    .where(eq(formSubmissions.seq, seq))
    .returning()
    .get();
  if (removed !== undefined && removed.emailId !== null) {
    contactMails(app).forgetOne(removed.emailId);
  }
}

/** Part of a change: the submissions of a person, and their mails, leave with the contact. */
export function forgetSubmissions(app: App, { seq, projectSeq, email }: ContactRow): void {
  const match = and(eq(formSubmissions.projectSeq, projectSeq), eq(formSubmissions.email, email));
  for (const { emailId } of app.db.select().from(formSubmissions).where(match).all()) {
    if (emailId !== null) contactMails(app).adopt(emailId, seq);
  }
  app.db.delete(formSubmissions).where(match).run();
}

/** Part of a change, after the clock was set: lifetimes and the hour of an address go on. */
export function shiftSubmissions(app: App, { byMs }: DueShift): void {
  app.db
    .update(formSubmissions)
    .set({
      createdAt: sql`${formSubmissions.createdAt} + ${byMs}`,
      expiresAt: sql`${formSubmissions.expiresAt} + ${byMs}`,
    })
    .run();
}
