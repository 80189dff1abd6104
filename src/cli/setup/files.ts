/**
 * The files that setup writes. A file is written beside its place, brought to disk, and renamed, so
 * that a kill leaves the old one or the new one. The old one is kept as `NAME.before-TIME`.
 */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { digestFile, syncPath } from "../../backup/files.ts";
import { isoTime } from "../../lib/clock.ts";
import { ENVIRONMENT_FILE } from "./context.ts";
import { formatEnvironmentValue, readEnvironment } from "./environment-file.ts";
import type { Machine, ServiceUser } from "./machine.ts";

export type WantedFile = {
  path: string;
  /** Null if there must be no such file. */
  content: string | null;
  mode: number;
  /** The group that may read it, besides root. */
  group: "root" | "service";
  /** True if the content must not be shown. */
  isSecret: boolean;
};

export type FileChange = WantedFile & {
  kind: "new" | "changed" | "removed";
  /** The text that is there now; null for a new file. */
  before: string | null;
};

/** The files that differ from those on the machine. */
export function findChanges(machine: Machine, wanted: readonly WantedFile[]): FileChange[] {
  return wanted.flatMap((file): FileChange[] => {
    const path = machine.path(file.path);
    const exists = existsSync(path);
    if (file.content === null) {
      return exists ? [{ ...file, kind: "removed", before: readFileSync(path, "utf8") }] : [];
    }
    if (!exists) return [{ ...file, kind: "new", before: null }];
    const before = readFileSync(path, "utf8");
    return before === file.content ? [] : [{ ...file, kind: "changed", before }];
  });
}

/** A new file with more lines, such as the unit, is only shown in a dry run. */
const MAX_LINES_OF_NEW = 30;

/** The changes, in lines that begin with `+` or `-`. Values of secrets are not shown. */
export function describeChange(
  { path, kind, content, before, isSecret }: FileChange,
  { isWhole }: { isWhole: boolean },
): string[] {
  const title = `${kind.padEnd(8)} ${path}`;
  const read = path === ENVIRONMENT_FILE ? variablesIn : linesOf;
  const [old, next] = [read(before ?? ""), read(content ?? "")];
  const isLong = kind === "new" && next.length > MAX_LINES_OF_NEW;
  if (isSecret || (isLong && !isWhole)) return [title];
  if (kind !== "changed")
    return [title, ...(kind === "new" ? next : old).map(marked(kind === "new"))];
  return [
    title,
    ...old.filter((line) => !next.includes(line)).map(marked(false)),
    ...next.filter((line) => !old.includes(line)).map(marked(true)),
  ];
}

/** Values with a password, a key or an address that is a secret itself. */
const SECRET_VARIABLE =
  /^(MAILSTEAD_(?:\w*(?:SECRET\w*|PASSWORD|RELAY_URL|AUTH|EAB)|ALERT_\w+|HEARTBEAT_URL))=.*/;

const marked = (isAdded: boolean) => (line: string) =>
  `         ${isAdded ? "+" : "-"} ${line.replace(SECRET_VARIABLE, "$1=(not shown)")}`;

/** One line for each variable, also if its value has several. */
function variablesIn(text: string): string[] {
  return Object.entries(readEnvironment(text)).map(
    ([name, value]) => `${name}=${formatEnvironmentValue(value).replaceAll("\n", "\\n")}`,
  );
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

export function writeChange(
  machine: Machine,
  change: FileChange,
  { service, now }: { service: ServiceUser; now: number },
): void {
  const path = machine.path(change.path);
  makeFolder(dirname(path));
  if (change.kind !== "new") keepOld(machine, path, now);
  const { content } = change;
  if (content === null) {
    rmSync(path);
    syncPath(dirname(path));
    return;
  }
  replaceFile(path, change.mode, (file, draft) => {
    machine.chown(draft, { uid: 0, gid: change.group === "service" ? service.gid : 0 });
    writeFileSync(file, content);
  });
}

/** True if the executable that runs is already the installed one. */
export async function isInstalled(from: string, to: string): Promise<boolean> {
  if (!existsSync(to)) return false;
  if (statSync(from).size !== statSync(to).size) return false;
  const [running, installed] = [await digestFile(from), await digestFile(to)];
  return running.sha256 === installed.sha256;
}

/** Copies an executable; a server that runs the old one keeps it until its restart. */
export function installExecutable(from: string, to: string): void {
  makeFolder(dirname(to));
  replaceFile(to, 0o755, (_, draft) => copyFileSync(from, draft));
}

function replaceFile(
  path: string,
  mode: number,
  fill: (file: number, draft: string) => void,
): void {
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  try {
    fill(file, draft);
    fchmodSync(file, mode);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncPath(dirname(path));
}

/** The copy has the owner and the rights of the old file. */
function keepOld(machine: Machine, path: string, now: number): void {
  const copy = `${path}.before-${isoTime(now).replace(/[-:]|\.\d+/g, "")}`;
  const { mode, uid, gid } = statSync(path);
  copyFileSync(path, copy);
  machine.chown(copy, { uid, gid });
  chmodSync(copy, mode & 0o777);
}

/** All users may read the folder; secret files have rights of their own. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
  chmodSync(path, 0o755);
}

/** The only entry of a new disk. */
const LOST_AND_FOUND = "lost+found";

/** True for a folder that is missing, empty, or the service's already. */
export function mayTakeFolder(folder: string, service: ServiceUser | null): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isDirectory()) return false;
  if (stats.uid === service?.uid) return true;
  return readdirSync(folder).every((name) => name === LOST_AND_FOUND);
}

/** A folder of the service, which only it can read. An existing one keeps its content. */
export function makeServiceFolder(machine: Machine, path: string, service: ServiceUser): void {
  const folder = machine.path(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // The folder itself may be on another disk, behind a link.
  machine.chown(realpathSync(folder), service);
  chmodSync(folder, 0o700);
}

/** Files that commands of root may have made in the data folder before there was a service. */
const DATA_FILES = [
  "mailstead.db",
  "mailstead.db-wal",
  "mailstead.db-shm",
  "secret",
  "lock",
  "lock-journal",
];

/** Gives them to the service. A link, or a file with a second name elsewhere, stays as it is. */
export function giveDataFiles(machine: Machine, folder: string, service: ServiceUser): void {
  for (const name of DATA_FILES) {
    const path = join(machine.path(folder), name);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.nlink !== 1 || stats.uid === service.uid) continue;
    machine.chown(path, service);
  }
}
