/**
 * Mailboxes in which reports arrive, because other servers cannot deliver to this one: where port 25 is
 * closed, a provider keeps them. They are fetched by IMAP or POP3.
 *
 * 1. `mailbox-poller.ts` decides when a mailbox is read.
 * 2. `mailbox-session.ts` finds the addresses that may be asked, connects and logs in.
 * 3. `fetch-reports.ts` reads the new messages and stores what they report, each once.
 */

import { and, count, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { reportMailboxes } from "../../db/schema/report-mailboxes.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { PageQuery, smallPage } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { ImapSession } from "../../protocols/mailboxes/imap.ts";
import { MailboxFault } from "../../protocols/mailboxes/mailbox-fault.ts";
import type { Noun } from "../module.ts";
import { mailboxPoller } from "./mailbox-poller.ts";
import { type MailboxRow, sealPassword, withSession } from "./mailbox-session.ts";
import {
  ReportMailbox,
  ReportMailboxChange,
  ReportMailboxInput,
  ReportMailboxTest,
} from "./model.ts";

const MAX_MAILBOXES = 10;
/** Mailboxes that the doctor looks at. */
const MAX_SHOWN = 1_000;
/** Longest time of a test, after it has waited for its turn. */
const TEST_MS = 20_000;
const MAX_BUSY_WAIT_MS = 10_000;

const mailboxOperations = operations("Bounces", { parameters: { id: "Id of the mailbox" } }, [
  read("GET /report-mailboxes", {
    id: "listReportMailboxes",
    role: "ADMIN",
    summary: "List the mailboxes from which reports are fetched",
    description: "Without their passwords, newest first.",
    query: PageQuery,
    answer: ListEnvelope(ReportMailbox),
    run: (app, { project, query }) =>
      smallPage(app, project, {
        name: "report-mailboxes",
        query,
        table: reportMailboxes,
        filter: eq(reportMailboxes.projectSeq, project.seq),
        present,
      }),
  }),
  write("POST /report-mailboxes", {
    id: "createReportMailbox",
    role: "ADMIN",
    summary: "Fetch reports from a mailbox",
    description:
      `It is read every five minutes from now on. A project has at most ${MAX_MAILBOXES}. IMAP marks reports ` +
      "about mail of the project as seen, and POP3 deletes them; other messages stay as they are.",
    isIdempotent: true,
    links: {
      testReportMailbox: { id: "/data/id" },
      deleteReportMailbox: { id: "/data/id" },
    },
    body: limited(ReportMailboxInput, BODY_LIMITS.settings),
    answer: Envelope(ReportMailbox),
    status: 201,
    run(app, { project, body }) {
      ensureMailboxLimit(app, project.seq);
      const now = app.clock.now();
      const row = app.db
        .insert(reportMailboxes)
        .values({ id: newId(now), projectSeq: project.seq, createdAt: now, ...valuesOf(app, body) })
        .returning()
        .get();
      app.writer.afterCommit(() => mailboxPoller(app).wake(row.seq));
      return present(row);
    },
  }),
  write("PATCH /report-mailboxes/:id", {
    id: "changeReportMailbox",
    role: "ADMIN",
    summary: "Rename a mailbox, or set its new password",
    description: "It is read at once. To read another mailbox, add it and delete this one.",
    body: limited(ReportMailboxChange, BODY_LIMITS.settings),
    answer: Envelope(ReportMailbox),
    run(app, { project, params, body }) {
      const found = findMailbox(app, project.seq, params.id);
      const { name = found.name, password } = body;
      const changes =
        password === undefined ? { name } : { name, password: sealPassword(app, password) };
      const row = app.db
        .update(reportMailboxes)
        .set(changes)
        .where(eq(reportMailboxes.seq, found.seq))
        .returning()
        .get();
      if (row === undefined) throw notFound("REPORT_MAILBOX");
      app.writer.afterCommit(() => mailboxPoller(app).wake(row.seq));
      return present(row);
    },
  }),
  read("POST /report-mailboxes/:id/test", {
    id: "testReportMailbox",
    role: "ADMIN",
    summary: "Log in to a mailbox, and say what was seen",
    description: "No message is read or changed. It takes at most 30 seconds.",
    answer: Envelope(ReportMailboxTest),
    run: (app, { project, params }) => testMailbox(app, findMailbox(app, project.seq, params.id)),
  }),
  write("DELETE /report-mailboxes/:id", {
    id: "deleteReportMailbox",
    role: "ADMIN",
    summary: "Stop reading a mailbox",
    description: "Nothing changes on its server. What its reports have changed stays.",
    isWithinQuota: false,
    answer: NoContent,
    run(app, { project, params }) {
      const { seq } = findMailbox(app, project.seq, params.id);
      app.db.delete(reportMailboxes).where(eq(reportMailboxes.seq, seq)).run();
    },
  }),
]);

export const reportMailboxNoun: Noun = {
  name: "report-mailboxes",
  operations: mailboxOperations,
  start: async (app) => mailboxPoller(app).start(),
  stop: (app) => mailboxPoller(app).stop(),
};

function findMailbox(app: App, projectSeq: number, id: string): MailboxRow {
  const row = app.db
    .select()
    .from(reportMailboxes)
    .where(and(eq(reportMailboxes.projectSeq, projectSeq), eq(reportMailboxes.id, id)))
    .limit(1)
    .get();
  if (row === undefined) throw notFound("REPORT_MAILBOX");
  return row;
}

function ensureMailboxLimit({ db }: App, projectSeq: number): void {
  const ofProject = eq(reportMailboxes.projectSeq, projectSeq);
  const found = db.select({ n: count() }).from(reportMailboxes).where(ofProject).get();
  if ((found?.n ?? 0) < MAX_MAILBOXES) return;
  const message = `The project has ${MAX_MAILBOXES} mailboxes, which is the most.`;
  throw new AppError(409, "TOO_MANY_REPORT_MAILBOXES", message, {
    suggestion: "Delete a mailbox that is not used any more.",
  });
}

const PORTS = { IMAP: { TLS: 993, PLAIN: 143 }, POP3: { TLS: 995, PLAIN: 110 } } as const;
/** Other ports below 1024 belong to other protocols. */
const MIN_USER_PORT = 1024;

function valuesOf(app: App, body: ReportMailboxInput) {
  const { protocol, security = "TLS", username, name = username.slice(0, 100) } = body;
  const { port = PORTS[protocol][security], folder = "INBOX" } = body;
  const known: readonly number[] = [993, 143, 995, 110];
  if (port < MIN_USER_PORT && !known.includes(port)) {
    const message = `must be one of ${known.join(", ")} or at least ${MIN_USER_PORT}`;
    throw fieldError("port", "invalid_value", message);
  }
  if (protocol === "POP3" && folder !== "INBOX") {
    throw fieldError("folder", "invalid_value", "must be INBOX, because POP3 has no other folder");
  }
  const host = body.host.toLowerCase();
  const password = sealPassword(app, body.password);
  return { name, protocol, security, host, port, username, password, folder };
}

async function testMailbox(app: App, mailbox: MailboxRow): Promise<ReportMailboxTest> {
  const poller = mailboxPoller(app);
  await poller.waitUntilFree(mailbox, MAX_BUSY_WAIT_MS);
  const trial = poller.occupy(mailbox, (signal) =>
    withSession(app, mailbox, { sessionMs: TEST_MS, signal }, async (session) => {
      if (session instanceof ImapSession) return session.folder.messages;
      return (await session.list()).length;
    }),
  );
  if (trial === null) {
    const reason = "It is being read at this moment. Try again in a minute.";
    return { isReached: false, messages: null, reason };
  }
  try {
    return { isReached: true, messages: await trial, reason: null };
  } catch (error) {
    if (!(error instanceof MailboxFault)) throw error;
    return { isReached: false, messages: null, reason: error.message };
  }
}

/** `failure` is set if the mailbox could not be read the last time. */
export type ReportMailboxState = {
  name: string;
  host: string;
  lastFetchedAt: number | null;
  failure: string | null;
};

/** The mailboxes of all projects, for the doctor. */
export function reportMailboxStates({ db }: Pick<App, "db">): ReportMailboxState[] {
  const { name, host, lastFetchedAt, failure } = reportMailboxes;
  return db
    .select({ name, host, lastFetchedAt, failure })
    .from(reportMailboxes)
    .limit(MAX_SHOWN)
    .all();
}

function present(row: MailboxRow): ReportMailbox {
  const { id, name, protocol, security, host, port, username, folder } = row;
  const { received, counted, unknown, failure } = row;
  return {
    id,
    name,
    protocol,
    security,
    host,
    port,
    username,
    folder,
    received,
    counted,
    unknown,
    lastFetchedAt: isoTimeOrNull(row.lastFetchedAt),
    failedAt: isoTimeOrNull(row.failedAt),
    failure,
    createdAt: isoTime(row.createdAt),
  };
}
