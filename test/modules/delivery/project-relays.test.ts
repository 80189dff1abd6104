/** Relays of projects: set up over the API, and used beside that of the installation. */

import { afterEach, describe, expect, test } from "bun:test";
import type { Config } from "../../../src/config/settings.ts";
import { createKey } from "../../../src/modules/keys.ts";
import { putRelay } from "../../../src/modules/delivery/project-relays.ts";
import { CONNECTIONS_PER_PROJECT } from "../../../src/outbox/transports/project-relays.ts";
import { testApp, type TestApp } from "../../support/app.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { expectError } from "../../support/refusal.ts";
import { signIn } from "../../support/session.ts";
import { type Script, startScript } from "../../support/smtp-script.ts";
import { type Sink, startSink } from "../../support/smtp-sink.ts";

const SECOND = 1000;
const HOUR = 3_600 * SECOND;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function openSink(): Promise<Sink> {
  const server = await startSink();
  closers.push(server.close);
  return server;
}

async function openScript(script: Script | Script[]) {
  const server = await startScript({ script });
  closers.push(() => server.close());
  return server;
}

async function open(config: Partial<Config> = {}): Promise<TestApp> {
  const t = await testApp({ config: { allowPrivateAddresses: true, ...config } });
  closers.push(t.close);
  return t;
}

const through = ({ port }: { port: number }): Pick<Config, "transport" | "relayUrl"> => ({
  transport: "relay",
  relayUrl: { host: "127.0.0.1", port, tls: "none" },
});

const relayAt = ({ port }: { port: number }) => ({ host: "127.0.0.1", port, security: "NONE" });

type Caller = Pick<TestApp, "call" | "create">;

let recipients = 0;
async function send({ call }: Caller, from: string, count = 1): Promise<void> {
  const to = Array.from({ length: count }, () => `person-${recipients++}@example.net`);
  const answer = await call("POST", "/v1/send", { from, to, subject: "Hi", body: "<p>Hi</p>" });
  expect(answer.status).toBe(200);
}

const countIn = (t: TestApp, projectSeq: number, status: string): number =>
  t.db.sqlite
    .query<{ n: number }, [number, string]>(
      "SELECT count(*) AS n FROM emails WHERE project_seq = ? AND status = ?",
    )
    .get(projectSeq, status)?.n ?? 0;

/** A second project beside the first one. */
async function secondProject(t: TestApp) {
  return t.inProject(await t.makeProject("other"));
}

const INPUT = { host: "Smtp.Example.com", username: "shop", password: "correct horse" };

describe("the API", () => {
  test("stores a relay without showing its password, and changes and deletes it", async () => {
    const t = await open();
    const created = await t.call("POST", "/relays", INPUT);
    expect(created.status).toBe(201);
    const id = created.text("data.id");
    expect(created.at("data")).toMatchObject({
      host: "smtp.example.com",
      port: 587,
      security: "STARTTLS",
      username: "shop",
      signedBy: "AUTO",
      isSigning: false,
      problem: null,
    });
    const stored = JSON.stringify(Object.values(t.contents()));
    expect(JSON.stringify(created.body) + stored).not.toContain("correct horse");
    expectError(await t.call("POST", "/relays", INPUT), { status: 409, code: "CONFLICT" });

    const changed = await t.call("PATCH", `/relays/${id}`, { signedBy: "RELAY" });
    expect(changed.at("data")).toMatchObject({ isSigning: true, username: "shop" });
    // The host of another person must not get the stored password.
    expectError(await t.call("PATCH", `/relays/${id}`, { host: "smtp.other.example" }), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["password", "required"]],
    });
    const removed = await t.call("PATCH", `/relays/${id}`, { username: null });
    expect(removed.at("data.username")).toBeNull();
    expect((await t.call("DELETE", `/relays/${id}`)).status).toBe(204);
    expect((await t.call("GET", "/relays")).at("data.items")).toEqual([]);
    expectError(await t.call("DELETE", `/relays/${id}`), { status: 404, code: "RELAY_NOT_FOUND" });
  });

  const refusals: [name: string, input: object, field: string, code: string][] = [
    ["a private address", { host: "10.0.0.1" }, "host", "invalid_value"],
    ["an IPv6 address of this machine", { host: "::1" }, "host", "invalid_value"],
    ["the name of this machine", { host: "localhost" }, "host", "invalid_value"],
    ["the port of another protocol", { port: 22 }, "port", "invalid_value"],
    ["a user without TLS", { security: "NONE" }, "security", "invalid_value"],
    ["a user without a password", { password: null }, "password", "required"],
    ["a password without a user", { username: null }, "username", "required"],
    ["a line break in the user", { username: "a\r\nQUIT" }, "username", "invalid_format"],
  ];

  test.each(refusals)("refuses %s", async (_, input, field, code) => {
    const t = await open({ allowPrivateAddresses: false });
    const answer = await t.call("POST", "/relays", { ...INPUT, ...input });
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(t.countRows("project_relays")).toBe(0);
  });

  test("is closed to other projects, to editors and to keys that only send", async () => {
    const t = await open();
    const id = await t.create("/relays", INPUT, "data.id");
    const other = await secondProject(t);
    for (const path of [`/relays/${id}`, `/relays/${id}/test`]) {
      const method = path.endsWith("test") ? "POST" : "DELETE";
      const answer = await other.call(method, path);
      expectError(answer, { status: 404, code: "RELAY_NOT_FOUND" });
    }
    const { text: key } = await t.app.writer.write(() =>
      createKey(t.app.app, t.project.seq, {
        kind: "SECRET",
        name: "web",
        scope: "SEND",
        expiresAt: null,
      }),
    );
    const refused = await t.call("GET", "/relays", undefined, { key });
    expectError(refused, { status: 403, code: "SCOPE_REQUIRED" });
  });

  test("asks an admin for the password before all mail takes another way", async () => {
    const t = await open();
    const admin = await signIn(t);
    const password = "correct horse battery";
    expect((await admin.post("/app/api/account/password", { password })).status).toBe(204);
    t.clock.advance(HOUR);
    const headers = { "x-project": t.project.id };
    const answer = await admin.call("POST", "/relays", INPUT, headers);
    expectError(answer, { status: 403, code: "CONFIRMATION_REQUIRED" });
    expect((await admin.post("/app/api/confirm", { password })).status).toBe(204);
    const id = (await admin.call("POST", "/relays", INPUT, headers)).text("data.id");
    t.clock.advance(HOUR);
    const change = await admin.call("PATCH", `/relays/${id}`, INPUT, headers);
    expectError(change, { status: 403, code: "CONFIRMATION_REQUIRED" });
  });

  test("records a change with its old and new values, and a password without any", async () => {
    const t = await open();
    const id = await t.create("/relays", INPUT, "data.id");
    await t.call("PATCH", `/relays/${id}`, { port: 2525, password: "another secret" });
    const row = t.db.sqlite
      .query<{ fields: string; changes: string; objectName: string }, []>(
        "SELECT fields, changes, object_name AS objectName FROM audit ORDER BY seq DESC LIMIT 1",
      )
      .get();
    expect(JSON.parse(row?.fields ?? "")).toEqual(["port", "password"]);
    expect(JSON.parse(row?.changes ?? "")).toEqual([
      { field: "port", before: "587", after: "2525" },
    ]);
    expect(row?.objectName).toBe("smtp.example.com");
    const owner = await signIn(t);
    const shown = await owner.get(`/app/api/audit?projectId=${t.project.id}`);
    expect(JSON.stringify(shown.body)).not.toContain("secret");
  });

  test("tests a relay, stored or not, and shows what was said without the password", async () => {
    const t = await open();
    const works = await openScript({});
    const refuses = await openScript({ auth: { code: 535, text: "5.7.8 Wrong password" } });
    const login = { username: "shop", password: "correct horse" };
    const tried = await t.call("POST", "/relays/test", { ...relayAt(refuses), ...login });
    expect(tried.at("data")).toMatchObject({
      isWorking: false,
      reason: expect.stringContaining("535"),
      fix: expect.stringContaining("check the user and the password"),
      isAuthenticated: false,
    });
    expect(JSON.stringify(tried.body)).not.toContain(
      Buffer.from("\0shop\0correct horse").toString("base64"),
    );
    expect(t.countRows("project_relays")).toBe(0);
    const id = await t.create("/relays", { ...relayAt(works), ...login }, "data.id");
    const tested = await t.call("POST", `/relays/${id}/test`);
    expect(tested.at("data")).toMatchObject({ isWorking: true, isAuthenticated: true, fix: null });
    const actions = t.db.sqlite.query("SELECT action FROM audit ORDER BY seq").values().flat();
    expect(actions).toEqual(["tryRelay", "createRelay", "testRelay"]);
    expect(JSON.stringify(t.contents())).not.toContain("correct horse");
  });
});

describe("mail", () => {
  test("of each project leaves by its own relay, and by the common one before and after", async () => {
    const [common, own] = [await openSink(), await openSink()];
    const t = await open(through(common));
    const other = await secondProject(t);
    await t.start();
    await send(t, "a@acme.test", 3);
    await waitUntil(() => common.messages.length === 3);
    const id = await t.create("/relays", relayAt(own), "data.id");
    await Promise.all([send(t, "a@acme.test", 40), send(other, "b@other.test", 40)]);
    await waitUntil(() => own.messages.length === 40 && common.messages.length === 43);
    expect(new Set(own.messages.map(({ from }) => from))).toEqual(new Set(["a@acme.test"]));
    expect(own.counts.connections).toBeLessThanOrEqual(CONNECTIONS_PER_PROJECT);
    expect((await t.call("DELETE", `/relays/${id}`)).status).toBe(204);
    await send(t, "a@acme.test", 3);
    await waitUntil(() => common.messages.length === 46);
    await t.close();
  });

  test("leaves by the new relay after a change, also what waited for the old one", async () => {
    const [common, before, after] = [await openSink(), await openSink(), await openSink()];
    const t = await open(through(common));
    const id = await t.create("/relays", relayAt(before), "data.id");
    await before.close();
    await t.start();
    await send(t, "a@acme.test", 30);
    await waitUntil(() => t.countRows("attempts") === 1 && countIn(t, 1, "SENDING") === 0);
    const shown = (await t.call("GET", "/relays")).text("data.items.0.problem");
    expect(shown).toContain("connection refused");
    expect((await t.call("PATCH", `/relays/${id}`, { port: after.port })).status).toBe(200);
    await waitUntil(() => after.messages.length === 29);
    t.clock.advance(120 * SECOND);
    await waitUntil(() => countIn(t, t.project.seq, "SENT") === 30);
    expect(common.messages).toEqual([]);
  });

  test("leaves by the relay that a command has set meanwhile, also what waited", async () => {
    const [common, own] = [await openSink(), await openSink()];
    const t = await open(through(common));
    await common.close();
    await t.start();
    await send(t, "a@acme.test", 5);
    await waitUntil(() => t.countRows("attempts") === 1 && countIn(t, 1, "SENDING") === 0);
    const { db, clock, secret } = t.app.app;
    const relay = { host: "127.0.0.1", port: own.port, tls: "none" } as const;
    putRelay({ db, clock, secret }, t.project.seq, relay);
    await t.app.recurring.find(({ name }) => name === "queue")?.run();
    await waitUntil(() => own.messages.length === 4);
    expect(common.messages).toEqual([]);
  });

  test("never goes to a private address, whatever the table says", async () => {
    const [common, inside] = [await openSink(), await openSink()];
    const t = await open({ ...through(common) });
    await t.create("/relays", relayAt(inside), "data.id");
    const guarded = await testApp({
      db: t.db,
      project: "third",
      config: { ...through(common), allowPrivateAddresses: false },
    });
    closers.push(guarded.close);
    await send(t, "a@acme.test", 3);
    await guarded.start();
    await waitUntil(() => guarded.countRows("attempts") === 1);
    const { reason } = guarded.db.sqlite
      .query<{ reason: string }, []>("SELECT reason FROM attempts")
      .get() ?? { reason: "" };
    expect(reason).toContain("not a public address");
    expect([inside.counts.connections, common.messages.length]).toEqual([0, 0]);
  });

  test("of a captured project is captured", async () => {
    const own = await openSink();
    const t = await open({ transport: "capture" });
    await t.create("/relays", relayAt(own), "data.id");
    await send(t, "a@acme.test", 3);
    await t.deliver();
    expect([t.countRows("captured_messages"), own.messages.length]).toEqual([3, 0]);
  });
});

const SLOW: [name: string, script: Script][] = [
  ["does not greet", { greeting: "hang" }],
  ["does not answer the mail", { mail: "hang" }],
];

describe("a relay of one project that", () => {
  test.each(SLOW)("%s takes no share of the others", async (_, script) => {
    const [common, slow] = [await openSink(), await openScript(script)];
    const t = await open(through(common));
    const other = await secondProject(t);
    await t.create("/relays", relayAt(slow), "data.id");
    await t.start();
    await send(t, "a@acme.test", 100);
    await waitUntil(() => slow.transcripts.length === CONNECTIONS_PER_PROJECT);
    for (let n = 1; n <= 20; n++) {
      await send(other, "b@other.test", 5);
      await waitUntil(() => countIn(t, other.project.seq, "SENT") === 5 * n);
    }
    expect(slow.transcripts).toHaveLength(CONNECTIONS_PER_PROJECT);
    // The first mails wait for the relay, and all others are in the queue.
    expect(countIn(t, t.project.seq, "SENDING")).toBe(CONNECTIONS_PER_PROJECT);
    slow.drop();
  });

  test("is away lets the others pass, and gets its mail when it is back", async () => {
    const [common, own] = [await openSink(), await openSink()];
    const t = await open(through(common));
    const other = await secondProject(t);
    await t.create("/relays", relayAt(own), "data.id");
    await own.close();
    await t.start();
    await send(t, "a@acme.test", 50);
    await waitUntil(() => t.countRows("attempts") === 1 && countIn(t, 1, "SENDING") === 0);
    await send(other, "b@other.test", 50);
    await waitUntil(() => common.messages.length === 50);
    const back = await startSink({ port: own.port });
    closers.push(back.close);
    for (let i = 0; i < 60 && back.messages.length < 50; i++) {
      t.clock.advance(SECOND);
      await settleEventLoop();
    }
    await waitUntil(() => back.messages.length === 50);
    expect(common.messages).toHaveLength(50);
  });

  test("is used does not wait for the common relay, which is away", async () => {
    const [common, own] = [await openSink(), await openSink()];
    const t = await open(through(common));
    const other = await secondProject(t);
    await t.create("/relays", relayAt(own), "data.id");
    await common.close();
    await t.start();
    await send(other, "b@other.test", 20);
    await waitUntil(() => t.countRows("attempts") === 1 && countIn(t, 2, "SENDING") === 0);
    await send(t, "a@acme.test", 50);
    await waitUntil(() => own.messages.length === 50);
  });
});
