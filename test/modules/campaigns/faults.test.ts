import { afterEach, describe, expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { createPace } from "../../../src/outbox/pace.ts";
import { manualClock } from "../../support/clock.ts";
import { waitUntil } from "../../support/eventually.ts";
import { stringAt } from "../../support/json.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../../support/transport.ts";
import type { TestOptions } from "../../support/app.ts";
import { type CampaignApp, campaignApp, campaignsPerTest } from "./campaign-app.ts";

/** The application that all tests share which do not restart it, with a new project. */
const next = campaignsPerTest();
const opened: CampaignApp[] = [];

afterEach(async () => {
  for (const t of opened.splice(0)) await t.close();
});

async function open(options: TestOptions = {}): Promise<CampaignApp> {
  const t = await campaignApp(options);
  opened.push(t);
  return t;
}

/** Restarts the application with the same database and clock. */
async function restarted(t: CampaignApp, options: TestOptions = {}): Promise<CampaignApp> {
  opened.splice(opened.indexOf(t), 1);
  await t.close();
  return open({ db: t.db, clock: t.clock, ...options });
}

const HOUR_MS = 60 * 60 * 1000;
const BOUNCED: Outcome = {
  kind: "bounced",
  class: "no_such_recipient",
  reason: "550 no such user",
  conversations: [],
};

describe("while the relay is down", () => {
  test("mails wait, and each arrives once when the relay is back an hour later", async () => {
    const transport = testTransport({ answer: DEFERRED });
    const t = await open({ transport });
    t.insertContacts(30);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.settle();
    for (let minute = 0; minute < 60; minute += 5) {
      t.clock.advance(5 * 60_000);
      await t.settle();
    }
    expect([await t.statusOf(id), t.count("status = 'QUEUED'")]).toEqual(["SENDING", 30]);
    transport.answer = ACCEPTED;
    const before = transport.handed.length;
    t.clock.advance(5 * HOUR_MS);
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
    const recipients = transport.handed.slice(before).map(({ object }) => object.envelope.to);
    expect([recipients.length, new Set(recipients).size]).toEqual([30, 30]);
    expect(await t.stats(id)).toMatchObject({ sent: 30, queued: 0, failed: 0 });
  });
});

describe("the circuit breaker", () => {
  const lines: string[] = [];
  const log = createLog({ level: "warn", format: "json", write: (line) => void lines.push(line) });
  const config = { campaignLimitAfter: 20, campaignBounceLimit: 0.1 };

  test("pauses a campaign that bounces too much, with a reason, until a person resumes it", async () => {
    const transport = testTransport();
    const t = await open({ transport, config, log });
    let handed = 0;
    transport.answer = () => (handed++ % 5 === 0 ? BOUNCED : ACCEPTED);
    t.insertContacts(100);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.settle();
    const paused = await t.call("GET", `/campaigns/${id}`);
    expect(paused.at("data.status")).toBe("PAUSED");
    expect(paused.text("data.statusReason")).toMatch(/^\d\d\.\d% of the mails bounced, more than/);
    const line = lines.find((each) => each.includes("a campaign was paused")) ?? "{}";
    const page = `/app/p/${t.project.id}/campaigns/${id}`;
    expect(JSON.parse(line)).toMatchObject({ campaign: id, see: expect.stringContaining(page) });
    const leftBefore = 100 - t.count("status = 'QUEUED'");
    expect(leftBefore).toBeGreaterThanOrEqual(20);
    expect(leftBefore).toBeLessThan(80);
    await t.act(id, "resume");
    await t.settle();
    // The counts restart when the campaign is resumed.
    const leftAfter = 100 - t.count("status = 'QUEUED'");
    expect(leftAfter - leftBefore).toBeGreaterThanOrEqual(20);
    expect(await t.statusOf(id)).toBe("PAUSED");
  });

  test("counts the bounces that came before its minimum number of mails", async () => {
    const transport = testTransport();
    const t = await open({ transport, config });
    let handed = 0;
    transport.answer = () => (handed++ < 10 ? BOUNCED : ACCEPTED);
    t.insertContacts(100);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.settle();
    expect(await t.statusOf(id)).toBe("PAUSED");
    expect(t.count("status = 'QUEUED'")).toBeGreaterThan(40);
  });

  test("does nothing below its minimum number of mails", async () => {
    const t = await open({ transport: testTransport({ answer: BOUNCED }), config });
    t.insertContacts(19);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
    expect(await t.stats(id)).toMatchObject({ bounced: 19, bounceRate: 1 });
  });
});

describe("a template that takes longer than a render may", () => {
  // Each round takes much time and little memory, so that the limit of memory is reached later.
  const round = `{% if j > 0${" and j > 0".repeat(50)} %}{% endif %}`;
  const body = `{% for i in (1..9999) %}{% for j in (1..9999) %}${round}{% endfor %}{% endfor %}`;

  test("makes its mails fail, and the mail of others is sent meanwhile", async () => {
    const t = await next();
    t.insertContacts(1);
    const id = await t.campaign({ body });
    await t.act(id, "send");
    await t.app.campaigns.tick();
    await waitUntil(() => t.count("status = 'SENDING'") === 1);
    const mail = {
      to: "ada@example.net",
      from: "hello@acme.test",
      subject: "Hi",
      body: "<p>Hi</p>",
    };
    await t.create("/v1/send", mail, "emails.0.email");
    await waitUntil(() => t.count("status = 'SENT' AND campaign_seq IS NULL") === 1);
    expect(t.count("status = 'SENDING'")).toBe(1);
    await t.settle();
    const reason = "last_error LIKE 'The body cannot be rendered: % takes longer than %'";
    expect(t.count(`status = 'FAILED' AND ${reason}`)).toBe(1);
    expect(await t.statusOf(id)).toBe("SENT");
  });
});

describe("a process that ends", () => {
  test("while it sends: the next process sends the rest, and no mail twice", async () => {
    const t = await open();
    t.insertContacts(20);
    const id = await t.campaign({ rate: 1 / 60 });
    await t.act(id, "send");
    await t.settle();
    expect(t.received()).toHaveLength(1);
    const next = await restarted(t);
    next.db.sqlite.run("UPDATE campaigns SET rate = NULL");
    await next.settle();
    expect([next.received().length, await next.statusOf(id)]).toEqual([20, "SENT"]);
    const to = next.received().map((mail) => /^To: .*$/m.exec(mail)?.[0]);
    expect(new Set(to).size).toBe(20);
  });

  test("while it writes the audience: the next process continues at the cursor", async () => {
    const t = await open();
    t.insertContacts(50);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.settle();
    // The state after a crash behind row 20: rows and cursor are written in one transaction.
    t.db.sqlite.run(`DELETE FROM captured_messages`);
    t.db.sqlite.run("DELETE FROM emails WHERE contact_seq > 20");
    t.db.sqlite.run("UPDATE campaigns SET status = 'SENDING', audience_cursor = 20");
    const next = await restarted(t);
    await next.settle();
    expect(next.received()).toHaveLength(30);
    expect(next.count("status = 'SENT'")).toBe(50);
  });

  test.each(["a filter", "a segment", "a filter that refers to a segment"])(
    "before it writes the audience: times in %s count from the start of sending",
    async (kind) => {
      const t = await open();
      for (const email of ["ada@x.test", "bob@x.test"]) await t.contact(email);
      const one = (filter: object) => ({ logic: "AND", groups: [{ filters: [filter] }] });
      const isNew = one({ field: "createdAt", operator: "within", value: 1, unit: "minutes" });
      const segmentId = await t.create(
        "/segments",
        { name: "New", type: "DYNAMIC", condition: isNew },
        "data.id",
      );
      const isMember = one({ field: `segment.${segmentId}`, operator: "memberOf" });
      const id = await t.campaign(
        kind === "a segment"
          ? { audienceType: "SEGMENT", segmentId }
          : { audienceType: "FILTERED", audienceFilter: kind === "a filter" ? isNew : isMember },
      );
      await t.act(id, "send");
      await t.settle();
      // The state after a crash between the start and the first slice of the audience.
      t.db.sqlite.run("DELETE FROM captured_messages");
      t.db.sqlite.run("DELETE FROM emails");
      t.db.sqlite.run("UPDATE campaigns SET status = 'SENDING', audience_cursor = 0");
      t.db.sqlite.run("UPDATE campaign_counts SET total_recipients = 0, sent = 0");
      t.clock.advance(2 * 60_000);
      const next = await restarted(t);
      await next.settle();
      expect(await next.statusOf(id)).toBe("SENT");
      expect(await next.stats(id)).toMatchObject({ totalRecipients: 2, sent: 2 });
    },
  );

  test("before a scheduled start: the next process starts the campaign late", async () => {
    const t = await open();
    t.insertContacts(1);
    const id = await t.campaign();
    const scheduledFor = new Date(t.clock.now() + HOUR_MS).toISOString();
    await t.act(id, "send", { scheduledFor });
    t.clock.advance(HOUR_MS / 2);
    const next = await restarted(t);
    expect(await next.statusOf(id)).toBe("SCHEDULED");
    opened.splice(opened.indexOf(next), 1);
    await next.close();
    next.clock.advance(24 * HOUR_MS);
    const last = await open({ db: next.db, clock: next.clock });
    await last.settle();
    expect(await last.statusOf(id)).toBe("SENT");
    expect(last.received()).toHaveLength(1);
  });

  test("while it cancels a campaign: the next process cancels the rest", async () => {
    const t = await open();
    t.insertContacts(750);
    const id = await t.campaign({ rate: 1 / 60 });
    await t.act(id, "send");
    await t.settle();
    await waitUntil(() => t.count("campaign_seq = 1") === 750);
    await t.act(id, "cancel");
    const next = await restarted(t);
    await next.settle();
    expect(await next.stats(id)).toMatchObject({ sent: 1, cancelled: 749, queued: 0 });
  });
});

describe("a prepared mail that waits for the send rate", () => {
  /** At two mails per minute, one mail has left and the next one waits. */
  async function waiting() {
    const clock = manualClock();
    const pace = createPace({ ratePerSecond: 1 / 30, clock });
    const transport = testTransport({ answer: ACCEPTED, pace });
    const t = await open({ transport, clock, config: { sendRate: 1 / 30 } });
    t.insertContacts(5);
    const id = await t.campaign();
    await t.act(id, "send");
    await waitUntil(() => transport.handed.length === 1);
    await waitUntil(() => t.count("status = 'SENDING'") > 0);
    return { t, id, transport };
  }

  test("does not leave once its campaign was cancelled", async () => {
    const { t, id, transport } = await waiting();
    await t.act(id, "cancel");
    await restarted(t, { transport });
    expect(transport.handed).toHaveLength(1);
  });

  test("does not leave, without an attempt, if the campaign is cancelled just before it", async () => {
    const transport = testTransport({ answer: ACCEPTED });
    const t = await open({ transport });
    const { start } = transport;
    transport.start = (mail) => {
      t.db.sqlite.run("UPDATE campaigns SET status = 'CANCELLED'");
      start(mail);
    };
    t.insertContacts(1);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.settle();
    expect([transport.handed.length, t.countRows("attempts")]).toEqual([0, 0]);
    expect(await t.stats(id)).toMatchObject({ sent: 0, cancelled: 1, queued: 0 });
  });

  test("returns to the queue without an attempt when the process ends", async () => {
    const { t, transport } = await waiting();
    opened.splice(opened.indexOf(t), 1);
    await t.close();
    expect(transport.handed).toHaveLength(1);
    expect(t.count("status = 'QUEUED'")).toBe(4);
  });
});

describe("a scheduled time of day", () => {
  /** In ascending order, because the clock goes on from test to test. */
  const offsets: [name: string, given: string, utc: string][] = [
    ["before the clocks go forward", "2026-03-29T01:30:00+01:00", "2026-03-29T00:30:00.000Z"],
    ["after the clocks went forward", "2026-03-29T03:30:00+02:00", "2026-03-29T01:30:00.000Z"],
    [
      "with a quarter of an hour in its offset",
      "2026-06-01T00:00:00+05:45",
      "2026-05-31T18:15:00.000Z",
    ],
    [
      "the first 02:30 of the night when the clocks go back",
      "2026-10-25T02:30:00+02:00",
      "2026-10-25T00:30:00.000Z",
    ],
    ["the second 02:30 of that night", "2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00.000Z"],
  ];
  test.each(offsets)("%s is converted by its offset", async (_, scheduledFor, utc) => {
    const t = await next();
    t.insertContacts(1);
    const id = await t.campaign();
    await t.act(id, "send", { scheduledFor });
    expect((await t.call("GET", `/campaigns/${id}`)).at("data.scheduledAt")).toBe(utc);
    t.clock.advance(Date.parse(utc) - t.clock.now() - 1);
    await t.settle();
    expect(await t.statusOf(id)).toBe("SCHEDULED");
    t.clock.advance(1);
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
  });

  test("is met when the clock is set forward after the timer was set", async () => {
    const t = await next();
    t.insertContacts(1);
    const id = await t.campaign();
    await t.act(id, "send", { scheduledFor: new Date(t.clock.now() + HOUR_MS).toISOString() });
    t.clock.stepWall(2 * HOUR_MS);
    await t.app.clockSteps.check();
    await t.settle();
    expect(await t.statusOf(id)).toBe("SENT");
  });
});

describe("dependencies of a campaign", () => {
  test("its segment cannot be deleted before the campaign has ended", async () => {
    const t = await next();
    t.insertContacts(1);
    const segment = await t.create("/segments", { name: "All", type: "STATIC" }, "data.id");
    const id = await t.campaign({ audienceType: "SEGMENT", segmentId: segment });
    const refused = await t.call("DELETE", `/segments/${segment}`);
    expect([refused.status, refused.at("error.code")]).toEqual([409, "CONFLICT"]);
    expect(refused.text("error.message")).toContain("Spring");
    await t.call("DELETE", `/campaigns/${id}`);
    expect((await t.call("DELETE", `/segments/${segment}`)).status).toBe(204);
  });

  test("a segment that its filter names cannot be deleted before the campaign has ended", async () => {
    const t = await next();
    const segment = await t.create("/segments", { name: "All", type: "STATIC" }, "data.id");
    const filter = { field: `segment.${segment}`, operator: "notMemberOf" };
    const audienceFilter = { logic: "AND", groups: [{ filters: [filter] }] };
    const id = await t.campaign({ audienceType: "FILTERED", audienceFilter });
    const refused = await t.call("DELETE", `/segments/${segment}`);
    expect([refused.status, refused.at("error.code")]).toEqual([409, "CONFLICT"]);
    await t.call("DELETE", `/campaigns/${id}`);
    expect((await t.call("DELETE", `/segments/${segment}`)).status).toBe(204);
  });

  test("a change of its segment after the start does not change the audience", async () => {
    const t = await next();
    t.insertContacts(5);
    const isOneOf = (count: number) => ({
      logic: "OR",
      groups: Array.from({ length: count }, (_, i) => ({
        filters: [{ field: "email", operator: "equals", value: `c${i + 1}@x.test` }],
      })),
    });
    const body = { name: "Some", condition: isOneOf(2) };
    const segment = await t.create("/segments", body, "data.id");
    const id = await t.campaign({ audienceType: "SEGMENT", segmentId: segment });
    await Promise.all([t.act(id, "send"), t.act(id, "pause")]);
    await t.call("PATCH", `/segments/${segment}`, { condition: isOneOf(5) });
    await t.settle();
    if ((await t.statusOf(id)) === "PAUSED") await t.act(id, "resume");
    await t.settle();
    expect(await t.stats(id)).toMatchObject({ totalRecipients: 2, sent: 2 });
    // The same holds if the segment changed before any mail was written.
    t.deleteMails();
    t.setAll("campaigns", "status = 'SENDING', audience_cursor = 0");
    await t.settle();
    expect(t.count("campaign_seq IS NOT NULL")).toBe(2);
  });

  test("the audience of a paused campaign is still written", async () => {
    const t = await next();
    t.insertContacts(5);
    const id = await t.campaign();
    await t.act(id, "send");
    await t.act(id, "pause");
    await t.settle();
    // Removes the mails that were written before the pause.
    t.deleteMails();
    t.setAll("campaigns", "audience_cursor = 0");
    await t.settle();
    expect([await t.statusOf(id), t.count("status = 'QUEUED'")]).toEqual(["PAUSED", 5]);
  });

  test("a copy of a campaign whose segment was deleted is not sent, with a reason", async () => {
    const t = await next();
    t.insertContacts(2);
    const filter = { field: "email", operator: "contains", value: "@" };
    const condition = { logic: "AND", groups: [{ filters: [filter] }] };
    const segmentId = await t.create("/segments", { name: "All", condition }, "data.id");
    const id = await t.campaign({ audienceType: "SEGMENT", segmentId });
    await t.act(id, "send");
    await t.settle();
    expect((await t.call("DELETE", `/segments/${segmentId}`)).status).toBe(204);
    const copy = (await t.act(id, "duplicate")).text("data.id");
    const answer = await t.act(copy, "send");
    expect([answer.status, answer.text("error.message")]).toEqual([422, "segmentId: is required"]);
    expect(await t.statusOf(copy)).toBe("DRAFT");
  });

  test("the sender's domain cannot be removed before the campaign has ended", async () => {
    const t = await next();
    t.insertContacts(1);
    const id = await t.campaign();
    const domains = await t.call("GET", "/domains");
    const domain = stringAt(domains.body, "data.items.0.id");
    const refused = await t.call("DELETE", `/domains/${domain}`);
    expect([refused.status, refused.at("error.code")]).toEqual([409, "CONFLICT"]);
    expect(refused.text("error.message")).toContain("Spring");
    await t.act(id, "send");
    await t.settle();
    expect((await t.call("DELETE", `/domains/${domain}`)).status).toBe(204);
  });

  test("a scheduled campaign whose recipients all unsubscribed ends without sending", async () => {
    const t = await next();
    t.insertContacts(3);
    const id = await t.campaign();
    await t.act(id, "send", { scheduledFor: new Date(t.clock.now() + HOUR_MS).toISOString() });
    t.setAll("contacts", "is_subscribed = 0");
    t.clock.advance(HOUR_MS);
    await t.settle();
    expect([await t.statusOf(id), t.received().length]).toEqual(["SENT", 0]);
    expect(await t.stats(id)).toMatchObject({ totalRecipients: 0 });
    const answer = await t.call("GET", `/campaigns/${id}`);
    expect(answer.text("data.statusReason")).toContain("audience was empty");
  });

  test("a deleted campaign leaves the records of its mails", async () => {
    const t = await next();
    t.insertContacts(5);
    const id = await t.campaign({ rate: 1 / 60 });
    await t.act(id, "send");
    await t.settle();
    const firstSent = async () => {
      const { body } = await t.call("GET", "/emails?status=SENT");
      return [stringAt(body, "data.items.0.id"), body] as const;
    };
    const [emailId, before] = await firstSent();
    expect(stringAt(before, "data.items.0.campaignId")).toBe(id);
    await t.act(id, "cancel");
    await t.settle();
    expect((await t.call("DELETE", `/campaigns/${id}`)).status).toBe(204);
    const answer = await t.call("GET", `/emails/${emailId}`);
    expect([answer.status, answer.at("data.campaignId")]).toEqual([200, null]);
    // A later event of these mails is accepted, but there is no campaign left to count it.
    const raw = t.received()[0] ?? "";
    const unsubscribe = /<(http[^>]*\/unsubscribe\/[^>]+)>/.exec(
      raw.replaceAll(/\r\n\s/g, ""),
    )?.[1];
    const path = new URL(unsubscribe ?? "").pathname;
    const done = await t.call("POST", path, undefined, {
      key: null,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      raw: "List-Unsubscribe=One-Click",
    });
    expect(done.status).toBe(200);
    expect(t.eventNames()).toContain("contact.unsubscribed");
  });

  test("a campaign is not deleted while its mails are still being cancelled", async () => {
    const t = await next();
    t.insertContacts(5);
    const id = await t.campaign({ rate: 1 / 60 });
    await t.act(id, "send");
    await t.settle();
    t.setAll("campaigns", "status = 'CANCELLED'");
    const refused = await t.call("DELETE", `/campaigns/${id}`);
    expect([refused.status, refused.at("error.code")]).toEqual([409, "INVALID_STATE"]);
    await t.settle();
    expect((await t.call("DELETE", `/campaigns/${id}`)).status).toBe(204);
  });
});
