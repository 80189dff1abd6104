/** Quotas of stored data and of queued mails. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SETTINGS } from "../../src/config/settings.ts";
import { type TestResponse, type TestApp, testApp } from "../support/app.ts";
import { type Automation, MINUTE, startAutomation } from "../support/automation.ts";
import { createLog } from "../../src/lib/log.ts";
import { waitUntil } from "../support/eventually.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { DEFERRED, testTransport } from "../support/transport.ts";
import { runImport, upload } from "./contacts/upload.ts";
import { chain, step } from "./workflows/graphs.ts";

const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const MIB = 1024 * 1024;

let t: TestApp;

function expectQueueExceeded(answer: TestResponse, limit: number): void {
  expectError(answer, { status: 429, code: "QUOTA_EXCEEDED" });
  expect(answer.text("error.message")).toBe(
    `The project has reached its quota of ${limit} queued mails (--quota-queued-mails).`,
  );
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

function expectStorageExceeded(answer: TestResponse): void {
  expectError(answer, { status: 409, code: "QUOTA_EXCEEDED" });
  expect(answer.text("error.message")).toBe(
    "The project has reached its quota of 1 MiB of stored data (--quota-storage).",
  );
  expect(answer.headers.get("retry-after")).toBeNull();
}

test("the flags in the messages exist", () => {
  const { quotaStorage, quotaQueuedMails, quotaJobs, quotaWebhookCalls } = SETTINGS;
  const flags = [quotaStorage, quotaQueuedMails, quotaJobs, quotaWebhookCalls];
  expect(flags.map(({ flag }) => `--${flag}`)).toEqual([
    "--quota-storage",
    "--quota-queued-mails",
    "--quota-jobs",
    "--quota-webhook-calls",
  ]);
});

describe("the quota of queued mails", () => {
  const send = (fields: object = {}, key = t.secretKey) =>
    t.call("POST", "/v1/send", { ...MAIL, ...fields }, { key });
  const OPTIONS = { config: { quotaQueuedMails: 3 } };
  /** Nothing is sent here, because no test starts this application. */
  const projects = projectPerTest(OPTIONS);
  beforeEach(async () => {
    t = await projects.next();
  });

  test("refuses further mail when it is reached, and stores nothing", async () => {
    expect((await send({ to: ["a@x.io", "b@x.io"] })).status).toBe(200);
    const before = t.contents();
    expectQueueExceeded(await send({ to: ["c@x.io", "d@x.io"] }), 3);
    expect(t.contents()).toEqual(before);
    expect(t.eventNames()).toEqual([]);
    expect((await send({ to: "c@x.io" })).status).toBe(200);
    expectQueueExceeded(await send({ to: "d@x.io" }), 3);
  });

  test("refuses more mails at once than it has, without asking to wait", async () => {
    const refused = await send({ to: ["a@x.io", "b@x.io", "c@x.io", "d@x.io"] });
    expectError(refused, { status: 409, code: "QUOTA_EXCEEDED" });
    expect(refused.headers.get("retry-after")).toBeNull();
  });

  test("accepts mail again after queued mail was sent", async () => {
    t = await testApp(OPTIONS);
    await send({ to: ["a@x.io", "b@x.io", "c@x.io"] });
    expectQueueExceeded(await send(), 3);
    await t.deliver();
    expect((await send()).status).toBe(200);
    await t.close();
  });

  test("a repeated request gets its first answer", async () => {
    const headers = { "idempotency-key": "k" };
    const mail = { ...MAIL, to: ["a@x.io", "b@x.io", "c@x.io"] };
    const first = await t.call("POST", "/v1/send", mail, { headers });
    const second = await t.call("POST", "/v1/send", mail, { headers });
    expect([first.status, second.status, second.body]).toEqual([200, 200, first.body]);
  });

  test("counts each project separately", async () => {
    const { secretKey: key } = await t.makeProject("other");
    await send({ to: ["a@x.io", "b@x.io", "c@x.io"] });
    expect((await send({ from: "a@other.test" }, key)).status).toBe(200);
  });

  test("counts deferred mail", async () => {
    const transport = testTransport({ answer: DEFERRED });
    t = await testApp({ config: { quotaQueuedMails: 1 }, transport });
    await send();
    await t.deliver();
    expectQueueExceeded(await send(), 1);
    await t.close();
  });

  test("applies to the test mail of a campaign, but not to the mails of a campaign", async () => {
    t = await testApp(OPTIONS);
    await t.create("/contacts", { email: "a@x.io" }, "id");
    await t.create("/contacts", { email: "b@x.io" }, "id");
    const content = { name: "c", subject: "s", body: "b", from: "a@acme.test" };
    const campaign = { ...content, audienceType: "ALL", rate: 1 / 60 };
    const id = await t.create("/campaigns", campaign, "data.id");
    await send({ to: ["a@x.io", "b@x.io", "c@x.io"] });
    const address = { email: "me@x.io" };
    expectQueueExceeded(await t.call("POST", `/campaigns/${id}/test`, address), 3);
    expect((await t.call("POST", `/campaigns/${id}/send`)).status).toBe(204);
    await t.app.campaigns.start();
    await waitUntil(() => t.countRows("emails WHERE campaign_seq IS NOT NULL") === 2);
    expectQueueExceeded(await send(), 3);
    await t.close();
  });
});

describe("a workflow waits and loses no mail at the quota", () => {
  let a: Automation;
  afterEach(() => a.close());

  const readExecution = async () => {
    await a.advance(0);
    return a.t.db.sqlite
      .query<{ status: string; error: string | null; wait: number | null }, [number]>(
        "SELECT status, error, due_at - ? AS wait FROM workflow_executions",
      )
      .get(a.t.clock.now());
  };

  test("of queued mails", async () => {
    const transport = testTransport({ answer: DEFERRED });
    a = await startAutomation({ config: { quotaQueuedMails: 1 }, transport });
    const templateId = await a.template({ type: "TRANSACTIONAL" });
    const mails = [step("one", "SEND_EMAIL", { templateId }), step("end", "EXIT")];
    const id = await a.workflow(chain(...mails));
    await a.t.create("/v1/send", MAIL, "data.emails.0.email");
    await a.track("signed-up");
    const reason = "The project has reached its quota of 1 queued mails (--quota-queued-mails).";
    expect(await readExecution()).toEqual({ status: "WAITING", error: reason, wait: MINUTE });
    expect(await a.only(id)).toMatchObject({ currentStepId: "one", error: reason });
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      expect(await readExecution()).toMatchObject({ status: "WAITING", wait: minutes * MINUTE });
      await a.advance(minutes * MINUTE);
    }
    expect(a.mails()).toEqual([]);
    a.t.db.sqlite.run("UPDATE emails SET status = 'BOUNCED', next_at = NULL");
    a.t.db.sqlite.run("UPDATE project_usage SET queued_mails = 0");
    await a.advance(60 * MINUTE);
    expect(await a.only(id)).toMatchObject({
      status: "EXITED",
      error: null,
      steps: ["start COMPLETED", "one COMPLETED", "end COMPLETED"],
    });
    expect(a.mails()).toHaveLength(1);
  });

  test("of queued mails, of which a tenth is left to requests", async () => {
    const transport = testTransport({ answer: DEFERRED });
    a = await startAutomation({ config: { quotaQueuedMails: 10 }, transport });
    const templateId = await a.template({ type: "TRANSACTIONAL" });
    await a.workflow(chain(step("one", "SEND_EMAIL", { templateId })));
    a.t.db.sqlite.run("UPDATE project_usage SET queued_mails = 9");
    await a.track("signed-up");
    expect(await readExecution()).toMatchObject({ status: "WAITING" });
    expect((await a.t.call("POST", "/v1/send", MAIL)).status).toBe(200);
  });

  test("of stored data", async () => {
    a = await startAutomation({ config: { quotaStorage: 1 } });
    const templateId = await a.template({ type: "TRANSACTIONAL" });
    const id = await a.workflow(chain(step("one", "SEND_EMAIL", { templateId })));
    const { sqlite } = a.t.db;
    const large = `INSERT INTO messages (project_seq, digest, from_address, html, headers,
      is_marketing, has_attachments, created_at)
      VALUES (1, 'large', 'a@b.co', printf('%0${2 * MIB}d', 0), '[]', 0, 0, 0)`;
    await a.t.create("/v1/track", { event: "other", email: "ada@example.net" }, "data.event");
    const contactId = a.contactId();
    await a.t.create(`/workflows/${id}/executions`, { contactId }, "data.id");
    await a.settle();
    expect(a.mails()).toHaveLength(1);

    const second = await a.workflow(chain(step("one", "SEND_EMAIL", { templateId })));
    await a.t.app.writer.write(() => {
      sqlite.run(large);
      sqlite.run("UPDATE project_usage SET stored_bytes = stored_bytes + ?", [2 * MIB]);
    });
    sqlite.run(
      `INSERT INTO events (id, project_seq, name, contact_seq, created_at)
       VALUES ('e', 1, 'signed-up', (SELECT seq FROM contacts), ?)`,
      [a.t.clock.now()],
    );
    a.t.app.automation.wake();
    await a.settle();
    expect(await a.only(second)).toMatchObject({ status: "WAITING", currentStepId: "one" });
    sqlite.run("DELETE FROM messages WHERE digest = 'large'");
    await a.advance(MINUTE);
    expect(await a.only(second)).toMatchObject({ status: "COMPLETED" });
  });
});

describe("the quota of stored data", () => {
  let lines: string[] = [];
  const log = createLog({ level: "warn", format: "json", write: (line) => void lines.push(line) });
  const OPTIONS = { config: { quotaStorage: 1 }, log };
  const projects = projectPerTest(OPTIONS);
  /** Stores a mail of 1 MiB, which reaches the quota. */
  async function fill(app = t): Promise<void> {
    const content = Buffer.alloc(MIB, 7).toString("base64");
    const mail = { ...MAIL, attachments: [{ filename: "a.bin", content }] };
    await app.create("/v1/send", mail, "data.emails.0.email");
  }
  beforeEach(async () => {
    lines = [];
    t = await projects.next();
  });

  test("leaves a tenth to the secret keys when strangers fill it with a public key", async () => {
    const track = (key: string) => {
      const data = { note: "x".repeat(15_000) };
      return t.call("POST", "/v1/track", { event: "seen", email: "ada@x.io", data }, { key });
    };
    let refused = await track(t.publicKey);
    for (let i = 0; i < 100 && refused.status === 200; i++) refused = await track(t.publicKey);
    expectError(refused, { status: 409, code: "QUOTA_EXCEEDED" });
    expect((await track(t.secretKey)).status).toBe(200);
    expect((await t.call("POST", "/v1/send", MAIL)).status).toBe(200);
  });

  const GRAPH = chain(step("end", "EXIT"));
  const TEMPLATE = { name: "t", subject: "s", body: "b", type: "TRANSACTIONAL" };
  const CAMPAIGN = { name: "c", subject: "s", body: "b", from: "a@acme.test", audienceType: "ALL" };
  const storing: [path: string, body: object][] = [
    ["/v1/send", MAIL],
    ["/v1/track", { event: "bought", email: "new@example.com" }],
    ["/contacts", { email: "new@example.com" }],
    ["/templates", TEMPLATE],
    ["/campaigns", CAMPAIGN],
    ["/segments", { name: "S", type: "STATIC" }],
    ["/workflows", { name: "W", ...GRAPH }],
    ["/webhooks", { url: "https://hooks.example.com/", events: ["*"] }],
    ["/domains", { domain: "new.example" }],
  ];
  test("refuses requests that store something when it is reached, and nothing changes", async () => {
    const event = { event: "bought", email: "ada@example.com" };
    expect((await t.call("POST", "/v1/track", event)).status).toBe(200);
    await fill();
    const before = t.contents();
    for (const [path, body] of [...storing, ["/v1/track", event] as const]) {
      const answer = await t.call("POST", path, body);
      expect([path, answer.status]).toEqual([path, 409]);
      expectStorageExceeded(answer);
    }
    expect(t.contents()).toEqual(before);
  });

  test("refuses a PATCH that stores more and allows one that stores less", async () => {
    const contact = await t.create("/contacts", { email: "a@x.io", data: { a: "xxx" } }, "id");
    const template = await t.create("/templates", TEMPLATE, "data.id");
    await fill();
    const more = { data: { a: "xxxx" } };
    expectStorageExceeded(await t.call("PATCH", `/contacts/${contact}`, more));
    expectStorageExceeded(await t.call("PATCH", `/templates/${template}`, { body: "bb" }));
    expect((await t.call("GET", `/contacts/${contact}`)).at("data")).toEqual({ a: "xxx" });
    const less = await t.call("PATCH", `/contacts/${contact}`, { data: { a: null } });
    expect([less.status, less.at("data")]).toEqual([200, {}]);
  });

  test("allows to unsubscribe a contact and to suppress an address", async () => {
    const contact = await t.create("/contacts", { email: "a@x.io" }, "id");
    await fill();
    const patch = await t.call("PATCH", `/contacts/${contact}`, { subscribed: false });
    expect([patch.status, patch.at("subscribed")]).toEqual([200, false]);
    expect(t.eventNames()).toEqual(["contact.subscribed", "contact.unsubscribed"]);
    expect((await t.call("POST", "/suppressions", { email: "b@x.io" })).status).toBe(201);
  });

  test.each([
    ["/plunk/contacts", { subscribed: false }, { email: "b@x.io" }, 409],
    ["/resend/contacts", { unsubscribed: true }, { first_name: "Ada" }, 429],
  ])(
    "PATCH %s can unsubscribe a contact and no more",
    async (path, unsubscribed, more, refused) => {
      const contact = await t.create("/contacts", { email: "a@x.io" }, "id");
      await fill();
      const both = await t.call("PATCH", `${path}/${contact}`, { ...unsubscribed, ...more });
      expect([both.status, t.eventNames()]).toEqual([refused, ["contact.subscribed"]]);
      expect((await t.call("PATCH", `${path}/${contact}`, unsubscribed)).status).toBe(200);
      expect(t.eventNames()).toEqual(["contact.subscribed", "contact.unsubscribed"]);
    },
  );

  test("PUT /plunk/v1/contacts can unsubscribe a contact and no more", async () => {
    const id = await t.create("/contacts", { email: "a@x.io" }, "id");
    await fill();
    const both = { id, subscribed: false, email: "b@x.io" };
    expect((await t.call("PUT", "/plunk/v1/contacts", both)).status).toBe(409);
    expect((await t.call("PUT", "/plunk/v1/contacts", { id, subscribed: false })).status).toBe(200);
    expect(t.eventNames()).toEqual(["contact.subscribed", "contact.unsubscribed"]);
  });

  test("accepts requests again after single and bulk deletions", async () => {
    t = await testApp(OPTIONS);
    const data = { text: "x".repeat(60_000) };
    const ids: string[] = [];
    for (let i = 0; i < 17; i++) {
      ids.push(await t.create("/contacts", { email: `p${i}@x.io`, data }, "id"));
    }
    await t.create("/contacts", { email: "last@x.io", data }, "id");
    expectStorageExceeded(await t.call("POST", "/contacts", { email: "new@x.io" }));
    await t.start();
    const bulk = { action: "delete", ids: ids.slice(1) };
    expect((await t.call("POST", "/contacts/bulk", bulk)).status).toBe(202);
    await waitUntil(() => t.countRows("contacts") === 2);
    expect((await t.call("POST", "/contacts", { email: "new@x.io" })).status).toBe(201);
    expect((await t.call("DELETE", `/contacts/${ids[0] ?? ""}`)).status).toBe(204);
    await t.close();
  });

  test("refuses an import, and ends a running one as FAILED with its rows so far", async () => {
    t = await testApp(OPTIONS);
    const rows = Array.from({ length: 9_000 }, (_, i) => `person-${i}@x.io,${"x".repeat(30)}`);
    const progress = await runImport(t, `email,text\n${rows.join("\n")}\n`);
    expect(progress.at("data.status")).toBe("FAILED");
    expect(progress.text("data.errors.0.message")).toBe(
      "The project has reached its quota of 1 MiB of stored data (--quota-storage).",
    );
    expect(progress.at("data.created")).toBe(t.countRows("contacts"));
    expect(t.countRows("contacts")).toBeGreaterThan(500);
    await fill();
    expectStorageExceeded(await upload(t, "email\nnew@x.io\n"));
    await t.close();
  });

  test("a repeated request gets its first answer", async () => {
    const headers = { "idempotency-key": "k" };
    const contact = { email: "a@x.io" };
    const first = await t.call("POST", "/contacts", contact, { headers });
    await fill();
    const again = await t.call("POST", "/contacts", contact, { headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
  });

  test("counts each project separately", async () => {
    const { secretKey: key } = await t.makeProject("other");
    await fill();
    const answer = await t.call("POST", "/contacts", { email: "a@x.io" }, { key });
    expect(answer.status).toBe(201);
  });

  test("logs one warning in ten minutes", async () => {
    await fill();
    for (let i = 0; i < 3; i++) await t.call("POST", "/contacts", { email: "a@x.io" });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      message: "a project has reached a quota",
      project: t.project.id,
      setting: "--quota-storage",
    });
    t.clock.advance(10 * MINUTE);
    await t.call("POST", "/contacts", { email: "a@x.io" });
    expect(lines).toHaveLength(2);
  });

  test("is not checked if it is 0", async () => {
    const free = await testApp({ config: { quotaStorage: 0, quotaQueuedMails: 0 } });
    await fill(free);
    expect((await free.call("POST", "/contacts", { email: "a@x.io" })).status).toBe(201);
    await free.close();
  });
});
