/** The commands `mailstead alert test`, `list` and `secret`. */

import type { Config, SettingName } from "../config/settings.ts";
import { createApp } from "../core.ts";
import { isoTime, isoTimeOrNull } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { type AlertRow, clearedAlerts, openAlerts } from "../modules/alerts/alert-rows.ts";
import { closeOperatorMail } from "../modules/alerts/operator-mail.ts";
import { alertSigningSecret, alertTargets } from "../modules/alerts/targets.ts";
import { testTargets } from "../modules/alerts/test-alert.ts";
import { type Command, UsageError } from "./command.ts";
import {
  LINK_SETTINGS,
  print,
  readServerSettings,
  type Store,
  STORE_SETTINGS,
  withStore,
} from "./store.ts";

const TARGET_SETTINGS = [
  "operatorEmail",
  "alertRelayUrl",
  "alertWebhook",
  "alertNtfy",
  "alertSlack",
  "systemFrom",
  "requireVerifiedDomain",
  "hostname",
  "dns",
  "directPort",
  "sourceAddresses",
  "allowPrivateAddresses",
] as const satisfies SettingName[];

const HISTORY_DAYS = 30;
const DAY_MS = 24 * 60 * 60_000;
const MAX_HISTORY = 100;
const EXIT_FAILED = 1;

export const alertTest: Command = {
  name: "alert test",
  summary: "Send a test to each target of alerts, and print its reply",
  details:
    "The targets are those of the dashboard, unless flags or variables name them as the server has\n" +
    "them. It works with or without a running server, and exits with 1 if a target did not take it.",
  positionals: [],
  flags: [],
  settings: [...STORE_SETTINGS, ...LINK_SETTINGS, ...TARGET_SETTINGS],
  run: async (input) => {
    const settings = await readServerSettings(input, {
      names: [...STORE_SETTINGS, ...TARGET_SETTINGS],
    });
    return withStore(input, async (store) => {
      const app = createApp({
        config: configOf(settings, store),
        db: store.db,
        folder: store.folder.path,
        secret: store.secret,
        clock: store.clock,
        log: silentLog,
      });
      if (alertTargets(app).length === 0) {
        throw new UsageError(
          "there are no targets: give --operator-email, --alert-webhook, --alert-ntfy or " +
            "--alert-slack, as the server has them",
        );
      }
      try {
        const tests = await testTargets(app);
        const lines = tests.targets.map(
          ({ kind, label, isDelivered, reply, durationMs }) =>
            `${isDelivered ? "ok  " : "fail"}  ${kind.toLowerCase()} ${label}: ${reply} (${durationMs} ms)`,
        );
        print(input, tests, lines.join("\n"));
        return tests.targets.every(({ isDelivered }) => isDelivered) ? 0 : EXIT_FAILED;
      } finally {
        await closeOperatorMail(app);
        app.dns.close();
      }
    });
  },
};

/** The settings with the links and the name that the server has stored. */
function configOf(settings: Config, { url, installation }: Store): Config {
  return { ...settings, url, hostname: installation.hostname, durability: "sqlite" };
}

export const alertList: Command = {
  name: "alert list",
  summary: `List the open alerts, and those of the last ${HISTORY_DAYS} days`,
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ db, clock }) => {
      const open = openAlerts({ db });
      const since = clock.now() - HISTORY_DAYS * DAY_MS;
      const cleared = clearedAlerts({ db }, since, MAX_HISTORY);
      const lines = [
        open.length === 0 ? "No alert is open." : "Open:",
        ...open.flatMap((alert) => [lineOf(alert), `  ${alert.finding}`, `  ${alert.fix}`]),
        ...(cleared.length === 0 ? [] : ["Cleared:", ...cleared.map(lineOf)]),
      ];
      const machine = { open: open.map(machineOf), cleared: cleared.map(machineOf) };
      return print(input, machine, lines.join("\n"));
    }),
};

function lineOf({ severity, title, raisedAt, clearedAt }: AlertRow): string {
  const until = clearedAt === null ? "" : ` to ${isoTime(clearedAt)}`;
  return `${severity.padEnd(8)}  ${isoTime(raisedAt)}${until}  ${title}`;
}

function machineOf(alert: AlertRow) {
  const { id, condition, subject, severity, title, finding, fix } = alert;
  const raisedAt = isoTime(alert.raisedAt);
  const clearedAt = isoTimeOrNull(alert.clearedAt);
  return { id, condition, subject, severity, title, finding, fix, raisedAt, clearedAt };
}

export const alertSecret: Command = {
  name: "alert secret",
  summary: "Print the secret that signs the requests of --alert-webhook",
  details: "It follows from the installation secret, so it stays the same after a restore.",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async (store) => {
      const secret = alertSigningSecret(store.secret);
      return print(input, { secret }, secret);
    }),
};
