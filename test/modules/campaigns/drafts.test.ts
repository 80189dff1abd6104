import { beforeEach, describe, expect, test } from "bun:test";
import { listAt } from "../../support/json.ts";
import { signIn } from "../../support/session.ts";
import { type CampaignApp, campaignsPerTest, CONTENT } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const draft = (fields: object = {}) =>
  t.create("/campaigns/drafts", { name: "Idea", ...fields }, "data.id");
const read = async (id: string) => (await t.call("GET", `/campaigns/${id}`)).at("data");

describe("a draft", () => {
  test("needs only a name, and says what it lacks", async () => {
    const id = await draft();
    expect(await read(id)).toMatchObject({
      name: "Idea",
      subject: "",
      body: "",
      from: "",
      status: "DRAFT",
      category: "MARKETING",
      format: "CODE",
      revision: 1,
      missing: ["subject", "body", "from", "segmentId"],
    });
    const answer = await t.act(id, "send");
    expect(answer.status).toBe(422);
    const fields = listAt(answer.body, "error.errors").map((each) =>
      Reflect.get(Object(each), "field"),
    );
    expect(fields).toEqual(["subject", "body", "from", "segmentId"]);
    expect(await t.statusOf(id)).toBe("DRAFT");
  });

  test("is sent once it is complete", async () => {
    await t.contact("ada@x.test");
    const id = await draft();
    const { name: _, ...rest } = CONTENT;
    expect((await t.call("PATCH", `/campaigns/${id}`, rest)).at("data.missing")).toEqual([]);
    expect((await t.act(id, "send")).status).toBe(204);
    await t.settle();
    expect(t.received()).toHaveLength(1);
  });

  test("may lose its content again, but not once it is scheduled", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const cleared = await t.call("PATCH", `/campaigns/${id}`, { subject: null, body: null });
    expect(cleared.at("data.missing")).toEqual(["subject", "body"]);
    await t.call("PATCH", `/campaigns/${id}`, { subject: "S", body: "B" });
    await t.act(id, "send", { scheduledFor: "2027-01-01T09:00:00Z" });
    const refused = await t.call("PATCH", `/campaigns/${id}`, { subject: null });
    expect([refused.status, refused.at("error.errors.0.field")]).toEqual([422, "subject"]);
  });

  test("copies the content of a template", async () => {
    const template = { name: "T", subject: "From T", body: "<p>T</p>", type: "MARKETING" };
    const templateId = await t.create("/templates", template, "data.id");
    const id = await draft({ templateId, subject: "Own" });
    expect(await read(id)).toMatchObject({ templateId, subject: "Own", body: "<p>T</p>" });
    const unknown = await t.call("POST", "/campaigns/drafts", { name: "X", templateId: "nope" });
    expect(unknown.at("error.errors.0")).toMatchObject({
      field: "templateId",
      code: "unknown_reference",
    });
  });

  test("keeps the design, the parameters of links and the other fields of the editor", async () => {
    const design = { type: "doc", content: [] };
    const utm = { source: "news", medium: " ", campaign: "spring" };
    const id = await draft({ design, utm, format: "VISUAL", preheader: "Soon" });
    const fields = { design, format: "VISUAL", preheader: "Soon" };
    expect(await read(id)).toMatchObject({
      ...fields,
      utm: { source: "news", campaign: "spring" },
    });
    expect((await t.call("GET", "/campaigns")).at("data.items.0.design")).toBeUndefined();
    const copy = (await t.act(id, "duplicate")).at("data");
    expect(copy).toMatchObject({ ...fields, revision: 1 });
  });
});

describe("the contract", () => {
  test("of POST /campaigns still requires what sending needs", async () => {
    const answer = await t.call("POST", "/campaigns", { name: "Idea" });
    const fields = listAt(answer.body, "error.errors").map((each) =>
      Reflect.get(Object(each), "field"),
    );
    expect([answer.status, fields]).toEqual([422, ["subject", "body", "from", "audienceType"]]);
  });
});

describe("two people who edit a campaign", () => {
  const patch = (id: string, body: object, tag: string) =>
    t.call("PATCH", `/campaigns/${id}`, body, { headers: { "If-Match": tag } });

  test("do not overwrite each other", async () => {
    const id = await t.campaign();
    const tag = (await t.call("GET", `/campaigns/${id}`)).headers.get("etag");
    expect(tag).toBe('"1"');
    const first = await patch(id, { subject: "First" }, '"1"');
    expect([first.status, first.headers.get("etag"), first.at("data.revision")]).toEqual([
      200,
      '"2"',
      2,
    ]);
    const second = await patch(id, { subject: "Second" }, '"1"');
    expect([second.status, second.text("error.code")]).toEqual([412, "REVISION_CONFLICT"]);
    expect(await read(id)).toMatchObject({ subject: "First", revision: 2 });
  });
});

describe("a notice to all contacts", () => {
  test("reaches those who unsubscribed, but not suppressed addresses, without a way to unsubscribe", async () => {
    await t.contact("in@x.test");
    await t.contact("out@x.test", { subscribed: false });
    await t.contact("bad@x.test", { subscribed: false });
    await t.call("POST", "/suppressions", { email: "bad@x.test" });
    const id = await t.campaign({ type: "TRANSACTIONAL" });
    expect(await read(id)).toMatchObject({ category: "TRANSACTIONAL", type: "ALL" });
    expect((await t.call("GET", `/campaigns/${id}/audience`)).at("data")).toMatchObject({
      unsubscribed: 0,
      suppressed: 1,
      recipients: 2,
    });
    expect((await t.act(id, "send")).status).toBe(204);
    await t.settle();
    const mails = t.received();
    expect(mails).toHaveLength(2);
    for (const mail of mails) expect(mail).not.toMatch(/unsubscribe/i);
    expect(await t.stats(id)).toMatchObject({ totalRecipients: 3, sent: 2, suppressed: 1 });
  });

  test.each([
    [{ type: "SEGMENT" }, "type"],
    [{ type: "MARKETING", category: "TRANSACTIONAL" }, "type"],
    [{ type: "OTHER" }, "type"],
  ])("is refused with %p", async (fields, field) => {
    const answer = await t.call("POST", "/campaigns", { ...CONTENT, ...fields });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
  });
});

describe("the role of a member", () => {
  const member = async (role: "ADMIN" | "EDITOR") => {
    const email = `${role.toLowerCase()}-${t.project.seq}@example.com`;
    const session = await signIn(t, { email, isOwner: false });
    const { members } = t.app.accounts;
    await t.app.writer.write(() => members.put(t.project.seq, session.user.seq, role));
    const headers = { "x-project": t.project.id };
    return (method: string, path: string, body: unknown = {}) =>
      session.call(method, path, body, headers);
  };

  test("decides who sends a notice to all contacts, and who changes it then", async () => {
    const [admin, editor] = [await member("ADMIN"), await member("EDITOR")];
    await t.contact("ada@x.test");
    const notice = await t.campaign({ category: "TRANSACTIONAL" });
    const news = await t.campaign();
    const later = { scheduledFor: "2027-01-01T09:00:00Z" };
    for (const body of [{}, later]) {
      const refused = await editor("POST", `/campaigns/${notice}/send`, body);
      expect([refused.status, refused.text("error.code")]).toEqual([403, "FORBIDDEN"]);
    }
    expect((await editor("POST", `/campaigns/${news}/send`, later)).status).toBe(204);
    expect((await admin("POST", `/campaigns/${notice}/send`, later)).status).toBe(204);
    const patch = (id: string, body: object) => editor("PATCH", `/campaigns/${id}`, body);
    expect((await patch(notice, { subject: "Other" })).status).toBe(403);
    expect((await patch(news, { category: "TRANSACTIONAL" })).status).toBe(403);
    expect((await patch(news, { subject: "Other" })).status).toBe(200);
    expect((await admin("PATCH", `/campaigns/${notice}`, { subject: "Other" })).status).toBe(200);
    const audit = await admin("GET", "/audit", undefined);
    expect(JSON.stringify(audit.body)).toContain("sendCampaign");
  });
});

describe("sending", () => {
  test("twice sends once", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const answers = await Promise.all([t.act(id, "send"), t.act(id, "send"), t.act(id, "send")]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409, 409]);
    await t.settle();
    expect((await t.act(id, "send")).status).toBe(409);
    expect(t.received()).toHaveLength(1);
  });

  test("that is retried with its Idempotency-Key is answered as before", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const send = () =>
      t.call("POST", `/campaigns/${id}/send`, {}, { headers: { "Idempotency-Key": "once" } });
    expect((await send()).status).toBe(204);
    await t.settle();
    expect((await send()).status).toBe(204);
    await t.settle();
    expect(t.received()).toHaveLength(1);
  });

  test("with the time that is set already changes nothing", async () => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const at = { scheduledFor: "2027-01-01T09:00:00Z", timeZone: "europe/berlin" };
    await t.act(id, "send", at);
    const before = await read(id);
    expect(before).toMatchObject({ status: "SCHEDULED", timeZone: "Europe/Berlin" });
    t.clock.advance(1000);
    expect((await t.act(id, "send", at)).status).toBe(204);
    expect(await read(id)).toEqual(before);
  });

  test("is refused if clearly more contacts get it than were confirmed", async () => {
    t.insertContacts(40);
    const id = await t.campaign();
    const refused = await t.act(id, "send", { confirm: 20 });
    expect([refused.status, refused.text("error.message")]).toEqual([
      409,
      "The campaign has 40 recipients now, but 20 were confirmed.",
    ]);
    expect((await t.act(id, "send", { confirm: 35 })).status).toBe(204);
  });

  test("is confirmed without the contacts whom an A/B test holds out", async () => {
    t.insertContacts(40);
    const variants = [{}, { subject: "Other" }];
    const id = await t.campaign({
      abTest: { variants, share: 20, holdOut: 50, winner: { by: "MANUAL" } },
    });
    const refused = await t.act(id, "send", { confirm: 9 });
    expect([refused.status, refused.text("error.message")]).toEqual([
      409,
      "The campaign has 20 recipients now, but 9 were confirmed.",
    ]);
    expect((await t.act(id, "send", { confirm: 20 })).status).toBe(204);
  });

  test("in an unknown zone is refused", async () => {
    await t.contact("ada@x.test");
    const at = { scheduledFor: "2027-01-01T09:00:00Z", timeZone: "Mars/Olympus" };
    const answer = await t.act(await t.campaign(), "send", at);
    expect(answer.at("error.errors.0.field")).toBe("timeZone");
  });

  test.each([
    ["before the start is a draft again", true],
    ["after the start goes on", false],
  ])("and undone %s", async (_, isEarly) => {
    await t.contact("ada@x.test");
    const id = await t.campaign();
    const scheduledFor = new Date(t.clock.now() + 15_000).toISOString();
    await t.act(id, "send", { scheduledFor });
    t.clock.advance(15_000);
    const undo = () => t.act(id, "unschedule");
    const start = () => t.app.campaigns.tick();
    const [undone] = isEarly
      ? await Promise.all([undo(), start()])
      : (await Promise.all([start(), undo()])).toReversed();
    await t.settle();
    const status = typeof undone === "object" ? undone.status : 0;
    const sent = t.received().length;
    // Exactly one of both happens.
    expect([
      [200, 0, "DRAFT"],
      [409, 1, "SENT"],
    ]).toContainEqual([status, sent, await t.statusOf(id)]);
  });
});

test("a test mail has the data of the contact that is named", async () => {
  const contactId = await t.contact("ada@x.test", { data: { name: "Ada" } });
  const id = await t.campaign();
  const answer = await t.act(id, "test", { email: "me@x.test", contactId });
  expect(answer.status).toBe(200);
  await t.settle();
  expect(t.received().join()).toMatch(/Subject: \[TEST\] Hello Ada/);
  // Its links act on no other contact: the address belongs to none.
  const mail = await t.call("GET", `/emails/${answer.text("data.email")}`);
  expect(mail.at("data.contactId")).toBeNull();
  const unknown = await t.act(id, "test", { email: "me@x.test", contactId: "nope" });
  expect(unknown.at("error.errors.0.field")).toBe("contactId");
});
