/** The whole command line: wrong words, help, and a server with commands beside it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  clientOf,
  mailstead,
  type Running,
  startMailstead,
  stopServers,
} from "../support/command-line.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";
import { sources } from "../support/sources.ts";

let parent: string;
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-main-"));
});
afterAll(async () => {
  await stopServers();
  rmSync(parent, { recursive: true, force: true });
});

test("an invalid command line exits 2, reports what is accepted and creates nothing", async () => {
  const data = join(parent, "never");
  const env = { MAILSTEAD_DATA: data };
  const cases: [words: string[], env: Record<string, string>, message: RegExp][] = [
    [["frobnicate"], env, /unknown command "frobnicate"\nmailstead help shows every command\./],
    [
      ["project", "frobnicate"],
      env,
      /project needs one of these words after it: create, list, set, disable, enable/,
    ],
    [
      ["serve", "--colour"],
      env,
      /serve has no flag --colour\nmailstead help serve shows its arguments and flags\./,
    ],
    [["serve", "--port", "x"], env, /--port: expected a whole number from 0 to 65535, got "x"/],
    [
      ["key", "create", "--kind", "OPEN"],
      { ...env, MAILSTEAD_DATA: join(parent, "kind") },
      /--kind: expected SECRET, PUBLIC, SMTP/,
    ],
    [
      ["serve"],
      { ...env, MAILSTEAD_SEND_RATE: "fast" },
      /MAILSTEAD_SEND_RATE: expected a number from 0/,
    ],
    [["help", "frobnicate"], env, /unknown command "frobnicate"/],
    [["--ui-auth-file", "x"], env, /no flag --ui-auth-file; set the variable MP_UI_AUTH_FILE/],
    [["-auth-file=x"], env, /no flag -auth-file; set the variable MH_AUTH_FILE/],
    [["dev", "--ui-auth-file", "x"], env, /set the variable MP_UI_AUTH_FILE/],
    [["serve"], { ...env, MH_AUHT_FILE: "x" }, /MH_AUHT_FILE: .* Did you mean MH_AUTH_FILE\?/],
    [["dev"], { ...env, MAILSTEAD_UI_AUHT: "a:b" }, /did you mean MAILSTEAD_UI_AUTH\?/],
    [["--port", "1"], env, /a command must come before --port, as in mailstead serve --port/],
    [["send", "--from", "Ada <ada@x.io>"], env, /--from expects only the address: ada@x\.io/],
  ];
  const results = await Promise.all(
    cases.map(([words, environment]) => mailstead(words, environment)),
  );
  for (const [i, [words, , message]] of cases.entries()) {
    const result = results[i];
    expect([words, result?.code, result?.stdout]).toEqual([words, 2, ""]);
    expect(result?.stderr).toMatch(message);
    expect(result?.stderr).toStartWith("mailstead: ");
  }
  expect(existsSync(data)).toBe(false);
});

test("help and version exit 0; --json prints JSON, also for errors", async () => {
  const [nothing, help, ofCommand, ofGroup, flag, version, error] = await Promise.all([
    mailstead([]),
    mailstead(["help"]),
    mailstead(["help", "key"]),
    mailstead(["key", "--help"]),
    mailstead(["serve", "--help"]),
    mailstead(["--version", "--json"]),
    mailstead(["serve", "--port", "x", "--json"]),
  ]);
  for (const { code, stderr } of [nothing, help, ofCommand, flag, version])
    expect([code, stderr]).toEqual([0, ""]);
  expect(nothing.stdout).toBe(help.stdout);
  expect(help.stdout).toContain("Run a server:");
  for (const name of ["key create", "key list", "key revoke"])
    expect(ofCommand.stdout).toContain(`mailstead ${name}`);
  expect(ofGroup.stdout).toBe(ofCommand.stdout);
  expect(flag.stdout).toContain("MAILSTEAD_RELAY_URL");
  expect(version.json).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    revision: null,
    bun: Bun.version,
  });
  expect([error.code, JSON.parse(error.stderr)]).toEqual([
    2,
    {
      error: {
        code: "USAGE",
        message: expect.stringContaining("--port"),
        suggestion: expect.any(String),
      },
    },
  ]);
});

describe("a server with commands beside it", () => {
  let data: string;
  let server: Running;
  let url: string;
  let shop: { id: string; secretKey: string; publicKey: string };
  const run = async (...words: string[]) => {
    const result = await mailstead([...words, "--json", "--data", data]);
    return {
      ...result,
      error: result.stderr === "" ? null : valueAt(JSON.parse(result.stderr), "error.code"),
    };
  };
  const call = (method: string, path: string, body?: unknown, key = shop.secretKey) =>
    clientOf(server, key)(method, path, body);

  beforeAll(async () => {
    data = join(parent, "served");
    server = await startMailstead(["serve", "--data", data, "--port", "0", "--json"]);
    url = stringAt(JSON.parse(server.greeting), "url");
    const { json } = await run("project", "create", "Shop");
    shop = {
      id: stringAt(json, "project.id"),
      secretKey: stringAt(json, "secretKey"),
      publicKey: stringAt(json, "publicKey"),
    };
    await run("domain", "add", "shop.test", "--verified");
  });

  test("prints its version, folder, addresses and unsafe settings on start", () => {
    expect(JSON.parse(server.greeting)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      data,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      publicUrl: url,
      transport: "capture",
      setUpUrl: expect.stringMatching(/^http:\/\/.+\/app\/setup#[0-9A-Za-z]{43}$/),
      unsafe: [expect.stringContaining("captured")],
    });
  });

  test("a project, its keys and its domain work at once, without a restart", async () => {
    const mail = { to: "ada@example.com", from: "a@shop.test", subject: "Hi", body: "b" };
    expect((await call("POST", "/v1/send", mail)).status).toBe(200);
    expect(
      (await call("POST", "/v1/send", { ...mail, from: "a@other.test" })).at("error.code"),
    ).toBe("DOMAIN_NOT_VERIFIED");
    const event = { email: "ada@example.com", event: "x" };
    expect((await call("POST", "/v1/track", event, shop.publicKey)).status).toBe(200);
    const answer = await call("GET", "/contacts");
    // `mailstead dev` has no such limit.
    expect([answer.status, answer.headers.get("ratelimit-limit")]).toEqual([200, "1000"]);
  });

  test("a key is created, listed and revoked, with effect from the next request", async () => {
    const made = await run(
      "key",
      "create",
      "--project",
      "Shop",
      "--name",
      "for tests",
      "--kind",
      "secret",
      "--expires",
      "2999-01-01",
    );
    const [id, text] = [stringAt(made.json, "key.id"), stringAt(made.json, "key.text")];
    expect(text).toMatch(/^sk_[0-9A-Za-z]{43}$/);
    expect((await call("GET", "/contacts", undefined, text)).status).toBe(200);
    const listed = await run("key", "list", "--project", "Shop");
    const keys = listAt(listed.json, "keys");
    expect(keys.length).toBe(3);
    expect(keys[0]).toMatchObject({
      id,
      kind: "SECRET",
      name: "for tests",
      last4: text.slice(-4),
      createdAt: expect.any(String),
      expiresAt: "2999-01-01T00:00:00.000Z",
      revokedAt: null,
    });
    expect(listed.stdout).not.toContain(text);
    const revoked = await run("key", "revoke", id);
    expect([revoked.code, valueAt(revoked.json, "key.revokedAt")]).toEqual([0, expect.any(String)]);
    expect((await call("GET", "/contacts", undefined, text)).at("error.code")).toBe(
      "INVALID_API_KEY",
    );
    expect((await call("GET", "/contacts")).status).toBe(200);
  });

  test("a project is disabled and enabled, by name or id", async () => {
    expect((await run("project", "disable", "Shop")).json).toMatchObject({
      project: { id: shop.id, enabled: false },
    });
    expect((await call("GET", "/contacts")).at("error.code")).toBe("PROJECT_DISABLED");
    expect((await run("project", "enable", shop.id)).json).toMatchObject({
      project: { name: "Shop", enabled: true },
    });
    expect((await call("GET", "/contacts")).status).toBe(200);
  });

  test("a refused command exits 1 with an error code", async () => {
    const cases: [words: string[], code: string][] = [
      [["project", "create", "Shop"], "CONFLICT"],
      [["project", "disable", "Nowhere"], "PROJECT_NOT_FOUND"],
      [["key", "list", "--project", "Nowhere"], "PROJECT_NOT_FOUND"],
      [["key", "revoke", "nope"], "KEY_NOT_FOUND"],
    ];
    const results = await Promise.all(cases.map(([words]) => run(...words)));
    const seen = results.map(({ code, stdout, error }, i) => [cases[i]?.[0], code, stdout, error]);
    expect(seen).toEqual(cases.map(([words, code]) => [words, 1, "", code]));
  });

  test("with two projects a command must name one and otherwise does nothing", async () => {
    const other = await run("project", "create", "Other");
    expect(other.code).toBe(0);
    const results = await Promise.all([
      run("key", "list"),
      run("key", "list", "--project", "Other"),
      run("domain", "add", "shop.test", "--verified", "--project", "Other"),
      run("project", "list"),
    ]);
    expect(results.map(({ code, error }) => [code, error])).toEqual([
      [1, "CONFLICT"],
      [0, null],
      [1, "CONFLICT"],
      [0, null],
    ]);
    expect(listAt(results[1]?.json, "keys")).toHaveLength(2);
    expect(listAt(results[3]?.json, "projects").map((project) => valueAt(project, "name"))).toEqual(
      ["Shop", "Other"],
    );
  });
});

test("commands use the process only through the streams and signals that they are given", () => {
  const users = sources
    .filter(({ file }) => file.startsWith("cli/") && file !== "cli/process-io.ts")
    .filter(({ text }) =>
      /\b(?:process|console)\.\w|\bBun\.(?:stdin|stdout|stderr|argv)/.test(text),
    );
  expect(users.map(({ file }) => file)).toEqual([]);
});
