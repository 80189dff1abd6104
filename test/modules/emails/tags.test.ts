/** Tags of a mail (docs/interface.md#send). */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const send = (fields: object) => t.call("POST", "/v1/send", { ...MAIL, ...fields });

async function sent(fields: object): Promise<string> {
  return (await send(fields)).text("emails.0.email");
}

describe("tags", () => {
  test("are on the record of each mail, and not in its message", async () => {
    const tags = { order: "1001", "utm-kind": "Größe: L", __proto: "x" };
    const answer = await send({ to: ["a@example.com", "b@example.com"], tags });
    await t.deliver();
    for (const each of listAt(answer.body, "emails")) {
      const id = stringAt(each, "email");
      expect((await t.call("GET", `/emails/${id}`)).at("data.tags")).toEqual(tags);
      expect((await t.call("GET", `/emails/${id}/raw`)).text("")).not.toContain("1001");
    }
    expect(t.countRows("messages")).toBe(1);
  });

  test("are empty without the field, and go on to the mail that is sent again", async () => {
    const plain = await sent({});
    expect((await t.call("GET", `/emails/${plain}`)).at("data.tags")).toEqual({});
    const tagged = await sent({ tags: { order: "7" } });
    await t.deliver();
    const again = await t.call("POST", `/emails/${tagged}/resend`);
    expect(again.at("data.tags")).toEqual({ order: "7" });
  });

  test("are in the events of the mail", async () => {
    const id = await sent({ tags: { order: "7" } });
    await t.deliver();
    await sent({});
    const events = await t.call("GET", "/events?event=email.sent");
    expect(events.at("data.items")).toMatchObject([{ emailId: id, emailTags: { order: "7" } }]);
    const one = await t.call("GET", `/events/${events.text("data.items.0.id")}`);
    expect(one.at("data.emailTags")).toEqual({ order: "7" });
  });

  test("are removed with the contact", async () => {
    const answer = await send({ tags: { order: "7" } });
    await t.call("DELETE", `/contacts/${answer.text("emails.0.contact.id")}`);
    const record = await t.call("GET", `/emails/${answer.text("emails.0.email")}`);
    expect(record.at("data.tags")).toEqual({});
  });

  test("filter the list by name, and by name and value", async () => {
    const first = await sent({ tags: { order: "7", kind: "a:b" } });
    const second = await sent({ tags: { order: "8" } });
    await sent({});
    const found = async (tag: string) => {
      const page = await t.call("GET", `/emails?tag=${encodeURIComponent(tag)}`);
      return listAt(page.body, "data.items").map((item) => stringAt(item, "id"));
    };
    expect(await found("order")).toEqual([second, first]);
    expect(await found("order:7")).toEqual([first]);
    expect(await found("kind:a:b")).toEqual([first]);
    expect(await found("other")).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    ["a list", [{ name: "a", value: "b" }], "tags", "invalid_type"],
    ["a value that is no text", { a: 5 }, "tags.a", "invalid_type"],
    ["an empty value", { a: "" }, "tags.a", "too_small"],
    ["a long value", { a: "x".repeat(257) }, "tags.a", "too_big"],
    ["a value of two lines", { a: "x\ny" }, "tags.a", "invalid_format"],
    ["a name with a dot", { "a.b": "x" }, "tags.a.b", "invalid_format"],
    ["a name with a quotation mark", { 'a"': "x" }, 'tags.a"', "invalid_format"],
    ["an empty name", { "": "x" }, "tags.", "invalid_format"],
    [
      "eleven tags",
      Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`t${i}`, "x"])),
      "tags",
      "too_big",
    ],
  ])("refuse %s", async (_, tags, field, code) => {
    const before = t.contents();
    expectError(await send({ tags }), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [[field, code]],
    });
    expect(t.contents()).toEqual(before);
  });

  test("in a filter that names no tag are refused", async () => {
    for (const tag of ["", "a b", 'a"', ":7", "order:"]) {
      const answer = await t.call("GET", `/emails?tag=${encodeURIComponent(tag)}`);
      expect([tag, answer.status]).toEqual([tag, 422]);
    }
  });
});
