/**
 * Backtests of segments. test/proofs/models/segment-backtests.ts compares them with the members that
 * random segments had.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AppError } from "../../../src/lib/errors.ts";
import { newRun, runBacktest } from "../../../src/modules/workflows/simulation/backtest-runs.ts";
import type { TestedMails } from "../../../src/modules/workflows/simulation/needs.ts";
import { readContactRows } from "../../../src/modules/workflows/simulation/rows.ts";
import { NO_MEMBERS } from "../../../src/modules/workflows/simulation/segment-replay.ts";
import type { TestApp } from "../../support/app.ts";
import { backtestOf } from "../../support/backtests.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { BROWSER, received } from "../../support/mailing.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { type CampaignApp, campaignApp } from "../campaigns/campaign-app.ts";
import { addContact, DAY } from "./crowd.ts";

const one = (field: string, operator: string, rest: object = {}) => ({
  logic: "AND",
  groups: [{ filters: [{ field, operator, ...rest }] }],
});
const LOGIN = one("event.login", "triggeredWithin", { value: 36, unit: "hours" });

/** The members of each day, the oldest first. */
const membersIn = (backtest: unknown): unknown[] =>
  listAt(backtest, "result.days").map((each) => valueAt(each, "members"));

describe("a backtest of a segment", () => {
  const projects = projectPerTest();
  let t: TestApp;
  beforeEach(async () => {
    t = await projects.next();
  });

  const segment = (condition: object = LOGIN): Promise<string> =>
    t.create("/segments", { name: "Active", condition }, "data.id");
  const track = (email: string, event: string, data: object = {}) =>
    t.call("POST", "/v1/track", { email, event, data });

  test("counts the members at the end of each day, and who entered and left", async () => {
    const id = await segment();
    await track("ada@example.com", "login");
    t.clock.advance(DAY);
    await track("bob@example.com", "login");
    t.clock.advance(2 * DAY);
    const before = t.contents();
    const found = await backtestOf(t, `/segments/${id}`, { days: 5 });
    expect(t.contents()).toEqual(before);
    expect(found).toMatchObject({
      segmentId: id,
      days: 5,
      from: "2026-03-01T00:00:00.000Z",
      until: "2026-03-05T10:00:00.000Z",
      progress: { done: 2, total: 2 },
      result: { membersBefore: 0, members: 0, entered: 2, left: 2 },
    });
    expect(listAt(found, "result.days")).toEqual([
      { day: "2026-03-01", members: 0, entered: 0, left: 0 },
      { day: "2026-03-02", members: 1, entered: 1, left: 0 },
      { day: "2026-03-03", members: 1, entered: 1, left: 1 },
      { day: "2026-03-04", members: 0, entered: 0, left: 1 },
      { day: "2026-03-05", members: 0, entered: 0, left: 0 },
    ]);
    const login = { name: "login", at: "2026-03-03T10:00:00.000Z" };
    const [example] = listAt(found, "result.examples");
    expect(example).toMatchObject({
      contactEmail: "bob@example.com",
      day: "2026-03-03",
      event: login,
    });
  });

  test("tries a condition that is not stored", async () => {
    const id = await segment();
    await track("ada@example.com", "login", { plan: "free" });
    t.clock.advance(DAY);
    await track("ada@example.com", "upgrade", { plan: "pro" });
    const condition = one("data.plan", "equals", { value: "pro" });
    const found = await backtestOf(t, `/segments/${id}`, { days: 2, condition });
    expect(membersIn(found)).toEqual([0, 1]);
    const stored = await t.call("GET", `/segments/${id}`);
    expect(stored.at("data.condition")).toEqual(LOGIN);
  });

  test("knows that time alone lets contacts enter", async () => {
    const condition = one("event.login", "triggeredOlderThan", { value: 1, unit: "days" });
    const id = await segment(condition);
    await track("ada@example.com", "login");
    t.clock.advance(2 * DAY);
    const found = await backtestOf(t, `/segments/${id}`, { days: 3 });
    expect(membersIn(found)).toEqual([0, 1, 1]);
    expect(valueAt(listAt(found, "result.examples")[0], "event")).toBeNull();
  });

  test("has the contact of today since a change that no event explains", async () => {
    const id = await segment(one("data.plan", "equals", { value: "pro" }));
    await track("ada@example.com", "login", { plan: "free" });
    t.clock.advance(DAY);
    const [contact] = listAt((await t.call("GET", "/contacts")).body, "items");
    await t.call("PATCH", `/contacts/${stringAt(contact, "id")}`, { data: { plan: "pro" } });
    t.clock.advance(DAY);
    const found = await backtestOf(t, `/segments/${id}`, { days: 3 });
    expect(membersIn(found)).toEqual([0, 1, 1]);
  });

  test("knows two times of a change: the first one and the last one", async () => {
    const id = await segment(one("updatedAt", "within", { value: 20, unit: "hours" }));
    const quiet = { email: "ada@example.com", subscribed: false };
    const contact = await t.create("/contacts", quiet, "id");
    t.clock.advance(2 * DAY);
    await t.call("PATCH", `/contacts/${contact}`, { data: { plan: "pro" } });
    const found = await backtestOf(t, `/segments/${id}`, { days: 3 });
    expect(membersIn(found)).toEqual([1, 0, 1]);
  });

  test("knows the last time of events that were removed from the log", async () => {
    const id = await segment(one("event.login", "triggered"));
    await track("ada@example.com", "login");
    t.clock.advance(DAY);
    t.db.sqlite.run("DELETE FROM events WHERE project_seq = ? AND name = 'login'", [t.project.seq]);
    t.db.sqlite.run(
      `UPDATE contact_events SET count = 0
       WHERE name_seq IN (SELECT seq FROM event_names WHERE project_seq = ?)`,
      [t.project.seq],
    );
    const found = await backtestOf(t, `/segments/${id}`, { days: 3 });
    expect(membersIn(found)).toEqual([0, 1, 1]);
  });

  test("adds the counts of all groups of contacts", async () => {
    const id = await segment(one("createdAt", "within", { value: 1, unit: "days" }));
    const createdAt = t.clock.now() - DAY;
    for (let i = 0; i < 501; i++) addContact(t, { createdAt }, t.project.seq);
    const found = await backtestOf(t, `/segments/${id}`, { days: 3 });
    expect(valueAt(found, "result")).toMatchObject({ entered: 501, left: 0, members: 501 });
    expect(membersIn(found)).toEqual([0, 501, 501]);
    expect(listAt(found, "result.examples")).toHaveLength(10);
  });

  test.each([
    ["days", { days: 0 }],
    ["days", { days: 366 }],
    ["condition.groups.0.filters.0.operator", { days: 1, condition: one("email", "knows") }],
    ["condition.groups.0.filters.0.field", { days: 1, condition: one("segment.nope", "memberOf") }],
    [
      "condition.groups.0.filters.0.field",
      { days: 1, condition: one("campaign.nope", "wasOpened") },
    ],
  ])("refuses a wrong %s", async (field, input) => {
    const id = await segment();
    const answer = await t.call("POST", `/segments/${id}/backtest`, input);
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
  });

  test("refuses a condition that contains the segment itself", async () => {
    const id = await segment();
    const condition = one(`segment.${id}`, "memberOf");
    const answer = await t.call("POST", `/segments/${id}/backtest`, { days: 1, condition });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([
      422,
      "condition.groups.0.filters.0.field",
    ]);
  });

  test("refuses a segment with a list of contacts, and an unknown one", async () => {
    const id = await t.create("/segments", { name: "List", type: "STATIC" }, "data.id");
    const refused = await t.call("POST", `/segments/${id}/backtest`, { days: 1 });
    expect([refused.status, refused.at("error.message")]).toEqual([
      422,
      "A STATIC segment is a list of contacts, so no event decides who is in it.",
    ]);
    for (const [method, path] of [
      ["POST", "/segments/none/backtest"],
      ["GET", "/segments/none/backtest"],
      ["POST", "/segments/none/backtest/cancel"],
    ] as const) {
      const answer = await t.call(method, path, method === "GET" ? undefined : { days: 1 });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  test("is the only one of its project, and can be cancelled", async () => {
    const segmentPath = `/segments/${await segment()}`;
    expect((await t.call("POST", `${segmentPath}/backtest/cancel`)).status).toBe(409);
    const trigger = { type: "EVENT", eventName: "login" };
    const graph = { trigger, steps: [], transitions: [] };
    const workflow = await t.create("/workflows", { name: "Flow", ...graph }, "data.id");
    const workflowPath = `/workflows/${workflow}`;
    for (let i = 0; i < 501; i++) addContact(t, {}, t.project.seq);
    const [first, second] = await Promise.all([
      t.call("POST", `${segmentPath}/backtest`, { days: 30 }),
      t.call("POST", `${workflowPath}/backtest`, { days: 30 }),
    ]);
    expect([first.status, second.status]).toEqual([200, 409]);
    const cancelPath = `${segmentPath}/backtest/cancel`;
    expect(second.at("error.suggestion")).toContain(`POST ${cancelPath}`);
    expect((await t.call("POST", cancelPath)).at("data.status")).toBe("CANCELLED");
    await backtestOf(t, workflowPath, { days: 1 });
    expect((await t.call("GET", `${segmentPath}/backtest`)).at("data.backtest")).toBeNull();
  });

  test("stays cancelled if its last group of contacts fails", async () => {
    const id = await segment();
    const period = { days: 1, from: 0, until: 0 };
    const state = { kind: "segment" as const, ...newRun(id, period, []), counts: NO_MEMBERS };
    const failed = new AppError(503, "SERVICE_UNAVAILABLE", "The server stops.");
    runBacktest(t.app.app, t.project.seq, state, async () => {
      await settleEventLoop();
      throw failed;
    });
    await t.call("POST", `/segments/${id}/backtest/cancel`);
    await settleEventLoop();
    const last = await t.call("GET", `/segments/${id}/backtest`);
    expect(last.at("data.backtest")).toMatchObject({ status: "CANCELLED", error: null });
  });
});

describe("a backtest of a condition on mails", () => {
  const LINK = "https://shop.test/sale?a=1";
  let t: CampaignApp;
  let campaign: string;
  let id: string;
  beforeAll(async () => {
    t = await campaignApp();
    id = await t.create("/segments", { name: "S", condition: LOGIN }, "data.id");
    await t.contact("reader@x.test");
    t.clock.advance(DAY);
    campaign = await t.campaign({ body: `<a href="${LINK}">Sale</a>` });
    await t.act(campaign, "send");
    await t.settle();
    t.clock.advance(DAY);
    const [raw] = t.received();
    const mail = await received("", raw ?? "");
    const click = mail.hrefs.find((href) => href.includes("/c/")) ?? "";
    await t.app.handle(
      new Request(new URL(click, "http://localhost").href, { headers: { "user-agent": BROWSER } }),
    );
    t.clock.advance(60_000);
    await settleEventLoop();
    t.clock.advance(DAY);
    t.db.sqlite.run("UPDATE emails SET bounced_at = ?", [t.clock.now()]);
  });
  afterAll(() => t.close());

  const HOURS = { value: 20, unit: "hours" };
  test.each([
    ["campaign", "wasReceived", {}, [0, 1, 1, 0]],
    ["campaign", "wasNotReceived", {}, [1, 0, 0, 1]],
    ["campaign", "wasReceivedWithin", HOURS, [0, 1, 0, 0]],
    ["campaign", "wasClicked", {}, [0, 0, 1, 1]],
    ["campaign", "wasNotClicked", {}, [0, 1, 0, 0]],
    ["campaign", "wasOpenedWithin", HOURS, [0, 0, 1, 0]],
    ["link", "wasClicked", {}, [0, 0, 1, 1]],
    ["link", "wasClickedWithin", HOURS, [0, 0, 1, 0]],
    ["link", "wasNotClicked", {}, [1, 1, 0, 0]],
  ])("%s %s %j", async (of, operator, rest, members) => {
    const field = of === "link" ? `link.${LINK}` : `campaign.${campaign}`;
    const condition = one(field, operator, rest);
    const found = await backtestOf(t, `/segments/${id}`, { days: 4, condition });
    expect(membersIn(found)).toEqual(members);
  });

  test("reads only the mails that the condition tests", async () => {
    const from = "news@acme.test";
    const texts = {
      name: "T",
      type: "TRANSACTIONAL",
      subject: "Hello",
      body: "<p>Hello</p>",
      from,
    };
    const template = await t.create("/templates", texts, "data.id");
    await t.call("POST", "/v1/send", { to: "reader@x.test", template });
    await t.call("POST", "/v1/send", { to: "reader@x.test", subject: "S", body: "<p>B</p>", from });
    expect(t.countRows("emails WHERE contact_seq IS NOT NULL")).toBe(3);
    const contact = t.db.sqlite.query<{ seq: number }, []>("SELECT seq FROM contacts").get();
    const none = { ofCampaigns: [], ofTemplates: [], withClicks: false };
    const readMails = async (mails: Partial<TestedMails>) => {
      const needs = { addresses: [], hasSegments: false, mails: { ...none, ...mails } };
      const tables = await readContactRows(t.app.app, t.project.seq, [contact?.seq ?? 0], needs);
      const rows = tables.find(({ table }) => table === "emails")?.rows;
      return rows === undefined ? null : listAt({ rows: JSON.parse(rows) }, "rows").length;
    };
    expect(await readMails({})).toBeNull();
    expect(await readMails({ ofCampaigns: [campaign] })).toBe(1);
    expect(await readMails({ ofTemplates: [template] })).toBe(1);
    expect(await readMails({ withClicks: true })).toBe(1);
    expect(await readMails({ ofCampaigns: [campaign], ofTemplates: [template] })).toBe(2);
  });

  test.each(["campaign", "link"])(
    "a simulated workflow finds the mail by a %s, too",
    async (of) => {
      const field = of === "link" ? `link.${LINK}` : `campaign.${campaign}`;
      const workflow = await t.create(
        "/workflows",
        {
          name: "Flow",
          trigger: { type: "EVENT", eventName: "go" },
          steps: [
            { id: "clicked", type: "CONDITION", config: { condition: one(field, "wasClicked") } },
          ],
          transitions: [],
        },
        "data.id",
      );
      const [contact] = listAt((await t.call("GET", "/contacts")).body, "items");
      const input = { contactId: stringAt(contact, "id") };
      const answer = await t.call("POST", `/workflows/${workflow}/simulation`, input);
      const [execution] = listAt(answer.body, "data.executions");
      expect(listAt(execution, "steps").map((step) => valueAt(step, "branch"))).toEqual([
        null,
        "yes",
      ]);
    },
  );
});
