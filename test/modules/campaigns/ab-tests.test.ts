import { beforeEach, describe, expect, test } from "bun:test";
import { findWrongUsage } from "../../../src/db/usage-recount.ts";
import { shiftDecisions } from "../../../src/modules/campaigns/ab-tests/ab-progress.ts";
import { abGroup, HOLD_OUT, REST } from "../../../src/modules/campaigns/ab-tests/ab-groups.ts";
import { verdictOf } from "../../../src/modules/campaigns/ab-tests/ab-verdict.ts";
import { insertAbContacts, smallGroups } from "../../support/ab-contacts.ts";
import { expectSoon, settleEventLoop } from "../../support/eventually.ts";
import { BROWSER, type Received, received } from "../../support/mailing.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

const MINUTE = 60_000;
const LINK = '<body><a href="https://shop.test/a">a</a></body>';
const TEST = {
  variants: [{ name: "Plain" }, { name: "Question", subject: "Why, {{ email }}?" }],
  share: 40,
  winner: { by: "CLICKS", afterMinutes: 60 },
};
/** The fields of a test; its groups depend on the percents. */
type Fields = { share: number; holdOut?: number; winner?: object; variants?: object[] };

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const state = async (id: string) =>
  (await t.call("GET", `/campaigns/${id}`)).at("data.abTestState");
const report = async (id: string) => (await t.call("GET", `/campaigns/${id}/ab-test`)).at("data");
const abCampaign = (abTest: object = TEST, rest: object = {}) =>
  t.campaign({ body: LINK, subject: "Hello", abTest, ...rest });

function insertContacts(id: string, { share, holdOut = 0 }: Fields): void {
  const draft = { id, share, holdOut };
  insertAbContacts(t.db.sqlite, draft, smallGroups(draft));
}

async function started(abTest: Fields = TEST, rest: object = {}): Promise<string> {
  const id = await abCampaign(abTest, rest);
  insertContacts(id, abTest);
  expect((await t.act(id, "send")).status).toBe(204);
  await t.settle();
  return id;
}

async function advance(minutes: number): Promise<void> {
  t.clock.advance(minutes * MINUTE);
  await t.settle();
}

const mails = () => Promise.all(t.received().map((raw) => received("", raw)));
const withSubject = (list: readonly Received[], part: string) =>
  list.filter(({ raw }) => raw.includes(`Subject: ${part}`));

async function click(mail: Received | undefined): Promise<void> {
  const url = mail?.hrefs.find((href) => href.includes("/c/")) ?? "";
  const request = new Request(new URL(url, "http://localhost").href, {
    headers: { "user-agent": BROWSER },
  });
  await t.app.handle(request);
  t.clock.advance(2 * MINUTE);
  await settleEventLoop();
}

/** The counters of the project that differ from its rows. */
const wrongUsage = () =>
  findWrongUsage(t.db.sqlite).filter(({ projectSeq }) => projectSeq === t.project.seq);

/** Rounds of the runner go on until it is so; the steps of a test go on beside them. */
const soon = (read: () => Promise<unknown>, expected: unknown) =>
  expectSoon(async () => {
    const found = await read();
    await t.app.campaigns.tick();
    return found;
  }, expected);

const heldOut = () =>
  t.db.sqlite
    .query<{ seq: number }, [number]>(
      `SELECT contact_seq AS seq FROM ab_hold_outs h JOIN campaigns c ON c.seq = h.campaign_seq
       WHERE c.project_seq = ?`,
    )
    .all(t.project.seq).length;

describe("the group of a contact", () => {
  const plan = { share: 30, holdOut: 10, variantIds: ["A", "B", "C"] };
  const groups = Array.from({ length: 20_000 }, (_, i) =>
    abGroup(plan, "campaign", `contact-${i}`),
  );
  const some = groups.slice(0, 2_000);
  const share = (group: string) => groups.filter((each) => each === group).length / groups.length;

  test("is the same again, and others in another campaign", () => {
    expect(abGroup(plan, "campaign", "contact-7")).toBe(groups[7] ?? "");
    const others = some.filter((group, i) => abGroup(plan, "other", `contact-${i}`) !== group);
    expect(others.length).toBeGreaterThan(500);
  });

  test.each([
    ["HOLD_OUT", 0.1],
    ["A", 0.1],
    ["B", 0.1],
    ["C", 0.1],
    ["REST", 0.6],
  ])("is %s for a share of %d", (group, wanted) => {
    expect(Math.abs(share(group) - wanted)).toBeLessThan(0.01);
  });
});

describe("the verdict", () => {
  const of = (...counts: [hits: number, total: number][]) =>
    verdictOf(counts.map(([hits, total], i) => ({ id: "ABCD"[i] ?? "", hits, total })));

  test.each([
    [
      [
        [50, 1000],
        [80, 1000],
      ],
      "BETTER",
      "B is better: a difference this large would come by chance in 7 of 1,000 tests.",
    ],
    [
      [
        [90, 1000],
        [60, 1000],
      ],
      "BETTER",
      "A is better: a difference this large would come by chance in 1 of 100 tests.",
    ],
    [
      [
        [100, 1000],
        [300, 1000],
      ],
      "BETTER",
      "B is better: a difference this large would come by chance in fewer than 1 of 1,000 tests.",
    ],
    [
      [
        [50, 1000],
        [55, 1000],
      ],
      "UNCERTAIN",
      "No difference can be told yet: B is ahead, but it may be chance. Send each variant to at least 30,234 more.",
    ],
    [
      [
        [5, 100],
        [5, 100],
      ],
      "UNCERTAIN",
      "No difference can be told: A and B have the same rate.",
    ],
    [
      [
        [0, 0],
        [5, 100],
      ],
      "NOTHING",
      "Nothing can be compared: fewer than two variants were sent.",
    ],
  ] satisfies [[number, number][], string, string][])("of %j is %s", (counts, kind, text) => {
    expect(of(...counts)).toMatchObject({ kind, text });
  });

  test("of the best of four demands that all together differ", () => {
    const counts: [number, number][] = [
      [101, 1000],
      [100, 1000],
      [99, 1000],
      [128, 1000],
    ];
    expect(of(...counts)).toMatchObject({ kind: "UNCERTAIN", bestId: "D" });
    expect(of([100, 1000], [128, 1000])).toMatchObject({ kind: "BETTER", bestId: "B" });
  });
});

describe("a campaign with an A/B test", () => {
  test("waits as long as it was meant to after the clock was set back", async () => {
    const id = await started();
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING" }));
    const until = async () =>
      (await t.call("GET", `/campaigns/${id}`)).at("data.abTestState.waitsUntil");
    const before = Date.parse(String(await until()));
    const shift = { byMs: -MINUTE, after: t.clock.now() };
    await t.app.writer.write(() => shiftDecisions(t.app.app, shift));
    expect(await until()).toBe(new Date(before - MINUTE).toISOString());
    await t.app.writer.write(() => shiftDecisions(t.app.app, { ...shift, after: before }));
    expect(await until()).toBe(new Date(before - MINUTE).toISOString());
  });

  test("sends the variants, waits, and sends the winner to the rest", async () => {
    const id = await started({ ...TEST, holdOut: 10 });
    const first = await mails();
    const [plain, question] = [withSubject(first, "Hello"), withSubject(first, "Why,")];
    expect([first.length, plain.length, question.length]).toEqual([6, 3, 3]);
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING", winnerId: null }));
    await soon(() => t.statusOf(id), "SENDING");
    t.clock.advance(MINUTE);
    await click(question[0]);
    await advance(50);
    expect(await mails()).toHaveLength(first.length);
    await advance(15);
    await soon(
      () => state(id),
      expect.objectContaining({ phase: "REST", winnerId: "B", chosenBy: "RULE" }),
    );
    const all = await mails();
    expect([all.length, heldOut()]).toEqual([10, 2]);
    expect(withSubject(all.slice(first.length), "Why,")).toHaveLength(all.length - first.length);
    await soon(() => t.statusOf(id), "SENT");
    expect(await report(id)).toMatchObject({
      hasRest: true,
      variants: [
        { id: "A", name: "Plain", sent: plain.length, hits: 0, decidedSent: plain.length },
        { id: "B", sent: question.length, clicked: 1, hits: 1, decidedHits: 1 },
      ],
      rest: { sent: all.length - first.length },
      verdict: { kind: "UNCERTAIN", bestId: "B" },
      holdOut: { contacts: heldOut(), events: null },
    });
    const recipients = await t.call("GET", `/campaigns/${id}/recipients?variantId=B`);
    expect(recipients.at("data.total")).toBe(question.length);
  });

  test("sends no mail twice, and nothing to later contacts, in the second walk", async () => {
    const id = await started();
    const first = await mails();
    t.db.sqlite.run("UPDATE contacts SET is_subscribed = 0 WHERE project_seq = ? AND seq % 2 = 0", [
      t.project.seq,
    ]);
    await t.contact("late@x.test");
    await advance(65);
    await soon(() => t.statusOf(id), "SENT");
    const all = await mails();
    expect(new Set(all.map(({ raw }) => /^To: (.*)$/m.exec(raw)?.[1])).size).toBe(all.length);
    expect([first.length, all.length]).toEqual([6, 8]);
    expect(t.count("to_address = 'late@x.test'")).toBe(0);
  });

  test("chooses the first variant if none is ahead", async () => {
    const id = await started();
    await advance(65);
    await soon(() => state(id), expect.objectContaining({ winnerId: "A", chosenBy: "RULE" }));
  });

  test("waits for a person, who may also choose before", async () => {
    const id = await started({ ...TEST, winner: { by: "MANUAL" } });
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING", waitsUntil: null }));
    await advance(60 * 24 * 8);
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING" }));
    const refused = await t.act(id, "winner", { variantId: "D" });
    expect(refused.status).toBe(422);
    const chosen = await t.act(id, "winner", { variantId: "B" });
    expect(chosen.at("data.abTestState")).toMatchObject({ winnerId: "B", chosenBy: "PERSON" });
    expect((await t.act(id, "winner", { variantId: "B" })).status).toBe(200);
    expect((await t.act(id, "winner", { variantId: "A" })).status).toBe(409);
    await t.settle();
    await soon(() => t.statusOf(id), "SENT");
    expect(t.count("true")).toBe(10);
  });

  test("keeps its phase while it is paused, and ends when it is cancelled", async () => {
    const id = await started();
    await t.act(id, "pause");
    await advance(65);
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING", winnerId: null }));
    await t.act(id, "resume");
    await t.settle();
    await soon(() => state(id), expect.objectContaining({ phase: "REST", winnerId: "A" }));
    const other = await abCampaign();
    insertContacts(other, TEST);
    await t.act(other, "send");
    await t.settle();
    await t.act(other, "cancel");
    await advance(65);
    await soon(() => state(other), expect.objectContaining({ phase: "WAITING", winnerId: null }));
    expect((await t.act(other, "winner", { variantId: "A" })).status).toBe(409);
  });

  test("keeps the content with which it has started", async () => {
    const layout = await t.create(
      "/layouts",
      { name: "L", body: "<p>old</p>{{ content }}" },
      "data.id",
    );
    const id = await started(TEST, { layoutId: layout });
    await t.call("PATCH", `/layouts/${layout}`, { body: "<p>new</p>{{ content }}" });
    await advance(65);
    await soon(() => t.statusOf(id), "SENT");
    expect(t.received().filter((raw) => raw.includes("<p>new</p>"))).toHaveLength(0);
    expect((await t.call("DELETE", `/layouts/${layout}`)).status).toBe(204);
  });

  test("is paused while the domain of a variant's sender is not verified", async () => {
    await t.call("POST", "/domains", { domain: "other.test" });
    t.setAll("domains", "status = 'VERIFIED'");
    const variants = [{}, { from: "news@other.test" }];
    const id = await abCampaign({ ...TEST, variants });
    insertContacts(id, TEST);
    const domain = (await t.call("GET", "/domains")).text("data.items.0.id");
    expect((await t.call("DELETE", `/domains/${domain}`)).status).toBe(409);
    await t.act(id, "send");
    await t.settle();
    t.db.sqlite.run("UPDATE domains SET status = 'FAILED' WHERE domain = 'other.test'");
    await advance(65);
    await soon(() => t.statusOf(id), "PAUSED");
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING" }));
    t.db.sqlite.run("UPDATE domains SET status = 'VERIFIED' WHERE domain = 'other.test'");
    await t.settle();
    await soon(() => t.statusOf(id), "SENT");
  });

  test("does not wait for mails that are deferred, and waits for those that were never tried", async () => {
    const id = await started();
    t.db.sqlite.run(
      `UPDATE ab_tests SET phase = 'TEST', waits_until = NULL
       WHERE campaign_seq = (SELECT seq FROM campaigns WHERE id = ?)`,
      [id],
    );
    const later = t.clock.now() + 600 * MINUTE;
    const one = "seq = (SELECT max(seq) FROM emails WHERE variant = 'A')";
    t.db.sqlite.run(`UPDATE emails SET status = 'QUEUED', next_at = ?, attempts = 0 WHERE ${one}`, [
      later,
    ]);
    await t.settle();
    await soon(() => state(id), expect.objectContaining({ phase: "TEST" }));
    t.db.sqlite.run(`UPDATE emails SET attempts = 1 WHERE ${one}`);
    await t.settle();
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING" }));
  });

  test("compares only, if no contact is left for a winner", async () => {
    const id = await started({ ...TEST, share: 90, holdOut: 10 });
    await soon(() => t.statusOf(id), "SENT");
    await soon(() => state(id), expect.objectContaining({ phase: "REST", winnerId: null }));
    expect(t.count("variant IS NULL")).toBe(0);
    expect((await t.act(id, "winner", { variantId: "A" })).status).toBe(409);
  });

  const withoutRest: [
    what: string,
    winner: object,
    holdOut: number,
    sizes: Record<string, number>,
  ][] = [
    ["one contact, in the test", { by: "MANUAL" }, 0, { A: 1 }],
    ["all contacts in the test", { by: "MANUAL" }, 0, { A: 2, B: 1 }],
    ["contacts in the test or held out", { by: "MANUAL" }, 10, { B: 1, [HOLD_OUT]: 1 }],
    ["all contacts in the test, and a rule", { by: "CLICKS", afterMinutes: 60 }, 0, { A: 1, B: 1 }],
  ];
  test.each(withoutRest)("ends by itself with %s", async (_, winner, holdOut, sizes) => {
    const id = await abCampaign({ ...TEST, winner, holdOut });
    insertAbContacts(t.db.sqlite, { id, share: TEST.share, holdOut }, sizes);
    await t.act(id, "send");
    await t.settle();
    await soon(() => t.statusOf(id), "SENT");
    const ended = { phase: "REST", winnerId: null, chosenBy: null, waitsUntil: null };
    expect(await report(id)).toMatchObject({
      state: ended,
      hasRest: false,
      rest: { recipients: 0 },
    });
    const { A = 0, B = 0 } = sizes;
    expect(t.count("variant IS NOT NULL")).toBe(A + B);
    const refused = await t.act(id, "winner", { variantId: "A" });
    expect([refused.status, refused.text("error.message")]).toEqual([
      409,
      "This campaign is SENT.",
    ]);
  });

  test("that has nobody left ends only when its deferred mails have left", async () => {
    const id = await abCampaign({ ...TEST, winner: { by: "MANUAL" } }, { rate: 1 / 60 });
    insertAbContacts(t.db.sqlite, { id, share: TEST.share, holdOut: 0 }, { A: 3 });
    await t.act(id, "send");
    await t.settle();
    expect(await state(id)).toMatchObject({ phase: "TEST" });
    t.setAll("emails", "attempts = 1");
    await soon(() => state(id), expect.objectContaining({ phase: "REST", winnerId: null }));
    expect(await t.statusOf(id)).toBe("SENDING");
    const refused = await t.act(id, "winner", { variantId: "A" });
    expect(refused.text("error.message")).toBe(
      "All contacts of this campaign are in its A/B test.",
    );
    for (let minute = 0; minute < 3; minute++) await advance(1);
    await soon(() => t.statusOf(id), "SENT");
  });

  test("whose rest has left while it waits ends with its winner, and a contact who comes back gets it", async () => {
    const id = await abCampaign({ ...TEST, winner: { by: "MANUAL" } });
    insertAbContacts(t.db.sqlite, { id, share: TEST.share, holdOut: 0 }, { A: 1, B: 1, [REST]: 2 });
    await t.act(id, "send");
    await t.settle();
    await soon(() => state(id), expect.objectContaining({ phase: "WAITING" }));
    const rest = t.db.sqlite
      .query<{ id: string }, [string]>(
        `SELECT id FROM contacts WHERE email LIKE '%' || ? || '@x.test'
           AND seq NOT IN (SELECT contact_seq FROM emails WHERE contact_seq IS NOT NULL)`,
      )
      .all(id.toLowerCase());
    for (const contact of rest) {
      await t.call("PATCH", `/contacts/${contact.id}`, { subscribed: false });
    }
    await advance(60);
    expect(await state(id)).toMatchObject({ phase: "WAITING" });
    await t.call("PATCH", `/contacts/${rest[0]?.id}`, { subscribed: true });
    expect((await t.act(id, "winner", { variantId: "B" })).status).toBe(200);
    await t.settle();
    await soon(() => t.statusOf(id), "SENT");
    expect([rest.length, t.count("variant IS NULL")]).toEqual([2, 1]);
  });

  test("chooses by an event after the mail, and measures the effect on those without mail", async () => {
    const id = await started({
      ...TEST,
      holdOut: 20,
      winner: { by: "EVENT", eventName: "bought", afterMinutes: 60 },
    });
    const [buyer] = withSubject(await mails(), "Why,");
    const email = /^To: (.*)$/m.exec(buyer?.raw ?? "")?.[1] ?? "";
    t.clock.advance(MINUTE);
    await t.call("POST", "/v1/track", { event: "bought", email });
    await advance(65);
    await soon(() => state(id), expect.objectContaining({ winnerId: "B" }));
    expect(await report(id)).toMatchObject({
      variants: [
        { id: "A", events: 0 },
        { id: "B", events: 1, hits: 1 },
      ],
      holdOut: { contacts: heldOut(), events: 0, receiverEvents: 1 },
    });
  });

  test("leaves nothing behind when its contacts and its campaign are deleted", async () => {
    const ids: string[] = [];
    const id = await abCampaign({ ...TEST, holdOut: 50 });
    const plan = { share: TEST.share, holdOut: 50, variantIds: ["A", "B"] };
    // Without a contact outside of the test, the campaign would end by itself.
    while (ids.length < 12 || !ids.some((contact) => abGroup(plan, id, contact) === REST)) {
      ids.push(await t.contact(`c${ids.length}@x.test`));
    }
    await t.act(id, "send");
    await t.settle();
    for (const contact of ids.slice(6)) await t.call("DELETE", `/contacts/${contact}`);
    await t.act(id, "cancel");
    await t.settle();
    expect(wrongUsage()).toEqual([]);
    expect((await t.call("DELETE", `/campaigns/${id}`)).status).toBe(204);
    expect(wrongUsage()).toEqual([]);
    expect(heldOut()).toBe(0);
  });

  test("is copied, and a follow-up has the content of the winner", async () => {
    const id = await started();
    await t.act(id, "winner", { variantId: "B" });
    await t.settle();
    const copy = await t.act(id, "duplicate");
    expect(copy.at("data")).toMatchObject({
      subject: "Hello",
      abTest: { share: 40, variants: [{ id: "A" }, { id: "B", subject: "Why, {{ email }}?" }] },
      abTestState: null,
    });
    const followUp = await t.act(id, "follow-up", {});
    expect(followUp.at("data")).toMatchObject({ subject: "Why, {{ email }}?", abTest: null });
  });
});

describe("a draft with an A/B test", () => {
  test.each([
    [{ share: 0 }, "abTest.share"],
    [{ share: 80, holdOut: 30 }, "abTest.share"],
    [{ variants: [{}] }, "abTest.variants"],
    [{ variants: [{ subject: "A" }, { subject: "B" }] }, "abTest.variants.0.subject"],
    [{ variants: [{}, { id: "C" }] }, "abTest.variants.1.id"],
    [{ variants: [{}, { subject: "{{ name" }] }, "abTest.variants.1.subject"],
    [{ variants: [{}, { design: {} }] }, "abTest.variants.1.design"],
    [{ variants: [{}, { templateId: "none" }] }, "abTest.variants.1.templateId"],
    [{ variants: [{}, { body: "b", layoutId: "none" }] }, "abTest.variants.1.layoutId"],
    [{ winner: { by: "EVENT" } }, "abTest.winner.eventName"],
    [{ winner: { by: "OPENS", eventName: "x" } }, "abTest.winner.eventName"],
    [{ winner: { by: "OPENS", afterMinutes: 5 } }, "abTest.winner.afterMinutes"],
  ])("refuses %j", async (part, field) => {
    const id = await t.campaign();
    const refused = await t.call("PATCH", `/campaigns/${id}`, { abTest: { ...TEST, ...part } });
    expect(refused.status).toBe(422);
    expect(refused.at("error.errors.0.field")).toBe(field);
    expect((await t.call("GET", `/campaigns/${id}`)).at("data.abTest")).toBeNull();
  });

  test("is read as it can be sent back, and removed by null", async () => {
    const id = await abCampaign();
    const { abTest } = Object(await (await t.call("GET", `/campaigns/${id}`)).at("data"));
    const again = await t.call("PATCH", `/campaigns/${id}`, { abTest });
    expect(again.at("data.abTest")).toEqual(abTest);
    const removed = await t.call("PATCH", `/campaigns/${id}`, { abTest: null });
    expect(removed.at("data.abTest")).toBeNull();
  });

  test("takes the content of a template for the fields that are left out", async () => {
    const template = await t.create(
      "/templates",
      { name: "T", subject: "From it", body: "<p>T</p>", type: "MARKETING" },
      "data.id",
    );
    const id = await abCampaign({ ...TEST, variants: [{}, { templateId: template, name: "T" }] });
    const campaign = await t.call("GET", `/campaigns/${id}`);
    expect(campaign.at("data.abTest.variants.1")).toMatchObject({
      name: "T",
      subject: "From it",
      body: "<p>T</p>",
      format: "CODE",
    });
  });

  test("refuses a sender whose domain is not verified", async () => {
    const variants = [{}, { from: "news@other.test" }];
    const id = await t.campaign();
    const refused = await t.call("PATCH", `/campaigns/${id}`, { abTest: { ...TEST, variants } });
    expect(refused.status).toBe(403);
  });

  test("is not sent with equal variants, without tracking, or at local times", async () => {
    await t.contact("ada@x.test");
    const id = await abCampaign({ ...TEST, variants: [{}, { name: "Same" }] });
    const same = await t.act(id, "send");
    expect(same.status).toBe(422);
    expect(same.at("error.errors.0.field")).toBe("abTest.variants.1");
    await t.call("PATCH", `/campaigns/${id}`, { abTest: TEST });
    const scheduledFor = new Date(t.clock.now() + 3_600_000).toISOString();
    const local = await t.act(id, "send", { scheduledFor, timeZone: "RECIPIENT" });
    expect(local.at("error.errors.0.field")).toBe("timeZone");
    t.db.sqlite.run("UPDATE projects SET tracking = 'DISABLED' WHERE seq = ?", [t.project.seq]);
    const untracked = await t.act(id, "send");
    expect(untracked.at("error.errors.0.field")).toBe("abTest.winner.by");
    const none = await t.call("GET", `/campaigns/${id}/ab-test`);
    expect(none.status).toBe(409);
  });
});
