/** `mailstead backup`: a copy that is made beside a running server, and a server that uses the copy. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, startMailstead } from "../support/cli.ts";
import { stringAt, valueAt } from "../support/json.ts";

const LIMIT_MS = 60_000;

let parent: string;
let data: string;
let key: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-backup-"));
  data = join(parent, "data");
  const created = await mailstead(["project", "create", "Shop", "--data", data, "--json"]);
  key = stringAt(created.json, "secretKey");
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

async function serve(folder: string) {
  const words = ["serve", "--data", folder, "--port", "0", "--require-verified-domain", "false"];
  const server = await startMailstead([...words, "--json"], (text) => text.includes("\n"));
  const url = stringAt(JSON.parse(server.greeting), "url");
  async function call(path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  }
  return { ...server, call };
}

const mail = (to: string) => ({ to, from: "a@shop.example", subject: "Hi", body: "<p>Hi</p>" });

test(
  "a copy made beside a server has all that was answered before, and a server can use it",
  async () => {
    const server = await serve(data);
    for (let n = 0; n < 20; n++) await server.call("/v1/send", mail(`before-${n}@example.net`));
    const target = join(parent, "copies", "today");
    const making = mailstead(["backup", target, "--data", data, "--json"]);
    for (let n = 0; n < 20; n++) await server.call("/v1/send", mail(`during-${n}@example.net`));
    const made = await making;
    expect(await server.stop()).toMatchObject({ code: 0 });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(valueAt(made.json, "database")).toBe(join(target, "mailstead.db"));

    expect(readdirSync(target).toSorted()).toEqual(["mailstead.db", "secret"]);
    const modeOf = (name: string) => statSync(join(target, name)).mode & 0o777;
    expect([statSync(target).mode & 0o777, modeOf("mailstead.db"), modeOf("secret")]).toEqual([
      0o700, 0o600, 0o600,
    ]);
    expect(readFileSync(join(target, "secret"))).toEqual(readFileSync(join(data, "secret")));
    expect(await mailstead(["check", "--data", target])).toMatchObject({ code: 0 });

    const restored = await serve(target);
    const found = await restored.call("/contacts?search=before&limit=1");
    expect(valueAt(found, "total")).toBe(20);
    await restored.call("/v1/send", mail("after@example.net"));
    expect(await restored.stop()).toMatchObject({ code: 0 });
  },
  LIMIT_MS,
);

test("an existing file is not overwritten, and nothing is written beside it", async () => {
  const target = mkdtempSync(join(parent, "used-"));
  writeFileSync(join(target, "secret"), "mine");
  const { code, stderr } = await mailstead(["backup", target, "--data", data]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${join(target, "secret")} exists already.`);
  expect(readdirSync(target)).toEqual(["secret"]);
  expect(readFileSync(join(target, "secret"), "utf8")).toBe("mine");
});

test("a secret that is a setting is in the copy", async () => {
  const folder = join(parent, "given");
  const secret = "a secret from the environment, long enough";
  const environment = { MAILSTEAD_SECRET: secret };
  await mailstead(["project", "create", "P", "--data", folder], environment);
  const target = join(parent, "given-copy");
  expect(await mailstead(["backup", target, "--data", folder], environment)).toMatchObject({
    code: 0,
  });
  expect(readFileSync(join(target, "secret"), "utf8")).toBe(`${secret}\n`);
});

test.each([
  ["no folder", ["backup"], 2, "FOLDER"],
  ["no installation", ["backup", "/tmp/never"], 1, "There is no installation in the data folder"],
])("%s is refused", async (_, words, code, text) => {
  const ran = await mailstead([...words, "--data", join(parent, "missing")]);
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(text)]);
});
