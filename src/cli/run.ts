/**
 * Runs the command line with the `Io` of a process or of a test. It finds the command, parses its arguments (`command.ts`), and runs it:
 * commands that work on the database open it beside a running server (`store.ts`), `serve` and
 * `dev` run a server, and `doctor` and `check` examine the installation. An error is printed with a
 * suggestion and becomes an exit code: 0 for success, 1 for failure, 2 for wrong usage.
 */

import { insteadOfFlag } from "../config/mailpit-variables.ts";
import { ConfigError } from "../config/read.ts";
import { describeFault, recoverySteps, StorageFaultError } from "../db/fault.ts";
import { DataFolderError } from "../db/folder.ts";
import { DatabaseTooNewError } from "../db/migrate.ts";
import { AppError } from "../lib/errors.ts";
import { describeError } from "../lib/log.ts";
import { nearestOf } from "../lib/nearest.ts";
import { explainSystemError } from "../lib/system-errors.ts";
import { UnreadableKeyError } from "../modules/domains/keys.ts";
import { BackupError, BackupRunsError } from "../backup/refusal.ts";
import { UpgradeError } from "../upgrade/refusal.ts";
import { alertList, alertSecret, alertTest } from "./alert.ts";
import { backup } from "./backup.ts";
import {
  backupDrill,
  backupInit,
  backupList,
  backupRun,
  backupVerify,
  restore,
} from "./encrypted-backup.ts";
import { check } from "./check.ts";
import { type Command, parseArguments, UsageError } from "./command.ts";
import { dev } from "./dev.ts";
import { doctor } from "./doctor.ts";
import { domainAdd, domainList, domainRecords, domainRemove, domainVerify } from "./domain.ts";
import { eventsExport } from "./events.ts";
import { type CommandGroup, commandHelp, overview } from "./help.ts";
import { importCommand } from "./import.ts";
import { inboxExport, inboxImport } from "./inbox.ts";
import type { Io } from "./io.ts";
import { keyCreate, keyList, keyRevoke } from "./key.ts";
import { mcp } from "./mcp.ts";
import { migrateCommand } from "./migrate.ts";
import {
  projectCreate,
  projectDisable,
  projectEnable,
  projectList,
  projectSet,
} from "./project.ts";
import { projectExport, projectImport } from "./project-move.ts";
import { projectRelay } from "./project-relay.ts";
import { queueHoldCommand, queueList, queueRelease } from "./queue.ts";
import { readyz } from "./readyz.ts";
import { send } from "./send.ts";
import { sendmail } from "./sendmail.ts";
import { serve } from "./serve.ts";
import { upgradeCommand } from "./upgrade.ts";
import {
  userAdd,
  userDisable,
  userEnable,
  userLink,
  userList,
  userResetSecondFactor,
} from "./user.ts";
import { setup } from "./setup.ts";
import { version } from "./version.ts";

const GROUPS: readonly CommandGroup[] = [
  { subject: "Run a server", commands: [dev, setup, serve, readyz] },
  {
    subject: "Projects and their keys",
    commands: [
      projectCreate,
      projectList,
      projectSet,
      projectDisable,
      projectEnable,
      projectRelay,
      projectExport,
      projectImport,
      keyCreate,
      keyList,
      keyRevoke,
    ],
  },
  {
    subject: "Users",
    commands: [userAdd, userLink, userList, userDisable, userEnable, userResetSecondFactor],
  },
  {
    subject: "Sender domains",
    commands: [domainAdd, domainList, domainRecords, domainVerify, domainRemove],
  },
  { subject: "Send and catch mail", commands: [send, sendmail, inboxImport, inboxExport, mcp] },
  { subject: "Move from another product", commands: [importCommand] },
  {
    subject: "Look after an installation",
    commands: [
      doctor,
      check,
      queueList,
      queueHoldCommand,
      queueRelease,
      eventsExport,
      migrateCommand,
      upgradeCommand,
      version,
    ],
  },
  { subject: "Alerts", commands: [alertList, alertTest, alertSecret] },
  {
    subject: "Backups",
    commands: [backup, backupInit, backupRun, backupList, backupVerify, backupDrill, restore],
  },
];

const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands);

/** Number of words in the longest command name. */
const MAX_NAME_WORDS = 2;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Runs `mailstead …words` and resolves to the exit code. */
export async function main(words: readonly string[], io: Io): Promise<number> {
  const isJson = words.includes("--json");
  try {
    return await dispatch(words, io, isJson);
  } catch (error) {
    return report(io, error, { isJson, command: findCommand(words)?.command.name ?? null });
  }
}

async function dispatch(words: readonly string[], io: Io, isJson: boolean): Promise<number> {
  const [first] = words;
  if (first === undefined || first === "--help" || first === "-h") {
    io.stdout.line(overview(GROUPS));
    return 0;
  }
  if (first === "help") return help(io, words.slice(1));
  if (first === "--version") return dispatch(["version", ...words.slice(1)], io, isJson);
  const found = findCommand(words);
  if (found === null) {
    const { names, rest } = splitAtFlag(words);
    if (rest.includes("--help") || rest.includes("-h")) return help(io, names);
    throw unknownCommand(names.slice(0, MAX_NAME_WORDS).join(" "), rest[0]);
  }
  const { positionals, flags, settings } = parseArguments(found.command, found.rest);
  if (flags["help"] !== undefined) {
    io.stdout.line(commandHelp(found.command));
    return 0;
  }
  return found.command.run({ positionals, flags, settings, isJson, io });
}

function help(io: Io, words: readonly string[]): number {
  const name = words.filter((word) => !word.startsWith("-")).join(" ");
  const matching = COMMANDS.filter(
    (command) => command.name === name || command.name.startsWith(`${name} `),
  );
  if (name === "" || name === "help") io.stdout.line(overview(GROUPS));
  else if (matching.length === 0) throw unknownCommand(name);
  else io.stdout.line(matching.map(commandHelp).join("\n\n"));
  return 0;
}

/** Finds the command with the longest name that `words` begin with. */
function findCommand(
  words: readonly string[],
): { command: Command; rest: readonly string[] } | null {
  for (let length = MAX_NAME_WORDS; length > 0; length--) {
    const name = words.slice(0, length).join(" ");
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command !== undefined) return { command, rest: words.slice(length) };
  }
  return null;
}

/** Splits words before the first flag. */
function splitAtFlag(words: readonly string[]): { names: string[]; rest: string[] } {
  const flag = words.findIndex((word) => word.startsWith("-"));
  const end = flag === -1 ? words.length : flag;
  return { names: words.slice(0, end), rest: words.slice(end) };
}

function unknownCommand(name: string, flag?: string): UsageError {
  if (name === "" && flag !== undefined) {
    const [title = ""] = flag.split("=");
    const instead = insteadOfFlag(title);
    if (instead !== null) return new UsageError(`there is no flag ${title}; ${instead}`);
    return new UsageError(`a command must come before ${title}, as in mailstead serve ${title} …`);
  }
  const [group = ""] = name.split(" ");
  const inGroup = COMMANDS.flatMap((command) =>
    command.name.startsWith(`${group} `) ? [command.name.slice(group.length + 1)] : [],
  );
  if (inGroup.length > 0) {
    return new UsageError(`${group} needs one of these words after it: ${inGroup.join(", ")}`);
  }
  const near = nearestOf(
    name,
    COMMANDS.map((command) => command.name),
  );
  const hint = near === null ? "" : `; did you mean ${near}?`;
  return new UsageError(`unknown command "${name}"${hint}`);
}

type Ran = {
  isJson: boolean;
  /** Name of the command; null if the words name none. */
  command: string | null;
};

function report(io: Io, error: unknown, { isJson, command }: Ran): number {
  const { code, message, suggestion, exit } = explain(error, command);
  if (isJson) io.stderr.line(JSON.stringify({ error: { code, message, suggestion } }));
  else io.stderr.line(`mailstead: ${message}${suggestion === null ? "" : `\n${suggestion}`}`);
  return exit;
}

function explain(
  error: unknown,
  command: string | null,
): {
  code: string;
  message: string;
  suggestion: string | null;
  exit: number;
} {
  if (error instanceof UsageError || error instanceof ConfigError) {
    const suggestion =
      command === null
        ? "mailstead help shows every command."
        : `mailstead help ${command} shows its arguments and flags.`;
    return { code: "USAGE", message: error.message, suggestion, exit: EXIT_USAGE };
  }
  if (error instanceof StorageFaultError) {
    const { fault } = error;
    const [message, suggestion] = [describeFault(fault), recoverySteps(fault)];
    return { code: "DATA_FOLDER", message, suggestion, exit: EXIT_FAILED };
  }
  if (error instanceof AppError) {
    const suggestion = error.suggestion ?? null;
    return { code: error.code, message: error.message, suggestion, exit: EXIT_FAILED };
  }
  if (error instanceof DataFolderError || error instanceof UnreadableKeyError) {
    const { message, suggestion } = error;
    return { code: "DATA_FOLDER", message, suggestion, exit: EXIT_FAILED };
  }
  if (error instanceof BackupError) {
    const { message, suggestion } = error;
    const code = error instanceof BackupRunsError ? "BACKUP_RUNS" : "BACKUP";
    return { code, message, suggestion, exit: EXIT_FAILED };
  }
  if (error instanceof UpgradeError) {
    const { message, suggestion } = error;
    return { code: "UPGRADE", message, suggestion, exit: EXIT_FAILED };
  }
  if (error instanceof DatabaseTooNewError) {
    return { code: "DATA_FOLDER", message: error.message, suggestion: null, exit: EXIT_FAILED };
  }
  const explained = explainSystemError(error);
  if (explained !== null) return { code: "FAILED", ...explained, exit: EXIT_FAILED };
  return {
    code: "FAILED",
    message: describeError(error),
    suggestion: null,
    exit: EXIT_FAILED,
  };
}
