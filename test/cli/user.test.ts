/** The commands of users, and the first owner of `serve` and `dev`. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, startMailstead, stopServers } from "../support/command-line.ts";
import { stringAt, valueAt } from "../support/json.ts";

let parent: string;
/** A copy of an installation without projects and users. */
let folder: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-user-"));
  await mailstead(["migrate", "--data", join(parent, "new")]);
});
beforeEach(() => {
  folder = mkdtempSync(join(parent, "copy-"));
  cpSync(join(parent, "new"), folder, { recursive: true });
});
afterAll(async () => {
  await stopServers();
  rmSync(parent, { recursive: true });
});

async function run(...words: string[]) {
  const { code, stdout, stderr, json } = await mailstead([...words, "--data", folder]);
  return { exit: code, text: (stdout + stderr).trimEnd(), answer: json };
}

describe("mailstead user", () => {
  test("add creates an owner, and prints a link that signs in", async () => {
    const { exit, answer } = await run("user", "add", "Ada@Example.com", "--owner", "--json");
    expect(exit).toBe(0);
    expect(answer).toMatchObject({
      user: { email: "ada@example.com", isOwner: true, isDisabled: false, hasPassword: false },
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/app\/link#[0-9A-Za-z]{43}$/),
    });
    expect((await run("user", "list")).text).toBe(
      "ada@example.com  enabled   OWNER  never signed in",
    );
  });

  test("add gives a role in a project, also to an existing user", async () => {
    await run("project", "create", "Shop");
    const add = (...words: string[]) => run("user", "add", "eve@example.com", ...words);
    await add("--role", "viewer", "--name", "Eve");
    await add("--project", "Shop", "--role", "EDITOR");
    const { answer } = await run("user", "list", "--json");
    expect(valueAt(answer, "users")).toMatchObject([
      { email: "eve@example.com", name: "Eve", projects: [{ name: "Shop", role: "EDITOR" }] },
    ]);
    expect((await run("user", "list")).text).toContain("EDITOR of Shop");
  });

  test("add sets a password from a file, but only for a user without one", async () => {
    const file = join(folder, "password");
    writeFileSync(file, "correct horse\n");
    const add = (path: string) =>
      run("user", "add", "ada@example.com", "--owner", "--password-file", path);
    expect(await add(file)).toMatchObject({
      exit: 0,
      text: "ada@example.com is an owner, with the password of the file.",
    });
    const { answer } = await run("user", "list", "--json");
    expect(valueAt(answer, "users")).toMatchObject([{ isOwner: true, hasPassword: true }]);
    expect((await add(file)).text).toContain("ada@example.com has a password already");
    writeFileSync(file, "short");
    expect((await add(file)).text).toContain(
      "--password-file: the password must have at least 10 characters",
    );
    expect((await add("/nowhere")).text).toContain("--password-file: /nowhere cannot be read");
  });

  test.each(["add", "link"])("%s proves an address, so earlier sessions end", async (verb) => {
    await run("project", "create", "Shop");
    await run("user", "add", "boss@corp.example", "--project", "Shop", "--role", "ADMIN");
    const file = join(folder, "mailstead.db");
    using db = new Database(file);
    db.run("UPDATE users SET unproven_project_seq = 1, password_digest = 'of an admin'");
    expect((await run("user", "list")).text).toEndWith("  address not proven");
    const { answer } = await run("user", verb, "boss@corp.example", "--json");
    expect(valueAt(answer, "user")).toMatchObject({ hasPassword: false, isProven: true });
    expect(db.query("SELECT count(*) AS n FROM user_tokens WHERE used_at IS NULL").get()).toEqual({
      n: 1,
    });
  });

  test("link prints a new link, with the base of --url", async () => {
    await run("user", "add", "ada@example.com", "--owner");
    const { text } = await run("user", "link", "ada@example.com", "--url", "https://m.example");
    expect(text).toMatch(/^https:\/\/m\.example\/app\/link#[0-9A-Za-z]{43}$/);
  });

  test("reset-second-factor lets the only owner in who has lost the phone", async () => {
    await run("user", "add", "ada@example.com", "--owner");
    using db = new Database(join(folder, "mailstead.db"));
    db.run(
      `INSERT INTO totp_secrets (user_seq, secret, confirmed_at, created_at) VALUES (1, 'x', 1, 1)`,
    );
    db.run("INSERT INTO recovery_codes (user_seq, digest) VALUES (1, 'y')");
    expect((await run("user", "list")).text).toEndWith("  second factor");
    const reset = await run("user", "reset-second-factor", "ADA@example.com");
    expect(reset).toMatchObject({ exit: 0, text: expect.stringContaining("no second factor any") });
    expect((await run("user", "list")).text).toEndWith("never signed in");
    expect(db.query("SELECT count(*) AS n FROM recovery_codes").get()).toEqual({ n: 0 });
    const again = await run("user", "reset-second-factor", "ada@example.com", "--json");
    expect(valueAt(again.answer, "hadSecondFactor")).toBe(false);
    expect((await run("user", "reset-second-factor", "eve@example.com")).exit).not.toBe(0);
  });

  test("disable and enable change whether a user may sign in, except the last owner", async () => {
    await run("user", "add", "ada@example.com", "--owner");
    await run("user", "add", "eve@example.com");
    expect((await run("user", "disable", "eve@example.com")).exit).toBe(0);
    expect((await run("user", "list")).text).toContain("eve@example.com  disabled");
    const link = await run("user", "link", "eve@example.com");
    expect([link.exit, link.text]).toEqual([2, expect.stringContaining("is disabled")]);
    expect((await run("user", "enable", "eve@example.com")).exit).toBe(0);
    using db = new Database(join(folder, "mailstead.db"));
    expect(db.query("SELECT action, changes FROM audit ORDER BY seq DESC LIMIT 1").get()).toEqual({
      action: "user.enable",
      changes: '[{"field":"isDisabled","before":"true","after":"false"}]',
    });
    const last = await run("user", "disable", "ada@example.com");
    expect([last.exit, last.text]).toEqual([1, expect.stringContaining("last owner")]);
  });

  test.each([
    [["user", "add", "no-address"], "EMAIL: The address has no @."],
    [["user", "add", "a@example.com", "--role", "KING"], "--role: expected one of ADMIN"],
    [["user", "add", "a@example.com", "--project", "Shop"], "--project needs --role"],
    [["user", "add", "a@example.com", "--role", "ADMIN"], "There is no project yet."],
    [["user", "link", "a@example.com"], "There is no such user."],
    [["user", "disable", "a@example.com"], "There is no such user."],
  ])("%j is refused", async (words, message) => {
    await run("user", "add", "ada@example.com", "--owner");
    const { exit, text } = await run(...words);
    expect(exit).toBeGreaterThan(0);
    expect(text).toContain(message);
  });

  test("changes are in the audit log, as changes of the command line", async () => {
    await run("user", "add", "ada@example.com", "--owner");
    const database = new Database(join(folder, "mailstead.db"), { readonly: true });
    const rows = database.query("SELECT actor_kind, actor_label, action FROM audit").all();
    database.close();
    expect(rows).toEqual([
      { actor_kind: "CLI", actor_label: "mailstead user add", action: "user.add" },
    ]);
  });
});

/** Starts a server and sends a request as its own page does. */
async function serve(words: readonly string[], environment: Record<string, string> = {}) {
  const server = await startMailstead([...words, "--json", "--port", "0"], { env: environment });
  const info: unknown = JSON.parse(server.greeting);
  const url = stringAt(info, "url");
  const post = (path: string, body: object) =>
    fetch(`${url}/app/api/${path}`, {
      method: "POST",
      headers: {
        origin: url,
        "x-requested-with": "mailstead",
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
  return { ...server, info, url, post };
}

test("serve prints a link to create the owner, until there is one", async () => {
  const first = await serve(["serve", "--data", folder]);
  const link = stringAt(first.info, "setUpUrl");
  expect(link).toStartWith(`${first.url}/app/setup#`);
  const token = link.split("#")[1] ?? "";
  const given = {
    token,
    name: "Ada",
    email: "ada@example.com",
    password: "correct horse battery",
  };
  const answer = await first.post("setup", given);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("set-cookie")).toStartWith("mailstead=");
  await first.stop();
  const second = await serve(["serve", "--data", folder]);
  expect(valueAt(second.info, "setUpUrl")).toBeNull();
  await second.stop();
});

test("serve creates the owner that the environment names", async () => {
  const file = join(folder, "password");
  writeFileSync(file, "correct horse battery\n");
  const environment = {
    MAILSTEAD_OWNER_EMAIL: "Ada@example.com",
    MAILSTEAD_OWNER_PASSWORD_FILE: file,
  };
  const data = join(folder, "new");
  const server = await serve(["serve", "--data", data], environment);
  expect(valueAt(server.info, "setUpUrl")).toBeNull();
  const credentials = { email: "ada@example.com", password: "correct horse battery" };
  expect((await server.post("login", credentials)).status).toBe(200);
  await server.stop();
});

test("serve refuses an owner without a password, or with a common one", async () => {
  const words = ["serve", "--data", folder, "--port", "0", "--owner-email", "ada@example.com"];
  const none = await mailstead(words);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("needs a password")]);
  const common = await mailstead([...words, "--owner-password", "1234567890"]);
  expect([common.code, common.stderr]).toEqual([2, expect.stringContaining("common password")]);
});

test("dev prints an address that signs each browser of this machine in, under its names only", async () => {
  const server = await serve(["dev", "--data", folder, "--capture-smtp", "127.0.0.1:0"]);
  const address = stringAt(server.info, "dashboard");
  expect(address).toBe(`${server.url}/`);
  let cookie = "";
  for (const browser of ["the first", "the second", "the first again"]) {
    const init = { headers: { accept: "text/html" }, redirect: "manual" } as const;
    const link = (await fetch(address, init)).headers.get("location") ?? "";
    const signedIn = await server.post("link", { token: link.split("#")[1] ?? "" });
    expect([browser, signedIn.status]).toEqual([browser, 200]);
    cookie = signedIn.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  }
  const answer = await fetch(`${server.url}/app/api/state`, { headers: { cookie } });
  expect(valueAt(await answer.json(), "data")).toMatchObject({
    user: { isOwner: true },
    projects: [{ name: "Development", role: "OWNER" }],
    dev: true,
    capture: true,
    smtp: { host: "127.0.0.1", port: expect.any(Number) },
  });
  const rebound = await fetch(`${server.url}/app/api/state`, {
    headers: { cookie, host: "evil.example" },
  });
  expect(rebound.status).toBe(403);
  await server.stop();
});
