import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DataFolderError,
  freeBytes,
  lockDataFolder,
  openDataFolder,
  requireInstallation,
} from "../../src/db/folder.ts";
import { openDatabase } from "../../src/db/open.ts";

let parent: string;
let path: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-folder-"));
  path = join(parent, "deep", "data");
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const mode = (file: string) => statSync(file).mode & 0o777;

describe("the data folder", () => {
  test("is created with its parent folders, with access for its owner only", () => {
    const folder = openDataFolder(path, null);
    expect(folder).toEqual({
      path,
      databaseFile: join(path, "mailstead.db"),
      secret: expect.any(String),
    });
    expect(mode(path)).toBe(0o700);
  });

  test("stores a secret of 43 characters that only its owner can read and that never changes", () => {
    const { secret } = openDataFolder(path, null);
    expect(secret).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(mode(join(path, "secret"))).toBe(0o600);
    expect(openDataFolder(path, null).secret).toBe(secret);
    expect(openDataFolder(join(parent, "other"), null).secret).not.toBe(secret);
  });

  test("removes access of other users to the secret", () => {
    openDataFolder(path, null);
    chmodSync(join(path, "secret"), 0o644);
    openDataFolder(path, null);
    expect(mode(join(path, "secret"))).toBe(0o600);
  });

  test("uses a given secret without storing it", () => {
    expect(openDataFolder(path, "given").secret).toBe("given");
    expect(existsSync(join(path, "secret"))).toBe(false);
  });

  test("refuses a damaged secret and does not change it", () => {
    openDataFolder(path, null);
    writeFileSync(join(path, "secret"), "short\n");
    expect(() => openDataFolder(path, null)).toThrow(/secret is damaged.*backup/s);
    expect(readFileSync(join(path, "secret"), "utf8")).toBe("short\n");
  });

  test("does not replace a missing secret if there is a database", () => {
    const { databaseFile, secret } = openDataFolder(path, null);
    openDatabase(databaseFile).sqlite.close();
    rmSync(join(path, "secret"));
    expect(() => openDataFolder(path, null)).toThrow(/secret is missing/);
    expect(existsSync(join(path, "secret"))).toBe(false);
    expect(openDataFolder(path, secret).secret).toBe(secret);
  });

  test("refuses an empty database, with or without a secret, and does not change it", () => {
    const { databaseFile } = openDataFolder(path, null);
    writeFileSync(databaseFile, "");
    expect(() => openDataFolder(path, null)).toThrow(/mailstead\.db is empty/);
    rmSync(join(path, "secret"));
    expect(() => openDataFolder(path, null)).toThrow(/mailstead\.db is empty/);
    expect(statSync(databaseFile).size).toBe(0);
  });

  test("refuses a log without its database, because SQLite would delete the log", () => {
    const { databaseFile } = openDataFolder(path, null);
    writeFileSync(`${databaseFile}-wal`, "");
    expect(() => openDataFolder(path, null)).toThrow(/mailstead\.db is missing, but its log/);
  });

  test("reports that there is no installation, and creates nothing", () => {
    expect(() => requireInstallation(path)).toThrow(DataFolderError);
    expect(() => requireInstallation(path)).toThrow(path);
    expect(existsSync(path)).toBe(false);
    openDatabase(openDataFolder(path, null).databaseFile).sqlite.close();
    requireInstallation(path);
  });

  test("refuses a path that is a file, and names it", () => {
    const file = join(parent, "file");
    writeFileSync(file, "");
    for (const bad of [file, join(file, "below")]) {
      expect(() => openDataFolder(bad, null)).toThrow(DataFolderError);
      expect(() => openDataFolder(bad, null)).toThrow(bad);
    }
  });

  test("reports the free bytes of the file system", () => {
    expect(freeBytes(parent)).toBeGreaterThan(0);
  });
});

describe("the lock", () => {
  test("prevents a second server until the first one releases it", () => {
    openDataFolder(path, null);
    const unlock = lockDataFolder(path);
    expect(() => lockDataFolder(path)).toThrow(/Another mailstead serves.*--data/s);
    unlock();
    lockDataFolder(path)();
  });

  test("holds also after its file was deleted, so that no second server starts", () => {
    openDataFolder(path, null);
    const unlock = lockDataFolder(path);
    rmSync(join(path, "lock"));
    expect(() => lockDataFolder(path)).toThrow(/Another mailstead serves/);
    expect(existsSync(join(path, "lock"))).toBe(false);
    unlock();
    lockDataFolder(path)();
  });

  test("is released if its file cannot be used", () => {
    openDataFolder(path, null);
    writeFileSync(join(path, "lock"), "x".repeat(1_000));
    expect(() => lockDataFolder(path)).toThrow(/lock cannot be used/);
    rmSync(join(path, "lock"));
    lockDataFolder(path)();
  });

  test("of one folder does not affect another folder", () => {
    const other = join(parent, "other");
    for (const folder of [path, other]) openDataFolder(folder, null);
    const unlocks = [path, other].map(lockDataFolder);
    for (const unlock of unlocks) unlock();
  });
});

test("openDatabase uses settings with which a commit survives a power cut", () => {
  const { databaseFile } = openDataFolder(path, null);
  const { sqlite } = openDatabase(databaseFile);
  const value = (pragma: string) =>
    Object.values(Object(sqlite.query(`PRAGMA ${pragma}`).get()))[0];
  const settings = [
    "journal_mode",
    "synchronous",
    "foreign_keys",
    "busy_timeout",
    "temp_store",
  ].map(value);
  expect(settings).toEqual(["wal", 2, 1, 10_000, 2]);
  sqlite.close();
});

/** Only root can become another user. */
test.skipIf(process.getuid?.() !== 0)("a folder of another user does not look empty", () => {
  openDataFolder(path, null);
  const nobody = 65_534;
  process.seteuid?.(nobody);
  try {
    expect(() => requireInstallation(path)).toThrow("may not look into the data folder");
  } finally {
    process.seteuid?.(0);
  }
});
