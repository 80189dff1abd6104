/** The daily question whether there is a newer version. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { generateMinisignKeys, signMinisign } from "../../src/lib/minisign.ts";
import { releaseComment, SIGNATURE_FILE, SUMS_FILE } from "../../src/lib/release-names.ts";
import { VERSION } from "../../src/lib/version.ts";
import { askForUpdate, readKnownUpdate } from "../../src/modules/updates.ts";
import type { GuardedRequest } from "../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { signIn } from "../support/session.ts";

const KEYS = generateMinisignKeys();
const SUMS = Buffer.from(`${"a".repeat(64)}  mailstead-linux-x64\n`);
const DAY_MS = 24 * 3_600_000;

const signed = (version: string, { secretKey } = KEYS) =>
  signMinisign(SUMS, secretKey, { trustedComment: releaseComment(version) });

let t: TestApp;
let files: Record<string, Uint8Array>;
let asked: { url: string; request: GuardedRequest }[];

beforeEach(async () => {
  files = {};
  asked = [];
  t = await testApp({
    fetchGuarded: async (url, request) => {
      asked.push({ url, request });
      const body = files[url.slice(url.lastIndexOf("/") + 1)];
      const status = body === undefined ? 404 : 200;
      return { status, headers: new Headers(), body: body ?? Buffer.of(), isTruncated: false };
    },
  });
});
afterEach(() => t.close());

const publish = (signature: string) =>
  (files = { [SUMS_FILE]: SUMS, [SIGNATURE_FILE]: Buffer.from(signature) });
const ask = () => askForUpdate(t.app.app, KEYS.publicKey);

test("finds a newer version, tells it to owners, and asks again a day later", async () => {
  publish(signed("99.1.0"));
  await ask();
  const known = { version: "99.1.0", changesUrl: expect.stringMatching(/^https:.*\/v99\.1\.0$/) };
  expect(readKnownUpdate(t.db)).toEqual(known);
  const system = await (await signIn(t)).get("/system");
  expect(system.at("data.update")).toEqual({ ...known, command: "mailstead upgrade" });

  publish(signed("99.2.0"));
  t.clock.advance(DAY_MS - 1_000);
  await ask();
  expect(readKnownUpdate(t.db)?.version).toBe("99.1.0");
  t.clock.advance(1_000);
  await ask();
  expect(readKnownUpdate(t.db)?.version).toBe("99.2.0");
});

test("the question tells nothing about who asks", async () => {
  publish(signed(VERSION));
  await ask();
  expect(asked.map(({ url }) => url.split("/").at(-1))).toEqual([SUMS_FILE, SIGNATURE_FILE]);
  for (const { url, request } of asked) {
    expect(request).toEqual({ method: "GET", maxBodyBytes: expect.any(Number) });
    expect(url).not.toContain(VERSION);
  }
});

test.each<[string, string]>([
  ["the same version", signed(VERSION)],
  ["an older version", signed("0.0.1")],
  ["a version that another key has signed", signed("99.0.0", generateMinisignKeys())],
  ["a signature of something else", signed("99.0.0").replace("99.0.0", "99.0.1")],
  ["a page of HTML", "<html>"],
])("is silent about %s", async (_, signature) => {
  publish(signature);
  await ask();
  expect(readKnownUpdate(t.db)).toBeNull();
  expect((await (await signIn(t)).get("/system")).at("data.update")).toBeNull();
});

test("a failed question keeps what is known", async () => {
  publish(signed("99.1.0"));
  await ask();
  files = {};
  t.clock.advance(DAY_MS);
  await ask();
  expect(readKnownUpdate(t.db)?.version).toBe("99.1.0");
  expect(asked).toHaveLength(3);
});
