/**
 * Reports of other mail servers about mails that they had accepted, and unsubscriptions by mail.
 *
 * POST /v1/bounces    process a report that another mail server received
 *
 * 1. The message is read in a thread (protocols/dsn/read-report.ts), because a hostile one takes long.
 * 2. `match.ts` finds the mail, and `findingFor` the recipient of the report that is meant.
 * 3. One change stores the report and its effect: the status of the mail and its event, the
 *    suppression, and after a complaint the unsubscription. While the mail is under way, its status
 *    changes with the outcome of the attempt.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { openSignedId } from "../../core/signed-ids.ts";
import { eventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import { announcedBytes, bodiesOf, emptyBody, refuseEncoded, tooLarge } from "../../http/body.ts";
import { described, describeOperations, named } from "../../http/documented.ts";
import { MirroredEnvelope, mirroredEnvelope, Nullable, withErrors } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { clientNetwork } from "../../lib/client-network.ts";
import { freeMemory } from "../../lib/free-memory.ts";
import { senderOfProject } from "../../lib/message-senders.ts";
import { perApp } from "../../lib/per-app.ts";
import { createBounceSuppression } from "../../outbox/bounce-suppression.ts";
import {
  createLateReports,
  findReportedMail,
  forgetReports,
  type ReportedMail,
  type StoredReport,
} from "../../outbox/late-reports.ts";
import { bounceHostOf, openReturnPath } from "../../outbox/return-path.ts";
import {
  type Complaint,
  type Delivery,
  kindOf,
  type Report,
} from "../../protocols/dsn/read-report.ts";
import type { RecipientFinding } from "../../protocols/dsn/report.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { MAX_READ_BYTES } from "../../protocols/mime/read-parts.ts";
import { isUnsubscribeForm, openUnsubscribeAddress } from "../../render/unsubscribe-address.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { contactService } from "../contacts/service.ts";
import { createParser } from "../inboxes/parsing/parser.ts";
import type { Noun } from "../module.ts";
import { addSuppression } from "../suppressions.ts";
import { setChoice, topicOfMail } from "../topics/choices.ts";
import { findMailOfReport } from "./match.ts";

const Kind = named(
  "ReportKind",
  OneOf(["bounce", "delay", "delivery", "complaint", "automatic", "unsubscribe", "unknown"]),
  {
    description:
      "bounce: the mail could not be delivered; delay: it is tried again; delivery: it was " +
      "delivered or passed on; complaint: the recipient reported it as spam; automatic: an " +
      "automatic reply or a newsletter; unsubscribe: any mail to the address in List-Unsubscribe; " +
      "unknown: none of these",
  },
);
type ReportKind = Static<typeof Kind>;

const ReportResult = named(
  "ReportResult",
  described(
    Type.Object({
      matched: Type.Boolean(),
      kind: Kind,
      email: Nullable(Type.String()),
      effect: OneOf(["bounced", "complained", "unsubscribed", "stored", "none"]),
      suppressed: Nullable(OneOf(["HARD_BOUNCE", "SOFT_BOUNCE", "COMPLAINT"])),
    }),
    {
      matched: "Whether the report is about a mail of this project",
      kind: "What the report says",
      email: "Id of that mail; null if there is none",
      effect:
        "What the report changed; stored if the mail keeps its status, at least until the outcome " +
        "of its attempt is known; none if it was known before, or changes nothing",
      suppressed: "Why the address of the recipient is suppressed now; null if it is not",
    },
  ),
  {
    description: "What was read in a report, and what it changed",
    example: {
      matched: true,
      kind: "bounce",
      email: EXAMPLE.emailId,
      effect: "bounced",
      suppressed: "HARD_BOUNCE",
    },
  },
);
export type ReportResult = Static<typeof ReportResult>;

const ReportQuery = Input({
  recipient: Type.Optional(
    Type.String({
      maxLength: 320,
      description:
        "The address to which the report was sent (RCPT TO); without it, the header of the report is read",
    }),
  ),
});

const DETAILS = describeOperations(
  { tag: "Bounces" },
  {
    processReport: {
      role: "EDITOR",
      isAudited: false,
      summary: "Process a bounce or a complaint that another mail server received",
      description:
        "The body is the whole message as it arrived. A report counts once, however often it is " +
        "sent, and only if it is about a mail of this project. Answers 200 for other messages, too.",
    },
  },
);

/** The same limit as over SMTP. */
const MAX_BYTES = 25 * 1024 * 1024;

const BODY = {
  type: "string" as const,
  format: "binary",
  description: "The report, with its header",
  examples: [
    "From: MAILER-DAEMON@mx.example.net\r\nSubject: Undelivered Mail Returned to Sender\r\n\r\n…\r\n",
  ],
  "x-max-body-bytes": MAX_BYTES,
};

export const bounceNoun: Noun = {
  name: "bounces",
  routes: (app, admission) => [bounceRoutes(app, admission)],
  connect: (app) => contactRemoval(app).onForgetMails((mails) => forgetReports(app, mails)),
  stop: (app) => reportParser(app).close(),
};

function bounceRoutes(app: App, admission: Admission) {
  return new Elysia({ name: "bounce-routes" }).use(admission.secretKeyStreaming).post(
    "/v1/bounces",
    async ({ project: { seq: projectSeq }, request, query }) => {
      if (request.body === null) throw emptyBody();
      refuseEncoded(request);
      if ((announcedBytes(request) ?? 0) > MAX_BYTES) throw tooLarge(MAX_BYTES);
      const pieces = await bodiesOf(app).pieces(request, { projectSeq, isPublic: false });
      const raw = await firstBytes(pieces);
      const { recipient = null } = query;
      return mirroredEnvelope(await processReport(app, raw, recipient, { projectSeq }));
    },
    {
      query: ReportQuery,
      response: withErrors({ 200: MirroredEnvelope(ReportResult) }),
      detail: {
        ...DETAILS.processReport,
        requestBody: { required: true, content: { "message/rfc822": { schema: BODY } } },
      },
    },
  );
}

/** The part of the message that is read; the rest is received and left out. */
async function firstBytes(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (bytes < MAX_READ_BYTES) kept.push(piece.slice(0, MAX_READ_BYTES - bytes));
    bytes += piece.byteLength;
    freeMemory(piece);
    if (bytes > MAX_BYTES) throw tooLarge(MAX_BYTES);
  }
  if (bytes === 0) throw emptyBody();
  const raw = Buffer.concat(kept);
  for (const piece of kept) freeMemory(piece);
  return raw;
}

/** Suppresses an address after several soft bounces. */
export const suppressBounced = perApp((app: App) => {
  const { softBounceLimit, softBounceDays, softBounceSuppressDays } = app.config;
  return createBounceSuppression({
    db: app.db,
    limits: {
      bounces: softBounceLimit,
      withinDays: softBounceDays,
      forDays: softBounceSuppressDays,
    },
    suppress: (...args) => addSuppression(app, ...args),
  });
});

export const lateReports = perApp((app: App) =>
  createLateReports({
    ...app,
    recordEvent: eventLog(app).record,
    suppressBounced: suppressBounced(app),
  }),
);

/** A thread of its own, so that hostile reports do not delay the inboxes. The first one starts it. */
const reportParser = perApp(({ clock, log }: App) => createParser({ clock, log }));

const UNREADABLE: Report = { kind: "unknown", clues: null };

type ReportOrigin = {
  /** Only mails of this project count. */
  projectSeq?: number;
  /** The address of the client that sent the report, if the project is not known. */
  peer?: string;
};

/** A report that was read: about no mail that counts, or with the change that stores its effect. */
type PreparedReport =
  { isMatched: false; result: ReportResult } | { isMatched: true; store: () => ReportResult };

/**
 * Reads a report and stores its effect. `recipient` is the address to which it was sent, if it is
 * known. Throws only if the storage fails.
 */
export async function processReport(
  app: App,
  raw: Uint8Array,
  recipient: string | null,
  origin: ReportOrigin = {},
): Promise<ReportResult> {
  const prepared = await prepareReport(app, { raw, recipient }, origin);
  return prepared.isMatched ? app.writer.write<ReportResult>(prepared.store) : prepared.result;
}

/** Reads a report and finds its mail; stores nothing. */
export async function prepareReport(
  app: App,
  { raw, recipient }: { raw: Uint8Array; recipient: string | null },
  { projectSeq, peer = "" }: ReportOrigin,
): Promise<PreparedReport> {
  if (recipient !== null && isUnsubscribeForm(recipient)) {
    return prepareUnsubscribe(app, recipient, projectSeq);
  }
  const sender = projectSeq === undefined ? clientNetwork(peer) : senderOfProject(projectSeq);
  const report = (await reportParser(app).report(raw, sender)) ?? UNREADABLE;
  if (report.clues === null) return unmatched(report.kind);
  const mail = findMailOfReport(app, { ...report.clues, recipient, projectSeq });
  const isOfProject = projectSeq === undefined || mail?.projectSeq === projectSeq;
  if (mail === null || !isOfProject) return unmatched(report.kind);
  const store = () =>
    report.complaint === null
      ? applyDelivery(app, mail, report.delivery)
      : applyComplaint(app, mail, report.complaint);
  return { isMatched: true, store };
}

/** Every mail to the address of an unsubscription unsubscribes, so its content is not read. */
function prepareUnsubscribe(app: App, address: string, projectSeq?: number): PreparedReport {
  const id = openSignedId(app, ({ linkKey }) => openUnsubscribeAddress(linkKey, address));
  const mail = id === null ? null : findReportedMail(app, id);
  const isOfProject = projectSeq === undefined || mail?.projectSeq === projectSeq;
  if (mail === null || !isOfProject) return unmatched("unsubscribe");
  return { isMatched: true, store: () => applyUnsubscribe(app, mail) };
}

const unmatched = (kind: ReportKind): PreparedReport => ({
  isMatched: false,
  result: resultOf(kind, null),
});

const DAY_MS = 24 * 60 * 60_000;
/** A report for a mail that was accepted earlier is refused by SMTP. */
const MAX_AGE_MS = 30 * DAY_MS;

/**
 * True if a report may be sent to this address: a return path of this installation with a valid
 * signature, at the bounce host of its mail, which is not older than 30 days. The address of an
 * unsubscription does not expire, like the link.
 */
export function isReportAddress(app: App, address: string): boolean {
  if (isUnsubscribeForm(address)) {
    const mail = reportedMail(
      app,
      openSignedId(app, ({ linkKey }) => openUnsubscribeAddress(linkKey, address)),
    );
    return isAtHostOf(mail, address);
  }
  const mail = reportedMail(
    app,
    openSignedId(app, ({ returnPathKey }) => openReturnPath(returnPathKey, address)),
  );
  if (mail === null || app.clock.now() - mail.acceptedAt > MAX_AGE_MS) return false;
  return isAtHostOf(mail, address);
}

const reportedMail = (app: App, id: string | null): ReportedMail | null =>
  id === null ? null : findReportedMail(app, id);

/** A signed address is valid only at the host for which it was made. */
function isAtHostOf(mail: ReportedMail | null, address: string): boolean {
  if (mail === null) return false;
  return domainOf(address).toLowerCase() === bounceHostOf(domainOf(mail.fromAddress)).toLowerCase();
}

/** Part of a change: stores a bounce, or does nothing for a delay or a confirmation. */
function applyDelivery(app: App, mail: ReportedMail, report: Delivery): ReportResult {
  const finding = findingFor(mail, report.findings);
  const kind = kindOf(finding);
  if (finding === null || kind !== "bounce") return resultOf(kind, mail);
  const stored: StoredReport = {
    form: report.form,
    statusCode: finding.status,
    reason: reasonOf(finding),
    reportingMta: report.reportingMta ?? finding.remoteMta,
    excerpt: report.excerpt,
    at: app.clock.now(),
  };
  const bounced = lateReports(app).bounce(mail, finding.class, stored);
  if (bounced === null) return resultOf(kind, mail);
  return { ...resultOf(kind, mail), ...bounced };
}

/** Kinds of feedback by which a recipient complains (RFC 5965 §7.3); not `auth-failure` etc. */
const COMPLAINTS: ReadonlySet<string> = new Set([
  "abuse",
  "fraud",
  "miscategorized",
  "opt-out",
  "opt-out-list",
  "other",
]);

/** Part of a change: stores a complaint, unsubscribes the contact and suppresses its address. */
export function applyComplaint(
  app: App,
  mail: ReportedMail,
  complaint: Pick<Complaint, "feedbackType" | "userAgent" | "excerpt"> & { form: string },
): ReportResult {
  const result = resultOf("complaint", mail);
  const { feedbackType, form, userAgent, excerpt } = complaint;
  if (!COMPLAINTS.has(feedbackType)) return result;
  const at = app.clock.now();
  const stored = { form, reportingMta: userAgent, excerpt, at };
  if (!lateReports(app).complain(mail, feedbackType, stored)) return result;
  const contacts = contactService(app);
  const contact = contacts.findRecipient(mail);
  if (contact !== null) {
    contacts.setSubscription(contact, false, {
      emailSeq: mail.seq,
      data: { via: "complaint" },
      consent: { source: { type: "COMPLAINT", id: mail.id } },
    });
  }
  if (mail.to === null) return { ...result, effect: "complained" };
  const entry = { reason: "COMPLAINT", at, emailSeq: mail.seq } as const;
  addSuppression(app, mail.projectSeq, mail.to, entry);
  return { ...result, effect: "complained", suppressed: "COMPLAINT" };
}

/**
 * Part of a change: the contact leaves the topic of the mail, or all marketing mail if it has none. A
 * contact that has left before stays as it is.
 */
export function applyUnsubscribe(app: App, mail: ReportedMail, via = "mail"): ReportResult {
  const result = resultOf("unsubscribe", mail);
  const contacts = contactService(app);
  const contact = contacts.findRecipient(mail);
  if (contact === null) return result;
  const consent = { source: { type: "MAIL", id: mail.id } } as const;
  const cause = { emailSeq: mail.seq, data: { via }, consent };
  const topic = topicOfMail(app, mail.seq);
  if (topic !== null) {
    const hasLeft = setChoice(app, contact, { topic, isSubscribed: false, cause });
    return hasLeft ? { ...result, effect: "unsubscribed" } : result;
  }
  if (!contact.isSubscribed) return result;
  contacts.setSubscription(contact, false, cause);
  return { ...result, effect: "unsubscribed" };
}

/**
 * Finds the part of the report about the recipient of the mail. If it names only other addresses, to
 * which the mail was forwarded, the mail bounced only if it failed at all of them.
 */
function findingFor(
  { to }: ReportedMail,
  findings: readonly RecipientFinding[],
): RecipientFinding | null {
  const own = findings.filter(
    ({ recipient, originalRecipient }) => isSame(originalRecipient, to) || isSame(recipient, to),
  );
  const meant = own.length > 0 ? own : findings;
  return meant.find(({ action }) => action !== "failed") ?? meant[0] ?? null;
}

function isSame(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a.toLowerCase() === b.toLowerCase();
}

function reasonOf({ status, text }: RecipientFinding): string {
  if (text === "") return status ?? "The report names no reason.";
  return status === null || text.includes(status) ? text : `${status} ${text}`;
}

function resultOf(kind: ReportKind, mail: ReportedMail | null): ReportResult {
  return {
    matched: mail !== null,
    kind,
    email: mail?.id ?? null,
    effect: "none",
    suppressed: null,
  };
}
