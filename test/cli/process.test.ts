/** The program as a process: exit codes, output, and a server with commands beside it. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readResponse } from "../support/app.ts";
import { isExecutable, mailstead, type Running, startMailstead } from "../support/cli.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";

let parent: string;
const running: Running[] = [];
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-cli-"));
});
afterAll(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ child }) => child.exited));
  rmSync(parent, { recursive: true, force: true });
});

async function start(
  words: readonly string[],
  isReady: (greeting: string) => boolean,
): Promise<Running> {
  const server = await startMailstead(words, isReady);
  running.push(server);
  return server;
}

const isJsonLine = (text: string) => text.startsWith("{") && text.endsWith("\n");
const CHILD_LIMIT_MS = 30_000;

test(
  "an invalid command line exits 2, reports what is accepted and creates nothing",
  async () => {
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
        /--kind: expected SECRET or PUBLIC/,
      ],
      [
        ["serve"],
        { ...env, MAILSTEAD_SEND_RATE: "fast" },
        /MAILSTEAD_SEND_RATE: expected a number from 0/,
      ],
      [["help", "frobnicate"], env, /unknown command "frobnicate"/],
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
  },
  CHILD_LIMIT_MS,
);

test(
  "help and version exit 0; --json prints JSON, also for errors",
  async () => {
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
    expect(help.stdout).toContain("Commands:");
    for (const name of ["key create", "key list", "key revoke"])
      expect(ofCommand.stdout).toContain(`mailstead ${name}`);
    expect(ofGroup.stdout).toBe(ofCommand.stdout);
    expect(flag.stdout).toContain("MAILSTEAD_RELAY_URL");
    expect(version.json).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      // An executable that was built in a repository has its commit.
      revision:
        isExecutable && existsSync(".git")
          ? expect.stringMatching(/^[0-9a-f]{12}(-dirty)?$/)
          : null,
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
  },
  CHILD_LIMIT_MS,
);

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
  const call = async (method: string, path: string, body: unknown, key = shop.secretKey) =>
    readResponse(
      await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );

  beforeAll(async () => {
    data = join(parent, "served");
    server = await start(["serve", "--data", data, "--port", "0", "--json"], isJsonLine);
    url = stringAt(JSON.parse(server.greeting), "url");
    const { json } = await run("project", "create", "Shop");
    shop = {
      id: stringAt(json, "project.id"),
      secretKey: stringAt(json, "secretKey"),
      publicKey: stringAt(json, "publicKey"),
    };
    await run("domain", "add", "shop.test", "--verified");
  }, CHILD_LIMIT_MS);

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

  test("only the owner may read the folder and the secret", () => {
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, "secret")).mode & 0o777).toBe(0o600);
  });

  test("a project, its keys and its domain work at once, without a restart", async () => {
    const mail = { to: "ada@example.com", from: "a@shop.test", subject: "Hi", body: "b" };
    expect((await call("POST", "/v1/send", mail)).status).toBe(200);
    expect(
      (await call("POST", "/v1/send", { ...mail, from: "a@other.test" })).at("error.code"),
    ).toBe("DOMAIN_NOT_VERIFIED");
    const event = { email: "ada@example.com", event: "x" };
    expect((await call("POST", "/v1/track", event, shop.publicKey)).status).toBe(200);
    expect((await call("GET", "/readyz", undefined)).status).toBe(200);
  });

  test(
    "a key is created, listed and revoked, with effect from the next request",
    async () => {
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
      expect([revoked.code, valueAt(revoked.json, "key.revokedAt")]).toEqual([
        0,
        expect.any(String),
      ]);
      expect((await call("GET", "/contacts", undefined, text)).at("error.code")).toBe(
        "INVALID_API_KEY",
      );
      expect((await call("GET", "/contacts", undefined)).status).toBe(200);
    },
    CHILD_LIMIT_MS,
  );

  test(
    "a project is disabled and enabled, by name or id",
    async () => {
      expect((await run("project", "disable", "Shop")).json).toMatchObject({
        project: { id: shop.id, enabled: false },
      });
      expect((await call("GET", "/contacts", undefined)).at("error.code")).toBe("PROJECT_DISABLED");
      expect((await run("project", "enable", shop.id)).json).toMatchObject({
        project: { name: "Shop", enabled: true },
      });
      expect((await call("GET", "/contacts", undefined)).status).toBe(200);
    },
    CHILD_LIMIT_MS,
  );

  test(
    "a refused command exits 1 with an error code",
    async () => {
      const cases: [words: string[], code: string][] = [
        [["project", "create", "Shop"], "CONFLICT"],
        [["project", "disable", "Nowhere"], "PROJECT_NOT_FOUND"],
        [["key", "list", "--project", "Nowhere"], "PROJECT_NOT_FOUND"],
        [["key", "revoke", "nope"], "KEY_NOT_FOUND"],
        [["serve", "--port", "0"], "DATA_FOLDER"],
      ];
      const results = await Promise.all(cases.map(([words]) => run(...words)));
      const seen = results.map(({ code, stdout, error }, i) => [
        cases[i]?.[0],
        code,
        stdout,
        error,
      ]);
      expect(seen).toEqual(cases.map(([words, code]) => [words, 1, "", code]));
    },
    CHILD_LIMIT_MS,
  );

  test(
    "a port in use exits 2, and the message names it",
    async () => {
      const { port } = new URL(url);
      const result = await mailstead(["serve", "--data", join(parent, "second"), "--port", port]);
      expect([result.code, result.stdout]).toEqual([2, ""]);
      expect(result.stderr).toContain(`cannot listen on 127.0.0.1:${port}`);
      expect(result.stderr).toContain("choose another address with --port or --host");
      const metrics = ["--port", "0", "--metrics", `127.0.0.1:${port}`];
      const other = await mailstead(["serve", "--data", join(parent, "second"), ...metrics]);
      expect([other.code, other.stdout]).toEqual([2, ""]);
      expect(other.stderr).toMatch(
        new RegExp(`cannot listen on 127.0.0.1:${port} for the metrics .*another .* --metrics\n`),
      );
    },
    CHILD_LIMIT_MS,
  );

  test(
    "with two projects a command must name one and otherwise does nothing",
    async () => {
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
      expect(
        listAt(results[3]?.json, "projects").map((project) => valueAt(project, "name")),
      ).toEqual(["Shop", "Other"]);
    },
    CHILD_LIMIT_MS,
  );

  test(
    "SIGTERM stops it in order with exit code 0, and the next start has all accepted data",
    async () => {
      const own = join(parent, "stopped");
      const words = ["serve", "--data", own, "--port", "0", "--json", "--log-format", "json"];
      const first = await start(words, isJsonLine);
      const made = await mailstead(["project", "create", "P", "--json", "--data", own]);
      const init = { headers: { authorization: `Bearer ${stringAt(made.json, "secretKey")}` } };
      const create = { ...init, method: "POST", body: '{"email":"ada@example.com"}' };
      const answer = await fetch(`${stringAt(JSON.parse(first.greeting), "url")}/contacts`, create);
      expect(answer.status).toBe(201);
      const { code, log } = await first.stop();
      const messages = log
        .trim()
        .split("\n")
        .map((line): unknown => valueAt(JSON.parse(line), "message"));
      expect([code, messages.slice(-2)]).toEqual([0, ["stopping", "stopped"]]);
      const second = await start(words, isJsonLine);
      const list = await readResponse(
        await fetch(`${stringAt(JSON.parse(second.greeting), "url")}/contacts`, init),
      );
      expect(list.at("contacts.0.email")).toBe("ada@example.com");
      expect((await second.stop()).code).toBe(0);
    },
    CHILD_LIMIT_MS,
  );
});

test(
  "dev prints keys and a working example request; the next start prints the same keys",
  async () => {
    const data = join(parent, "dev");
    const words = ["dev", "--data", data, "--port", "0", "--capture-smtp", "127.0.0.1:0"];
    const first = await start(words, (greeting) => greeting.includes("Stop with"));
    const { url, init } = readCurl(first.greeting);
    const sent = await readResponse(await fetch(url, init));
    expect(sent.status).toBe(200);
    const id = sent.text("emails.0.email");
    const base = new URL(url).origin;
    const key = /secret key {2}(sk_\w+)/.exec(first.greeting)?.[1] ?? "";
    const headers = { authorization: `Bearer ${key}` };
    const raw = await eventuallyOk(`${base}/emails/${id}/raw`, headers);
    expect(raw).toContain("Subject: Hello Ada");
    expect((await fetch(`${base}/docs`)).status).toBe(200);
    expect(first.greeting).toMatch(/public key {2}pk_\w{43}/);
    expect((await first.stop()).code).toBe(0);
    const second = await start(words, (greeting) => greeting.includes("Stop with"));
    expect(second.greeting).toContain(key);
    expect((await second.stop()).code).toBe(0);
  },
  CHILD_LIMIT_MS,
);

/** Parses the printed curl command. */
function readCurl(greeting: string): { url: string; init: RequestInit } {
  const [, url = "", rest = ""] = /^ {2}curl (http\S+\/v1\/send) (.*)$/m.exec(greeting) ?? [];
  const headers = [...rest.matchAll(/-H '([^:]+): ([^']*)'/g)].map(
    ([, name = "", value = ""]): [string, string] => [name, value],
  );
  const body = /-d '([^']*)'/.exec(rest)?.[1] ?? "";
  return { url, init: { method: "POST", headers, body } };
}

/** Repeats the request until it succeeds, because the mail is sent in the background. */
async function eventuallyOk(url: string, headers: Record<string, string>): Promise<string> {
  const deadline = performance.now() + 5000;
  for (;;) {
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (response.ok) return text;
    if (performance.now() > deadline) throw new Error(text);
    await Bun.sleep(10);
  }
}
