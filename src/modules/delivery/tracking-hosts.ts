/**
 * The host to which the tracked links of a project lead, instead of that of the installation. In order: an
 * admin names it; it is checked (tracking-check.ts), first every few minutes and later daily; new mail
 * carries it once a check has found no fault; after several checks with a fault, new mail carries that
 * of the installation again. A host that is removed is checked on, because the links in old mails lead to
 * it, and forgotten when it no longer leads here.
 *
 * The host must be in a domain of which the project has verified a name, because a name that leads here
 * may belong to another project.
 */

import { and, count, eq, gt, lte, ne, sql } from "drizzle-orm";
import { isIP } from "node:net";
import type { App } from "../../core/app.ts";
import { hostedNames } from "../../core/hosted-names.ts";
import { trackingHosts } from "../../db/schema/projects.ts";
import { statement } from "../../db/statement.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { PageQuery, smallPage } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { baseAtHost } from "../../render/links.ts";
import { domainsOfProject } from "../domains/domains.ts";
import type { Noun } from "../module.ts";
import { answerCheck, checkHost, hostCheckRoutes, type HostCheck } from "./tracking-check.ts";
import { TrackingHost, TrackingHostInput } from "./tracking-model.ts";

type HostRow = typeof trackingHosts.$inferSelect;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Hosts of a project, with those that were removed. */
const MAX_HOSTS = 5;
/** Hosts of all projects. */
const MAX_ALL_HOSTS = 1_000;
/** Hosts that are checked in one round, one after the other. */
const MAX_CHECKED = 10;
/**
 * Delays of the first checks, because the record may be in the course of publication; later ones are
 * hourly.
 */
const DELAYS_MS = [MINUTE_MS, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS] as const;
const MAX_HOURLY_CHECKS = 72;
/** Consecutive checks with a fault after which a host is not used any more, or is forgotten. */
const LOST_AFTER = 3;
const FORGOTTEN_AFTER = 7;

const hostOperations = operations("Delivery", { parameters: { id: "Id of the tracking host" } }, [
  read("GET /tracking-hosts", {
    id: "listTrackingHosts",
    role: "ADMIN",
    summary: "Get the tracking host of the project",
    description: "A list with one host, or empty: then links lead to the host of the installation.",
    query: PageQuery,
    answer: ListEnvelope(TrackingHost),
    async run(app, { project, query }) {
      const present = await hostPresenter(app);
      return smallPage(app, project, {
        name: "tracking-hosts",
        query,
        table: trackingHosts,
        filter: and(eq(trackingHosts.projectSeq, project.seq), ne(trackingHosts.status, "REMOVED")),
        present,
      });
    },
  }),
  write("POST /tracking-hosts", {
    id: "addTrackingHost",
    role: "ADMIN",
    summary: "Let the tracked links of the project lead to a host of its own",
    description:
      "Publish the record of the answer. New mail carries the host once it leads to this server. It must be " +
      "in a domain of which the project has verified a name. A project has one, so a second one is refused " +
      "with 409.",
    isIdempotent: true,
    links: { checkTrackingHost: { id: "/data/id" }, removeTrackingHost: { id: "/data/id" } },
    body: limited(TrackingHostInput, BODY_LIMITS.settings),
    answer: Envelope(TrackingHost),
    status: 201,
    async prepare(app, { project, body }) {
      const host = await parseHost(app, project.seq, body.host);
      return { host, present: await hostPresenter(app) };
    },
    run: (app, { project }, { host, present }) => present(addHost(app, project.seq, host)),
  }),
  read("POST /tracking-hosts/:id/check", {
    id: "checkTrackingHost",
    role: "ADMIN",
    summary: "Check the tracking host now",
    description: "Looks it up in the DNS and asks it. It takes at most 20 seconds.",
    answer: Envelope(TrackingHost),
    async run(app, { project, params }) {
      const present = await hostPresenter(app);
      return present(await checkNow(app, getHost(app, project.seq, params.id)));
    },
  }),
  write("DELETE /tracking-hosts/:id", {
    id: "removeTrackingHost",
    role: "ADMIN",
    summary: "Let new links lead to the host of the installation",
    description: "Links in mails that were sent work as long as the host leads to this server.",
    isWithinQuota: false,
    answer: NoContent,
    run(app, { project, params }) {
      const { seq } = getHost(app, project.seq, params.id);
      app.db
        .update(trackingHosts)
        .set({ status: "REMOVED", verifiedAt: null })
        .where(eq(trackingHosts.seq, seq))
        .run();
    },
  }),
]);

export const trackingHostNoun: Noun = {
  name: "tracking hosts",
  operations: hostOperations,
  routes: (app) => [hostCheckRoutes(app)],
  recurring: [{ name: "tracking hosts", pattern: "*/20 * * * * *", run: checkDue }],
  dueTimes: [shiftChecks],
  connect: (app) =>
    void Object.assign(hostedNames(app), {
      isHosted: (host: string) => isTrackingHost(app, host),
      answerCheck: (nonce: string) => answerCheck(app, nonce),
      storeCertificate: (seq: number, sealed: Buffer) => storeCertificate(app, seq, sealed),
    }),
  stop: async (app) => stopping(app).abort(),
};

const findHost = statement<{ seq: number }, [string]>(
  "SELECT seq FROM tracking_hosts WHERE host = +?",
);

/** True if a host is, or was, the tracking host of a project. */
export function isTrackingHost(app: Pick<App, "db">, host: string): boolean {
  return findHost(app).get(host) !== null;
}

/** The canonical form of a host that the project may use. Throws 422, or 409. */
async function parseHost(app: App, projectSeq: number, text: string): Promise<string> {
  const { parseSendingDomain, registeredDomain } = await import("../domains/name.ts");
  const parsed = parseSendingDomain(text);
  if (!parsed.ok) throw fieldError("host", "invalid_format", parsed.reason);
  const { domain: host } = parsed;
  const { hostname: common } = new URL(app.trackingUrl);
  if (isIP(common.replace(/^\[|\]$/g, "")) !== 0 || !common.includes(".")) throw noPublicName();
  const own = [app.url, app.trackingUrl].map((url) => new URL(url).hostname);
  if ([...own, app.config.hostname].includes(host)) {
    throw fieldError("host", "invalid_value", "must not be a name of this installation");
  }
  const registered = registeredDomain(host);
  if (registered === host) {
    const message = `must be a name in ${host}, such as links.${host}, because a domain itself has other records`;
    throw fieldError("host", "invalid_value", message);
  }
  const isOurs = domainsOfProject(app, projectSeq).some(
    ({ status, domain }) => status === "VERIFIED" && registeredDomain(domain) === registered,
  );
  if (!isOurs && app.config.requireVerifiedDomain) {
    const message = `must be in a verified domain of the project; add ${registered} or a name in it, and verify it`;
    throw fieldError("host", "invalid_value", message);
  }
  return host;
}

function getHost(app: App, projectSeq: number, id: string): HostRow {
  const row = app.db
    .select()
    .from(trackingHosts)
    .where(and(eq(trackingHosts.projectSeq, projectSeq), eq(trackingHosts.id, id)))
    .get();
  if (row === undefined || row.status === "REMOVED") throw notFound("TRACKING_HOST");
  return row;
}

/** Part of a change. A host that was removed comes back, also to another project of its domain. */
function addHost(app: App, projectSeq: number, host: string): HostRow {
  const { db, clock } = app;
  const ofProject = db
    .select()
    .from(trackingHosts)
    .where(eq(trackingHosts.projectSeq, projectSeq))
    .limit(MAX_HOSTS)
    .all();
  if (ofProject.some(({ status }) => status !== "REMOVED")) throw alreadyThere();
  const known = db.select().from(trackingHosts).where(eq(trackingHosts.host, host)).get();
  if (known !== undefined && known.status !== "REMOVED") throw taken(host);
  if (known === undefined) ensureLimits(app, ofProject);
  const now = clock.now();
  const fresh = {
    projectSeq,
    status: "PENDING",
    problem: null,
    misses: 0,
    nextCheckAt: now,
  } as const;
  if (known !== undefined) {
    return db
      .update(trackingHosts)
      .set({ ...fresh, checkedAt: null })
      .where(eq(trackingHosts.seq, known.seq))
      .returning()
      .get();
  }
  return db
    .insert(trackingHosts)
    .values({ ...fresh, id: newId(now), host, createdAt: now })
    .returning()
    .get();
}

function ensureLimits({ db }: App, ofProject: readonly HostRow[]): void {
  const all = db.select({ n: count() }).from(trackingHosts).get()?.n ?? 0;
  if (ofProject.length < MAX_HOSTS && all < MAX_ALL_HOSTS) return;
  const message =
    ofProject.length < MAX_HOSTS
      ? `The installation has ${MAX_ALL_HOSTS} tracking hosts, which is the most.`
      : `The project has had ${MAX_HOSTS} tracking hosts to which links in old mails lead, which is the most.`;
  throw new AppError(409, "TOO_MANY_TRACKING_HOSTS", message, {
    suggestion:
      "Add one of these hosts again, or remove the records of one: it is forgotten a week later.",
  });
}

const stopping = perApp(() => new AbortController());
const underWay = perApp(() => new Map<number, Promise<HostRow>>());

/** Shares a check that is under way. Throws 404 if the host was removed meanwhile. */
function checkNow(app: App, row: HostRow): Promise<HostRow> {
  const known = underWay(app).get(row.seq);
  if (known !== undefined) return known;
  const checking = check(app, row).finally(() => underWay(app).delete(row.seq));
  underWay(app).set(row.seq, checking);
  return checking;
}

async function check(app: App, row: HostRow): Promise<HostRow> {
  const found = await checkHost(app, row.host, stopping(app).signal);
  const stored = await app.writer.write(() => storeCheck(app, row, found));
  if (stored === null) throw notFound("TRACKING_HOST");
  if (stored.status !== row.status) {
    const { host, status, problem } = stored;
    app.log.info("the state of a tracking host has changed", { host, status, problem });
  }
  return stored;
}

/** The checks that are due, one after the other. */
async function checkDue(app: App): Promise<void> {
  const due = app.db
    .select()
    .from(trackingHosts)
    .where(lte(trackingHosts.nextCheckAt, app.clock.now()))
    .orderBy(trackingHosts.nextCheckAt)
    .limit(MAX_CHECKED)
    .all();
  for (const row of due) {
    if (stopping(app).signal.aborted) return;
    await checkNow(app, row);
  }
}

/** Part of a change. Null if the host is forgotten, or was changed during the check. */
function storeCheck(
  { db, clock }: App,
  { seq, misses: before }: HostRow,
  found: HostCheck,
): HostRow | null {
  const row = db.select().from(trackingHosts).where(eq(trackingHosts.seq, seq)).get();
  if (row === undefined || row.misses !== before) return row ?? null;
  const now = clock.now();
  const next = hostStateAfter(row, found, now);
  if (next === "forgotten") {
    db.delete(trackingHosts).where(eq(trackingHosts.seq, seq)).run();
    return null;
  }
  return (
    db
      .update(trackingHosts)
      .set({ ...next, checkedAt: now })
      .where(eq(trackingHosts.seq, seq))
      .returning()
      .get() ?? null
  );
}

type State = Pick<HostRow, "status" | "problem" | "misses" | "verifiedAt">;

/** The state of a host after a check, with the time of the next one. Pure. */
export function hostStateAfter(
  { status, misses: before, verifiedAt, problem }: State,
  found: HostCheck,
  now: number,
): (State & { nextCheckAt: number }) | "forgotten" {
  if (found.kind === "found") {
    const isUsed = status !== "REMOVED";
    const since = isUsed ? (verifiedAt ?? now) : null;
    const used = { status: isUsed ? "ACTIVE" : status, verifiedAt: since } as const;
    return { ...used, problem: null, misses: 0, nextCheckAt: now + DAY_MS / 4 };
  }
  if (found.kind === "reached") {
    return { status, verifiedAt, problem: null, misses: 0, nextCheckAt: now + 5 * MINUTE_MS };
  }
  if (found.kind === "unknown") {
    const shown = status === "PENDING" ? found.reason : problem;
    return { status, verifiedAt, problem: shown, misses: before, nextCheckAt: now + 5 * MINUTE_MS };
  }
  const misses = before + 1;
  if (status === "REMOVED") {
    if (misses >= FORGOTTEN_AFTER) return "forgotten";
    return { status, verifiedAt, problem: found.reason, misses, nextCheckAt: now + DAY_MS };
  }
  const isLost = status === "ACTIVE" && misses >= LOST_AFTER;
  const laterMs = misses <= MAX_HOURLY_CHECKS ? HOUR_MS : DAY_MS;
  return {
    ...(isLost ? ({ status: "PENDING", verifiedAt: null } as const) : { status, verifiedAt }),
    problem: found.reason,
    misses,
    nextCheckAt: now + (DELAYS_MS[misses - 1] ?? laterMs),
  };
}

/** Part of a change. A host with a new certificate is checked at once. */
function storeCertificate({ db, clock }: App, seq: number, certificate: Buffer): void {
  db.update(trackingHosts)
    .set({ certificate, nextCheckAt: clock.now() })
    .where(eq(trackingHosts.seq, seq))
    .run();
}

function shiftChecks({ db }: App, { byMs, after }: DueShift): void {
  db.update(trackingHosts)
    .set({ nextCheckAt: sql`${trackingHosts.nextCheckAt} + ${byMs}` })
    .where(gt(trackingHosts.nextCheckAt, after))
    .run();
}

async function hostPresenter(app: App): Promise<(row: HostRow) => TrackingHost> {
  const { hostInZone } = await import("../domains/name.ts");
  const { hostname: value } = new URL(app.trackingUrl);
  return ({ id, host, status, problem, misses, verifiedAt, checkedAt, createdAt }) => ({
    id,
    host,
    url: baseAtHost(app.trackingUrl, host),
    status,
    problem:
      problem ??
      (status === "PENDING" && checkedAt !== null && misses === 0 ? waitText(app, host) : null),
    record: { type: "CNAME", name: host, host: hostInZone(host, host), value },
    verifiedAt: isoTimeOrNull(verifiedAt),
    checkedAt: isoTimeOrNull(checkedAt),
    createdAt: isoTime(createdAt),
  });
}

/** The host leads here, but has no certificate yet (`--tls acme`). */
function waitText(app: App, host: string): string {
  const failure = hostedNames(app).failureOf(host);
  return failure === null
    ? `${host} leads here, and its certificate is being ordered`
    : `the CA gave no certificate for ${host}: ${failure}`;
}

function alreadyThere(): AppError {
  return new AppError(409, "CONFLICT", "The project has a tracking host already.", {
    suggestion: "Remove it first; links in mails that were sent go on working.",
  });
}

function taken(host: string): AppError {
  return new AppError(409, "CONFLICT", `Another project uses ${host}.`, {
    suggestion: "Choose another name, such as click.shop.example.",
  });
}

function noPublicName(): AppError {
  const message = "This server has no public name to which a record could lead.";
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Ask the operator to set --tracking-url or --url to its public name.",
  });
}
