/**
 * Reports of relay providers: what became of mail after the relay had accepted it.
 *
 * POST /v1/relay-reports/{secret}    takes the webhooks of a provider
 *
 * 1. The secret in the URL finds the source (sources.ts). The body is read within its limits.
 * 2. `verify.ts` checks the signature, and finds the events in the body.
 * 3. protocols/relay-reports/ reads what each event says of a mail.
 * 4. Changes of at most 50 events find the mails and store the effects, which are those of a bounce or a
 *    complaint that arrives by mail, or of a hit of our own tracking. Each effect occurs once, so
 *    providers may repeat their reports and send them in any order.
 * 5. The request is answered when all of them are stored.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { bodiesOf } from "../../http/body.ts";
import type { BodyLimit } from "../../http/body-limits.ts";
import { undocumented } from "../../http/documented.ts";
import { Envelope, envelope, withErrors } from "../../http/envelope.ts";
import { AppError } from "../../lib/errors.ts";
import { type ReportedMail, webhookForm } from "../../outbox/late-reports.ts";
import { classifyReported } from "../../protocols/relay-reports/classify-reported.ts";
import { PROVIDERS } from "../../protocols/relay-reports/providers.ts";
import type { RelayReport } from "../../protocols/relay-reports/report.ts";
import { applyComplaint, applyUnsubscribe, lateReports } from "../bounces/bounces.ts";
import { findMailOfReport } from "../bounces/match.ts";
import type { Noun } from "../module.ts";
import { isMachine } from "../tracking/machines.ts";
import { countReportedHit } from "../tracking/tracking.ts";
import { REPORT_PATH } from "./model.ts";
import { findSourceBySecret, sourceOperations, type SourceRow } from "./sources.ts";
import { verifyReports } from "./verify.ts";

/** The largest request of a provider is one of SendGrid or Mailjet, with thousands of events. */
const BODY: BodyLimit = { bytes: 8 * 1024 * 1024, values: 250_000 };
/** Events of one change, which takes a few milliseconds. */
const EVENTS_PER_CHANGE = 50;
/** A source that is refused is written at most once in this time. */
const REFUSAL_PAUSE_MS = 60_000;

/**
 * - counted: reports that changed something.
 * - known: reports that change nothing, for instance because they were received before.
 * - unknown: reports about mail that the project did not send.
 * - ignored: reports of delays, and of what has no meaning here.
 */
const Reports = Type.Object({
  counted: Type.Integer(),
  known: Type.Integer(),
  unknown: Type.Integer(),
  ignored: Type.Integer(),
});
type Counts = Static<typeof Reports>;

const SourceId = Type.Object({ source: Type.String() });

export const relayReportNoun: Noun = {
  name: "relay-reports",
  operations: sourceOperations,
  routes: (app) => [relayReportRoutes(app)],
};

/** The bodies are those of the providers, so docs/relay-reports.md describes the route. */
function relayReportRoutes(app: App) {
  const detail = undocumented("ANYONE");
  return (
    new Elysia({ name: "relay-report-routes" })
      .post(
        `${REPORT_PATH}/:secret`,
        async ({ params, request }) =>
          envelope(await receive(app, requireSource(app, params.secret), request)),
        { parse: "none", response: withErrors({ 200: Envelope(Reports) }), detail },
      )
      // Some providers request a URL before they accept it.
      .get(
        `${REPORT_PATH}/:secret`,
        ({ params }) => envelope({ source: requireSource(app, params.secret).id }),
        { response: withErrors({ 200: Envelope(SourceId) }), detail },
      )
  );
}

function requireSource(app: App, secret: string): SourceRow {
  const source = findSourceBySecret(app, secret);
  if (source !== null) return source;
  throw new AppError(404, "REPORT_SOURCE_NOT_FOUND", "No source of reports has this URL.", {
    suggestion: "Create a source, and enter its URL at the provider.",
  });
}

async function receive(app: App, source: SourceRow, request: Request): Promise<Counts> {
  const name = `POST ${REPORT_PATH}/:secret`;
  const holder = { projectSeq: source.projectSeq, isPublic: false };
  const bytes = await bodiesOf(app).readBytes(request, { limit: BODY, name, holder });
  const { headers } = request;
  try {
    const { events, confirmedTopic, stored } = await verifyReports(app, source, { headers, bytes });
    if (confirmedTopic !== null) await storeTopic(app, source, confirmedTopic);
    const counts = await applyAll(app, source, events);
    stored();
    return counts;
  } catch (error) {
    if (error instanceof AppError) await storeRefusal(app, source, error.message);
    throw error;
  }
}

const updateTopic = statement<unknown, [string, number]>(
  "UPDATE report_sources SET topic_arn = ? WHERE seq = +? AND topic_arn IS NULL",
);

async function storeTopic(app: App, { seq }: SourceRow, topicArn: string): Promise<void> {
  await app.writer.write(() => void updateTopic(app).run(topicArn, seq));
}

const updateRefusal = statement<unknown, [number, string, number]>(
  "UPDATE report_sources SET refused_at = ?, refusal = ? WHERE seq = +?",
);

/** The operator sees in the list of sources why reports are refused. */
async function storeRefusal(app: App, source: SourceRow, reason: string): Promise<void> {
  const now = app.clock.now();
  if (source.refusedAt !== null && now - source.refusedAt < REFUSAL_PAUSE_MS) return;
  await app.writer.write(() => void updateRefusal(app).run(now, reason, source.seq));
}

const addCounts = statement<unknown, [number, number, number, number, number]>(`
  UPDATE report_sources
  SET received = received + ?, counted = counted + ?, unknown = unknown + ?, last_received_at = ?,
      refused_at = NULL, refusal = NULL
  WHERE seq = +?`);

async function applyAll(app: App, source: SourceRow, events: readonly unknown[]): Promise<Counts> {
  const total: Counts = { counted: 0, known: 0, unknown: 0, ignored: 0 };
  for (let from = 0; from === 0 || from < events.length; from += EVENTS_PER_CHANGE) {
    const part = events.slice(from, from + EVENTS_PER_CHANGE);
    const counts = await app.writer.write(() => applyPart(app, source, part));
    for (const effect of ["counted", "known", "unknown", "ignored"] as const) {
      total[effect] += counts[effect];
    }
  }
  return total;
}

/** Part of a change. */
function applyPart(app: App, source: SourceRow, events: readonly unknown[]): Counts {
  const { readEvent } = PROVIDERS[source.provider];
  const counts: Counts = { counted: 0, known: 0, unknown: 0, ignored: 0 };
  for (const report of events.flatMap(readEvent)) counts[applyReport(app, source, report)]++;
  const { counted, known, unknown, ignored } = counts;
  const received = counted + known + unknown + ignored;
  addCounts(app).run(received, counted, unknown, app.clock.now(), source.seq);
  return counts;
}

/** Part of a change: stores the effect of a report. */
function applyReport(app: App, source: SourceRow, report: RelayReport): keyof Counts {
  if (report.kind === "delay" || report.kind === "other") return "ignored";
  const mail = findMail(app, source, report);
  if (mail === null) return "unknown";
  return changesMail(app, mail, { report, source }) ? "counted" : "known";
}

function findMail(app: App, { projectSeq }: SourceRow, report: RelayReport): ReportedMail | null {
  const { emailId, messageId, recipient } = report;
  const messageIds = messageId === null ? [] : [messageId];
  const mail = findMailOfReport(app, {
    recipient: null,
    fields: [],
    envelopeId: emailId,
    original: { messageIds, ownId: null, listUnsubscribe: null, to: null },
    recipients: recipient === null ? [] : [recipient],
    projectSeq,
  });
  return mail?.projectSeq === projectSeq ? mail : null;
}

/** Part of a change. Returns false if the report changes nothing. */
function changesMail(
  app: App,
  mail: ReportedMail,
  { report, source: { provider } }: { report: RelayReport; source: SourceRow },
): boolean {
  const at = app.clock.now();
  const form = webhookForm(provider);
  const reportingMta = PROVIDERS[provider].name;
  switch (report.kind) {
    case "delivery":
      return lateReports(app).deliver(mail, { form, reportingMta, at });
    case "bounce": {
      const { class: found, status } = classifyReported(report, mail.fromAddress);
      const reason = report.words === "" ? `${reportingMta} names no reason.` : report.words;
      const stored = { form, statusCode: status, reason, reportingMta, excerpt: "", at };
      return lateReports(app).bounce(mail, found, stored) !== null;
    }
    case "complaint": {
      const { feedbackType } = report;
      const complaint = { feedbackType, form, userAgent: reportingMta, excerpt: "" };
      return applyComplaint(app, mail, complaint).effect === "complained";
    }
    case "unsubscribe":
      return applyUnsubscribe(app, mail, "relay").effect === "unsubscribed";
    case "open":
    case "click": {
      const { kind, url, userAgent } = report;
      const hit = { kind, url, emailId: mail.id, at, isMachine: isOfMachine(report, userAgent) };
      return countReportedHit(app, hit, Math.min(report.at ?? at, at));
    }
    default:
      return false;
  }
}

/** A provider that passes no User-Agent on says nothing of the program. */
function isOfMachine(report: { isMachine: boolean }, userAgent: string | null): boolean {
  if (report.isMachine || userAgent === null) return report.isMachine;
  return isMachine({ method: "GET", headers: new Headers({ "user-agent": asciiOf(userAgent) }) });
}

/** A header has no other characters. */
function asciiOf(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?");
}
