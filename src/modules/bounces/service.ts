/**
 * Reports of other mail servers about mails that they had accepted, and unsubscriptions by mail.
 *
 * 1. `readReport` (protocols/dsn/read-report.ts) reads the message in a thread, because a hostile one takes long.
 * 2. `match.ts` finds the mail, and `findingFor` the recipient of the report that is meant.
 * 3. One change stores the report and its effect: the status of the mail and its event, the
 *    suppression, and after a complaint the unsubscription. While the mail is under way, its status
 *    changes with the outcome of the attempt.
 */

import type { App } from "../../core/app.ts";
import type { Change, Writer } from "../../db/writer.ts";
import { clientNetwork } from "../../lib/client-network.ts";
import type { Clock } from "../../lib/clock.ts";
import { senderOfProject } from "../../lib/message-senders.ts";
import type { LateReports, ReportedMail, StoredReport } from "../../outbox/late-reports.ts";
import { isUnsubscribeForm, openUnsubscribeAddress } from "../../render/unsubscribe-address.ts";
import { bounceHostOf, openReturnPath } from "../../outbox/return-path.ts";
import type { RecipientFinding } from "../../protocols/dsn/report.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { type Contacts, contactService } from "../contacts/service.ts";
import { addSuppression } from "../suppressions.ts";
import { createMailMatcher } from "./match.ts";
import type { ReportKind, ReportResult } from "./model.ts";
import {
  type Complaint,
  type Delivery,
  kindOf,
  type Report,
} from "../../protocols/dsn/read-report.ts";
import { perApp } from "../../lib/per-app.ts";
import { createParser } from "../inboxes/parsing/parser.ts";
import { lateReports } from "./reports.ts";

export type Bounces = ReturnType<typeof createBounces>;

const UNREADABLE: Report = { kind: "unknown", clues: null };

const DAY_MS = 24 * 60 * 60_000;
/** A report for a mail that was accepted earlier is refused by SMTP. */
const MAX_AGE_MS = 30 * DAY_MS;

/** Kinds of feedback by which a recipient complains (RFC 5965 §7.3); not `auth-failure` etc. */
const COMPLAINTS: ReadonlySet<string> = new Set([
  "abuse",
  "fraud",
  "miscategorized",
  "opt-out",
  "opt-out-list",
  "other",
]);

/** A thread of its own, so that hostile reports do not delay the inboxes. It starts with the first one. */
export const reportParser = perApp((app: App) => createParser(app));

export const bounceService = perApp((app: App) =>
  createBounces({
    ...app,
    app,
    reports: lateReports(app),
    contacts: contactService(app),
    readReport: reportParser(app).report,
  }),
);

function createBounces(deps: {
  app: App;
  clock: Clock;
  writer: Pick<Writer, "write">;
  reports: LateReports;
  contacts: Pick<Contacts, "findRecipient" | "setSubscription">;
  returnPathKey: Uint8Array;
  linkKey: Uint8Array;
  /** Reads a report, which may take long; null if that is not possible. */
  readReport: (raw: Uint8Array, sender: string) => Promise<Report | null>;
}) {
  const { app, clock, writer, reports, contacts } = deps;
  const matchMail = createMailMatcher(deps);

  /** Part of a change: stores a bounce, or does nothing for a delay or a confirmation. */
  function applyDelivery(mail: ReportedMail, report: Delivery): ReportResult {
    const finding = findingFor(mail, report.findings);
    const kind = kindOf(finding);
    if (finding === null || kind !== "bounce") return resultOf(kind, mail);
    const stored: StoredReport = {
      form: report.form,
      statusCode: finding.status,
      reason: reasonOf(finding),
      reportingMta: report.reportingMta ?? finding.remoteMta,
      excerpt: report.excerpt,
      at: clock.now(),
    };
    const bounced = reports.bounce(mail, finding.class, stored);
    if (bounced === null) return resultOf(kind, mail);
    return { ...resultOf(kind, mail), ...bounced };
  }

  /** Part of a change: stores a complaint, unsubscribes the contact and suppresses its address. */
  function applyComplaint(mail: ReportedMail, complaint: Complaint): ReportResult {
    const result = resultOf("complaint", mail);
    const { feedbackType, form, userAgent, excerpt } = complaint;
    if (!COMPLAINTS.has(feedbackType)) return result;
    const at = clock.now();
    const stored = { form, reportingMta: userAgent, excerpt, at };
    if (!reports.complain(mail, feedbackType, stored)) return result;
    const contact = contacts.findRecipient(mail);
    if (contact !== null) {
      contacts.setSubscription(contact, false, { emailSeq: mail.seq, data: { via: "complaint" } });
    }
    if (mail.to === null) return { ...result, effect: "complained" };
    const entry = { reason: "COMPLAINT", at, emailSeq: mail.seq } as const;
    addSuppression(app, mail.projectSeq, mail.to, entry);
    return { ...result, effect: "complained", suppressed: "COMPLAINT" };
  }

  /** Part of a change: a contact that is not subscribed stays as it is. */
  function applyUnsubscribe(mail: ReportedMail): ReportResult {
    const result = resultOf("unsubscribe", mail);
    const contact = contacts.findRecipient(mail);
    if (contact === null || !contact.isSubscribed) return result;
    contacts.setSubscription(contact, false, { emailSeq: mail.seq, data: { via: "mail" } });
    return { ...result, effect: "unsubscribed" };
  }

  /** Every mail to the address of an unsubscription unsubscribes, so its content is not read. */
  async function unsubscribe(address: string, projectSeq?: number): Promise<ReportResult> {
    const id = openUnsubscribeAddress(deps.linkKey, address);
    const mail = id === null ? null : reports.find(id);
    const isOfProject = projectSeq === undefined || mail?.projectSeq === projectSeq;
    if (mail === null || !isOfProject) return resultOf("unsubscribe", null);
    const change: Change<ReportResult> = () => applyUnsubscribe(mail);
    return writer.write(change);
  }

  /** A signed address is valid only at the host for which it was made. */
  function isAtHostOf(id: string | null, address: string): boolean {
    const mail = id === null ? null : reports.find(id);
    if (mail === null) return false;
    return (
      domainOf(address).toLowerCase() === bounceHostOf(domainOf(mail.fromAddress)).toLowerCase()
    );
  }

  return {
    /**
     * Whether a report may be sent to this address: a return path of this installation with a valid
     * signature, at the bounce host of its mail, which is not older than 30 days. The address of an
     * unsubscription does not expire, like the link.
     */
    isReportAddress(address: string): boolean {
      if (isUnsubscribeForm(address)) {
        return isAtHostOf(openUnsubscribeAddress(deps.linkKey, address), address);
      }
      const id = openReturnPath(deps.returnPathKey, address);
      return id !== null && clock.now() - acceptedAt(id) <= MAX_AGE_MS && isAtHostOf(id, address);
    },

    /**
     * Reads a report and stores its effect. `recipient` is the address to which it was sent, if it
     * is known. With `projectSeq`, only mails of that project count; otherwise `peer` is the address of
     * the client that sent it. Throws only if the storage fails.
     */
    async processReport(
      raw: Uint8Array,
      recipient: string | null,
      { projectSeq, peer = "" }: { projectSeq?: number; peer?: string } = {},
    ): Promise<ReportResult> {
      if (recipient !== null && isUnsubscribeForm(recipient)) {
        return unsubscribe(recipient, projectSeq);
      }
      const sender = projectSeq === undefined ? clientNetwork(peer) : senderOfProject(projectSeq);
      const report = (await deps.readReport(raw, sender)) ?? UNREADABLE;
      if (report.clues === null) return resultOf(report.kind, null);
      const mail = matchMail({ ...report.clues, recipient, projectSeq });
      const isOfProject = projectSeq === undefined || mail?.projectSeq === projectSeq;
      if (mail === null || !isOfProject) return resultOf(report.kind, null);
      const change: Change<ReportResult> = () =>
        report.complaint === null
          ? applyDelivery(mail, report.delivery)
          : applyComplaint(mail, report.complaint);
      return writer.write(change);
    },
  };
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

/** The time in an id (RFC 9562 §5.7). */
function acceptedAt(id: string): number {
  return parseInt(id.replaceAll("-", "").slice(0, 12), 16);
}
