import { beforeEach, describe, expect, test } from "bun:test";
import { listAt } from "../../support/json.ts";
import { type CampaignApp, campaignsPerTest, CONTENT } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();

beforeEach(async () => {
  t = await next();
});

describe("a campaign", () => {
  test("is created as DRAFT and returned with its type", async () => {
    const answer = await t.call("POST", "/campaigns", CONTENT);
    expect(answer.status).toBe(201);
    expect(answer.at("data")).toMatchObject({
      name: "Spring",
      subject: "Hello {{ name }}",
      type: "ALL",
      status: "DRAFT",
      scheduledAt: null,
    });
  });

  const refused: [name: string, body: Record<string, unknown>, field: string, code: string][] = [
    ["no segment for SEGMENT", { audienceType: "SEGMENT" }, "segmentId", "required"],
    [
      "an unknown segment",
      { audienceType: "SEGMENT", segmentId: "nope" },
      "segmentId",
      "unknown_reference",
    ],
    ["no filter for FILTERED", { audienceType: "FILTERED" }, "audienceFilter", "required"],
    ["an invalid template", { body: "{% if %}" }, "body", "invalid_format"],
    ["a segment for ALL", { segmentId: "nope" }, "segmentId", "invalid_value"],
    ["a filter for ALL", { audienceFilter: { x: 1 } }, "audienceFilter", "invalid_value"],
    [
      "a filter for SEGMENT",
      { audienceType: "SEGMENT", segmentId: "nope", audienceFilter: {} },
      "audienceFilter",
      "invalid_value",
    ],
  ];
  test.each(refused)("with %s is refused", async (_, body, field, code) => {
    const answer = await t.call("POST", "/campaigns", { ...CONTENT, ...body });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
    expect(answer.at("error.errors.0.code")).toBe(code);
    expect(t.countRows("campaigns")).toBe(0);
  });

  test("accepts a rate of one mail per minute and refuses to lower it further", async () => {
    const id = await t.campaign({ rate: 1 / 60 });
    const answer = await t.call("PATCH", `/campaigns/${id}`, { rate: 1 / 61 });
    expect([answer.status, answer.at("error.errors.0")]).toMatchObject([
      422,
      { field: "rate", message: "must be at least 1/60, which is one mail per minute" },
    ]);
    expect((await t.call("GET", `/campaigns/${id}`)).at("data.rate")).toBe(1 / 60);
  });

  test.each([
    ["a segment", { segmentId: "nope" }, "segmentId"],
    ["a filter", { audienceFilter: { x: 1 } }, "audienceFilter"],
    ["a segment with ALL", { audienceType: "ALL", segmentId: "nope" }, "segmentId"],
  ])("with the audienceType ALL refuses a patch with %s", async (_, patch, field) => {
    const id = await t.campaign();
    const answer = await t.call("PATCH", `/campaigns/${id}`, { ...patch, name: "Other" });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
    const same = { ...patch, segmentId: null, audienceFilter: null, name: "Other" };
    expect((await t.call("PATCH", `/campaigns/${id}`, same)).at("data.name")).toBe("Other");
  });

  test("reaches every subscribed contact once, rendered with their data", async () => {
    await t.contact("ada@x.test", { data: { name: "Ada" } });
    await t.contact("bob@x.test", { data: { name: "Bob" } });
    await t.contact("eve@x.test", { subscribed: false });
    const id = await t.campaign();
    expect((await t.act(id, "send")).status).toBe(204);
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
    const mails = t.received();
    expect(mails).toHaveLength(2);
    expect(mails.join("\n")).toMatch(/Subject: Hello Ada[\s\S]*Subject: Hello Bob/);
    for (const mail of mails) expect(mail).toContain("List-Unsubscribe-Post:");
    const stats = await t.call("GET", `/campaigns/${id}/stats`);
    expect(stats.at("data")).toMatchObject({ totalRecipients: 2, sent: 2, queued: 0, failed: 0 });
    const records = await t.call("GET", "/emails");
    expect(records.at("data.items")).toMatchObject([
      { subject: "Hello Bob", campaignId: id, source: "CAMPAIGN" },
      { subject: "Hello Ada", campaignId: id, source: "CAMPAIGN" },
    ]);
    const recipients = await t.call("GET", `/campaigns/${id}/recipients?status=SENT`);
    expect(listAt(recipients.body, "data.items")).toHaveLength(2);
    await t.settle();
    expect(t.received()).toHaveLength(2);
  });

  test("with a filter or a segment reaches the contacts that match it", async () => {
    await t.contact("pro@x.test", { data: { plan: "pro" } });
    await t.contact("free@x.test", { data: { plan: "free" } });
    const condition = {
      logic: "AND",
      groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
    };
    const segment = await t.call("POST", "/segments", { name: "Pro", condition });
    const byFilter = await t.campaign({ audienceType: "FILTERED", audienceFilter: condition });
    const bySegment = await t.campaign({
      audienceType: "SEGMENT",
      segmentId: segment.text("data.id"),
    });
    for (const id of [byFilter, bySegment]) {
      await t.act(id, "send");
      await t.settle();
      const answer = await t.call("GET", `/campaigns/${id}/recipients`);
      expect(listAt(answer.body, "data.items")).toMatchObject([
        { email: "pro@x.test", status: "SENT" },
      ]);
    }
    expect((await t.call("DELETE", `/segments/${segment.text("data.id")}`)).status).toBe(204);
  });

  test("skips contacts that were suppressed, unsubscribed or deleted, and counts them", async () => {
    await t.contact("ada@x.test");
    const gone = await t.contact("gone@x.test");
    const deleted = await t.contact("deleted@x.test");
    await t.call("POST", "/suppressions", { email: "sup@x.test" });
    await t.contact("sup@x.test");
    const id = await t.campaign();
    await t.call("PATCH", `/campaigns/${id}`, { rate: 1 / 60 });
    await t.act(id, "send");
    await t.settle();
    await t.call("PATCH", `/contacts/${gone}`, { subscribed: false });
    await t.call("DELETE", `/contacts/${deleted}`);
    t.setAll("campaigns", "rate = NULL");
    t.clock.advance(2_000_000);
    await t.settle();
    const stats = await t.call("GET", `/campaigns/${id}/stats`);
    expect(stats.at("data")).toMatchObject({
      totalRecipients: 4,
      queued: 0,
      sent: 1,
      suppressed: 1,
      cancelled: 2,
    });
    expect(t.received().join("")).not.toContain("sup@x.test");
  });

  test("is refused if no contact would receive it", async () => {
    const id = await t.campaign();
    const answer = await t.act(id, "send");
    expect([answer.status, answer.at("error.code")]).toEqual([409, "INVALID_STATE"]);
    expect(await t.statusOf(id)).toBe("DRAFT");
  });

  test("is refused from a domain that is not verified or no longer verified", async () => {
    const refusal = [403, "DOMAIN_NOT_VERIFIED"];
    const made = await t.call("POST", "/campaigns", { ...CONTENT, from: "news@sub.acme.test" });
    expect([made.status, made.at("error.code")]).toEqual(refusal);
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const changed = await t.call("PATCH", `/campaigns/${id}`, { from: "news@sub.acme.test" });
    expect([changed.status, changed.at("error.code")]).toEqual(refusal);
    t.setAll("domains", "status = 'FAILED'");
    const sent = await t.act(id, "send");
    expect([sent.status, sent.at("error.code")]).toEqual(refusal);
  });

  test("is refused if all its recipients are suppressed", async () => {
    await t.contact("sup@x.test");
    await t.call("POST", "/suppressions", { email: "sup@x.test" });
    const id = await t.campaign();
    for (const body of [undefined, { scheduledFor: "2026-03-03T00:00:00Z" }]) {
      const answer = await t.act(id, "send", body);
      expect([answer.status, answer.at("error.code")]).toEqual([409, "INVALID_STATE"]);
    }
  });

  test.each(["scheduledAt", "scheduledfor", "scheduled_for", "schedule"])(
    "is not sent immediately if the field of its time is misspelt: %s",
    async (field) => {
      await t.contact("ada@x.test");
      const id = await t.campaign();
      const answer = await t.act(id, "send", { [field]: "2027-03-01T09:00:00Z" });
      expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
      expect(await t.statusOf(id)).toBe("DRAFT");
    },
  );

  test("is sent although its request has unknown fields", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    expect((await t.act(id, "send", { note: "x" })).status).toBe(204);
    expect(await t.statusOf(id)).toBe("SENDING");
  });

  test("is sent once by two requests with one key", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const options = { headers: { "idempotency-key": "k" } };
    const send = () => t.call("POST", `/campaigns/${id}/send`, undefined, options);
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([204, 204]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.body).toBeUndefined();
  });

  test("fails only for recipients whose rendered subject is empty or too long", async () => {
    await t.contact("pro@x.test", { data: { plan: "pro" } });
    await t.contact("free@x.test");
    await t.contact("long@x.test", { data: { plan: "x".repeat(2000) } });
    const id = await t.campaign({ subject: "{{ plan }}" });
    await t.act(id, "send");
    await t.settle();
    expect(await t.stats(id)).toMatchObject({ sent: 1, failed: 2 });
    const failed = await t.call("GET", `/campaigns/${id}/recipients?status=FAILED`);
    expect(failed.at("data")).toMatchObject({
      total: 2,
      items: [{ email: "long@x.test" }, { email: "free@x.test" }],
    });
    expect(failed.text("data.items.1.lastError")).toContain("subject");
    const preview = await t.act(id, "preview", {});
    expect([preview.status, preview.at("error.errors.0.field")]).toEqual([422, "subject"]);
  });

  test("goes to the address that a contact has when its mail leaves", async () => {
    const contact = await t.contact("old@x.test", { data: { name: "Ada" } });
    const id = await t.campaign();
    await t.act(id, "send");
    await t.act(id, "pause");
    await t.settle();
    await t.call("PATCH", `/contacts/${contact}`, { email: "new@x.test" });
    await t.act(id, "resume");
    await t.settle();
    expect(t.received().join("")).toMatch(/^To: new@x\.test/m);
    expect(t.received().join("")).not.toContain("old@x.test");
  });

  test("that fails to render for one recipient is sent to the others", async () => {
    await t.contact("bad@x.test", { data: { n: 9_000_000 } });
    await t.contact("good@x.test", { data: { n: 1 } });
    const id = await t.campaign({
      body: "{% for i in (1..n) %}{% for j in (1..n) %}x{% endfor %}{% endfor %}y",
    });
    await t.act(id, "send");
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
    const stats = await t.call("GET", `/campaigns/${id}/stats`);
    expect(stats.at("data")).toMatchObject({ sent: 1, failed: 1 });
  });
});

describe("a scheduled time", () => {
  const at = (ms: number) => new Date(t.clock.now() + ms).toISOString();

  test("starts the campaign when it has come", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    expect((await t.act(id, "send", { scheduledFor: at(60_000) })).status).toBe(204);
    expect(await t.statusOf(id)).toBe("SCHEDULED");
    await t.app.campaigns.tick();
    expect(await t.statusOf(id)).toBe("SCHEDULED");
    t.clock.advance(60_000);
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
  });

  test("may be changed and have any offset", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    await t.act(id, "send", { scheduledFor: at(60_000) });
    await t.act(id, "send", { scheduledFor: "2026-03-03T01:00:00+02:00" });
    const answer = await t.call("GET", `/campaigns/${id}`);
    expect(answer.at("data.scheduledAt")).toBe("2026-03-02T23:00:00.000Z");
  });

  test("can be removed: the campaign is a draft again and is not sent", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    await t.act(id, "send", { scheduledFor: at(60_000) });
    const answer = await t.act(id, "unschedule");
    expect([answer.status, answer.at("data.status"), answer.at("data.scheduledAt")]).toEqual([
      200,
      "DRAFT",
      null,
    ]);
    t.clock.advance(60_000);
    await t.settle();
    expect([await t.statusOf(id), t.countRows("emails"), t.eventNames()]).toEqual([
      "DRAFT",
      0,
      ["contact.subscribed"],
    ]);
  });

  const wrong: [name: string, scheduledFor: unknown][] = [
    ["in the past", "2020-01-01T00:00:00Z"],
    ["too far away", "9999-01-01T00:00:00Z"],
    ["without an offset", "2026-06-01T00:00:00"],
    ["that is not a time", "soon"],
  ];
  test.each(wrong)("%s is refused", async (name, scheduledFor) => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const answer = await t.act(id, "send", { scheduledFor });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "scheduledFor"]);
    if (name === "without an offset") {
      expect(answer.text("error.errors.0.message")).toContain("T09:00:00Z");
    }
    expect(await t.statusOf(id)).toBe("DRAFT");
  });
});

describe("each action in each status", () => {
  const STATES = ["DRAFT", "SCHEDULED", "SENDING", "PAUSED", "SENT", "CANCELLED"] as const;
  const POSSIBLE: Record<string, Partial<Record<(typeof STATES)[number], string>>> = {
    send: { DRAFT: "SENDING", SCHEDULED: "SENDING" },
    cancel: { SCHEDULED: "CANCELLED", SENDING: "CANCELLED", PAUSED: "CANCELLED" },
    pause: { SENDING: "PAUSED" },
    resume: { PAUSED: "SENDING" },
    edit: { DRAFT: "DRAFT", SCHEDULED: "SCHEDULED" },
    delete: { DRAFT: "gone", CANCELLED: "gone" },
    unschedule: { SCHEDULED: "DRAFT" },
    duplicate: {
      DRAFT: "DRAFT",
      SCHEDULED: "SCHEDULED",
      SENDING: "SENDING",
      PAUSED: "PAUSED",
      SENT: "SENT",
      CANCELLED: "CANCELLED",
    },
  };
  const cases = Object.keys(POSSIBLE).flatMap((action) =>
    STATES.map((state) => [action, state, POSSIBLE[action]?.[state]] as const),
  );
  test.each(cases)("%s when %s → %s", async (action, state, next) => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    t.setAll(
      "campaigns",
      "status = ?, scheduled_at = ?, audience_cursor = 0, audience_end = 9",
      state,
      t.clock.now() + 60_000,
    );
    const answer =
      action === "edit"
        ? await t.call("PATCH", `/campaigns/${id}`, { name: "Summer" })
        : action === "delete"
          ? await t.call("DELETE", `/campaigns/${id}`)
          : await t.act(id, action);
    if (next === undefined) {
      expect([answer.status, answer.at("error.code")]).toEqual([409, "INVALID_STATE"]);
      expect(await t.statusOf(id)).toBe(state);
    } else if (next === "gone") {
      expect(answer.status).toBe(204);
      expect((await t.call("GET", `/campaigns/${id}`)).status).toBe(404);
    } else {
      expect(answer.status).toBeLessThan(300);
      expect(await t.statusOf(id)).toBe(next);
    }
  });
});

describe("paused and cancelled", () => {
  test("a paused campaign sends nothing until it is resumed, and then each mail once", async () => {
    for (let i = 0; i < 5; i++) await t.contact(`c${i}@x.test`);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.act(id, "pause");
    await t.settle();
    expect(t.received()).toHaveLength(0);
    await t.act(id, "resume");
    await t.settle();
    expect([t.received().length, await t.statusOf(id)]).toEqual([5, "SENT"]);
  });

  test("a cancelled campaign sends nothing more and marks each of its mails", async () => {
    for (let i = 0; i < 5; i++) await t.contact(`c${i}@x.test`);
    const id = await t.campaign({ rate: 1 / 60 });
    await t.act(id, "send");
    await t.settle();
    await t.act(id, "cancel");
    t.clock.advance(10_000_000);
    await t.settle();
    expect(t.received()).toHaveLength(1);
    const stats = await t.call("GET", `/campaigns/${id}/stats`);
    expect(stats.at("data")).toMatchObject({ sent: 1, cancelled: 4, queued: 0 });
  });

  test("a domain that loses its verification pauses the campaign, and its return resumes it", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    await t.act(id, "send");
    t.setAll("domains", "status = 'FAILED'");
    await t.settle();
    const answer = await t.call("GET", `/campaigns/${id}`);
    expect([answer.at("data.status"), t.received().length]).toEqual(["PAUSED", 0]);
    expect(answer.text("data.statusReason")).toContain("not verified");
    t.setAll("domains", "status = 'VERIFIED'");
    t.clock.advance(10 * 60_000);
    await t.settle();
    expect([await t.statusOf(id), t.received().length]).toEqual(["SENT", 1]);
  });

  test("a campaign that waits for its domain stays paused if a person pauses it", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    await t.act(id, "send");
    t.setAll("domains", "status = 'FAILED'");
    await t.settle();
    const paused = await t.act(id, "pause");
    expect([paused.status, paused.at("data.statusReason")]).toEqual([200, null]);
    expect((await t.act(id, "pause")).status).toBe(409);
    t.setAll("domains", "status = 'VERIFIED'");
    t.clock.advance(10 * 60_000);
    await t.settle();
    expect([await t.statusOf(id), t.received().length]).toEqual(["PAUSED", 0]);
    await t.act(id, "resume");
    await t.settle();
    expect([await t.statusOf(id), t.received().length]).toEqual(["SENT", 1]);
  });
});

describe("preview and test mail", () => {
  test("a preview renders for a contact, and given data overrides the contact's", async () => {
    const contactId = await t.contact("ada@x.test", { data: { name: "Ada" } });
    const id = await t.campaign();
    const own = await t.act(id, "preview", { contactId });
    expect(own.text("data.subject")).toBe("Hello Ada");
    expect(own.text("data.html")).toStartWith("<p>Dear Ada</p><div ");
    const other = await t.act(id, "preview", { contactId, data: { name: "<b>" } });
    expect(other.text("data.html")).toStartWith("<p>Dear &lt;b&gt;</p><div ");
    expect(t.countRows("emails")).toBe(0);
  });

  test("a preview has the footer that recipients get, whose link unsubscribes no contact", async () => {
    const contactId = await t.contact("ada@x.test", { data: { name: "Ada" } });
    const id = await t.campaign();
    const answer = await t.act(id, "preview", { contactId });
    expect(answer.text("data.html")).toContain("newsletters from acme.");
    expect(answer.text("data.text")).toMatch(/^Dear Ada\n\n--\n.+ from acme\.\nUnsubscribe: http/);
    const link = /href="([^"]+\/unsubscribe\/[^"]+)"/.exec(answer.text("data.html"))?.[1] ?? "";
    await t.call("POST", new URL(link).pathname, undefined, { key: null });
    expect((await t.call("GET", `/contacts/${contactId}`)).at("subscribed")).toBe(true);
  });

  test("a test mail has the content recipients get, a marked subject, and is not counted", async () => {
    const id = await t.campaign();
    const answer = await t.act(id, "test", { email: "me@x.test" });
    expect(answer.status).toBe(200);
    await t.settle();
    expect(t.received()[0]).toMatch(/Subject: .*TEST.*Hello/);
    expect(t.received()[0]).toContain("List-Unsubscribe-Post:");
    expect(t.countRows("contacts")).toBe(0);
    const stats = await t.call("GET", `/campaigns/${id}/stats`);
    expect(stats.at("data")).toMatchObject({ totalRecipients: 0, sent: 0 });
    expect(await t.statusOf(id)).toBe("DRAFT");
  });
});

test("a test mail to an address that is suppressed is refused", async () => {
  const id = await t.campaign();
  await t.call("POST", "/suppressions", { email: "me@x.test" });
  const answer = await t.act(id, "test", { email: "me@x.test" });
  expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "email"]);
  expect(answer.text("error.errors.0.message")).toContain("MANUAL");
  expect(t.countRows("emails")).toBe(0);
});

test("no route finds a campaign of another project", async () => {
  const id = await t.campaign();
  const other = await t.makeProject("other");
  const key = { key: other.secretKey };
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/send"],
    ["POST", "/cancel"],
    ["POST", "/pause"],
    ["POST", "/resume"],
    ["POST", "/duplicate"],
    ["POST", "/preview"],
    ["GET", "/stats"],
    ["GET", "/recipients"],
  ] as const) {
    const body = method === "GET" ? undefined : {};
    const answer = await t.call(method, `/campaigns/${id}${path}`, body, key);
    expect([method, path, answer.status]).toEqual([method, path, 404]);
  }
  expect(await t.statusOf(id)).toBe("DRAFT");
});
