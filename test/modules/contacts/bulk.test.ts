import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { silentLog } from "../../../src/lib/log.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { migratedFile } from "../../support/database.ts";
import { waitUntil } from "../../support/eventually.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { storedContacts, waitForJob } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
let ids: string[];
const EMAILS = ["ada@x.io", "bob@x.io", "carl@x.io", "dora@y.io"];

beforeEach(async () => {
  t = await projects.next();
  ids = [];
  for (const [i, email] of EMAILS.entries()) {
    const data = { plan: i % 2 === 0 ? "pro" : "free" };
    ids.push(await t.create("/contacts", { email, subscribed: i < 2, data }, "id"));
  }
  t.db.sqlite.run("DELETE FROM events");
  await t.start();
});

const bulk = (body: object, headers: Record<string, string> = {}) =>
  t.call("POST", "/contacts/bulk", body, { headers });
const filter = (...filters: object[]) => ({ logic: "AND", groups: [{ filters }] });
const onX = filter({ field: "email", operator: "endsWith", value: "@x.io" });

async function runBulk(body: object) {
  const answer = await bulk(body);
  expect(answer.status).toBe(202);
  const progress = await waitForJob(t, answer.text("data.jobId"), "bulk");
  expect(progress.at("data.status")).toBe("COMPLETED");
  return progress;
}

const flags = () => storedContacts(t).map(({ email, subscribed }) => [email, subscribed]);

describe("a bulk action", () => {
  test("subscribes the unsubscribed contacts of a list of ids, each with the event", async () => {
    const progress = await runBulk({ action: "subscribe", ids: [ids[1], ids[2], ids[2]] });
    expect(progress.at("data")).toEqual({
      id: progress.at("data.id"),
      action: "subscribe",
      status: "COMPLETED",
      processed: 2,
      total: 2,
      updated: 1,
      unchanged: 1,
      failed: 0,
      errors: [],
      createdAt: new Date(t.clock.now()).toISOString(),
      finishedAt: new Date(t.clock.now()).toISOString(),
    });
    expect(flags()).toEqual([
      ["ada@x.io", true],
      ["bob@x.io", true],
      ["carl@x.io", true],
      ["dora@y.io", false],
    ]);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  test("unsubscribes the contacts of a filter", async () => {
    const progress = await runBulk({ action: "unsubscribe", filter: onX });
    expect(progress.at("data")).toMatchObject({
      processed: 3,
      updated: 2,
      unchanged: 1,
      failed: 0,
    });
    expect(flags().map(([, flag]) => flag)).toEqual([false, false, false, false]);
    expect(t.eventNames()).toEqual(["contact.unsubscribed", "contact.unsubscribed"]);
  });

  test("subscribes all contacts of a filter that no longer matches them afterwards", async () => {
    const unsubscribed = filter({ field: "subscribed", operator: "equals", value: false });
    const progress = await runBulk({ action: "subscribe", filter: unsubscribed });
    expect(progress.at("data")).toMatchObject({ processed: 2, updated: 2 });
    expect(flags().every(([, flag]) => flag === true)).toBe(true);
  });

  test("deletes the contacts of a filter of data", async () => {
    const pro = filter({ field: "data.plan", operator: "equals", value: "pro" });
    await runBulk({ action: "delete", filter: pro });
    expect(storedContacts(t).map(({ email }) => email)).toEqual(["bob@x.io", "dora@y.io"]);
    expect((await t.call("GET", "/contacts")).at("total")).toBe(2);
  });

  test("completes without a change if no contact matches", async () => {
    const noMatch = filter({ field: "email", operator: "equals", value: "unknown@x.io" });
    const progress = await runBulk({ action: "delete", filter: noMatch });
    expect(progress.at("data")).toMatchObject({ processed: 0, total: 0, updated: 0 });
  });

  test("acts on the contacts of the filters of the list", async () => {
    const query = { search: "@x", data: { plan: "pro" } };
    const progress = await runBulk({ action: "unsubscribe", query });
    expect(progress.at("data")).toMatchObject({ processed: 2, total: 2, updated: 1 });
    expect(flags().map(([, flag]) => flag)).toEqual([false, true, false, false]);
    await runBulk({ action: "delete", query: { subscribed: true } });
    expect(storedContacts(t).map(({ email }) => email)).toEqual([
      "ada@x.io",
      "carl@x.io",
      "dora@y.io",
    ]);
    expect((await runBulk({ action: "delete", query: {} })).at("data.updated")).toBe(3);
  });

  test("adds contacts to a STATIC segment, and removes them", async () => {
    const segmentId = await t.create("/segments", { name: "S", type: "STATIC" }, "data.id");
    const members = async () => {
      const answer = await t.call("GET", `/segments/${segmentId}/contacts`);
      return listAt(answer.body, "data.items").map((item) => stringAt(item, "email"));
    };
    const added = await runBulk({ action: "addToSegment", segmentId, filter: onX });
    expect(added.at("data")).toMatchObject({ processed: 3, updated: 3 });
    const again = await runBulk({ action: "addToSegment", segmentId, ids: [ids[0], ids[3]] });
    expect(again.at("data")).toMatchObject({ processed: 2, updated: 1 });
    await runBulk({ action: "removeFromSegment", segmentId, query: { search: "bob" } });
    expect((await members()).toSorted()).toEqual(["ada@x.io", "carl@x.io", "dora@y.io"]);
  });

  test("lets contacts join a topic, and leave it", async () => {
    const topicId = await t.create("/topics", { name: "News" }, "data.id");
    const subscribers = async () =>
      (await t.call("GET", `/topics/${topicId}`)).at("data.subscribers");
    await runBulk({ action: "subscribe", query: {} });
    const joined = await runBulk({ action: "joinTopic", topicId, filter: onX });
    expect(joined.at("data")).toMatchObject({ processed: 3, updated: 3 });
    expect(await subscribers()).toBe(3);
    const left = await runBulk({ action: "leaveTopic", topicId, ids: [ids[0], ids[3]] });
    expect(left.at("data")).toMatchObject({ processed: 2, updated: 1 });
    expect(await subscribers()).toBe(2);
    const others = await runBulk({ action: "leaveTopic", topicId, query: { topic: "news" } });
    expect(others.at("data")).toMatchObject({ processed: 2, updated: 2 });
    const sources = t.db.sqlite.query(
      "SELECT DISTINCT source_type FROM consents WHERE topic_seq IS NOT NULL",
    );
    expect(sources.values()).toEqual([["BULK"]]);
  });

  test("sets values, removes keys, and reports a contact whose data would be too large", async () => {
    const large = "x".repeat(40 * 1024);
    await t.call("PATCH", `/contacts/${ids[1]}`, { data: { large } });
    const values = { city: "Rome", plan: null, other: large };
    const progress = await runBulk({ action: "set", data: values, filter: onX });
    expect(progress.at("data")).toMatchObject({
      processed: 3,
      updated: 2,
      unchanged: 0,
      failed: 1,
    });
    expect(progress.at("data.errors.0.id")).toBe(ids[1]);
    expect(progress.text("data.errors.0.message")).toContain("64 KiB");
    const [ada, bob, , dora] = storedContacts(t).map(({ data }) => Object.keys(Object(data)));
    expect([ada, bob, dora]).toEqual([["city", "other"], ["plan", "large"], ["plan"]]);
  });

  test("reports the ids for which there is no contact in the project", async () => {
    const other = await t.makeProject("other");
    const answer = await t.call(
      "POST",
      "/contacts",
      { email: "eve@x.io" },
      { key: other.secretKey },
    );
    const foreign = answer.text("id");
    const progress = await runBulk({ action: "delete", ids: ["nope", ids[0], foreign] });
    expect(progress.at("data")).toMatchObject({
      processed: 3,
      total: 3,
      updated: 1,
      failed: 2,
      errors: [
        { id: "nope", message: "There is no contact with this id." },
        { id: foreign, message: "There is no contact with this id." },
      ],
    });
    const eve = await t.call("GET", `/contacts/${foreign}`, undefined, { key: other.secretKey });
    expect(eve.at("email")).toBe("eve@x.io");
  });
});

test("a bulk deletion leaves the same records as a single deletion", async () => {
  const rest = { event: "order", data: { street: "Main 1" } };
  for (const email of EMAILS) await t.call("POST", "/v1/track", { ...rest, email });
  const mail = { to: EMAILS, from: "shop@acme.test", subject: "Hello", body: "<p>Hi</p>" };
  expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
  await waitUntil(() => t.countRows("emails WHERE status <> 'SENT'") === 0);
  await t.call("DELETE", `/contacts/${ids[0]}`);
  await runBulk({ action: "delete", ids: [ids[1]] });
  const left = (table: string, columns: string) =>
    t.db.sqlite
      .query(`SELECT ${columns} FROM ${table} WHERE contact_seq IS NULL ORDER BY seq`)
      .all();
  const mails = left("emails", "to_address, to_name, subject, variables, status, last_error");
  const events = left("events", "name, data");
  expect(mails.length).toBe(2);
  expect(mails[0]).toEqual(mails[1]);
  expect(JSON.stringify([mails, events])).not.toMatch(/ada|bob|Hello|Main/);
});

test("a job that waits does not change later contacts, and fails if its segment is deleted", async () => {
  t = await testApp();
  await t.create("/contacts", { email: "ada@x.io" }, "id");
  const segment = await t.create("/segments", { name: "S", type: "STATIC" }, "data.id");
  const inS = filter({ field: `segment.${segment}`, operator: "memberOf" });
  const deletion = (await bulk({ action: "delete", filter: onX })).text("data.jobId");
  const ofSegment = (await bulk({ action: "unsubscribe", filter: inS })).text("data.jobId");
  await t.create("/contacts", { email: "late@x.io" }, "id");
  expect((await t.call("DELETE", `/segments/${segment}`)).status).toBe(204);
  await t.start();
  await waitForJob(t, deletion, "bulk");
  expect(storedContacts(t).map(({ email }) => email)).toEqual(["late@x.io"]);
  const failed = await waitForJob(t, ofSegment, "bulk");
  expect(failed.at("data.status")).toBe("FAILED");
  const message = "filter.groups.0.filters.0.field: names no segment of this project";
  expect(failed.at("data.errors")).toEqual([{ id: null, message }]);
  await t.close();
});

describe("POST /contacts/bulk refuses", () => {
  type Errors = [field: string, code: string][];
  const cases: [name: string, body: object, errors: Errors][] = [
    ["neither ids nor filter", { action: "delete" }, [["ids", "required"]]],
    ["null for both", { action: "delete", ids: null, filter: null }, [["ids", "required"]]],
    [
      "ids and a filter",
      { action: "delete", ids: ["a"], filter: onX },
      [["filter", "invalid_value"]],
    ],
    [
      "a filter and a query",
      { action: "delete", filter: onX, query: {} },
      [["query", "invalid_value"]],
    ],
    ["no segment", { action: "addToSegment", ids: ["a"] }, [["segmentId", "required"]]],
    ["no topic", { action: "joinTopic", ids: ["a"] }, [["topicId", "required"]]],
    [
      "an unknown topic",
      { action: "leaveTopic", ids: ["a"], topicId: "none" },
      [["topicId", "unknown_reference"]],
    ],
    ["no values", { action: "set", ids: ["a"] }, [["data", "required"]]],
    [
      "values for another action",
      { action: "delete", ids: ["a"], data: { a: 1 } },
      [["data", "invalid_value"]],
    ],
    [
      "an unknown filter",
      { action: "delete", query: { city: "x" } },
      [["query.city", "unknown_field"]],
    ],
    [
      "an unknown operator",
      { action: "delete", filter: filter({ field: "email", operator: "like", value: "a" }) },
      [["filter.groups.0.filters.0.operator", "invalid_value"]],
    ],
    [
      "an unknown segment",
      { action: "delete", filter: filter({ field: "segment.nope", operator: "memberOf" }) },
      [["filter.groups.0.filters.0.field", "unknown_reference"]],
    ],
  ];
  test("wrong bodies, and stores no job", async () => {
    for (const [name, body, errors] of cases) {
      const answer = await bulk(body);
      expect([name, answer.status]).toEqual([name, 422]);
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    }
    expect(t.countRows("jobs")).toBe(0);
  });
});

test("a server that stops while a job reads ends the job later, and reports no fault", async () => {
  const db = migratedFile();
  const lines: string[] = [];
  const note = (text: string) => void lines.push(text);
  const stopped = await testApp({ db, log: { ...silentLog, warn: note, error: note } });
  const { reader } = stopped.app.app;
  await stopped.create("/contacts", { email: "ada@x.io", subscribed: true }, "id");
  await stopped.start();
  const { find } = reader;
  let hasEnded = false;
  spyOn(reader, "find").mockImplementation(async (...args) => {
    reader.endReads();
    hasEnded = true;
    return find(...args);
  });
  const body = { action: "unsubscribe", filter: onX };
  const id = (await stopped.call("POST", "/contacts/bulk", body)).text("data.jobId");
  const status = () => db.sqlite.query("SELECT status FROM jobs WHERE id = ?").values(id)[0]?.[0];
  await waitUntil(() => hasEnded && status() === "RUNNING");
  await stopped.app.stop();
  expect([status(), lines]).toEqual(["RUNNING", []]);
});
