/** Broadcasts in the interface of Resend (docs/resend.md). */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { placeholderTemplate, textOfTemplate } from "../../../src/modules/resend/placeholders.ts";
import { momentIn } from "../../../src/modules/resend/times.ts";
import type { TestApp } from "../../support/app.ts";
import { expectSoon } from "../../support/eventually.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
let segment: string;
beforeEach(async () => {
  t = await projects.next();
  segment = (await call("POST", "/segments", { name: "News" })).text("id");
  const ada = { email: "ada@example.com", first_name: "Ada", segments: [{ id: segment }] };
  await call("POST", "/contacts", ada);
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/resend${path}`, body);

const news = () => ({
  segment_id: segment,
  from: "Acme <news@acme.test>",
  subject: "News for {{{FIRST_NAME|you}}}",
  html: '<p>Hello {{{contact.first_name|there}}}, {{ not ours }}</p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Stop</a>',
});
const create = async (fields: object = {}) =>
  (await call("POST", "/broadcasts", { ...news(), ...fields })).text("id");
const status = async (id: string) => (await call("GET", `/broadcasts/${id}`)).at("status");

describe("a broadcast", () => {
  test("is created, read as it was given, changed and listed", async () => {
    const created = await call("POST", "/broadcasts", {
      ...news(),
      name: "Spring",
      reply_to: ["help@acme.test"],
      preview_text: "Hi {{{FIRST_NAME}}}",
    });
    const id = created.text("id");
    expect([created.status, created.body]).toEqual([201, { object: "broadcast", id }]);
    const listed = {
      id,
      name: "Spring",
      segment_id: segment,
      audience_id: segment,
      status: "draft",
      created_at: new Date(t.clock.now()).toISOString(),
      scheduled_at: null,
      sent_at: null,
    };
    expect((await call("GET", `/broadcasts/${id}`)).body).toEqual({
      object: "broadcast",
      ...listed,
      from: "Acme <news@acme.test>",
      subject: "News for {{{contact.first_name|you}}}",
      reply_to: ["help@acme.test"],
      preview_text: "Hi {{{contact.first_name}}}",
      html: news().html,
      text: null,
      topic_id: null,
    });
    const changed = await call("PATCH", `/broadcasts/${id}`, {
      subject: "Other",
      broadcast_id: id,
    });
    expect(changed.body).toEqual({ object: "broadcast", id });
    expect((await call("GET", `/broadcasts/${id}`)).at("subject")).toBe("Other");
    const list = await call("GET", "/broadcasts");
    expect(list.body).toEqual({ object: "list", has_more: false, data: [listed] });
  });

  test("is sent to the members of its segment", async () => {
    await call("POST", "/contacts", { email: "other@example.com" });
    const id = await create();
    expect((await call("POST", `/broadcasts/${id}/send`, {})).body).toEqual({ id });
    const mails = () => t.call("GET", `/emails?campaignId=${id}&status=SENT`);
    await t.deliver();
    await expectSoon(async () => listAt((await mails()).body, "data.items").length, 1);
    const mail = (await mails()).text("data.items.0.id");
    const parsed = await simpleParser(String((await t.call("GET", `/emails/${mail}/raw`)).body));
    expect(parsed.subject).toBe("News for Ada");
    expect(parsed.html).toContain("Hello Ada, {{ not ours }}");
    expect(parsed.html).toContain("/unsubscribe/");
  });

  test("is scheduled, cancelled and deleted", async () => {
    const id = await create();
    const sent = await call("POST", `/broadcasts/${id}/send`, { scheduled_at: "in 2 hours" });
    expect(sent.status).toBe(200);
    const at = new Date(t.clock.now() + 2 * 60 * 60 * 1000).toISOString();
    const { body } = await call("GET", `/broadcasts/${id}`);
    expect(body).toMatchObject({ status: "queued", scheduled_at: at });
    await call("POST", `/broadcasts/${id}/cancel`);
    expect(await status(id)).toBe("draft");
    await call("POST", `/broadcasts/${id}/send`, { scheduled_at: at });
    const deleted = await call("DELETE", `/broadcasts/${id}`);
    expect(deleted.body).toEqual({ object: "broadcast", id, deleted: true });
    expect((await call("GET", `/broadcasts/${id}`)).status).toBe(404);
  });

  test("is copied", async () => {
    const id = (await call("POST", `/broadcasts/${await create()}/duplicate`)).text("id");
    expect((await call("GET", `/broadcasts/${id}`)).at("html")).toBe(news().html);
  });

  test.each<[string, object, number, string]>([
    ["no segment", { segment_id: undefined }, 422, "segment_id: is required"],
    ["an unknown segment", { segment_id: "none" }, 422, "segment_id: names no segment"],
    ["two segments", { audience_id: "other" }, 422, "audience_id: is an older name"],
    ["no sender", { from: undefined }, 422, "from: is required"],
    ["an unverified sender", { from: "a@other.test" }, 403, "other.test"],
    ["no subject", { subject: "" }, 422, "subject: is required"],
    ["a text without HTML", { text: "Hi", html: null }, 422, "text: is not supported"],
    ["a topic", { topic_id: "t" }, 422, "topic_id: is not supported"],
    ["sending at once", { send: true }, 422, "send: is not supported"],
    ["several replies", { reply_to: ["a@a.test", "b@a.test"] }, 422, "reply_to: must have"],
    ["a line break in the subject", { subject: "a\nb" }, 422, "subject: must be a single line"],
  ])("is refused with %s", async (_, fields, code, message) => {
    const answer = await call("POST", "/broadcasts", { ...news(), ...fields });
    expect([answer.status, answer.text("message")]).toEqual([
      code,
      expect.stringContaining(message),
    ]);
    expect(listAt((await call("GET", "/broadcasts")).body, "data")).toEqual([]);
  });

  test("is not sent at a time that is past or not understood", async () => {
    const id = await create();
    for (const scheduled_at of ["tomorrow", "2001-01-01T00:00:00Z", "in 0 days", "2030-01-01"]) {
      const answer = await call("POST", `/broadcasts/${id}/send`, { scheduled_at });
      expect([answer.status, answer.text("message")]).toEqual([
        422,
        expect.stringContaining("scheduled_at: must be"),
      ]);
    }
    expect(await status(id)).toBe("draft");
  });
});

test.each([
  ["{{{NAME}}}", "{{ NAME }}"],
  ['{{{A|it"s \\}}}', String.raw`{{ A ?? "it\"s \\" }}`],
  ["{{{contact.plan|free}}}", '{{ plan ?? "free" }}'],
  ["{{ x }} {{{A}}} {% y %}", "{% raw %}{{ x }} {% endraw %}{{ A }}{% raw %} {% y %}{% endraw %}"],
])("%s becomes the template %s", (text, template) => {
  expect(placeholderTemplate(text)).toBe(template);
});

test.each(["{{{A|b}}} {{ c }}", "{{{RESEND_UNSUBSCRIBE_URL}}}", "{% endraw %}{{{A}}}", "plain"])(
  "%s is shown as it was given",
  (text) => expect(textOfTemplate(placeholderTemplate(text))).toBe(text),
);

test.each<[string, number]>([
  ["in 1 min", 60_000],
  ["In an hour", 3_600_000],
  ["in 3 days", 259_200_000],
  ["1970-01-01T00:00:05Z", 5_000],
  ["1970-01-01T01:00:00.5+01:00", 500],
])("the time %s is understood", (text, moment) => {
  expect(momentIn("scheduled_at", text, 0)).toBe(moment);
});
