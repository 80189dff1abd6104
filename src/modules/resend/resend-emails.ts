/**
 * POST /emails             send a mail
 * POST /emails/batch       up to 100 different mails, all or nothing unless x-batch-validation says not
 * GET  /emails
 * GET  /emails/{id}
 * PATCH /emails/{id}       another time for a mail that is sent later, and for its copies
 * POST /emails/{id}/cancel the mail and its copies
 */

import { type Static, Type } from "@sinclair/typebox";
import { eq, inArray } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { emails, messages } from "../../db/schema/emails.ts";
import { statement } from "../../db/statement.ts";
import type { Change } from "../../db/writer.ts";
import { bodiesOf } from "../../http/body.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { RESEND_PREFIX } from "../../http/resend-errors.ts";
import { fieldErrors } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import {
  AppError,
  fieldError,
  type FieldError,
  summaryOf,
  validationError,
} from "../../lib/errors.ts";
import { mailboxText, splitMailboxes } from "../../protocols/mime/mailbox.ts";
import { wakeSending } from "../../outbox/enqueue.ts";
import { prepareBatch } from "../emails/batch.ts";
import { emailService } from "../emails/emails.ts";
import { ensureSendable, SendInput } from "../emails/model.ts";
import type { Email } from "../emails/record-model.ts";
import { cancelEmail, rescheduleEmail } from "../emails/schedule.ts";
import {
  Fields,
  Maybe,
  refuseOther,
  renamedField,
  type ResendCall,
  resendRoute,
  type ResendRoute,
  withFields,
  withNames,
} from "./call.ts";
import { resendList, ResendPageQuery, resendRows } from "./pages.ts";
import { MAIL_NAMES, ResendMail, sendInputOf } from "./resend-mail.ts";
import { momentIn } from "./times.ts";

const MAX_BATCH = 100;
const BATCH_PATH = `${RESEND_PREFIX}/emails/batch`;

const NewTime = Fields({ scheduled_at: Type.String(), id: Maybe(Type.String()) });

/** The items are checked one by one, because a batch may be permissive. */
const Batch = Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH });

export const resendEmailRoutes: readonly ResendRoute[] = [
  resendRoute(
    "POST /emails",
    { role: "EDITOR", scopes: ["SEND"], body: ResendMail, limit: BODY_LIMITS.send },
    (app, call) =>
      call.once(async () => {
        const store = await prepareMail(app, call, call.body);
        return () => ({ status: 200, body: store() });
      }),
  ),
  resendRoute(
    "POST /emails/batch",
    { role: "EDITOR", scopes: ["SEND"], body: Batch, limit: BODY_LIMITS.send },
    (app, call) =>
      call.once(async () => {
        const store = await prepareMails(app, call);
        return () => {
          const body = store();
          return { status: 200, body, isPartial: (body.errors ?? []).length > 0 };
        };
      }),
  ),
  resendRoute(
    "GET /emails",
    { role: "EDITOR", query: ResendPageQuery },
    (app, { project, query }) => {
      const { rows, hasMore } = resendRows(app, query, {
        table: emails,
        filter: eq(emails.projectSeq, project.seq),
      });
      const seqs = rows.map(({ seq }) => seq);
      const headers = headersOf(app, seqs);
      const shown = emailService(app)
        .records.bySeqs(seqs)
        .map(({ seq, email }) => present(email, headers.get(seq)));
      return resendList(shown, hasMore);
    },
  ),
  resendRoute(
    "GET /emails/:id",
    { role: "EDITOR" },
    async (app, { project, params: { id = "" } }) => {
      const { records } = emailService(app);
      const email = records.get(project.seq, id);
      const row = app.db.select({ seq: emails.seq }).from(emails).where(eq(emails.id, id)).get();
      const headers = headersOf(app, row === undefined ? [] : [row.seq]).get(row?.seq ?? 0);
      const content = await contentOf(app, project.seq, id);
      const tags = Object.entries(email.tags).map(([name, value]) => ({ name, value }));
      return { object: "email", ...present(email, headers), ...content, tags };
    },
  ),
  resendRoute(
    "PATCH /emails/:id",
    { role: "EDITOR", body: NewTime, limit: BODY_LIMITS.settings },
    rescheduleMails,
  ),
  resendRoute("POST /emails/:id/cancel", { role: "EDITOR" }, (app, call) =>
    call.onceWithoutQuota(() => () => {
      forCopies(app, call, cancelEmail);
      return { status: 200, body: { object: "email", id: call.params["id"] ?? "" } };
    }),
  ),
];

type Asked = Pick<ResendCall, "project" | "senderDomains" | "request">;

/** Keys send leniently: their texts may have the syntax of other template languages. */
const acceptedBy = (app: App, { project, senderDomains, request }: Asked) => ({
  userEmail: null,
  senderDomains,
  isLenient: true,
  reserveCopies: () =>
    bodiesOf(app).takeCopies(request, { projectSeq: project.seq, isPublic: false }),
});

/** Checks and renders a mail; the function that it returns stores it. */
async function prepareMail(app: App, call: Asked, mail: ResendMail): Promise<Change<MailId>> {
  const { project } = call;
  const commit = await withNames(MAIL_NAMES, async () => {
    const input = sendInputOf(mail, app.clock.now());
    const errors = fieldErrors(SendInput, input, { project, isLenient: true });
    if (errors.length > 0) throw validationError(errors);
    ensureSendable(input, { project, isLenient: true });
    return emailService(app).accept(project, input, acceptedBy(app, call));
  });
  return () => {
    const { emails: accepted } = commit();
    wakeSending(app);
    return firstOf(accepted);
  };
}

type MailId = { id: string };

function firstOf([first]: readonly { email: string }[]): MailId {
  if (first === undefined) throw new Error("a mail was accepted without a recipient");
  return { id: first.email };
}

type BatchAnswer = { data: MailId[]; errors?: { index: number; message: string }[] };

/** The same for several mails. In a permissive batch, each valid mail is stored before the end. */
async function prepareMails(
  app: App,
  call: ResendCall<readonly unknown[]>,
): Promise<Change<BatchAnswer>> {
  const isPermissive = batchIsPermissive(call.request);
  const { mails, indexes, errors } = await translated(app, call.body, isPermissive);
  if (mails.length === 0) return () => ({ data: [], errors });
  const end = await withFields(fieldOfBatch, () =>
    prepareBatch(
      app,
      emailService(app).accept,
      { mails, mode: isPermissive ? "EACH" : "ALL_OR_NOTHING" },
      {
        project: call.project,
        ...acceptedBy(app, call),
        path: BATCH_PATH,
        key: call.request.headers.get("idempotency-key"),
        asked: indexes.map((place) => ({ place, mail: call.body[place] })),
        fieldOf: (n) => String(indexes[n] ?? n),
      },
    ),
  );
  return () => {
    const { results } = end();
    const data = results.filter(({ accepted }) => accepted).map((each) => firstOf(each.emails));
    if (!isPermissive) return { data };
    const refused = results.flatMap(({ error }, n) =>
      error === null ? [] : [{ index: indexes[n] ?? n, message: refusalText(error) }],
    );
    return { data, errors: [...errors, ...refused].toSorted((a, b) => a.index - b.index) };
  };
}

/** The mails of a batch in our form with their places, and the faults of the others. */
async function translated(app: App, items: readonly unknown[], isPermissive: boolean) {
  const mails: SendInput[] = [];
  const indexes: number[] = [];
  const errors: { index: number; message: string }[] = [];
  for (const [index, item] of items.entries()) {
    try {
      mails.push(
        await withFields(
          (field) =>
            isPermissive ? field : [index, field].filter((part) => part !== "").join("."),
          () => sendInputOf(checkedMail(item), app.clock.now()),
        ),
      );
      indexes.push(index);
    } catch (error) {
      if (!isPermissive || !(error instanceof AppError)) throw error;
      errors.push({ index, message: error.message });
    }
  }
  return { mails, indexes, errors };
}

/** The field of a mail in the request: `2.html` for `2.body`. A batch as a whole has no name there. */
function fieldOfBatch(field: string): string {
  const [, place, inner] = /^(\d+)(?:\.(.*))?$/s.exec(field) ?? [];
  if (place === undefined) return "";
  return inner === undefined ? place : `${place}.${renamedField(inner, MAIL_NAMES)}`;
}

type Refused = { message: string; errors?: Pick<FieldError, "field" | "message">[] };

/** The reason for which a mail of a permissive batch was refused. */
function refusalText({ message, errors = [] }: Refused): string {
  if (errors.length === 0) return message;
  return summaryOf(
    errors.map((each) => ({ ...each, field: renamedField(each.field, MAIL_NAMES) })),
  );
}

function batchIsPermissive({ headers }: Request): boolean {
  const mode = headers.get("x-batch-validation") ?? "strict";
  if (mode !== "strict" && mode !== "permissive") {
    throw fieldError("x-batch-validation", "invalid_value", "must be strict or permissive");
  }
  return mode === "permissive";
}

function checkedMail(item: unknown): ResendMail {
  const errors = fieldErrors(ResendMail, item);
  if (errors.length > 0) throw validationError(errors);
  const mail: ResendMail = Object(item);
  return mail;
}

type MailHeaders = { from: string; replyTo: string | null };

/** The sender and the Reply-To of mails, which their records do not show. */
function headersOf({ db }: App, seqs: readonly number[]): Map<number, MailHeaders> {
  const rows = db
    .select({
      seq: emails.seq,
      address: messages.fromAddress,
      name: messages.fromName,
      replyTo: messages.replyTo,
    })
    .from(emails)
    .innerJoin(messages, eq(messages.seq, emails.messageSeq))
    .where(inArray(emails.seq, [...seqs]))
    .all();
  return new Map(
    rows.map(({ seq, address, name, replyTo }) => [
      seq,
      { from: mailboxText({ address, name }), replyTo },
    ]),
  );
}

function present(email: Email, headers: MailHeaders | undefined) {
  const { id, to, from, subject, messageId, createdAt, addressees, recipientType, scheduledAt } =
    email;
  const replyTo = headers?.replyTo ?? null;
  const recipient = to === null ? [] : [to];
  return {
    id,
    message_id: messageId,
    to: addressees?.to ?? recipient,
    from: headers?.from ?? from,
    created_at: createdAt,
    subject: subject ?? "",
    bcc: recipientType === "BCC" ? recipient : null,
    cc: addressees === null || addressees.cc.length === 0 ? null : addressees.cc,
    reply_to: replyTo === null ? null : splitMailboxes(replyTo),
    last_event: lastEvent(email),
    scheduled_at: scheduledAt,
  };
}

const LAST_EVENTS: Readonly<Record<Email["status"], string>> = {
  QUEUED: "queued",
  SENDING: "queued",
  SENT: "sent",
  DELIVERED: "delivered",
  OPENED: "opened",
  CLICKED: "clicked",
  BOUNCED: "bounced",
  COMPLAINED: "complained",
  FAILED: "failed",
  SUPPRESSED: "suppressed",
  CANCELLED: "canceled",
};

function lastEvent({ status, attempts, scheduledAt }: Email): string {
  if (status === "QUEUED" && scheduledAt !== null && attempts.length === 0) return "scheduled";
  const isDeferred = status === "QUEUED" && attempts.length > 0;
  return isDeferred ? "delivery_delayed" : LAST_EVENTS[status];
}

/** The content as the recipient gets it; null if it is not stored any more or cannot be rendered. */
async function contentOf(app: App, projectSeq: number, id: string) {
  const { contents } = emailService(app);
  try {
    const { detail } = await contents.open(contents.findShown(projectSeq, id));
    return { html: detail.html, text: detail.text };
  } catch (error) {
    const isGone = error instanceof AppError && (error.status === 404 || error.status === 409);
    if (isGone) return { html: null, text: null };
    throw error;
  }
}

function rescheduleMails(app: App, call: ResendCall<Static<typeof NewTime>>) {
  const { params, body, storeWithoutQuota } = call;
  const { id = "" } = params;
  refuseOther(body, { id });
  const at = isoTime(momentIn("scheduled_at", body.scheduled_at, app.clock.now()));
  return withNames(MAIL_NAMES, () =>
    storeWithoutQuota(() => {
      forCopies(app, call, (...target) => rescheduleEmail(...target, { scheduledAt: at }));
      wakeSending(app);
      return { object: "email", id };
    }),
  );
}

type ChangeMail = (app: App, target: Parameters<typeof cancelEmail>[1]) => Email;

/**
 * Part of a change: changes a mail and its copies, which Resend knows as one mail. Copies that are too
 * late are left alone. Throws 404 and 409 for the mail itself, unless it never leaves and a copy was
 * changed: the address may be suppressed while those of its copies are not.
 */
function forCopies(app: App, { project, params }: ResendCall, change: ChangeMail): void {
  const { records } = emailService(app);
  const { id = "" } = params;
  const tryChange = (target: string): AppError | null => {
    try {
      change(app, { records, projectSeq: project.seq, id: target });
      return null;
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 409) throw error;
      return error;
    }
  };
  const tooLate = tryChange(id);
  const neverLeaves = NEVER_LEFT.has(records.get(project.seq, id).status);
  if (tooLate !== null && !neverLeaves) throw tooLate;
  const changed = copiesOf(app, id).filter((copy) => tryChange(copy) === null);
  if (tooLate !== null && changed.length === 0) throw tooLate;
}

const NEVER_LEFT: ReadonlySet<Email["status"]> = new Set(["SUPPRESSED", "CANCELLED"]);

const findCopies = statement<{ id: string }, [string, string]>(`
  SELECT copy.id FROM emails AS mail
  CROSS JOIN emails AS copy ON copy.message_seq = mail.message_seq AND copy.group_id = +?
  WHERE mail.id = +? AND mail.group_id = mail.id AND copy.seq <> mail.seq`);

/** The ids of the copies of the first mail of a message; none for other mails. */
function copiesOf(app: App, id: string): string[] {
  return findCopies(app)
    .all(id, id)
    .map((copy) => copy.id);
}
