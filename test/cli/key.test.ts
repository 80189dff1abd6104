/** `mailstead key create` and `key list` with the origins of public keys. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead } from "../support/command-line.ts";
import { valueAt, stringAt } from "../support/json.ts";

let parent: string;
/** A copy of an installation with the project "Shop". */
let folder: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-key-"));
  await mailstead(["project", "create", "Shop", "--data", join(parent, "new")]);
});
beforeEach(() => {
  folder = mkdtempSync(join(parent, "copy-"));
  cpSync(join(parent, "new"), folder, { recursive: true });
});
afterAll(() => rmSync(parent, { recursive: true }));

async function run(...words: string[]) {
  const { code, stdout, stderr } = await mailstead([...words, "--data", folder, "--json"]);
  const answer: unknown = JSON.parse(stdout || stderr);
  return { exit: code, answer };
}

async function humanText(...words: string[]): Promise<string> {
  return (await mailstead([...words, "--data", folder])).stdout;
}

const shop = "https://shop.example";

describe("mailstead key create", () => {
  test("creates a public key for all origins with --public or --kind PUBLIC", async () => {
    for (const words of [["--public"], ["--kind", "public"], ["--public", "--kind", "PUBLIC"]]) {
      const { exit, answer } = await run("key", "create", ...words);
      expect(exit).toBe(0);
      expect(answer).toMatchObject({ key: { kind: "PUBLIC", origins: [] } });
      expect(stringAt(answer, "key.text")).toStartWith("pk_");
    }
  });

  const given: [words: string[], origins: string[]][] = [
    [["--origin", shop], [shop]],
    [[`--origin=${shop}/`], [shop]],
    [["--origin", "HTTPS://Shop.Example:443"], [shop]],
    [
      ["--origin", shop, "--origin", "http://localhost:5173"],
      [shop, "http://localhost:5173"],
    ],
    [
      ["--origin", `${shop}, https://b.example,${shop}`],
      [shop, "https://b.example"],
    ],
  ];
  test.each(given)("stores the origins of %j", async (words, origins) => {
    const { answer } = await run("key", "create", "--public", ...words);
    expect(valueAt(answer, "key.origins")).toEqual(origins);
    const listed = await run("key", "list");
    expect(valueAt(listed.answer, "keys.0.origins")).toEqual(origins);
    const text = await humanText("key", "list");
    expect(text.split("\n")[0]).toContain(`only from ${origins.join(", ")}`);
  });

  const refused: [words: string[], message: RegExp][] = [
    [["--origin", shop], /--origin is for public keys: add --public/],
    [["--kind", "SECRET", "--origin", shop], /--origin is for public keys/],
    [["--public", "--kind", "SECRET"], /--public and --kind SECRET exclude each other/],
    [["--public", "--origin", "shop.example"], /--origin: expected an origin such as https:/],
    [["--public", "--origin", `${shop}/page`], /got "https:\/\/shop\.example\/page"/],
    [["--public", "--origin", "*"], /got "\*"/],
    [["--public", "--origin", ""], /--origin: expected an origin/],
    [["--public", "--origin", ","], /--origin: expected an origin/],
    [
      ["--public", "--origin", Array.from({ length: 51 }, (_, i) => `https://${i}.example`).join()],
      /--origin: expected at most 50 origins/,
    ],
  ];
  test.each(refused)("refuses %j and creates no key", async (words, message) => {
    const { exit, answer } = await run("key", "create", ...words);
    expect(exit).toBe(2);
    expect(stringAt(answer, "error.message")).toMatch(message);
    const listed = await run("key", "list");
    expect(valueAt(listed.answer, "keys.2")).toBeUndefined(); // Only the first two keys of the project exist.
  });
});

describe("mailstead key create with limits", () => {
  test("creates a key that only sends, from a domain and some addresses", async () => {
    await mailstead(["domain", "add", "shop.example", "--verified", "--data", folder]);
    const words = ["--domain", "Shop.example", "--ip-range", "203.0.113.0/24,2001:db8::1"];
    for (const kind of [
      ["--kind", "smtp"],
      ["--scope", "send"],
    ]) {
      const { answer } = await run("key", "create", ...kind, ...words);
      expect(answer).toMatchObject({
        key: {
          scope: "SEND",
          domains: ["shop.example"],
          ipRanges: ["203.0.113.0/24", "2001:db8::1"],
        },
      });
      const [line] = (await humanText("key", "list")).split("\n");
      expect(line).toEndWith("  may SEND  as shop.example  only from 203.0.113.0/24, 2001:db8::1");
    }
    const { answer } = await run("key", "create", "--kind", "SMTP");
    expect(stringAt(answer, "key.text")).toStartWith("smtp_");
  });

  const refused: [words: string[], message: RegExp][] = [
    [["--scope", "ALL"], /--scope: expected EVERYTHING, SEND, READ, CONTACTS/],
    [["--public", "--scope", "READ"], /scope: is not for public keys/],
    [["--kind", "SMTP", "--public"], /--public and --kind SMTP exclude each other/],
    [["--kind", "SMTP", "--scope", "READ"], /scope: must be SEND/],
    [["--domain", "shop.example"], /--domain: is only for keys that can only send/],
    [["--scope", "SEND", "--domain", "a.test"], /--domain: must be a domain of the project/],
    [["--ip-range", "1.2.3.4/40"], /--ip-range: must be an IP address/],
    // An empty variable of a shell must not make a key without limits.
    [["--ip-range", ""], /--ip-range: expected at least one value/],
    [["--kind", "SMTP", "--domain", " ,"], /--domain: expected at least one value/],
  ];
  test.each(refused)("refuses %j and creates no key", async (words, message) => {
    const { exit, answer } = await run("key", "create", ...words);
    expect([exit === 0, stringAt(answer, "error.message")]).toEqual([
      false,
      expect.stringMatching(message),
    ]);
    const listed = await run("key", "list");
    expect(valueAt(listed.answer, "keys.2")).toBeUndefined();
  });
});

test("key revoke of an unknown id says where the ids are", async () => {
  const { stderr } = await mailstead(["key", "revoke", "nowhere", "--data", folder]);
  expect(stderr).toBe(
    'mailstead: There is no key "nowhere".\nIds are shown by mailstead key list.\n',
  );
});

test("key list tells which keys are refused, and until when a key is valid", async () => {
  const createdId = async (name: string) => {
    const created = await run("key", "create", "--name", name, "--expires", "2999-01-31");
    return stringAt(created.answer, "key.id");
  };
  const [past, later, gone] = [await createdId("a"), await createdId("b"), await createdId("c")];
  const db = new Database(join(folder, "mailstead.db"));
  db.run("UPDATE api_keys SET expires_at = 1735689600000 WHERE id IN (?, ?)", [past, gone]);
  db.close();
  await run("key", "revoke", gone);
  const lines = (await humanText("key", "list")).split("\n");
  const lineOf = (id: string) => lines.find((line) => line.startsWith(id));
  expect(lineOf(past)).toMatch(
    / {2}expired {2}never used {2}a {2}until 2025-01-01T00:00:00\.000Z$/,
  );
  expect(lineOf(later)).toMatch(/ {2}valid {4}never used {2}b {2}until 2999-01-31T/);
  expect(lineOf(gone)).toMatch(/ {2}revoked /);
  const { answer } = await run("key", "list");
  const states = [valueAt(answer, "keys")]
    .flat()
    .map((key) => [String(Object(key)["id"]), String(Object(key)["state"])]);
  expect(Object.fromEntries(states)).toMatchObject({
    [past]: "EXPIRED",
    [later]: "VALID",
    [gone]: "REVOKED",
  });
});

test("each command that changes a key has a row in the audit log", async () => {
  const { answer } = await run("key", "create");
  const id = stringAt(answer, "key.id");
  const last4 = stringAt(answer, "key.last4");
  await run("key", "revoke", id);
  await run("project", "set", "Shop", "--tracking", "DISABLED");
  const db = new Database(join(folder, "mailstead.db"), { readonly: true });
  const rows = db
    .query(
      "SELECT actor_kind AS kind, actor_label AS label, object_id AS id, fields, object_name AS name, changes FROM audit",
    )
    .all();
  db.close();
  expect(rows).toMatchObject([
    { kind: "CLI", label: "mailstead project create" },
    { kind: "CLI", label: "mailstead key create", id },
    { kind: "CLI", label: "mailstead key revoke", id, name: `(…${last4})` },
    {
      kind: "CLI",
      label: "mailstead project set",
      fields: '["tracking"]',
      name: "Shop",
      changes: '[{"field":"tracking","before":"MARKETING_ONLY","after":"DISABLED"}]',
    },
  ]);
});
