/** An upgrade, with small programs in place of the executables; scripts/upgrade.ts proves it with real ones. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryLockDataFolder } from "../../src/db/folder.ts";
import { sha256 } from "../../src/lib/crypto.ts";
import { generateMinisignKeys, signMinisign } from "../../src/lib/minisign.ts";
import { releaseComment, SIGNATURE_FILE, SUMS_FILE } from "../../src/lib/release-names.ts";
import { UpgradeError } from "../../src/upgrade/refusal.ts";
import { finishRollback } from "../../src/upgrade/rollback.ts";
import type { Service } from "../../src/upgrade/service.ts";
import { releaseSource } from "../../src/upgrade/source.ts";
import { upgrade, type UpgradeOptions } from "../../src/upgrade/upgrade.ts";
import { migratedImage } from "../support/database.ts";

const KEYS = generateMinisignKeys();
const PROGRAM = join(import.meta.dir, "../support/upgrade-program.ts");
const NAME = "mailstead-linux-x64";

let folder: string;
let data: string;
let executable: string;
let release: string;
let said: string[];
let service: TestService;

/** Time passes when something waits for it: a second each time. */
function hastyClock(): UpgradeOptions["clock"] {
  let elapsedMs = 0;
  return {
    now: () => Date.UTC(2026, 0, 2),
    elapsed: () => elapsedMs,
    after(delayMs, run) {
      const timer = setImmediate(() => {
        elapsedMs += Math.max(delayMs, 1_000);
        run();
      });
      return () => clearImmediate(timer);
    },
  };
}

/** The server in this process: it has the lock of the data folder and migrates as its executable says. */
type TestService = Service & {
  url: string;
  log: string[];
  /** Runs when a version starts. It returns false if that version is not ready. */
  onStart: (version: string, database: Database) => boolean;
  close: () => Promise<void>;
};

function testService(): TestService {
  let unlock: (() => void) | null = null;
  let isReady = false;
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response("it does not move", { status: isReady ? 200 : 503 }),
  });
  const made: TestService = {
    url: `http://127.0.0.1:${http.port}/readyz`,
    stopText: "stop",
    startText: "start",
    log: [],
    onStart: () => true,
    async start() {
      unlock = tryLockDataFolder(data);
      if (unlock === null) throw new UpgradeError("the server runs already");
      finishRollback(data, Date.UTC(2026, 0, 3));
      const version = versionOf(executable);
      made.log.push(`start ${version}`);
      const sqlite = new Database(join(data, "mailstead.db"));
      if (version >= "2") sqlite.run("INSERT OR IGNORE INTO migrations VALUES ('9000_next', 0)");
      isReady = made.onStart(version, sqlite);
      sqlite.close();
    },
    async stop() {
      made.log.push("stop");
      isReady = false;
      unlock?.();
      unlock = null;
    },
    async close() {
      unlock?.();
      await http.stop(true);
    },
  };
  return made;
}

function writeProgram(file: string, version: string, fault = "none"): void {
  const command = `${process.execPath} ${PROGRAM} ${version} ${fault}`;
  writeFileSync(file, `#!/bin/sh\n# ${version}\nexec ${command} "$@"\n`);
  chmodSync(file, 0o755);
}

const versionOf = (file: string): string =>
  readFileSync(file, "utf8").split("\n")[1]?.slice(2) ?? "";

function publish(version: string, { keys = KEYS, fault = "none", says = version } = {}): void {
  const file = join(release, NAME);
  writeProgram(file, says, fault);
  const sums = Buffer.from(`${sha256(readFileSync(file))}  ${NAME}\n`);
  writeFileSync(join(release, SUMS_FILE), sums);
  const trustedComment = releaseComment(version);
  writeFileSync(
    join(release, SIGNATURE_FILE),
    signMinisign(sums, keys.secretKey, { trustedComment }),
  );
}

const optionsWith = (changes: Partial<UpgradeOptions> = {}): UpgradeOptions => ({
  executable,
  version: "1.0.0",
  platform: "linux-x64",
  source: releaseSource(release, hastyClock()),
  publicKey: KEYS.publicKey,
  wanted: null,
  isForced: false,
  isTrial: false,
  data,
  programs: { env: process.env, owner: { uid: statSync(data).uid, gid: statSync(data).gid } },
  backup: null,
  service,
  readyUrl: service.url,
  clock: hastyClock(),
  tell: (line) => void said.push(line),
  onProgress: async () => {},
  onSwitch: () => {},
  ...changes,
});

async function refusalOf(changes: Partial<UpgradeOptions> = {}): Promise<UpgradeError> {
  const error = await upgrade(optionsWith(changes)).catch((caught: unknown) => caught);
  if (error instanceof UpgradeError) return error;
  throw new Error("the upgrade was not refused", { cause: error });
}

function migrations(): string[] {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const rows = sqlite.query<{ name: string }, []>("SELECT name FROM migrations").all();
  sqlite.close();
  return rows.map(({ name }) => name);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-upgrade-test-"));
  [data, release] = [join(folder, "data"), join(folder, "release")];
  executable = join(folder, "bin/mailstead");
  for (const each of [data, release, join(folder, "bin")]) mkdirSync(each);
  writeFileSync(join(data, "mailstead.db"), migratedImage());
  writeFileSync(join(data, "secret"), `${"s".repeat(43)}\n`);
  writeProgram(executable, "1.0.0");
  said = [];
  service = testService();
  await service.start();
  service.log = [];
});
afterEach(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("an upgrade", () => {
  test("makes a backup, tries the new version on a copy, and replaces the running one", async () => {
    publish("2.0.0");
    let switched = "";
    const onSwitch = () => void (switched = service.log.join());
    expect(await upgrade(optionsWith({ onSwitch }))).toEqual({
      kind: "installed",
      version: "2.0.0",
      migrations: ["9000_next"],
      isRunning: true,
      old: `${executable}.old`,
    });
    expect([switched, service.log]).toEqual(["", ["stop", "start 2.0.0"]]);
    expect([versionOf(executable), versionOf(`${executable}.old`)]).toEqual(["2.0.0", "1.0.0"]);
    expect(readdirSync(join(folder, "bin"))).toEqual(["mailstead", "mailstead.old"]);
    expect(readdirSync(join(data, "upgrade")).toSorted()).toEqual(["before-2.0.0", "lock"]);
    expect(said.join("\n")).toContain("1 migration in");
  });

  test("replaces the copy of the last upgrade, and what an interrupted one has left", async () => {
    for (const left of ["before-1.0.0", "before-2.0.0.partial", "trial", "stopped"]) {
      mkdirSync(join(data, "upgrade", left), { recursive: true });
    }
    writeFileSync(`${executable}.new`, "half of it");
    publish("2.0.0");
    await upgrade(optionsWith());
    expect(readdirSync(join(data, "upgrade")).toSorted()).toEqual(["before-2.0.0", "lock"]);
  });

  test("starts no server where none runs", async () => {
    await service.stop();
    service.log = [];
    publish("2.0.0");
    expect(await upgrade(optionsWith({ service: null }))).toMatchObject({ isRunning: false });
    expect([versionOf(executable), migrations().includes("9000_next")]).toEqual(["2.0.0", false]);
    expect(service.log).toEqual([]);
  });

  test("makes the encrypted backup where there is one", async () => {
    publish("2.0.0");
    await upgrade(
      optionsWith({ backup: { to: "/backup", variables: { MAILSTEAD_BACKUP_TO: "/backup" } } }),
    );
    expect(said).toContain("An encrypted backup was made in /backup and verified.");
    expect(readdirSync(join(data, "upgrade"))).toEqual(["lock"]);
  });

  test("with --check, tries the new version and installs nothing", async () => {
    publish("2.0.0");
    const result = await upgrade(optionsWith({ isTrial: true, service: null }));
    expect(result).toEqual({ kind: "tried", version: "2.0.0", migrations: ["9000_next"] });
    expect([versionOf(executable), service.log]).toEqual(["1.0.0", []]);
    expect(readdirSync(join(data, "upgrade"))).toEqual(["lock"]);
  });

  test("says that the version is installed, unless it is forced", async () => {
    publish("1.0.0");
    expect(await upgrade(optionsWith())).toEqual({ kind: "current", version: "1.0.0" });
    expect(await upgrade(optionsWith({ isForced: true }))).toMatchObject({ kind: "installed" });
    publish("0.9.0");
    await upgrade(optionsWith({ isForced: true }));
    expect(versionOf(executable)).toBe("0.9.0");
  });
});

describe("nothing changes, and the server goes on, if", () => {
  type Setting = { publish?: () => void; changes?: () => Partial<UpgradeOptions> };
  test.each<[string, Setting, string]>([
    [
      "another key has signed",
      { publish: () => publish("2.0.0", { keys: generateMinisignKeys() }) },
      "is not trusted",
    ],
    ["there is no release", { publish: () => {} }, "There is no file"],
    [
      "the file is another one",
      { publish: () => (publish("2.0.0"), writeProgram(join(release, NAME), "3.0.0")) },
      "is not the file that was released",
    ],
    [
      "the list is no list",
      { publish: () => publishSums("hello\n") },
      "has a line that is no digest",
    ],
    [
      "the list is too long",
      { publish: () => publishSums("x".repeat(70_000)) },
      "is longer than 65536 bytes",
    ],
    [
      "the comment names no version",
      { publish: () => publishSums(`${"a".repeat(64)}  x\n`, "hello") },
      "names no version",
    ],
    ["the version is older", { publish: () => publish("0.9.9") }, "is older than 1.0.0"],
    [
      "the version is not the wanted one",
      { changes: () => ({ wanted: "3.0.0" }) },
      "--version says 3.0.0",
    ],
    [
      "there is none for this machine",
      { changes: () => ({ platform: "darwin-arm64" }) },
      "has no executable mailstead-darwin-arm64",
    ],
    [
      "the program says another version",
      { publish: () => publish("2.0.0", { says: "2.0.1" }) },
      "the signed list says 2.0.0",
    ],
    [
      "the program does not run",
      { publish: () => publish("2.0.0", { fault: "version" }) },
      "does not run on this machine",
    ],
    [
      "its migrations fail",
      { publish: () => publish("2.0.0", { fault: "migrate" }) },
      "mailstead migrate of version 2.0.0 fails",
    ],
    [
      "its check fails",
      { publish: () => publish("2.0.0", { fault: "check" }) },
      "fails on a copy of the database (exit code 1).\nfail  it is broken",
    ],
    [
      "the database has faults already",
      { changes: () => (writeProgram(executable, "1.0.0", "check"), {}) },
      "has faults already",
    ],
    [
      "the backup fails",
      { changes: () => (writeProgram(executable, "1.0.0", "backup"), {}) },
      "could not be copied",
    ],
    [
      "it is not known how to stop the server",
      { changes: () => ({ service: null }) },
      "how it is stopped and started is not known",
    ],
    [
      "the server answers at another place",
      { changes: () => ({ readyUrl: "http://127.0.0.1:1/readyz" }) },
      "but nothing answers at http://127.0.0.1:1/readyz",
    ],
    [
      "the server does not stop",
      { changes: () => ({ service: { ...service, stop: async () => {}, start: async () => {} } }) },
      "still uses",
    ],
    [
      "the command that stops it fails",
      {
        changes: () => ({
          service: {
            ...service,
            stop: () => Promise.reject(new UpgradeError("no right to stop it")),
            start: async () => {},
          },
        }),
      },
      "no right to stop it",
    ],
  ])(
    "%s",
    async (_, { publish: make = () => publish("2.0.0"), changes = () => ({}) }, expected) => {
      make();
      const changed = changes();
      const before = readFileSync(executable, "utf8");
      expect((await refusalOf(changed)).message).toContain(expected);
      expect([readFileSync(executable, "utf8"), service.log]).toEqual([before, []]);
      expect(readdirSync(join(folder, "bin")).filter((name) => name.endsWith(".new"))).toEqual([]);
      expect(existsSync(join(data, "upgrade/trial"))).toBe(false);
      expect(migrations()).not.toContain("9000_next");
    },
  );

  function publishSums(sums: string, trustedComment = releaseComment("2.0.0")): void {
    writeFileSync(join(release, SUMS_FILE), sums);
    const signature = signMinisign(Buffer.from(sums), KEYS.secretKey, { trustedComment });
    writeFileSync(join(release, SIGNATURE_FILE), signature);
  }

  test("another upgrade runs", async () => {
    publish("2.0.0");
    mkdirSync(join(data, "upgrade"));
    const unlock = tryLockDataFolder(join(data, "upgrade"));
    expect((await refusalOf()).message).toContain("Another upgrade");
    unlock?.();
  });
});

describe("a new version that does not become ready", () => {
  const wal = (sqlite: Database) => sqlite.run("PRAGMA journal_mode = WAL");

  test("is put back with its database, which is kept", async () => {
    publish("2.0.0");
    service.onStart = (version, sqlite) => {
      wal(sqlite);
      return version < "2";
    };
    const { message } = await refusalOf();
    expect(message).toContain("answers 503 it does not move");
    expect(message).toContain("Version 1.0.0 runs again.");
    expect(message).toContain("No mail was accepted or sent in between.");
    expect(service.log).toEqual(["stop", "start 2.0.0", "stop", "start 1.0.0"]);
    expect([versionOf(executable), migrations().includes("9000_next")]).toEqual(["1.0.0", false]);
    const kept = readdirSync(data).find((name) => name.startsWith("newer-2.0.0-")) ?? "";
    expect(existsSync(join(data, kept, "mailstead.db"))).toBe(true);
    expect(existsSync(join(data, "upgrade/rollback.json"))).toBe(false);
  });

  test("is put back alone if it has no migrations", async () => {
    publish("1.5.0");
    service.onStart = (version) => version < "1.5";
    expect((await refusalOf()).message).not.toContain("database");
    expect([
      versionOf(executable),
      readdirSync(data).some((name) => name.startsWith("newer-")),
    ]).toEqual(["1.0.0", false]);
  });

  test("and cannot be started is put back", async () => {
    publish("1.5.0");
    const failing = {
      ...service,
      start: async () => {
        if (versionOf(executable) === "1.5.0") throw new UpgradeError("the unit failed");
        await service.start();
      },
    };
    const { message } = await refusalOf({ service: failing });
    expect(message).toStartWith("Version 1.5.0 did not become ready: the unit failed");
    expect(versionOf(executable)).toBe("1.0.0");
  });

  test("and does not stop is told, with what to do", async () => {
    publish("1.5.0");
    service.onStart = () => false;
    const stubborn: Service = {
      ...service,
      stop: () =>
        versionOf(executable) === "1.5.0"
          ? Promise.reject(new UpgradeError("no right to stop it"))
          : service.stop(),
    };
    const { message, suggestion } = await refusalOf({ service: stubborn });
    expect(message).toContain("It did not stop either: no right to stop it");
    expect(suggestion).toContain("go back by hand");
  });

  test("is told with the old one if that is not ready either", async () => {
    publish("1.5.0");
    service.onStart = () => false;
    expect((await refusalOf()).message).toContain("it is not ready either");
  });
});
