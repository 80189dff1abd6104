/**
 * The checks of `mailstead doctor` inside the running server. They use its database, its settings and
 * its stored results of DNS checks. Left out are those that need another process, its metrics and the
 * list of its recurring work, and the newer version, which GET /system has as a member.
 */

import type { App } from "./core/app.ts";
import { isSameSecret, readInstallationValue } from "./db/installation-values.ts";
import type { Finding, World } from "./doctor/check.ts";
import { readRefusedProxy } from "./http/client-address.ts";
import { domainPresenter, domainsOfProject } from "./modules/domains/domains.ts";
import { requireReadableKeys } from "./modules/domains/keys.ts";
import { reportMailboxStates } from "./modules/report-mailboxes/report-mailboxes.ts";
import { reportSourceStates } from "./modules/relay-reports/sources.ts";
import { readQueueHold } from "./outbox/queue-hold.ts";
import { readBackupsFound } from "./modules/backups.ts";
import { readAcmeState } from "./tls/acme-state.ts";
import { readKnownUpdate } from "./modules/updates.ts";
import { listProjects } from "./modules/projects.ts";

/** Longest time for one check. */
const LIMIT_MS = 20_000;
const MAX_DOMAINS = 50;

export async function serverChecks(app: App): Promise<Finding[]> {
  // Loaded at the first use, because few servers are asked.
  const [{ examine, SERVER_CHECKS }, probes] = await Promise.all([
    import("./doctor/examine.ts"),
    import("./doctor/probes.ts"),
  ]);
  const { clock, config, db, dns, folder, secret } = app;
  const world: World = {
    ...probes.machineWorld(config, dns),
    now: clock.now,
    folder,
    refusedProxy: async () => readRefusedProxy(app),
    recurring: async () => [],
    metrics: async () => null,
    requireReadableKeys: async () => requireReadableKeys(db, secret),
    isSameSecret: async () => isSameSecret(db, secret),
    backups: () => readBackupsFound({ config, clock }, db, secret),
    queueHeldSince: async () => readQueueHold(db),
    logHeldSince: async () => readInstallationValue(db, "log_held_since"),
    knownUpdate: async () => readKnownUpdate(db),
    acme: async () => readAcmeState(db, secret),
    reportSources: async () => reportSourceStates(app),
    reportMailboxes: async () => reportMailboxStates(app),
    domains: async () =>
      listProjects(app)
        .flatMap(({ seq }) => domainsOfProject(app, seq))
        .slice(0, MAX_DOMAINS)
        .map(await domainPresenter(app)),
  };
  return Array.fromAsync(examine(world, { checks: SERVER_CHECKS, limitMs: LIMIT_MS, clock }));
}
