/** The command `mailstead upgrade`: installs another version (src/upgrade/upgrade.ts). */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { SettingSources } from "../config/read.ts";
import type { Config, SettingName } from "../config/settings.ts";
import { openDataFolder, requireInstallation } from "../db/folder.ts";
import { readInstallationValue } from "../db/installation-values.ts";
import { missingMigrations } from "../db/migrate.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { systemClock } from "../lib/clock.ts";
import { isVersion } from "../lib/release-names.ts";
import { PLATFORM, VERSION } from "../lib/version.ts";
import { BACKUP_SETTINGS, backupVariables } from "../modules/backups.ts";
import { readStoredTexts } from "../modules/settings/stored.ts";
import type { BackupBefore } from "../upgrade/copies.ts";
import { installedExecutable, instructionsFor } from "../upgrade/installed.ts";
import { asOwner, programsFor, withoutSettings } from "../upgrade/programs.ts";
import { UpgradeError } from "../upgrade/refusal.ts";
import { builtInReleaseKey, changesUrl, publishedRelease } from "../upgrade/release.ts";
import { requireNoRollback } from "../upgrade/rollback.ts";
import { commandService, findUnit, type Service, type ServiceProcess } from "../upgrade/service.ts";
import { releaseSource } from "../upgrade/source.ts";
import { upgrade, type Upgraded, type UpgradeOptions } from "../upgrade/upgrade.ts";
import { addressText, reachable } from "./capture-address.ts";
import { type Command, type Input, parseArguments, settingSources, UsageError } from "./command.ts";
import type { Output } from "./io.ts";
import { serve } from "./serve.ts";
import { print } from "./store.ts";

const UPGRADE_SETTINGS: readonly SettingName[] = [
  "data",
  "secret",
  "host",
  "port",
  ...BACKUP_SETTINGS,
];
const USUAL_UNIT = "mailstead";
const BAR_CHARACTERS = 30;
const MIB = 1024 ** 2;
const CLEAR_LINE = "\r\u001b[K";

export const upgradeCommand: Command = {
  name: "upgrade",
  summary: "Install the newest version, after a backup and a trial on a copy of the database",
  details:
    "The release must be signed by the key that this program contains. The backup is the encrypted one\n" +
    "if there is a recovery key and --backup-to, else a plain copy in the data folder. The new version\n" +
    "migrates and checks a copy of the database before anything changes. Then the server is stopped, the\n" +
    "executable replaced (the old one stays, with .old after its name), and the server is started. If it is\n" +
    "not ready within 30 seconds, and the time that migrations take, everything is put back.\n" +
    "If systemd runs this program, its settings are those of the running unit. Run it as root.",
  positionals: [],
  flags: [
    {
      name: "from",
      placeholder: "URL|FOLDER",
      help: "Where one release is, with SHA256SUMS; default: the published ones",
    },
    {
      name: "version",
      placeholder: "VERSION",
      help: "The version to install; default: the newest",
    },
    { name: "check", help: "Try the new version on a copy of the database, and install nothing" },
    { name: "force", help: "Install it although it is the same version or an older one" },
    {
      name: "release-key",
      placeholder: "FILE",
      help: "Public key (minisign) of releases that you build yourself",
    },
    { name: "unit", placeholder: "NAME", help: `The systemd unit; default: ${USUAL_UNIT}` },
    {
      name: "stop-command",
      placeholder: "COMMAND",
      help: "How the server is stopped, if systemd does not run it",
    },
    { name: "start-command", placeholder: "COMMAND", help: "How it is started" },
  ],
  settings: UPGRADE_SETTINGS,
  run: async (input) => {
    const executable = installedExecutable();
    const isTrial = input.flags["check"] !== undefined;
    const instructions = await instructionsFor(executable, input.io.env);
    if (instructions !== null && !isTrial) {
      throw new UpgradeError(
        `${executable} is not replaced by this command. ${instructions}`,
        "Before that, mailstead upgrade --check tries the new version on a copy of the database.",
      );
    }
    const { service, process } = await findService(input, executable);
    const sources = sourcesOf(input, process);
    const options = optionsOf(input, sources, { executable, service, isTrial });
    return printResult(input, await upgrade(options), { service, instructions });
  },
};

type Found = { service: Service | null; process: ServiceProcess | null };

async function findService({ flags, io }: Input, executable: string): Promise<Found> {
  const { unit, "stop-command": stop, "start-command": start } = flags;
  if ((stop === undefined) !== (start === undefined)) {
    throw new UsageError("--stop-command and --start-command must be given together");
  }
  if (stop !== undefined && start !== undefined) {
    return { service: commandService(stop, start, io.env), process: null };
  }
  const found = await findUnit(unit ?? USUAL_UNIT, executable, io.env);
  if (found === null && unit !== undefined) {
    throw new UpgradeError(
      `systemd has no unit ${unit} that runs ${executable}.`,
      "systemctl status shows the units.",
    );
  }
  return found ?? { service: null, process: null };
}

/** The settings of the running unit, unless they are given here. */
function sourcesOf(input: Input, running: ServiceProcess | null): SettingSources {
  const names = UPGRADE_SETTINGS;
  if (running === null) return settingSources(input, { names });
  const { settings } = parseArguments(serve, running.words.slice(1));
  const { data } = input.settings;
  return settingSources(
    {
      ...input,
      settings: {
        ...settings,
        ...input.settings,
        ...(data !== undefined && { data: resolve(input.io.cwd, data) }),
      },
      io: { ...input.io, cwd: running.cwd, env: { ...input.io.env, ...running.env } },
    },
    { names },
  );
}

function optionsOf(
  input: Input,
  sources: SettingSources,
  known: Pick<UpgradeOptions, "executable" | "service" | "isTrial">,
): UpgradeOptions {
  const { io, flags, isJson } = input;
  const config = sources.withStored({});
  requireInstallation(config.data);
  requireNoRollback(config.data);
  const { data, secret } = config;
  const given = secret === null ? {} : { MAILSTEAD_SECRET: secret };
  const programs = programsFor(data, { ...withoutSettings(io.env), ...given });
  const wanted = flags["version"] ?? null;
  if (wanted !== null && !isVersion(wanted)) {
    throw new UsageError(`--version: expected a version such as 1.2.3, got "${wanted}"`);
  }
  if (config.port === 0) throw new UsageError("--port: expected the port of the server, got 0");
  const address = addressText({ host: reachable(config.host), port: config.port });
  return {
    ...known,
    version: VERSION,
    platform: PLATFORM ?? "",
    source: releaseSource(placeOf(input, wanted), systemClock),
    publicKey: releaseKeyOf(input),
    wanted,
    isForced: flags["force"] !== undefined,
    data,
    programs,
    backup: asOwner(programs, () => backupOf(sources, config)),
    readyUrl: `http://${address}/readyz`,
    clock: systemClock,
    tell: (line) =>
      isJson ? io.stderr.line(JSON.stringify({ step: line })) : io.stdout.line(line),
    onProgress: progressOn(io.stderr, isJson),
    onSwitch() {
      // A closed terminal or Ctrl+C must not leave the server stopped.
      io.onEnd(() => {});
      void io
        .untilStopped()
        .then(() => io.stderr.line("The upgrade ends by itself, so that the server is started."));
    },
  };
}

function placeOf({ flags, io }: Input, wanted: string | null): string {
  const { from } = flags;
  if (from === undefined) return publishedRelease(wanted);
  return /^https?:\/\//.test(from) ? from : resolve(io.cwd, from);
}

function releaseKeyOf({ flags, io }: Input): string {
  const { "release-key": file } = flags;
  if (file === undefined) {
    const key = builtInReleaseKey();
    if (key !== null) return key;
    throw new UpgradeError(
      "This program was built without a key of releases, so it trusts none.",
      "Name the public key of your releases with --release-key FILE.",
    );
  }
  try {
    return readFileSync(resolve(io.cwd, file), "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UpgradeError(`--release-key: ${file} cannot be read: ${why}`, null, error);
  }
}

/** Encrypted backups need both a place, which may be set in the dashboard, and a key. */
function backupOf(sources: SettingSources, { data, secret: given }: Config): BackupBefore {
  const { databaseFile, secret } = openDataFolder(data, given);
  const db = openStoredDatabase(databaseFile);
  try {
    // An interrupted upgrade may have left a database that this version has not migrated yet.
    const isOld = missingMigrations(db.sqlite).length > 0;
    const config = sources.withStored(isOld ? {} : readStoredTexts({ db, secret }, sources.given));
    const hasKey = readInstallationValue(db, "backup_recipient") !== null;
    if (config.backupTo === null || !hasKey) return null;
    return { to: config.backupTo, variables: backupVariables(config, { folder: data, secret }) };
  } finally {
    db.sqlite.close();
  }
}

/** A bar on a terminal; nothing elsewhere. */
function progressOn(output: Output, isJson: boolean): UpgradeOptions["onProgress"] {
  let shown = "";
  return async (received, all) => {
    if (isJson || !output.isTerminal) return;
    const mib = (bytes: number) => Math.round(bytes / MIB);
    const filled = all === null ? 0 : Math.round((received / all) * BAR_CHARACTERS);
    const bar = "#".repeat(filled).padEnd(BAR_CHARACTERS, "·");
    const isEnd = received === all;
    const text = isEnd ? "" : `Downloading [${bar}] ${mib(received)} of ${mib(all ?? 0)} MiB`;
    if (text === shown) return;
    shown = text;
    await output.write(CLEAR_LINE + text);
  };
}

function printResult(
  input: Input,
  result: Upgraded,
  { service, instructions }: { service: Service | null; instructions: string | null },
): number {
  return print(input, { from: VERSION, ...result }, textOf());

  function textOf(): string {
    const { version } = result;
    if (result.kind === "current") return `Version ${version} is installed already.`;
    if (result.kind === "tried") {
      const next = instructions ?? "Install it with mailstead upgrade.";
      return `Version ${version} works with this database. Nothing was installed. ${next}`;
    }
    const old = `The old version is ${result.old}. What is new: ${changesUrl(version)}`;
    if (result.isRunning) return `Version ${version} is installed and runs. ${old}`;
    const start = service === null ? "Start the server." : `Start it: ${service.startText}`;
    return `Version ${version} is installed; no server runs. ${start} ${old}`;
  }
}
