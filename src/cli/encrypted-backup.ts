/** The commands `mailstead backup init`, `run`, `list`, `verify` and `drill`, and `mailstead restore`. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { generateKeyPair, parseIdentity, parseRecipient } from "../backup/age.ts";
import { extractBackup, verifyDigest } from "../backup/extract.ts";
import { makeBackup } from "../backup/make.ts";
import type { Contents } from "../backup/manifest.ts";
import { BackupError, BackupRunsError } from "../backup/refusal.ts";
import { recordBackup, recordBackupFailure } from "../backup/state.ts";
import { restoreBackup } from "../backup/restore.ts";
import {
  type DamagedBackup,
  installationId,
  readInventory,
  type StoredBackup,
} from "../backup/stored.ts";
import { hasInstallation, openDataFolder } from "../db/folder.ts";
import { readInstallationValue, storeInstallationValue } from "../db/installation-values.ts";
import { migrate } from "../db/migrate.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { systemClock } from "../lib/clock.ts";
import { explainSystemError } from "../lib/system-errors.ts";
import { requireReadableKeys } from "../modules/domains/keys.ts";
import { checkSteps } from "./check/steps.ts";
import {
  FROM,
  findNamedBackup,
  namedTarget,
  targetName,
  S3_SETTINGS,
  TARGET,
  TARGET_SETTINGS,
} from "./backup-places.ts";
import { backupProgress } from "./backup-progress.ts";
import { type Command, type Flag, type Input, readSettings, UsageError } from "./command.ts";
import { print, readServerSettings, STORE_SETTINGS, withStore } from "./store.ts";

export const KEY_FILE: Flag = {
  name: "key-file",
  placeholder: "FILE",
  help: "File with the recovery key (AGE-SECRET-KEY-1…)",
};

const WORK_FLAG: Flag = {
  name: "work-folder",
  placeholder: "FOLDER",
  help: "Where the decrypted copy is, which is removed at the end; usually the system's temporary folder",
};

export const backupInit: Command = {
  name: "backup init",
  summary: "Make the recovery key of encrypted backups, and show its private half once",
  details:
    "Only the public half is stored here, so backups can be made and not be read. Store the private\n" +
    "half where this machine cannot reach it: without it, no backup can be restored.",
  positionals: [],
  flags: [
    { name: "recipient", placeholder: "AGE1…", help: "Public half of a key that you have already" },
    { name: "replace", help: "Replace the key; older backups still need the old one" },
    { name: "if-needed", help: "Keep the key that there is, instead of an error" },
  ],
  settings: STORE_SETTINGS,
  run: (input) =>
    withStore(input, async ({ db, writer }) => {
      const given = input.flags["recipient"];
      const present = readInstallationValue(db, "backup_recipient");
      if (present !== null && input.flags["if-needed"] !== undefined) {
        const kept = { recipient: present, identity: null };
        return print(input, kept, `Backups are encrypted for ${present}, as before.`);
      }
      const pair =
        given === undefined
          ? await generateKeyPair()
          : { recipient: parseRecipient(given), identity: null };
      await writer.write(() => {
        const known = readInstallationValue(db, "backup_recipient");
        if (known !== null && input.flags["replace"] === undefined) {
          throw new BackupError(
            `There is a recovery key already: ${known}.`,
            "Write --replace to use another one for the backups from now on.",
          );
        }
        storeInstallationValue(db, "backup_recipient", pair.recipient);
      });
      const text = [`Backups are encrypted for ${pair.recipient}.`];
      if (pair.identity !== null) {
        text.push("", `  ${pair.identity}`, "");
        text.push("Store this recovery key now, away from this machine: it is not shown again.");
      }
      return print(input, pair, text.join("\n"));
    }),
};

export const backupRun: Command = {
  name: "backup run",
  summary: "Make an encrypted backup, verify it, and remove the oldest ones",
  details: "It works with or without a running server. It needs the key of mailstead backup init.",
  positionals: [TARGET],
  flags: [],
  settings: [...TARGET_SETTINGS, "backupKeep"],
  run: async (input) => {
    const config = await readServerSettings(input, {
      names: [...TARGET_SETTINGS, "backupKeep"],
    });
    const progress = backupProgress(input, systemClock);
    const place = targetName(input, config);
    const made = await recordFailure(input, { place, atEnd: progress.end }, async () => {
      const target = namedTarget(input, config);
      const recipient = await recipientOf(input);
      const data = openDataFolder(config.data, config.secret);
      const { now } = systemClock;
      const onProgress = progress.show;
      const options = { data, target, keep: config.backupKeep, recipient, now, onProgress };
      const backup = await makeBackup(options);
      await withStore(input, ({ db, writer }) =>
        writer.write(() => recordBackup(db, place, stateOf(backup))),
      );
      return backup;
    });
    const { removed } = made;
    const gone = removed.length === 0 ? [] : [`Removed: ${removed.join(", ")}`];
    return print(input, { ...present(made), removed }, [textOf(made), ...gone].join("\n"));
  },
};

async function recipientOf(input: Input): Promise<string> {
  const recipient = await withStore(input, async ({ db }) =>
    readInstallationValue(db, "backup_recipient"),
  );
  if (recipient !== null) return recipient;
  throw new BackupError("There is no recovery key yet.", "Make one with mailstead backup init.");
}

export const backupList: Command = {
  name: "backup list",
  summary: "List the encrypted backups of this installation, the newest first",
  details: "Without an installation in the data folder, it lists those of all installations.",
  positionals: [TARGET],
  flags: [],
  settings: TARGET_SETTINGS,
  run: async (input) => {
    const config = await readServerSettings(input, { names: TARGET_SETTINGS });
    const id = hasInstallation(config.data)
      ? installationId(openDataFolder(config.data, config.secret).secret)
      : null;
    const target = namedTarget(input, config);
    const { complete, damaged } = await readInventory(target, id);
    const lines = [...complete.map(textOf), ...damaged.map(damageText)];
    const whose = id === null ? "" : " of this installation";
    const none = `There is no backup${whose} in ${target.name}.`;
    return print(input, { backups: complete.map(present), damaged }, lines.join("\n") || none);
  },
};

export const backupVerify: Command = {
  name: "backup verify",
  summary: "Prove that a backup can be read: decrypt it, check it, and compare its rows",
  details:
    "Without --key-file it only compares the digest of the file with the manifest beside it. The\n" +
    "decrypted copy is removed at the end.",
  positionals: [FROM],
  flags: [KEY_FILE, WORK_FLAG],
  settings: S3_SETTINGS,
  run: async (input) => {
    const found = await findNamedBackup(input);
    const isSame = await verifyDigest(found);
    const { "key-file": keyFile } = input.flags;
    if (keyFile === undefined) {
      if (found.manifest === null) throw new UsageError("without a manifest, --key-file is needed");
      if (isSame) return print(input, { verified: "digest" }, `${found.file} is unchanged.`);
      throw new BackupError(`${found.file} was changed: its digest is not that of its manifest.`);
    }
    const contents = await inFolder(input, (folder) =>
      extractBackup(found, identityIn(input, keyFile), folder),
    );
    if (found.manifest !== null && !isSame) {
      throw new BackupError(`${found.file} was changed: its digest is not that of its manifest.`);
    }
    return print(input, { verified: "contents", contents }, `Verified: ${contentsText(contents)}`);
  },
};

export const backupDrill: Command = {
  name: "backup drill",
  summary: "Restore a backup beside, as after a disaster, check everything, and remove it again",
  details:
    "Besides what backup verify does, it applies the migrations of this version, opens the stored\n" +
    "keys with the secret, and runs all checks of mailstead check. Nothing is sent.",
  positionals: [FROM],
  flags: [KEY_FILE, WORK_FLAG],
  settings: S3_SETTINGS,
  run: async (input) => {
    const from = await findNamedBackup(input);
    const identity = identityIn(input, requiredKeyFile(input));
    const { contents, checks } = await inFolder(input, async (folder) => {
      const data = join(folder, "data");
      const now = systemClock.now;
      const restored = await restoreBackup({ from, identity, data, isReplacing: false, now });
      return { contents: restored.contents, checks: examine(data) };
    });
    const failed = checks.filter(({ findings }) => findings.length > 0);
    const lines = failed.flatMap(({ name, findings }) => findings.map((one) => `${name}: ${one}`));
    const text =
      failed.length === 0
        ? [
            `The backup can be restored: ${contentsText(contents)}`,
            `All ${checks.length} checks passed.`,
          ]
        : [`${failed.length} of ${checks.length} checks failed:`, ...lines];
    print(input, { contents, failed: failed.length, checks }, text.join("\n"));
    return failed.length === 0 ? 0 : 1;
  },
};

export const restore: Command = {
  name: "restore",
  summary: "Restore an encrypted backup into an empty data folder, and hold its queue",
  details:
    "The backup is verified before anything changes. Nothing leaves afterwards until mailstead queue\n" +
    "release. With --replace, the files of an installation in the folder are moved aside in it.",
  positionals: [FROM],
  flags: [KEY_FILE, { name: "replace", help: "Move the installation in the folder aside" }],
  settings: ["data", ...S3_SETTINGS],
  run: async (input) => {
    const { data } = readSettings(input, { names: ["data"] });
    const restored = await restoreBackup({
      from: await findNamedBackup(input),
      identity: identityIn(input, requiredKeyFile(input)),
      data,
      isReplacing: input.flags["replace"] !== undefined,
      now: systemClock.now,
    });
    const { contents, pendingMigrations, movedTo } = restored;
    const text = [
      `Restored to ${data}: ${contentsText(contents)}`,
      ...(movedTo === null ? [] : [`The files that were there are in ${movedTo}.`]),
      ...(pendingMigrations.length === 0
        ? []
        : [`The next start upgrades it: ${pendingMigrations.join(", ")}`]),
      "The queue is held: nothing leaves until mailstead queue release.",
    ];
    return print(input, { data, ...restored }, text.join("\n"));
  },
};

/** Runs the work, and stores why it failed, so that the server and its owners know. */
async function recordFailure<T>(
  input: Input,
  { place, atEnd }: { place: string; atEnd: () => Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BackupRunsError) throw error;
    const failure = { at: systemClock.now(), ...failureText(error) };
    await withStore(input, ({ db, writer }) =>
      writer.write(() => recordBackupFailure(db, place, failure)),
    );
    throw error;
  } finally {
    await atEnd();
  }
}

function failureText(error: unknown): { error: string; suggestion: string | null } {
  const explained = error instanceof BackupError ? error : explainSystemError(error);
  if (explained !== null) return { error: explained.message, suggestion: explained.suggestion };
  return { error: error instanceof Error ? error.message : String(error), suggestion: null };
}

function stateOf({ name, manifest }: StoredBackup) {
  const { bytes, contents, sha256, verifiedAt } = manifest;
  const [createdAt, verified] = [Date.parse(contents.createdAt), Date.parse(verifiedAt)];
  return { name, createdAt, verifiedAt: verified, bytes, sha256 };
}

/** Runs the work with a folder of its own, which only its owner can read and which is removed. */
async function inFolder<T>(input: Input, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = resolve(input.io.cwd, input.flags["work-folder"] ?? tmpdir());
  const folder = mkdtempSync(join(parent, "mailstead-drill-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens a restored installation as a server does, and runs the checks of `mailstead check`. */
function examine(data: string): { name: string; findings: string[] }[] {
  const { databaseFile, secret } = openDataFolder(data, null);
  const db = openStoredDatabase(databaseFile);
  try {
    migrate(db.sqlite);
    requireReadableKeys(db, secret);
    return checkSteps(db.sqlite).map(({ name, pieces }) => ({
      name,
      findings: pieces.flatMap(({ find }) => find()).map(({ id, finding }) => `${id} ${finding}`),
    }));
  } finally {
    db.sqlite.close();
  }
}

export function requiredKeyFile({ flags }: Input): string {
  const { "key-file": file } = flags;
  if (file !== undefined) return file;
  throw new UsageError("--key-file is needed: the file with the recovery key");
}

export function identityIn({ io }: Input, file: string): string {
  try {
    return parseIdentity(readFileSync(resolve(io.cwd, file), "utf8"));
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const why = explainSystemError(error);
    const message = `The file of the recovery key ${file} cannot be read.`;
    throw new BackupError(
      why === null ? message : `${message} ${why.message}`,
      why?.suggestion,
      error,
    );
  }
}

function present({ name, path, manifest }: StoredBackup) {
  return { name, path, ...manifest };
}

function textOf({ name, manifest }: StoredBackup): string {
  const { bytes, contents, sha256 } = manifest;
  return `${name}  ${bytes} bytes, ${contentsText(contents)}, sha256 ${sha256}`;
}

const damageText = ({ name, fault }: DamagedBackup): string => `${name}  cannot be used: ${fault}`;

const MAIN_TABLES = ["projects", "contacts", "emails", "events"] as const;

function contentsText({ createdAt, rows }: Contents): string {
  const counts = MAIN_TABLES.map((table) => `${rows[table] ?? 0} ${table}`);
  return `of ${createdAt}, with ${counts.join(", ")}`;
}
