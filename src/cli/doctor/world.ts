/** The world of the command: the machine (doctor/probes.ts), the data folder and a running server. */

import { resolve } from "node:path";
import { createServer } from "../../app.ts";
import type { Config } from "../../config/settings.ts";
import { closeDatabase } from "../../db/close.ts";
import { hasInstallation, requireVisible } from "../../db/folder.ts";
import { isSameSecret, readInstallationValue } from "../../db/installation-values.ts";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import { silentLog } from "../../lib/log.ts";
import { intervalOf } from "../../lib/recurring.ts";
import {
  domainPresenter,
  domainsOfProject,
  recordsOfDomain,
} from "../../modules/domains/domains.ts";
import { reportMailboxStates } from "../../modules/report-mailboxes/report-mailboxes.ts";
import { reportSourceStates } from "../../modules/relay-reports/sources.ts";
import { readBackupsFound } from "../../modules/backups.ts";
import { readKnownUpdate } from "../../modules/updates.ts";
import { listProjects } from "../../modules/projects.ts";
import { readQueueHold } from "../../outbox/queue-hold.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { checkDns } from "../../modules/domains/dns-check.ts";
import type { Domain } from "../../modules/domains/model.ts";
import type { Input } from "../command.ts";
import { hostInUrl } from "../../installation.ts";
import { withStore } from "../store.ts";
import type { Interval, World } from "../../doctor/check.ts";
import { readAcmeState } from "../../tls/acme-state.ts";
import { machineWorld } from "../../doctor/probes.ts";

const TIMEOUT_MS = 8_000;
const MAX_DOMAINS = 50;

export function realWorld(given: { input: Input; config: Config; dns: Dns; clock: Clock }): World {
  const { input, config, dns } = given;
  const path = resolve(config.data);
  requireVisible(path);
  return {
    ...machineWorld(config, dns),
    now: given.clock.now,
    folder: hasInstallation(path) ? path : null,
    refusedProxy: async () => null,
    recurring: () => recurringOf(given),
    metrics: () => readMetrics(config),
    requireReadableKeys: () => withStore(input, async (store) => store.requireReadableKeys()),
    isSameSecret: () => withStore(input, async ({ db, folder }) => isSameSecret(db, folder.secret)),
    backups: () =>
      withStore(input, async ({ db, folder }) => readBackupsFound(given, db, folder.secret)),
    queueHeldSince: () => withStore(input, async ({ db }) => readQueueHold(db)),
    logHeldSince: () =>
      withStore(input, async ({ db }) => readInstallationValue(db, "log_held_since")),
    knownUpdate: () => withStore(input, async ({ db }) => readKnownUpdate(db)),
    acme: () => withStore(input, async ({ db, folder }) => readAcmeState(db, folder.secret)),
    reportSources: () => withStore(input, async (store) => reportSourceStates(store)),
    reportMailboxes: () => withStore(input, async (store) => reportMailboxStates(store)),
    domains: () => checkDomainsNow(input, dns),
  };
}

/** Creates the server's parts on an empty database in memory, and starts none of them. */
async function recurringOf(given: { config: Config; dns: Dns; clock: Clock }): Promise<Interval[]> {
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  const { recurring } = createServer({
    ...given,
    // The transport has no recurring work, and its settings may be incomplete.
    config: { ...given.config, transport: "capture" },
    db,
    folder: null,
    secret: "",
    log: silentLog,
  });
  closeDatabase(db);
  return Promise.all(
    recurring.map(async ({ name, pattern }) => ({ name, everySeconds: await intervalOf(pattern) })),
  );
}

async function readMetrics({ metrics }: Config): Promise<string | null> {
  if (metrics === null) return null;
  try {
    const url = `http://${hostInUrl(metrics.host)}:${metrics.port}/metrics`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null; // No server runs at this address. The check reports that.
  }
}

/** Checks the records of the domains in the DNS, without storing the results. */
function checkDomainsNow(input: Input, dns: Dns): Promise<Domain[]> {
  return withStore(input, async (store) => {
    const present = await domainPresenter(store);
    const rows = listProjects(store).flatMap(({ seq }) => domainsOfProject(store, seq));
    return Promise.all(
      rows.slice(0, MAX_DOMAINS).map(async (row) => {
        const results = await checkDns(dns, row.domain, recordsOfDomain(store, row));
        const findings = results.flatMap(({ finding }) => finding ?? []);
        return present({ ...row, findings: JSON.stringify(findings) });
      }),
    );
  });
}
