/**
 * Sources of relay reports: a provider, and the URL with a secret to which its webhooks send. The URL is
 * shown once, and a digest of its secret is stored. A provider that signs its reports also has a key.
 */

import { and, count, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { reportSources, type ReportProvider } from "../../db/schema/report-sources.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { PageQuery, smallPage } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { deriveKey, randomBase62, seal, sha256, unseal } from "../../lib/crypto.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { parseUrl } from "../../lib/url.ts";
import { FetchRefused } from "../../protocols/fetch-guarded/refusal.ts";
import { PROVIDERS } from "../../protocols/relay-reports/providers.ts";
import { readSendGridKey, readSvixSecret } from "../../protocols/relay-reports/signatures.ts";
import {
  CreatedReportSource,
  REPORT_PATH,
  ReportSource,
  ReportSourceChange,
  ReportSourceInput,
  ReportSourceTest,
  ReportSourceUrl,
} from "./model.ts";

const MAX_SOURCES = 20;
/** Sources that the doctor looks at. */
const MAX_SHOWN = 1_000;
/** 43 base62 characters have 256 bits of entropy, as in an API key. */
const RANDOM_CHARACTERS = 43;
const SECRET_PREFIX = "rr_";

export const sourceOperations = operations(
  "Bounces",
  { parameters: { id: "Id of the source of reports" } },
  [
    read("GET /report-sources", {
      id: "listReportSources",
      role: "ADMIN",
      summary: "List the relay providers that report what became of mail",
      description: "Without their URLs, newest first.",
      query: PageQuery,
      answer: ListEnvelope(ReportSource),
      run: (app, { project, query }) =>
        smallPage(app, project, {
          name: "report-sources",
          query,
          table: reportSources,
          filter: eq(reportSources.projectSeq, project.seq),
          present,
        }),
    }),
    write("POST /report-sources", {
      id: "createReportSource",
      role: "ADMIN",
      summary: "Receive the reports of a relay provider; the URL is shown once",
      description: `A project has at most ${MAX_SOURCES} sources. docs/relay-reports.md has the steps for each provider.`,
      isIdempotent: true,
      links: { deleteReportSource: { id: "/data/id" } },
      body: limited(ReportSourceInput, BODY_LIMITS.settings),
      answer: Envelope(CreatedReportSource),
      status: 201,
      isSecret: true,
      run(app, { project, body }) {
        const { provider, name = PROVIDERS[provider].name, signingKey } = body;
        ensureSourceLimit(app, project.seq);
        const secret = SECRET_PREFIX + randomBase62(RANDOM_CHARACTERS);
        const now = app.clock.now();
        const row = app.db
          .insert(reportSources)
          .values({
            id: newId(now),
            projectSeq: project.seq,
            provider,
            name,
            digest: sha256(secret),
            signingKey: signingKey === undefined ? null : sealKey(app, provider, signingKey),
            createdAt: now,
          })
          .returning()
          .get();
        return { ...present(row), url: `${app.url}${REPORT_PATH}/${secret}` };
      },
    }),
    write("PATCH /report-sources/:id", {
      id: "changeReportSource",
      role: "ADMIN",
      summary: "Set the key that checks the signatures of a provider",
      description: "The next report is checked with it. The key is never shown.",
      body: limited(ReportSourceChange, BODY_LIMITS.settings),
      answer: Envelope(ReportSource),
      run(app, { project, params, body }) {
        const { seq, provider } = findSource(app, project.seq, params.id);
        const signingKey = sealKey(app, provider, body.signingKey);
        const row = app.db
          .update(reportSources)
          .set({ signingKey, refusedAt: null, refusal: null })
          .where(eq(reportSources.seq, seq))
          .returning()
          .get();
        if (row === undefined) throw notFound("REPORT_SOURCE");
        return present(row);
      },
    }),
    read("POST /report-sources/:id/test", {
      id: "testReportSource",
      role: "ADMIN",
      summary: "Test whether the URL of a source leads here",
      description:
        "The URL is requested as webhooks are: over the public internet. 422 if it is not the URL of " +
        "this source.",
      body: limited(ReportSourceUrl, BODY_LIMITS.settings),
      answer: Envelope(ReportSourceTest),
      run: (app, { project, params, body }) =>
        testUrl(app, findSource(app, project.seq, params.id), body.url),
    }),
    write("DELETE /report-sources/:id", {
      id: "deleteReportSource",
      role: "ADMIN",
      summary: "Refuse the reports of a source from now on",
      description: "What its reports have changed stays.",
      isWithinQuota: false,
      answer: NoContent,
      run(app, { project, params }) {
        const { seq } = findSource(app, project.seq, params.id);
        app.db.delete(reportSources).where(eq(reportSources.seq, seq)).run();
      },
    }),
  ],
);

export type SourceRow = typeof reportSources.$inferSelect;

function findSource(app: App, projectSeq: number, id: string): SourceRow {
  const row = app.db
    .select()
    .from(reportSources)
    .where(and(eq(reportSources.projectSeq, projectSeq), eq(reportSources.id, id)))
    .limit(1)
    .get();
  if (row === undefined) throw notFound("REPORT_SOURCE");
  return row;
}

/** The source with this secret in its URL; null if there is none. */
export function findSourceBySecret({ db }: Pick<App, "db">, secret: string): SourceRow | null {
  const isOfDigest = eq(reportSources.digest, sha256(secret));
  return db.select().from(reportSources).where(isOfDigest).limit(1).get() ?? null;
}

/** `provider` is the name of the relay; `refusal` is set if its last report was refused. */
export type ReportSourceState = {
  provider: string;
  lastReceivedAt: number | null;
  refusal: string | null;
};

/** The sources of all projects, for the doctor. */
export function reportSourceStates({ db }: Pick<App, "db">): ReportSourceState[] {
  const { provider, lastReceivedAt, refusal } = reportSources;
  const rows = db
    .select({ provider, lastReceivedAt, refusal })
    .from(reportSources)
    .limit(MAX_SHOWN);
  return rows.all().map((row) => ({ ...row, provider: PROVIDERS[row.provider].name }));
}

function ensureSourceLimit({ db }: Pick<App, "db">, projectSeq: number): void {
  const ofProject = eq(reportSources.projectSeq, projectSeq);
  const found = db.select({ n: count() }).from(reportSources).where(ofProject).get();
  if ((found?.n ?? 0) < MAX_SOURCES) return;
  const message = `The project has ${MAX_SOURCES} sources of reports, which is the most.`;
  throw new AppError(409, "TOO_MANY_REPORT_SOURCES", message, {
    suggestion: "Delete a source that is not used any more.",
  });
}

const sealingKey = perApp(({ secret }: App) => deriveKey(secret, "report-source-keys"));

/** For each provider with a signing key: why a text is not a key of it; null if it is one. */
const FAULTS: Partial<Record<ReportProvider, (text: string) => string | null>> = {
  SENDGRID: (text) =>
    readSendGridKey(text) === null ? "must be the verification key that SendGrid shows" : null,
  MAILGUN: () => null,
  RESEND: (text) =>
    readSvixSecret(text) === null ? "must be a signing secret such as whsec_…" : null,
};

function sealKey(app: App, provider: ReportProvider, text: string): Buffer {
  const findFault = FAULTS[provider];
  const fault =
    findFault === undefined
      ? `must be left out, because ${PROVIDERS[provider].name} has no signing key`
      : findFault(text.trim());
  if (fault !== null) throw fieldError("signingKey", "invalid_value", fault);
  return seal(sealingKey(app), Buffer.from(text.trim()));
}

/** The signing key of a source; null if it has none, or if it was sealed with another secret. */
export function openSigningKey(app: App, { signingKey }: SourceRow): string | null {
  return signingKey === null ? null : (unseal(sealingKey(app), signingKey)?.toString() ?? null);
}

async function testUrl(
  app: App,
  { digest, id }: SourceRow,
  text: string,
): Promise<ReportSourceTest> {
  const secret = parseUrl(text)?.pathname.split("/").at(-1) ?? "";
  if (sha256(secret) !== digest) {
    throw fieldError("url", "invalid_value", "must be the URL of this source");
  }
  try {
    const { status, body } = await app.fetchGuarded(text, { method: "GET" });
    const isReached = status === 200 && Buffer.from(body).includes(id);
    const reason = isReached
      ? null
      : `The URL was answered with ${status}, but not by this source.`;
    return { isReached, reason };
  } catch (error) {
    if (error instanceof FetchRefused) return { isReached: false, reason: error.message };
    throw error;
  }
}

function present(row: SourceRow): ReportSource {
  const { id, provider, name, topicArn, received, counted, unknown, refusal } = row;
  return {
    id,
    provider,
    name,
    needsSigningKey: PROVIDERS[provider].signs === "key" && row.signingKey === null,
    topicArn,
    received,
    counted,
    unknown,
    lastReceivedAt: isoTimeOrNull(row.lastReceivedAt),
    refusedAt: isoTimeOrNull(row.refusedAt),
    refusal,
    createdAt: isoTime(row.createdAt),
  };
}
