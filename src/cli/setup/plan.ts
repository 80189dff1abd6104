/** The files of a setup, from its answers. */

import { existsSync } from "node:fs";
import { readConfig } from "../../config/read.ts";
import { requireSubmissionCertificate } from "../../config/submission-certificate.ts";
import { type Config, SETTINGS } from "../../config/settings.ts";
import { UsageError } from "../command.ts";
import { ENVIRONMENT_FILE, RELAY_FILE, type SetupContext } from "./context.ts";
import { changeEnvironment, isEnvironmentValue, readEnvironment } from "./environment-file.ts";
import { mayTakeFolder, type WantedFile } from "./files.ts";
import type { Machine } from "./machine.ts";
import { DATA_FOLDER, DROP_IN_FILE, packagedUnit, UNIT_FILE, UNIT_TEXT } from "./unit.ts";

/** The text of each setting by its flag; null removes it from the environment file. */
export type SettingTexts = Readonly<Record<string, string | null>>;

const byFlag = new Map(Object.values(SETTINGS).map((setting) => [setting.flag, setting]));

/** Variables that setup writes elsewhere: into the file of the relay URL. */
const ELSEWHERE = [SETTINGS.relayUrl.env, `${SETTINGS.relayUrl.env}_FILE`];

/** The environment file with the answers; its other lines stay. */
export function environmentText({ current }: SetupContext, settings: SettingTexts): string {
  const changes: Record<string, string | null> = {};
  for (const [flag, text] of Object.entries(settings)) {
    const setting = byFlag.get(flag);
    if (setting === undefined) throw new Error(`there is no setting --${flag}`);
    if (text !== null && !isEnvironmentValue(text)) {
      throw new UsageError(`--${flag}: must not contain control characters`);
    }
    changes[setting.env] = text;
    // A file that names the value would contradict it.
    if (current.variables[`${setting.env}_FILE`] !== undefined)
      changes[`${setting.env}_FILE`] = null;
  }
  for (const name of ELSEWHERE) if (current.variables[name] !== undefined) changes[name] = null;
  return changeEnvironment(current.environment, changes);
}

/**
 * Reads the settings as the server will, from the text of the file. Throws for a value that it would
 * refuse, and names the flag if the value is one of the answers.
 */
export function readPlannedConfig(
  environment: string,
  settings: SettingTexts,
  relayUrl: string | null,
): Config {
  const given = Object.entries(settings).flatMap(([flag, text]): [string, string][] =>
    text === null ? [] : [[flag, text]],
  );
  const flags = Object.fromEntries(given);
  const variables = readEnvironment(environment);
  for (const flag of Object.keys(flags)) delete variables[byFlag.get(flag)?.env ?? ""];
  const relay = relayUrl === null ? {} : { [SETTINGS.relayUrl.flag]: relayUrl };
  const config = readConfig({ ...flags, ...relay, data: DATA_FOLDER }, variables);
  requireSubmissionCertificate(config);
  return config;
}

export function wantedFiles(
  { machine }: Pick<SetupContext, "machine">,
  planned: { environment: string; relayUrl: string | null; config: Config },
): WantedFile[] {
  const { environment, relayUrl, config } = planned;
  const open = { mode: 0o644, group: "root", isSecret: false } as const;
  const dropIn = dropInText(config);
  const hasDropIn = existsSync(machine.path(DROP_IN_FILE));
  return [
    {
      path: ENVIRONMENT_FILE,
      content: environment,
      mode: 0o640,
      group: "service",
      isSecret: false,
    },
    ...(relayUrl === null
      ? []
      : [
          {
            path: RELAY_FILE,
            content: `${relayUrl}\n`,
            mode: 0o600,
            group: "root",
            isSecret: true,
          } as const,
        ]),
    ...(packagedUnit(machine) === null ? [{ path: UNIT_FILE, content: UNIT_TEXT, ...open }] : []),
    ...(dropIn === null && !hasDropIn ? [] : [{ path: DROP_IN_FILE, content: dropIn, ...open }]),
  ];
}

/** Adds the right that the unit does not give by itself: to write backups outside its folder. */
function dropInText({ backupTo }: Config): string | null {
  const folder = outsideFolder(backupTo);
  if (folder === null) return null;
  return `# Written by mailstead setup.\n[Service]\nReadWritePaths=${folder}\n`;
}

/** The folder of the backups, if it is a folder outside the data folder of the service. */
export function outsideFolder(backupTo: string | null): string | null {
  const isFolder = backupTo?.startsWith("/") === true;
  return !isFolder || backupTo.startsWith(`${DATA_FOLDER}/`) ? null : backupTo;
}

/** Setup gives the folder of the backups to the service, which must not happen to a folder of others. */
export async function requireBackupFolder(machine: Machine, { backupTo }: Config): Promise<void> {
  const folder = outsideFolder(backupTo);
  if (folder === null) return;
  const service = await machine.findServiceUser();
  if (mayTakeFolder(machine.path(folder), service)) return;
  throw new UsageError(
    `--backup-to: ${folder} has files, and does not belong to the user mailstead; name a new folder in it, such as ${folder}/mailstead`,
  );
}
