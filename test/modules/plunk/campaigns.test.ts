import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp, TestResponse } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/plunk/campaigns${path}`, body);
const required = {
  name: "Spring",
  subject: "Hi",
  body: "<p>Hi</p>",
  from: "hi@acme.test",
  audienceType: "ALL",
};
const create = (body: object = {}) =>
  t.create("/plunk/campaigns", { ...required, ...body }, "data.id");
const contact = (email: string, subscribed = true) =>
  t.create("/contacts", { email, subscribed, data: { plan: "pro" } }, "id");
const names = (answer: TestResponse) =>
  listAt(answer.body, "data").map((item) => stringAt(item, "name"));
const isPro = {
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
};
const inDays = (days: number) => new Date(t.clock.now() + days * 86_400_000).toISOString();

describe("POST /plunk/campaigns", () => {
  test("answers 201 with the draft and the number of its recipients", async () => {
    await contact("ada@x.io");
    await contact("bob@x.io", false);
    const answer = await call("POST", "", required);
    const now = new Date(t.clock.now()).toISOString();
    const data = {
      ...required,
      id: answer.at("data.id"),
      description: null,
      fromName: null,
      replyTo: null,
      type: "MARKETING",
      status: "DRAFT",
      audienceCondition: null,
      segmentId: null,
      scheduledFor: null,
      totalRecipients: 1,
      sentCount: 0,
      deliveredCount: 0,
      openedCount: 0,
      clickedCount: 0,
      bouncedCount: 0,
      projectId: t.project.id,
      sentAt: null,
      createdAt: now,
      updatedAt: now,
    };
    expect([answer.status, answer.body]).toEqual([201, { success: true, data }]);
    const read = await call("GET", `/${answer.text("data.id")}`);
    expect([read.status, read.body]).toEqual([200, answer.body]);
  });

  test("takes the audience of a segment and of a condition", async () => {
    await contact("ada@x.io");
    const segmentId = await t.create("/segments", { name: "Pro", condition: isPro }, "data.id");
    const ofSegment = { audienceType: "SEGMENT", segmentId };
    const first = await call("POST", "", { ...required, ...ofSegment });
    expect(first.at("data")).toMatchObject({ ...ofSegment, totalRecipients: 1 });
    const inSegment = {
      logic: "AND",
      groups: [{ filters: [{ field: `segment.${segmentId}`, operator: "memberOfSegment" }] }],
    };
    const filtered = { audienceType: "FILTERED", audienceCondition: inSegment };
    const second = await call("POST", "", { ...required, ...filtered });
    expect(second.at("data")).toMatchObject({ ...filtered, totalRecipients: 1 });
  });

  test("takes a TRANSACTIONAL campaign, and HEADLESS as MARKETING", async () => {
    await contact("bob@x.io", false);
    const notice = await call("POST", "", { ...required, type: "TRANSACTIONAL" });
    expect([notice.at("data.type"), notice.at("data.totalRecipients")]).toEqual([
      "TRANSACTIONAL",
      1,
    ]);
    const body = '<a href="{{ unsubscribeUrl }}">no more</a>';
    const headless = await call("POST", "", { ...required, type: "HEADLESS", body });
    expect([headless.status, headless.at("data.type")]).toEqual([201, "MARKETING"]);
  });
});

describe("requests that are refused", () => {
  const noCondition = { audienceType: "FILTERED" };
  const unknownField = {
    audienceType: "FILTERED",
    audienceCondition: {
      logic: "AND",
      groups: [{ filters: [{ field: "age", operator: "equals", value: 1 }] }],
    },
  };
  const faulty: [status: number, body: object, field: string, code: string][] = [
    [400, { audienceType: "SEGMENT" }, "segmentId", "required"],
    [400, { audienceType: "SEGMENT", segmentId: "none" }, "segmentId", "unknown_reference"],
    [400, noCondition, "audienceCondition", "required"],
    [400, unknownField, "audienceCondition.groups.0.filters.0.field", "invalid_value"],
    [422, { audienceType: "SOME" }, "audienceType", "invalid_value"],
    [422, { type: "NEWS" }, "type", "invalid_value"],
    [422, { type: "HEADLESS" }, "body", "invalid_value"],
    [422, { from: "hi" }, "from", "invalid_format"],
    [422, { body: "{% if %}" }, "body", "invalid_format"],
    [422, { scheduledAt: "2030-01-01" }, "scheduledAt", "unknown_field"],
  ];
  test.each(faulty)("POST is %d for %j", async (status, body, field, code) => {
    const answer = await call("POST", "", { ...required, ...body });
    expectError(answer, { status, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(t.countRows("campaigns")).toBe(0);
  });

  test.each(faulty)("PUT is %d for %j", async (status, body, field, code) => {
    const id = await create();
    const before = (await call("GET", `/${id}`)).body;
    const answer = await call("PUT", `/${id}`, body);
    expectError(answer, { status, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect((await call("GET", `/${id}`)).body).toEqual(before);
  });

  test.each(Object.keys(required))("POST without %s is 422", async (field) => {
    const answer = await call("POST", "", { ...required, [field]: undefined });
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, "required"]] });
  });

  test("a sender whose domain is not verified is 403", async () => {
    const from = "hi@other.test";
    const posted = await call("POST", "", { ...required, from });
    expectError(posted, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    const put = await call("PUT", `/${await create()}`, { from });
    expectError(put, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
  });

  const missing: [method: string, path: string, body: object | undefined][] = [
    ["GET", "", undefined],
    ["PUT", "", { name: "n" }],
    ["DELETE", "", undefined],
    ["POST", "/duplicate", undefined],
    ["POST", "/send", {}],
    ["POST", "/cancel", undefined],
    ["POST", "/test", { email: "a@x.io" }],
    ["GET", "/stats", undefined],
  ];
  test.each(missing)("%s of an unknown campaign%s is 404", async (method, path, body) => {
    const answer = await call(method, `/none${path}`, body);
    expectError(answer, { status: 404, code: "CAMPAIGN_NOT_FOUND" });
  });

  test("a status that Plunk does not have is 400", async () => {
    const answer = await call("GET", "?status=PAUSED");
    const errors = [["status", "invalid_value"]] as const;
    expectError(answer, { status: 400, code: "VALIDATION_ERROR", errors });
  });

  test.each(["tomorrow", "2001-01-01T00:00:00Z"])("sending at %s is 400", async (scheduledFor) => {
    await contact("ada@x.io");
    const id = await create();
    const answer = await call("POST", `/${id}/send`, { scheduledFor });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([400, "scheduledFor"]);
    expect((await call("GET", `/${id}`)).at("data.status")).toBe("DRAFT");
  });

  test("sending to nobody is 400, as is cancelling or deleting in the wrong state", async () => {
    const id = await create();
    expectError(await call("POST", `/${id}/send`), { status: 400, code: "INVALID_STATE" });
    expectError(await call("POST", `/${id}/cancel`), { status: 400, code: "INVALID_STATE" });
    await contact("ada@x.io");
    await call("POST", `/${id}/send`, { scheduledFor: inDays(1) });
    expectError(await call("DELETE", `/${id}`), { status: 400, code: "INVALID_STATE" });
    const bulk = await call("POST", "/bulk-update", { ids: [await create(), id], delete: true });
    expectError(bulk, { status: 400, code: "INVALID_STATE" });
    expect(t.countRows("campaigns")).toBe(2);
  });
});

test("PUT changes the given fields, and takes back what was read", async () => {
  const id = await create({ description: "d" });
  const answer = await call("PUT", `/${id}`, {
    subject: "Ho",
    audienceType: "FILTERED",
    audienceCondition: isPro,
  });
  expect([answer.status, answer.at("data.subject"), answer.at("data.description")]).toEqual([
    200,
    "Ho",
    "d",
  ]);
  expect(answer.at("data.audienceCondition")).toEqual(isPro);
  const same = await call("PUT", `/${id}`, answer.at("data"));
  expect([same.status, same.at("data.audienceType")]).toEqual([200, "FILTERED"]);
  const all = await call("PUT", `/${id}`, { audienceType: "ALL", audienceCondition: null });
  expect(all.at("data")).toMatchObject({ audienceType: "ALL", audienceCondition: null });
});

test("a campaign is scheduled, cancelled, copied and deleted", async () => {
  await contact("ada@x.io");
  const id = await create();
  const scheduledFor = inDays(1);
  const sent = await call("POST", `/${id}/send`, { scheduledFor });
  expect([sent.status, sent.at("success"), sent.at("message")]).toEqual([
    200,
    true,
    `Campaign scheduled for ${scheduledFor}`,
  ]);
  expect(sent.at("data")).toMatchObject({ status: "SCHEDULED", scheduledFor, totalRecipients: 1 });
  const cancelled = await call("POST", `/${id}/cancel`);
  expect([cancelled.status, cancelled.at("data.status"), cancelled.at("message")]).toEqual([
    200,
    "CANCELLED",
    "Campaign cancelled successfully",
  ]);
  const copy = await call("POST", `/${id}/duplicate`);
  expect([copy.status, copy.at("data.status"), copy.at("message")]).toEqual([
    201,
    "DRAFT",
    "Campaign duplicated successfully",
  ]);
  const deleted = await call("DELETE", `/${copy.text("data.id")}`);
  expect([deleted.status, deleted.body]).toEqual([
    200,
    { success: true, message: "Campaign deleted successfully" },
  ]);
});

test("a campaign is sent at once, and its numbers are those of ours", async () => {
  await contact("ada@x.io");
  const id = await create();
  const sent = await call("POST", `/${id}/send`);
  expect([sent.status, sent.at("message"), sent.at("data.status")]).toEqual([
    200,
    "Campaign is being sent",
    "SENDING",
  ]);
  t.db.sqlite.run(
    `UPDATE campaign_counts SET total_recipients = 4, sent = 4, delivered = 3, opened = 2, clicked = 1
     WHERE campaign_seq = (SELECT seq FROM campaigns WHERE id = ?)`,
    [id],
  );
  const counts = {
    totalRecipients: 4,
    sentCount: 4,
    deliveredCount: 3,
    openedCount: 2,
    clickedCount: 1,
    bouncedCount: 0,
  };
  const rates = { openRate: 50, clickRate: 25, bounceRate: 0, deliveryRate: 75 };
  const stats = await call("GET", `/${id}/stats`);
  expect([stats.status, stats.body]).toEqual([
    200,
    { success: true, data: { ...counts, ...rates } },
  ]);
  expect((await call("GET", `/${id}`)).at("data")).toMatchObject(counts);
});

test("a paused campaign is shown as one that is being sent", async () => {
  await contact("ada@x.io");
  const id = await create();
  await call("POST", `/${id}/send`);
  expect((await t.call("POST", `/campaigns/${id}/pause`)).status).toBe(200);
  expect((await call("GET", `/${id}`)).at("data.status")).toBe("SENDING");
  expect(names(await call("GET", "?status=SENDING"))).toEqual(["Spring"]);
});

test("a test mail is queued", async () => {
  const answer = await call("POST", `/${await create()}/test`, { email: "me@acme.test" });
  expect([answer.status, answer.body]).toEqual([
    200,
    { success: true, message: "Test email sent to me@acme.test" },
  ]);
  expect(t.countRows("emails")).toBe(1);
});

test("a draft whose segment was deleted is still read", async () => {
  const segmentId = await t.create("/segments", { name: "Few", type: "STATIC" }, "data.id");
  const id = await create({ audienceType: "SEGMENT", segmentId });
  t.db.sqlite.run("UPDATE segments SET deleted_at = 1 WHERE id = ?", [segmentId]);
  const answer = await call("GET", `/${id}`);
  expect([answer.status, answer.at("data.totalRecipients")]).toEqual([200, 0]);
});

describe("GET /plunk/campaigns", () => {
  const filtered: [query: string, expected: string[]][] = [
    ["", ["Gamma", "Alpha", "Beta"]],
    ["search=offer", ["Alpha", "Beta"]],
    ["status=DRAFT&pageSize=2", ["Gamma", "Alpha"]],
    ["status=SENT", []],
    ["sort=name&dir=asc", ["Alpha", "Beta", "Gamma"]],
    ["pageSize=2&page=2", ["Beta"]],
  ];
  test.each(filtered)("?%s", async (query, expected) => {
    await create({ name: "Beta", subject: "offer" });
    t.clock.advance(1);
    await create({ name: "Alpha", from: "offer@acme.test" });
    t.clock.advance(1);
    await create({ name: "Gamma" });
    const answer = await call("GET", `?${query}`);
    expect([answer.status, names(answer)]).toEqual([200, expected]);
  });
});

test("bulk-update deletes all of the drafts", async () => {
  const ids = [await create(), await create()];
  const answer = await call("POST", "/bulk-update", { ids, delete: true });
  expect([answer.status, answer.body]).toEqual([200, { deleted: 2 }]);
  expect(t.countRows("campaigns")).toBe(0);
});
