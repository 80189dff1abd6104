/** Encrypted backups in an S3 bucket: a real server over HTTP that checks signatures, and its faults. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTarget } from "../../src/backup/target.ts";
import { manualClock } from "../support/clock.ts";
import { mailstead } from "../support/command-line.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { type Fault, type S3Server, startS3Server } from "../support/s3-server.ts";

const MIB = 1024 * 1024;
/** They have 64 KiB each and are not compressed, so the archive is uploaded in two parts. */
const BLOBS = 140;
const TARGET = "s3://backups/shop";

let parent: string;
let data: string;
let keyFile: string;
let server: S3Server;
/** The address of the first backup. */
let made: string;

const run = (words: readonly string[], env: Record<string, string> = {}) =>
  mailstead([...words, "--json"], { ...server.env, ...env });
const makeBackup = (env: Record<string, string> = {}) =>
  run(["backup", "run", TARGET, "--data", data, "--backup-keep", "1d"], env);
const listed = async () => (await run(["backup", "list", TARGET, "--data", data])).json;
const keys = () => [...server.objects.keys()].toSorted();
const isPart = ({ method, query }: { method: string; query: URLSearchParams }) =>
  method === "PUT" && query.has("partNumber");

beforeAll(async () => {
  server = await startS3Server();
  parent = mkdtempSync(join(tmpdir(), "s3-backup-"));
  [data, keyFile] = [join(parent, "data"), join(parent, "key")];
  await run(["project", "create", "Shop", "--data", data]);
  const database = new Database(join(data, "mailstead.db"));
  const insert = "INSERT INTO attachment_contents (digest, project_seq, bytes) VALUES (?, NULL, ?)";
  for (let at = 0; at < BLOBS; at++) {
    database.run(insert, [`blob ${at}`, crypto.getRandomValues(new Uint8Array(65_536))]);
  }
  database.close();
  const { json } = await run(["backup", "init", "--data", data]);
  writeFileSync(keyFile, stringAt(json, "identity"));
});
afterEach(() => {
  server.setFault(() => null);
});
afterAll(async () => {
  await server.stop();
  rmSync(parent, { recursive: true, force: true });
});

describe("a backup in a bucket", () => {
  test("is uploaded in parts, read back, and counts with its manifest", async () => {
    server.takeAsked();
    const { code, json, stderr } = await makeBackup();
    expect([code, stderr.match(/\w+(?="})/g)]).toEqual([
      0,
      ["copy", "encrypt", "verify", "upload", "check", "publish", "remove"],
    ]);
    made = stringAt(json, "path");
    const name = stringAt(json, "name");
    const archive = `shop/${name}/mailstead.tar.zst.age`;
    expect(server.takeAsked()).toEqual([
      "GET ",
      "GET ",
      `POST ${archive}`,
      ...Array.from({ length: 2 }, () => `PUT ${archive} part`),
      `POST ${archive}`,
      `GET ${archive}`,
      `PUT shop/${name}/manifest.json`,
    ]);
    expect(made).toBe(`${TARGET}/${name}`);
    const list = await listed();
    expect([valueAt(list, "backups.length"), valueAt(list, "backups.0.path")]).toEqual([1, made]);
    expect(existsSync(join(data, "backup", "work"))).toBe(false);
  });

  test("is verified and restored", async () => {
    expect((await run(["backup", "verify", made])).json).toEqual({ verified: "digest" });
    const key = ["--key-file", keyFile];
    expect((await run(["backup", "verify", made, ...key])).json).toMatchObject({
      verified: "contents",
    });
    const target = join(parent, "restored");
    const restored = await run(["restore", made, ...key, "--data", target]);
    expect([restored.code, valueAt(restored.json, "contents.rows.attachment_contents")]).toEqual([
      0,
      BLOBS,
    ]);
    expect(readFileSync(join(target, "secret"))).toEqual(readFileSync(join(data, "secret")));
  });

  test("of which a byte was changed is found, and named", async () => {
    const [archive = ""] = keys().filter((key) => key.endsWith(".age"));
    const stored = server.objects.get(archive);
    const changed = Buffer.from(stored ?? "");
    changed.writeUInt8(changed.readUInt8(4 * MIB) ^ 1, 4 * MIB);
    server.objects.set(archive, changed);
    const byDigest = await run(["backup", "verify", made]);
    expect([byDigest.code, byDigest.stderr]).toEqual([1, expect.stringContaining(`${made}/mail`)]);
    const byKey = await run(["backup", "verify", made, "--key-file", keyFile]);
    const place = Number(/64 KiB from byte (\d+) on/.exec(byKey.stderr)?.[1]);
    expect(place).toBeWithin(4 * MIB - 65_600, 4 * MIB + 1);
    server.objects.set(archive, stored ?? Buffer.alloc(0));
  });

  test("removes older ones, parts without a manifest, and uploads that were interrupted", async () => {
    const id = made
      .slice(TARGET.length + 1)
      .split("-", 2)
      .join("-");
    const part = `shop/${id}-20200101T000000Z/mailstead.tar.zst.age`;
    const strange = ["shop/notes.txt", "shop/mailstead-00000000-20200101T000000Z/x", "other/x"];
    for (const key of [part, ...strange]) server.objects.set(key, Buffer.from("x"));
    server.uploads.set("left", { key: part, parts: new Map() });
    server.uploads.set("foreign", { key: "other/x", parts: new Map() });
    const { json } = await makeBackup();
    expect(valueAt(json, "removed")).toEqual([made.slice(TARGET.length + 1)]);
    made = stringAt(json, "path");
    const name = `shop/${stringAt(json, "name")}`;
    expect(keys()).toEqual(
      [...strange, `${name}/mailstead.tar.zst.age`, `${name}/manifest.json`].toSorted(),
    );
    expect([...server.uploads.keys()]).toEqual(["foreign"]);
    server.uploads.clear();
  });
});

describe("a backup that fails says what to do, is not listed, and removes none", () => {
  test.each<[name: string, fault: Fault, text: RegExp]>([
    ["the connection is cut in each try of a part", "cut", /closed the connection/],
    [
      "the service refuses a part",
      { status: 403, code: "AccessDenied" },
      /Access to the bucket backups was denied.*let this key list/,
    ],
  ])("if %s", async (_, fault, text) => {
    server.setFault((asked) => (isPart(asked) ? fault : null));
    const failed = await makeBackup();
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(text)]);
    expect([server.uploads.size, valueAt(await listed(), "backups.length")]).toEqual([0, 1]);
    expect(keys().filter((key) => key.includes("/mailstead-")).length).toBe(3);
  });

  test("but a part that is cut once is sent again", async () => {
    let cuts = 0;
    server.setFault((asked) => (isPart(asked) && cuts++ === 1 ? "cut" : null));
    const { code, json } = await makeBackup();
    expect([code, cuts]).toEqual([0, 3]);
    made = stringAt(json, "path");
  });

  test("if what is read back differs", async () => {
    server.setFault((asked) => {
      const isRead = asked.method === "GET" && asked.key.endsWith(".age");
      if (isRead) server.objects.get(asked.key)?.writeUInt8(0, 100);
      return null;
    });
    const failed = await makeBackup();
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringContaining("was not stored as it was written"),
    ]);
    server.setFault(() => null);
    expect(valueAt(await listed(), "backups.0.path")).toBe(made);
  });

  test.each<[name: string, env: Record<string, string>, text: RegExp]>([
    [
      "there is no such bucket",
      { MAILSTEAD_BACKUP_TO: "s3://nothing/shop" },
      /There is no bucket nothing at http.*Create it/,
    ],
    ["the key is unknown", { MAILSTEAD_S3_ACCESS_KEY_ID: "other" }, /does not know the access key/],
    [
      "the secret of the key is wrong",
      { MAILSTEAD_S3_SECRET_ACCESS_KEY: "wrong" },
      /refuses the signature, so the secret of the access key is wrong/,
    ],
    ["no server listens", { MAILSTEAD_S3_ENDPOINT: "http://127.0.0.1:1" }, /refuses connections/],
    ["there is no key", { MAILSTEAD_S3_ACCESS_KEY_ID: "" }, /needs the access key of the bucket/],
  ])("if %s", async (_, env, text) => {
    const target = env["MAILSTEAD_BACKUP_TO"] ?? TARGET;
    const failed = await run(["backup", "run", target, "--data", data], env);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringMatching(text)]);
  });

  test("if the server does not answer for five minutes", async () => {
    const clock = manualClock();
    const target = openTarget(TARGET, {
      endpoint: server.env.MAILSTEAD_S3_ENDPOINT,
      region: server.env.MAILSTEAD_S3_REGION,
      accessKeyId: server.env.MAILSTEAD_S3_ACCESS_KEY_ID,
      secretAccessKey: server.env.MAILSTEAD_S3_SECRET_ACCESS_KEY,
      clock,
    });
    server.setFault(() => "hang");
    const list = target.list("").catch(String);
    clock.advance(5 * 60_000);
    expect(await list).toContain("did not answer within 5 minutes");
  });
});
