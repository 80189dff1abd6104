/**
 * The table of conditions. Each describes the fault that exists now, how long it must hold until its
 * alert is raised, and how long it must be over until the alert is cleared. A condition with a limit
 * gets a lower one while its alert is open, so that a value near the limit does not raise and clear
 * it again and again.
 *
 * Each is read once a minute: a value in memory, or a few rows by an index. Counting reads run in a
 * thread.
 */

import { backupState } from "../../backup/state.ts";
import type { App } from "../../core/app.ts";
import type { diskSpace } from "../../db/folder.ts";
import { NO_OWNER } from "../../db/reader.ts";
import type { ALERT_SEVERITIES } from "../../db/schema/alerts.ts";
import { statement } from "../../db/statement.ts";
import { perApp } from "../../lib/per-app.ts";
import { firstTransactionalDueAt } from "../../outbox/held-mails.ts";
import { queueHold } from "../../outbox/queue-hold.ts";
import { transportOf } from "../../outbox/transports/create-transport.ts";
import { readKnownUpdate, UPGRADE_COMMAND } from "../updates.ts";
import { diskFullInMs } from "./disk.ts";
import { bytesText, utcText } from "./figures.ts";

export type Severity = (typeof ALERT_SEVERITIES)[number];

/** A problem of one subject. */
type Found = {
  /** Identifies it, such as the id of a domain; empty if there is only one. */
  subject: string;
  /** Its name for people, in the title; empty if the title needs none. */
  name: string;
  finding: string;
};

/** The values that alerts need from parts above the modules. */
export type AlertSources = {
  /** The certificates of HTTPS and of the SMTP listeners, as far as they have some. */
  certificates: () => CertificateState[];
  diskSpace: typeof diskSpace;
  /** When the process started, on the monotonic clock. */
  startedAt: number;
};

export type CertificateState = {
  name: "HTTPS" | "SMTP";
  /** The life of the certificate; null if there is none yet. */
  life: { from: number; to: number } | null;
  /** The tries at the CA that have failed since the last certificate. */
  failure: { count: number; message: string } | null;
};

export type AlertCondition = {
  name: string;
  severity: Severity;
  title: (name: string) => string;
  /** The advice: a sentence that says how the problem is mended. */
  fix: string;
  /** For how long it must hold. */
  holdMs: number;
  /** For how long it must be over. */
  overMs: number;
  /** `isOpen` tells whether the alert of a subject is open. */
  read: (
    app: App,
    sources: AlertSources,
    isOpen: (subject: string) => boolean,
  ) => Found[] | Promise<Found[]>;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Most subjects of one condition that have an alert at once, the oldest ones. */
const MAX_SUBJECTS = 20;
/** Most relays of projects that are looked at. */
const MAX_RELAYS = 500;
const STALLED_MS = 5 * MINUTE_MS;
const MAX_BACKUP_AGE_MS = 36 * HOUR_MS;
const WEBHOOK_FAILING_MS = HOUR_MS;
const CERTIFICATE_LIFE_SHARE = 1 / 6;
/** A certificate that is valid for years needs no alert before this. */
const LONGEST_CERTIFICATE_WARNING_MS = 30 * DAY_MS;
/** The CA is asked again after 1, 10 and 60 minutes. */
const CERTIFICATE_FAILURES = 3;

/** Shares and numbers of mails in a day; `over` is the limit while the alert is open. */
const BOUNCES = { share: 0.05, over: 0.04, minMails: 100, column: "bounced", of: "tried" } as const;
const COMPLAINTS = {
  share: 0.001,
  over: 0.0008,
  minMails: 1_000,
  column: "complained",
  of: "sent",
} as const;
const FREE_SPACE = { share: 0.05, over: 0.07 };
const FULL_IN = { ms: DAY_MS, overMs: 36 * HOUR_MS };

const one = (finding: string, name = ""): Found[] => [{ subject: "", name, finding }];

export const CONDITIONS: readonly AlertCondition[] = [
  {
    name: "queue_stalled",
    severity: "critical",
    title: () => "Mail does not leave",
    fix:
      "Open the page System: it says whether the relay answers and which sites are paused. If more " +
      "mail is accepted than may leave, raise --send-rate.",
    holdMs: 0,
    overMs: 5 * MINUTE_MS,
    async read(app, { startedAt }) {
      const { clock } = app;
      const moving = movingQueue(app);
      if (queueHold(app).isHeld()) moving.since = clock.elapsed();
      // Mail that was due before the start, or before a release, has only just been able to leave.
      const movingMs = clock.elapsed() - Math.max(moving.since, startedAt);
      if (movingMs < STALLED_MS) return [];
      const dueAt = await firstTransactionalDueAt(app);
      const ageMs = dueAt === null ? 0 : Math.min(clock.now() - dueAt, movingMs);
      if (ageMs < STALLED_MS) return [];
      return one(`Transactional mail has been due for ${lengthOf(ageMs)} and has not left.`);
    },
  },
  {
    name: "queue_held",
    severity: "warning",
    title: () => "The queue is held",
    fix:
      "Look at what waits with mailstead queue list, cancel what had left before, and then release " +
      "the queue on the page System or with mailstead queue release.",
    holdMs: 15 * MINUTE_MS,
    overMs: 0,
    read(app) {
      const since = queueHold(app).since();
      if (since === null) return [];
      return one(`It is held since ${utcText(since)}, so no mail and no webhook leaves.`);
    },
  },
  {
    name: "relay_down",
    severity: "critical",
    title: (name) => `The relay ${name} takes no mail`,
    fix:
      "Look at the state of the relay, and at the quota and the account there. Mail waits in the " +
      "queue and leaves when the relay takes it again.",
    holdMs: 15 * MINUTE_MS,
    overMs: 5 * MINUTE_MS,
    read(app) {
      const transport = transportOf(app);
      transport.probeRelays?.();
      const ofProjects = findRelayProjects(app)
        .all(MAX_RELAYS)
        .map(({ seq }) => transport.holdOf?.("", seq) ?? null);
      const found = new Map<string, Found>();
      for (const hold of [transport.holdOf?.("") ?? null, ...ofProjects]) {
        if (hold === null || hold.at === "site") continue;
        const { name, at, reason } = hold;
        const finding = at === "relay" ? "It cannot be reached" : "It refuses our account";
        found.set(name, { subject: name, name, finding: `${finding}: ${reason}` });
      }
      return [...found.values()].slice(0, MAX_SUBJECTS);
    },
  },
  {
    name: "relay_fallback",
    severity: "warning",
    title: (name) => `Mail leaves by the fallback relay, because ${name} is away`,
    fix: "Look at the state of the first relay. Mail leaves by it again as soon as it can be reached.",
    holdMs: 15 * MINUTE_MS,
    overMs: 5 * MINUTE_MS,
    read(app) {
      const hold = transportOf(app).replacedHold?.() ?? null;
      if (hold === null) return [];
      const { name, reason } = hold;
      return [{ subject: name, name, finding: `It cannot be reached: ${reason}` }];
    },
  },
  {
    name: "bounce_rate",
    severity: "warning",
    title: (name) => `Many bounces in the project ${name}`,
    fix:
      "Find out where its addresses come from, and stop its campaigns until then: receivers refuse " +
      "mail of senders with many bounces.",
    holdMs: 0,
    overMs: HOUR_MS,
    read: (app, _, isOpen) =>
      readRates(app, BOUNCES, ({ id, name, tried, bounced }) => {
        const limit = isOpen(id) ? BOUNCES.over : BOUNCES.share;
        if (bounced / tried <= limit) return null;
        const finding = `${bounced} of ${tried} mails of the last 24 hours bounced (${percent(bounced / tried)}).`;
        return { subject: id, name, finding };
      }),
  },
  {
    name: "complaint_rate",
    severity: "warning",
    title: (name) => `Many complaints in the project ${name}`,
    fix:
      "Find out which mail was reported as spam, and stop it: large receivers refuse mail of senders " +
      "with more than 0.3 % complaints.",
    holdMs: 0,
    overMs: HOUR_MS,
    read: (app, _, isOpen) =>
      readRates(app, COMPLAINTS, ({ id, name, sent, complained }) => {
        const limit = isOpen(id) ? COMPLAINTS.over : COMPLAINTS.share;
        if (complained / sent <= limit) return null;
        const finding = `${complained} of ${sent} mails of the last 24 hours were reported as spam (${percent(complained / sent)}).`;
        return { subject: id, name, finding };
      }),
  },
  {
    name: "domain_lost",
    severity: "warning",
    title: (name) => `The domain ${name} lost its DKIM record`,
    fix: "Publish its records again: the page of the domain shows them, and so does mailstead domain records.",
    holdMs: 10 * MINUTE_MS,
    overMs: 0,
    read: (app) =>
      lostDomains(app).map(({ id, domain, project, status, since }) => {
        const effect =
          status === "FAILED"
            ? "so it may not send any more"
            : "so its signatures do not verify; 72 hours later the domain may not send any more";
        const finding = `The record is missing or wrong in the DNS since ${utcText(since)}, ${effect} (project ${project}).`;
        return { subject: id, name: domain, finding };
      }),
  },
  {
    name: "certificate",
    severity: "warning",
    title: (name) => `The certificate of ${name} is not renewed`,
    fix: "With --tls acme, let port 80 of all names reach this server. Replace a certificate that is in files.",
    holdMs: 0,
    overMs: 0,
    read: (app, { certificates }) =>
      certificates().flatMap((certificate) => {
        const finding = findingOfCertificate(certificate, app.clock.now());
        const { name } = certificate;
        return finding === null ? [] : [{ subject: name, name, finding }];
      }),
  },
  {
    name: "backup",
    severity: "warning",
    title: () => "Backups are not made",
    fix: "Look at the page System and at the log, and make one with mailstead backup run.",
    holdMs: 0,
    overMs: 0,
    read: readBackup,
  },
  {
    name: "disk_low",
    severity: "critical",
    title: () => "The disk is almost full",
    fix: "Free some space, or move the data folder to a larger disk. No mail is accepted on a full one.",
    holdMs: 0,
    overMs: 5 * MINUTE_MS,
    read(app, sources, isOpen) {
      const space = app.folder === null ? null : sources.diskSpace(app.folder);
      if (space === null) return [];
      const share = space.freeBytes / space.totalBytes;
      if (share >= (isOpen("") ? FREE_SPACE.over : FREE_SPACE.share)) return [];
      return one(`${bytesText(space.freeBytes)} are free, ${percent(share)} of the disk.`);
    },
  },
  {
    name: "disk_filling",
    severity: "warning",
    title: () => "The disk will be full within a day",
    fix: "Find out what grows, free some space, or move the data folder to a larger disk.",
    holdMs: 30 * MINUTE_MS,
    overMs: 30 * MINUTE_MS,
    read(app, _, isOpen) {
      const inMs = app.folder === null ? null : diskFullInMs(app);
      if (inMs === null || inMs > (isOpen("") ? FULL_IN.overMs : FULL_IN.ms)) return [];
      return one(`As it grew in the last six hours, it will be full in ${lengthOf(inMs)}.`);
    },
  },
  {
    name: "webhook_failing",
    severity: "warning",
    title: (name) => `The webhook ${name} fails`,
    fix: "Look at its deliveries on the page of the webhook, and repair the receiver, or disable it.",
    holdMs: 0,
    overMs: 0,
    read: (app) =>
      findFailingWebhooks(app)
        .all(app.clock.now() - WEBHOOK_FAILING_MS, MAX_SUBJECTS)
        .map(({ id, url, project, since, disabledReason }) => {
          const state =
            disabledReason === null
              ? `No call has succeeded since ${utcText(since)}`
              : "It was disabled because its calls failed";
          // The path of a URL may have a secret.
          const name = new URL(url).host;
          return { subject: id, name, finding: `${state} (project ${project}).` };
        }),
  },
  {
    name: "update_available",
    severity: "info",
    title: (name) => `Mailstead ${name} is available`,
    fix: `Read what is new, and install it with ${UPGRADE_COMMAND}.`,
    holdMs: 0,
    overMs: 0,
    read({ db }) {
      const known = readKnownUpdate(db);
      if (known === null) return [];
      const { version, changesUrl } = known;
      return [{ subject: version, name: version, finding: `What is new: ${changesUrl}` }];
    },
  },
];

/** Since when the queue has not been held, on the monotonic clock. */
const movingQueue = perApp(() => ({ since: -Infinity }));

/** The projects with a relay of their own. */
const findRelayProjects = statement<{ seq: number }, [number]>(
  "SELECT project_seq AS seq FROM project_relays WHERE project_seq > 0 LIMIT +?",
);

const findLostDomains = statement<
  { id: string; domain: string; status: string; since: number; project: string },
  [number]
>(`SELECT d.id, d.domain, d.status, d.failing_since AS since, p.name AS project
   FROM domains d INDEXED BY domains_failing CROSS JOIN projects p ON p.seq = d.project_seq
   WHERE d.failing_since IS NOT NULL ORDER BY d.failing_since LIMIT +?`);

/** The verified domains whose DKIM record is missing or wrong, the oldest loss first. */
export const lostDomains = (app: App) => findLostDomains(app).all(MAX_SUBJECTS);

const findFailingWebhooks = statement<
  { id: string; url: string; since: number; disabledReason: string | null; project: string },
  [number, number]
>(`SELECT w.id, w.url, w.failing_since AS since, w.disabled_reason AS disabledReason, p.name AS project
   FROM webhooks w INDEXED BY webhooks_failing CROSS JOIN projects p ON p.seq = w.project_seq
   WHERE w.failing_since IS NOT NULL AND w.deleted_at IS NULL
     AND (w.disabled_reason IS NOT NULL OR (w.is_enabled = 1 AND w.failing_since <= +?))
   ORDER BY w.failing_since LIMIT +?`);

/** `tried` are the mails that were accepted or refused by a server. */
type Rates = {
  id: string;
  name: string;
  sent: number;
  tried: number;
  bounced: number;
  complained: number;
};

/** Reads the figures of the last 24 hours of the projects that exceed the lower limit. */
async function readRates(
  app: App,
  { over, minMails, column, of }: typeof BOUNCES | typeof COMPLAINTS,
  find: (rates: Rates) => Found | null,
): Promise<Found[]> {
  const { rows } = await app.reader.find(NO_OWNER, {
    sql: `SELECT p.id, p.name, sum(h.sent) AS total_sent,
                 sum(h.sent + h.bounced - h.bounced_later) AS total_tried,
                 sum(h.bounced) AS total_bounced, sum(h.complained) AS total_complained
          FROM projects p CROSS JOIN project_hours h ON h.project_seq = p.seq AND h.hour > +?
          WHERE in_time() GROUP BY p.seq
          HAVING total_${of} >= +? AND total_${column} > +? * total_${of}`,
    values: [app.clock.now() - DAY_MS, minMails, over],
  });
  return rows
    .flatMap(([id, name, sent, tried, bounced, complained]) => {
      const counts = { sent: Number(sent), tried: Number(tried), bounced: Number(bounced) };
      const rates = { id: String(id), name: String(name), complained: Number(complained) };
      return find({ ...rates, ...counts }) ?? [];
    })
    .slice(0, MAX_SUBJECTS);
}

/** Null if nothing has to be done. */
function findingOfCertificate({ life, failure }: CertificateState, now: number): string | null {
  const refused = failure === null ? "" : ` The CA gave none: ${failure.message}`;
  if (life !== null) {
    const lastMs = (life.to - life.from) * CERTIFICATE_LIFE_SHARE;
    const isLate = life.to - now < Math.min(lastMs, LONGEST_CERTIFICATE_WARNING_MS);
    if (isLate) return `It ends on ${utcText(life.to)}.${refused}`;
  }
  if (failure === null || failure.count < CERTIFICATE_FAILURES) return null;
  return `The last ${failure.count} tries failed.${refused}`;
}

function readBackup(app: App, { startedAt }: AlertSources): Found[] {
  const { backupTo } = app.config;
  if (backupTo === null || app.folder === null) return [];
  const { last, failure } = backupState(app.db, backupTo);
  if (failure !== null) {
    return one(
      `The last one failed: ${[failure.error, failure.suggestion ?? ""].join(" ").trim()}`,
    );
  }
  const newestAt = last?.createdAt ?? null;
  const runsForMs = app.clock.elapsed() - startedAt;
  if (newestAt === null) return runsForMs > MAX_BACKUP_AGE_MS ? one("There is none yet.") : [];
  const isOld = app.clock.now() - newestAt > MAX_BACKUP_AGE_MS;
  return isOld ? one(`The newest one is of ${utcText(newestAt)}.`) : [];
}

/** A length of time such as `12 minutes` or `3 hours`. */
function lengthOf(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const [count, unit] = minutes < 120 ? [minutes, "minute"] : [Math.floor(minutes / 60), "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.01 ? 2 : 1)} %`;
