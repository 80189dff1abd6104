/** Encrypted backups by the commands: made, verified, damaged, restored. Kills: test/cli/process.test.ts. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decryptStream, encryptStream, generateKeyPair } from "../../src/backup/age.ts";
import { streamOf } from "../../src/backup/files.ts";
import { readArchive, writeArchive } from "../../src/backup/archive.ts";
import { lockDataFolder } from "../../src/db/folder.ts";
import { mailstead } from "../support/command-line.ts";
import { stringAt, valueAt } from "../support/json.ts";

const NAME = "mailstead.tar.zst.age";

let parent: string;
let data: string;
let backups: string;
let keyFile: string;
/** The folder of the first backup. */
let made: string;

const run = (...words: string[]) => mailstead([...words, "--json"]);
const makeBackup = (...words: string[]) => run("backup", "run", backups, "--data", data, ...words);

beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "encrypted-backup-"));
  [data, backups, keyFile] = [join(parent, "data"), join(parent, "backups"), join(parent, "key")];
  await run("project", "create", "Shop", "--data", data);
  expect((await makeBackup()).stderr).toContain("mailstead backup init");
  const { json } = await run("backup", "init", "--data", data);
  writeFileSync(keyFile, `# the recovery key\n${stringAt(json, "identity")}\n`);
  const first = await makeBackup();
  expect([first.code, first.stderr.match(/\w+(?="})/g)]).toEqual([
    0,
    ["copy", "encrypt", "verify", "check", "publish", "remove"],
  ]);
  made = stringAt(first.json, "path");
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

describe("a backup", () => {
  test("names its counts and digests, and has nothing readable without the key", async () => {
    const { json } = await run("backup", "list", backups, "--data", data);
    expect(valueAt(json, "backups.0")).toMatchObject({
      path: made,
      sha256: new Bun.CryptoHasher("sha256").update(readFileSync(join(made, NAME))).digest("hex"),
      contents: { rows: { projects: 1, api_keys: 2 }, databaseSha256: expect.any(String) },
    });
    const secret = readFileSync(join(data, "secret"), "utf8").trim();
    for (const name of readdirSync(made)) {
      expect(readFileSync(join(made, name), "latin1")).not.toContain(secret);
    }
    expect(readdirSync(join(data, "backup"))).toEqual(["lock"]);
  });

  test("is verified by its digest, and with the key by its contents", async () => {
    expect((await run("backup", "verify", made)).json).toEqual({ verified: "digest" });
    const { code, json } = await run(
      "backup",
      "verify",
      made,
      "--key-file",
      keyFile,
      "--work-folder",
      parent,
    );
    expect([code, valueAt(json, "verified")]).toEqual([0, "contents"]);
    expect(readdirSync(parent).filter((name) => name.startsWith("mailstead-drill"))).toEqual([]);
  });

  test("passes a drill, which restores it beside and checks everything", async () => {
    const { code, json } = await run("backup", "drill", made, "--key-file", keyFile);
    expect([code, valueAt(json, "failed"), valueAt(json, "contents.rows.projects")]).toEqual([
      0, 0, 1,
    ]);
  });

  test("is refused with another key, and a second key needs --replace", async () => {
    const other = join(parent, "other-key");
    const init = (...words: string[]) => run("backup", "init", "--data", data, ...words);
    expect((await init()).stderr).toContain("There is a recovery key already: age1");
    expect((await init("--recipient", "age1wrong")).stderr).toContain("is not the public half");
    const scratch = join(parent, "scratch");
    await run("project", "create", "P", "--data", scratch);
    const { json } = await run("backup", "init", "--data", scratch);
    writeFileSync(other, stringAt(json, "identity"));
    const { stderr } = await run("backup", "verify", made, "--key-file", other);
    expect(stderr).toContain("it is for another recovery key");
  });

  test.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    ["a byte of the header", (bytes) => flip(bytes, 60), /header is damaged/],
    [
      "a byte of the content",
      (bytes) => flip(bytes, bytes.length >> 1),
      /the 64 KiB from byte \d+ on/,
    ],
    ["the last byte", (bytes) => flip(bytes, bytes.length - 1), /the 64 KiB from byte \d+ on/],
    ["the end", (bytes) => bytes.subarray(0, -1_000), /were changed or cut off|ends too early/],
  ])("that lost or changed %s is found, and the file named", async (_, damage, text) => {
    const copy = mkdtempSync(join(parent, "damaged-"));
    writeFileSync(join(copy, NAME), damage(readFileSync(join(made, NAME))));
    const withKey = await run("backup", "verify", copy, "--key-file", keyFile);
    expect([withKey.code, withKey.stderr]).toEqual([1, expect.stringMatching(text)]);
    copyFileSync(join(made, "manifest.json"), join(copy, "manifest.json"));
    const { code, stderr } = await run("backup", "verify", copy);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${join(copy, NAME)} was changed`)]);
    const target = join(copy, "data");
    const restored = await run("restore", copy, "--key-file", keyFile, "--data", target);
    expect([restored.code, existsSync(join(target, "mailstead.db"))]).toEqual([1, false]);
  });
});

describe("making one", () => {
  test("removes what an interrupted one left, and keeps the newest and what is not its own", async () => {
    const id = made
      .slice(made.lastIndexOf("/") + 1)
      .split("-", 2)
      .join("-");
    const begun = `${id}-20200101T000000Z`;
    const annotated = `${id}-20200102T000000Z`;
    const strange = ["mailstead-00000000-20200101T000000Z", "notes", `${id}-before-upgrade`];
    for (const name of [...strange, begun, annotated, `${id}-20200103T000000Z`])
      mkdirSync(join(backups, name));
    for (const name of [...strange, begun, annotated])
      writeFileSync(join(backups, name, NAME), "half");
    writeFileSync(join(backups, begun, "manifest.json.partial"), "{");
    writeFileSync(join(backups, annotated, "note.txt"), "a file of the operator");
    mkdirSync(join(data, "backup", "work"));
    const { json } = await makeBackup("--backup-keep", "1d");
    const name = stringAt(json, "name");
    expect(readdirSync(backups).toSorted()).toEqual([...strange, annotated, name].toSorted());
    expect(readdirSync(join(backups, annotated))).toEqual(["note.txt"]);
    expect(readdirSync(join(data, "backup"))).toEqual(["lock"]);
    made = stringAt(json, "path");
  });

  test("replaces one whose time is later, because the clock was set back", async () => {
    const later = made.replace(/\d{8}T\d{6}Z$/, "29991231T235958Z");
    renameSync(made, later);
    made = stringAt((await makeBackup("--backup-keep", "1d")).json, "path");
    expect(made).toEndWith("-29991231T235959Z");
    expect(existsSync(later)).toBe(false);
  });

  test("neither removes nor counts a backup that is damaged or of another installation", async () => {
    const copies = ["20200101T000000Z", "20200102T000000Z", "20200103T000000Z"].map((time) =>
      made.replace(/\d{8}T\d{6}Z$/, time),
    );
    for (const copy of copies) cpSync(made, copy, { recursive: true });
    const [damaged = "", foreign = "", short = ""] = copies;
    const manifest = readFileSync(join(made, "manifest.json"), "utf8");
    writeFileSync(join(damaged, "manifest.json"), "{");
    const id = /"installation": "(\w+)"/.exec(manifest)?.[1] ?? "";
    writeFileSync(join(foreign, "manifest.json"), manifest.replace(id, "00000000"));
    writeFileSync(join(short, NAME), "half");
    const next = await makeBackup("--backup-keep", "1d");
    expect([next.code, copies.every((copy) => existsSync(copy))]).toEqual([0, true]);
    const { json } = await run("backup", "list", backups, "--data", data);
    expect([valueAt(json, "backups.length"), valueAt(json, "damaged")]).toEqual([
      1,
      [
        expect.objectContaining({ path: short, fault: expect.stringContaining("4 bytes instead") }),
        expect.objectContaining({ path: foreign, fault: expect.stringContaining("another") }),
        expect.objectContaining({ path: damaged, fault: expect.stringContaining("damaged") }),
      ],
    ]);
    for (const copy of copies) rmSync(copy, { recursive: true });
    made = stringAt(next.json, "path");
  });

  test("is refused while another one runs", async () => {
    const unlock = lockDataFolder(join(data, "backup"));
    expect((await makeBackup()).stderr).toContain("Another backup of this installation runs");
    unlock();
  });
});

describe("a restore", () => {
  test("brings all back with the queue held, and only into an empty folder", async () => {
    const target = join(parent, "restored");
    const restore = (...words: string[]) =>
      run("restore", made, "--key-file", keyFile, "--data", target, ...words);
    expect((await restore()).code).toBe(0);
    expect(readFileSync(join(target, "secret"))).toEqual(readFileSync(join(data, "secret")));
    const listed = await run("project", "list", "--data", target);
    expect(valueAt(listed.json, "projects.0.name")).toBe("Shop");
    const queue = await run("queue", "list", "--data", target);
    expect(valueAt(queue.json, "heldSince")).toMatch(/^20/);

    expect((await restore()).stderr).toContain("is not empty");
    const moved = await restore("--replace");
    expect(readdirSync(stringAt(moved.json, "movedTo"))).toContain("mailstead.db");
    const unlock = lockDataFolder(target);
    expect((await restore("--replace")).stderr).toContain("Another mailstead serves");
    unlock();
  });

  test.skipIf(process.getuid?.() !== 0)("by root gives the files to the owner", async () => {
    const target = join(parent, "of-service");
    const service = 65_534;
    mkdirSync(target);
    chownSync(target, service, service);
    const restore = () =>
      run("restore", made, "--key-file", keyFile, "--data", target, "--replace");
    await restore();
    const { json } = await restore();
    const paths = ["mailstead.db", "secret"].map((name) => join(target, name));
    const owners = [...paths, stringAt(json, "movedTo")].map((path) => statSync(path).uid);
    expect(owners).toEqual([service, service, service]);
  });

  test("from a place with several backups says which is the newest", async () => {
    const target = join(parent, "unnamed");
    const { stderr } = await run("restore", backups, "--key-file", keyFile, "--data", target);
    expect(stderr).toContain(`The newest one is ${made}`);
    const all = await run("backup", "list", backups, "--data", join(parent, "no-installation"));
    expect(valueAt(all.json, "backups.length")).toBe(1);
  });

  test("that was interrupted is refused by commands until it is repeated", async () => {
    const target = join(parent, "interrupted");
    mkdirSync(join(target, "restore.partial"), { recursive: true });
    const listed = await run("project", "list", "--data", target);
    expect(listed.stderr).toContain("a restore was interrupted");
    const again = await run("restore", made, "--key-file", keyFile, "--data", target);
    expect([again.code, existsSync(join(target, "restore.partial"))]).toEqual([0, false]);
  });

  test("that was interrupted while it moved files aside keeps them together", async () => {
    const target = join(parent, "half-moved");
    const aside = join(target, "before-restore-2026-11-27T160930.000Z");
    for (const folder of [join(target, "restore.partial"), aside])
      mkdirSync(folder, { recursive: true });
    writeFileSync(join(aside, "mailstead.db"), "old database");
    writeFileSync(join(aside, "secret"), "old secret");
    writeFileSync(join(target, "mailstead.db-wal"), "old log");
    writeFileSync(join(target, "secret"), "restored secret");
    const again = await run("restore", made, "--key-file", keyFile, "--data", target);
    expect([again.code, valueAt(again.json, "movedTo")]).toEqual([0, aside]);
    const files = ["mailstead.db", "mailstead.db-wal", "secret"];
    expect(files.map((name) => readFileSync(join(aside, name), "utf8"))).toEqual([
      "old database",
      "old log",
      "old secret",
    ]);
  });
});

test("an archive tells of members that are missing, and of bytes behind its end", async () => {
  const content = async function* (text: string) {
    yield Buffer.from(text);
  };
  const bytes = async () =>
    Buffer.concat(
      await Array.fromAsync(writeArchive([{ name: "a", bytes: 3, content: content("abc") }])),
    );
  async function read(archive: Buffer, name: string) {
    const reader = readArchive(oneOf(archive));
    const text = await reader.text(name, 10);
    await reader.end();
    return text;
  }
  expect(await read(await bytes(), "a")).toBe("abc");
  const refusal = (archive: Buffer, name = "a") => read(archive, name).catch(String);
  expect(await refusal(await bytes(), "b")).toContain("no member b");
  expect(await refusal(Buffer.concat([await bytes(), Buffer.alloc(1)]))).toContain("more than");
  expect(await refusal((await bytes()).subarray(0, -1))).toContain("ends too early");
});

test("damage is named by its exact place in the file", async () => {
  const { identity, recipient } = await generateKeyPair();
  const plain = crypto.getRandomValues(new Uint8Array(2 * 1024 ** 2));
  const stream = await encryptStream(streamOf(oneOf(plain)), [recipient]);
  const encrypted = Buffer.from(await new Response(stream).arrayBuffer());
  const start = encrypted.indexOf("\n", encrypted.indexOf("\n--- ") + 1) + 1 + NONCE_BYTES;
  for (let chunk = 0; chunk < 32; chunk += 3) {
    const from = start + chunk * CHUNK_BYTES;
    const damaged = flip(encrypted, from + ((chunk * 997) % CHUNK_BYTES));
    const read = Array.fromAsync(decryptStream("It", oneOf(damaged), identity)).catch(String);
    expect(await read).toContain(`It is damaged: the 64 KiB from byte ${from} on`);
  }
});

const NONCE_BYTES = 16;
/** 64 KiB and a tag of 16 bytes. */
const CHUNK_BYTES = 65_552;

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

function flip(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
  return changed;
}
