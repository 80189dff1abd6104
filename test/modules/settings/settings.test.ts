/** The settings of the installation in the dashboard. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { GivenSettings } from "../../../src/config/read.ts";
import { readStoredTexts } from "../../../src/modules/settings/stored.ts";
import { readStoredSettings } from "../../../src/stored-settings.ts";
import { transportOf } from "../../../src/outbox/transports/create-transport.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { signIn } from "../../support/session.ts";
import { startScript } from "../../support/smtp-script.ts";
import { startSink } from "../../support/smtp-sink.ts";
import { makeCertificate } from "../../support/tls.ts";

let t: TestApp;
let owner: Awaited<ReturnType<typeof signIn>>;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  t = await testApp();
  owner = await signIn(t);
});
afterEach(async () => {
  await t.close();
  for (const close of closers.splice(0)) await close();
});

const path = (name: string) => `/system/settings/${name}`;

async function read(name: string): Promise<Record<string, unknown>> {
  const answer = await owner.get("/system/settings");
  const found = listAt(answer.body, "data.settings").find((each) => valueAt(each, "name") === name);
  if (typeof found !== "object" || found === null) throw new Error(`no setting ${name}`);
  return { ...found };
}

const set = (name: string, value: string, headers: Record<string, string> = {}) =>
  owner.call("PUT", path(name), { value }, headers);

describe("a setting", () => {
  test("has its default, and what can be done with it", async () => {
    expect(await read("send-rate")).toMatchObject({
      value: null,
      default: expect.stringMatching(/^14/),
      variable: "MAILSTEAD_SEND_RATE",
      subject: "How mail leaves",
      source: { kind: "DEFAULT", name: null, path: null },
      effect: "AT_ONCE",
      revision: 0,
      updatedAt: null,
    });
    expect(await read("port")).toMatchObject({ effect: null });
    expect(await read("quota-jobs")).toMatchObject({ effect: "AT_START" });
    expect(await read("transport")).toMatchObject({ choices: ["capture", "relay", "direct"] });
  });

  test("takes effect at once, and is reset to its default", async () => {
    const answer = await set("quota-queued-mails", "1");
    expect([answer.status, answer.headers.get("etag")]).toEqual([200, '"1"']);
    expect(answer.at("data")).toMatchObject({
      value: "1",
      source: { kind: "DASHBOARD" },
      isPending: false,
      updatedAt: "2026-03-02T10:00:00.000Z",
      updatedBy: "owner@example.com",
    });
    expect(t.app.app.config.quotaQueuedMails).toBe(1);
    const reset = await owner.call("DELETE", path("quota-queued-mails"));
    expect(reset.at("data")).toMatchObject({
      value: null,
      source: { kind: "DEFAULT" },
      revision: 2,
    });
    expect(t.app.app.config.quotaQueuedMails).toBe(1_000_000);
  });

  test("that takes effect at the next start is pending until then", async () => {
    await set("quota-jobs", "3");
    expect(await read("quota-jobs")).toMatchObject({ value: "3", isPending: true });
    expect(t.app.app.config.quotaJobs).toBe(10);
  });

  test.each([
    ["send-rate", "fast", "must be a number from 0"],
    ["transport", "pigeon", "must be one of capture, relay, direct"],
    ["system-from", "nobody", "must be a sender such as"],
    ["relay-url", "smtp://u:hunter2@mx.test?tls=none", "must not send a password without TLS"],
    ["relay-url", "smtp://user:***@mx.test", "must contain the secret"],
    ["alert-webhook", "ftp://mx.test", "must be a URL of http or https"],
    ["alert-webhook", "https://mx.test:22/", "must use port 80, 443"],
    ["transport", "relay", "--transport relay needs --relay-url"],
  ])("%s is refused as %s", async (name, value, message) => {
    const before = t.contents()["installation_settings"];
    const answer = await set(name, value);
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "value"]);
    expect(answer.text("error.message")).toContain(message);
    expect(JSON.stringify(answer.body)).not.toContain("hunter2");
    expect(t.contents()["installation_settings"]).toEqual(before);
  });

  test("is refused if another owner has changed it meanwhile", async () => {
    expect((await set("send-rate", "20", { "if-match": '"0"' })).status).toBe(200);
    const late = await set("send-rate", "30", { "if-match": '"0"' });
    expect([late.status, late.at("error.code")]).toEqual([412, "REVISION_CONFLICT"]);
    expect((await read("send-rate"))["value"]).toBe("20");
  });

  test("that only a flag can set, and an unknown one, are refused", async () => {
    const fixed = await set("port", "80");
    expect([fixed.status, fixed.at("error.code")]).toEqual([409, "SETTING_FIXED"]);
    expect(fixed.text("error.suggestion")).toContain("--port or MAILSTEAD_PORT");
    expect((await set("colour", "red")).status).toBe(404);
  });

  test("is for owners only", async () => {
    const admin = await signIn(t, { isOwner: false, email: "admin@example.com" });
    for (const [method, url] of [
      ["GET", "/system/settings"],
      ["PUT", path("send-rate")],
      ["DELETE", path("send-rate")],
      ["POST", "/system/relay/test"],
    ] as const) {
      expect((await admin.call(method, url, method === "PUT" ? { value: "1" } : {})).status).toBe(
        403,
      );
    }
  });

  test("is in the audit log with its old and its new value, and a secret with neither", async () => {
    await set("send-rate", "20");
    await set("send-rate", "30");
    await set("relay-url", "smtp://user:hunter2@mx.test");
    await set("relay-url", "smtp://user:hunter3@mx2.test");
    const entries = t.db.sqlite
      .query<{ objectName: string; changes: string }, []>(
        `SELECT object_name AS objectName, changes FROM audit WHERE object_type = 'setting'`,
      )
      .all();
    expect(entries.map(({ objectName }) => objectName)).toEqual([
      "send-rate",
      "send-rate",
      "relay-url",
      "relay-url",
    ]);
    expect(JSON.parse(entries[0]?.changes ?? "")).toEqual([
      { field: "value", before: null, after: "20" },
    ]);
    expect(JSON.parse(entries[1]?.changes ?? "")).toEqual([
      { field: "value", before: "20", after: "30" },
    ]);
    expect(JSON.parse(entries[3]?.changes ?? "")).toEqual([
      { field: "value", before: "smtp://mx.test:587", after: "smtp://mx2.test:587" },
    ]);
    expect(JSON.stringify(t.contents())).not.toMatch(/hunter[23]/);
  });
});

describe("after a restart", () => {
  /** The same database in another process, with these flags, variables and files. */
  async function restart(given: GivenSettings = {}): Promise<TestApp> {
    const next = await testApp({ db: t.db, given, project: "other" });
    closers.push(next.close);
    return next;
  }

  test("the values of the dashboard count, also those that waited for it", async () => {
    await set("quota-jobs", "3");
    await set("relay-url", "smtp://user:hunter2@mx.test");
    await set("transport", "relay");
    const { config } = (await restart()).app.app;
    expect(config).toMatchObject({
      quotaJobs: 3,
      transport: "relay",
      relayUrl: { host: "mx.test", user: "user", password: "hunter2" },
    });
  });

  test.each([
    [{ kind: "flag", name: "--send-rate", path: null }, "FLAG"],
    [{ kind: "environment", name: "MAILSTEAD_SEND_RATE", path: null }, "ENVIRONMENT"],
    [{ kind: "file", name: "MAILSTEAD_SEND_RATE_FILE", path: "/run/rate" }, "FILE"],
  ] as const)("%o wins, and is changed where it is", async (source, kind) => {
    await set("send-rate", "20");
    const next = await restart({ sendRate: { text: "5", source } });
    expect(next.app.app.config.sendRate).toBe(5);
    const other = await signIn(next);
    const shown = listAt((await other.get("/system/settings")).body, "data.settings");
    expect(shown).toContainEqual(
      expect.objectContaining({
        name: "send-rate",
        value: "5",
        source: { kind, name: source.name, path: source.path },
      }),
    );
    const refused = await other.call("PUT", path("send-rate"), { value: "30" });
    expect([refused.status, refused.at("error.code")]).toEqual([409, "SETTING_FIXED"]);
    expect(refused.text("error.message")).toContain(source.name);
  });

  test("a value that was sealed with another secret stops the start, unless a flag replaces it", async () => {
    await set("relay-url", "smtp://user:hunter2@mx.test");
    const other = { db: t.db, secret: "another secret that is long enough to be one" };
    expect(() => readStoredTexts(other)).toThrow("put the old file “secret” back");
    const source = { kind: "flag", name: "--relay-url", path: null } as const;
    expect(readStoredTexts(other, { relayUrl: { text: "smtp://mx.test", source } })).toEqual({});
  });
});

describe("the relay", () => {
  const CERTIFICATE = makeCertificate(["127.0.0.1"]);
  const relayTo = (port: number, rest: object = {}) => ({
    host: "127.0.0.1",
    port,
    tls: "none" as const,
    ...rest,
  });
  const save = (relay: object) => owner.call("PUT", path("relay-url"), { relay });

  test("is set by its parts, and mail leaves through it at once", async () => {
    const sink = await startSink();
    closers.push(sink.close);
    await t.start();
    expect((await save(relayTo(sink.port, { sign: true }))).at("data.value")).toBe(
      `smtp://127.0.0.1:${sink.port}?tls=none&sign=true`,
    );
    expect(transportOf(t.app.app).name).toBe("capture");
    expect((await set("transport", "relay")).status).toBe(200);
    expect(transportOf(t.app.app).name).toBe("relay");
    expect(readStoredSettings(t.db)?.installation).toMatchObject({
      mode: "relay",
      relayHost: "127.0.0.1",
    });
    await t.call("POST", "/v1/send", {
      to: "b@example.net",
      from: "a@acme.test",
      subject: "s",
      body: "b",
    });
    await waitUntil(() => sink.messages.length === 1);
    // Without the relay, mail could not leave.
    const reset = await owner.call("DELETE", path("relay-url"));
    expect([reset.status, reset.text("error.message")]).toEqual([
      422,
      expect.stringContaining("--transport relay needs --relay-url"),
    ]);
  });

  test.each(["mx.test:25", "mx.test/x", "user@mx.test", "mx test", "mx.test\r\nRCPT", "[::1"])(
    "is refused with the host %p",
    async (host) => {
      const answer = await save({ ...relayTo(25), host });
      expect([answer.status, answer.at("error.errors.0")]).toMatchObject([
        422,
        { field: "relay.host", message: expect.stringContaining("such as smtp.example.com") },
      ]);
    },
  );

  test("keeps its password for the same host and user only", async () => {
    const login = { user: "user", password: "hunter2" };
    expect((await save(relayTo(587, login))).status).toBe(200);
    expect((await owner.get("/system/settings")).at("data.relay")).toEqual({
      ...relayTo(587),
      user: "user",
      hasPassword: true,
      sign: null,
    });
    expect((await save(relayTo(2525, { user: "user" }))).status).toBe(200);
    expect(t.app.app.config.relayUrl).toEqual({ ...relayTo(2525), ...login });
    for (const changes of [{ host: "localhost" }, { user: "other" }]) {
      const answer = await save({ ...relayTo(2525, { user: "user" }), ...changes });
      expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "relay.password"]);
    }
  });

  test("is tested before it is saved, with a mail, and nothing of the password is shown", async () => {
    const script = { auth: [{ code: 535, text: "5.7.8 wrong: hunter2" }, null] };
    const server = await startScript({ script });
    closers.push(server.close);
    await t.app.writer.write(() =>
      t.db.sqlite.run("UPDATE projects SET from_address = 'hello@acme.test'"),
    );
    const relay = relayTo(server.port, { user: "user", password: "hunter2" });
    const wrong = await owner.post("/system/relay/test", { relay });
    expect(wrong.at("data.problem")).toMatchObject({
      step: "auth",
      fix: expect.stringContaining("check the user and the password"),
    });
    const steps = listAt(wrong.body, "data.steps");
    expect(steps.filter((step) => valueAt(step, "isFailed") === true)).toMatchObject([
      { step: "auth", command: "AUTH PLAIN", code: 535 },
    ]);
    expect(JSON.stringify(wrong.body)).not.toContain("hunter2");

    const open = await startScript({});
    closers.push(open.close);
    const tested = await owner.post("/system/relay/test", {
      relay: { ...relay, port: open.port },
      to: "me@example.net",
    });
    expect(tested.at("data")).toMatchObject({
      problem: null,
      isAuthenticated: true,
      mail: { from: "hello@acme.test", to: "me@example.net", isAccepted: true },
    });
    expect(open.bodies[0]).toContain("Subject: Test of the relay");
    expect(t.contents()["installation_settings"]).toEqual([]);
  });

  test("with a certificate of its own, or behind a closed port, says what to do", async () => {
    const server = await startScript({ tls: CERTIFICATE });
    const relay = relayTo(server.port, { tls: "starttls" });
    const own = await owner.post("/system/relay/test", { relay });
    expect(own.at("data.problem")).toMatchObject({
      step: "tls",
      reason: expect.stringContaining("does not verify"),
    });
    await server.close();
    const closed = await owner.post("/system/relay/test", { relay });
    expect(closed.at("data.problem")).toMatchObject({ step: "connect" });
    expect(closed.at("data.steps.0.isFailed")).toBe(true);
  });

  test("is tested at most ten times in a minute", async () => {
    const server = await startScript({});
    await server.close();
    const attempt = () => owner.post("/system/relay/test", { relay: relayTo(server.port) });
    for (let i = 0; i < 10; i++) expect((await attempt()).status).toBe(200);
    const refused = await attempt();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    t.clock.advance(60_000);
    expect((await attempt()).status).toBe(200);
  });
});
