/** `text` and `replyTo` of `POST /v1/send` (docs/interface.md#send). */

import { beforeEach, describe, expect, test } from "bun:test";
import { type ParsedMail, simpleParser } from "mailparser";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const TEXT_ONLY = { to: MAIL.to, from: MAIL.from, subject: "Hi" };

const send = (fields: object, mail: object = MAIL) =>
  t.call("POST", "/v1/send", { ...mail, ...fields });

async function received(fields: object, mail: object = MAIL): Promise<ParsedMail> {
  const answer = await send(fields, mail);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  await t.deliver();
  const { body } = await t.call("GET", `/emails/${answer.text("emails.0.email")}/raw`);
  return simpleParser(String(body), { skipTextToHtml: true, skipHtmlToText: true });
}

describe("text", () => {
  test("is the text part, rendered and not escaped, beside the HTML", async () => {
    const data = { name: "Ada & Bob" };
    const mail = await received({ text: "Dear {{ name }},\nhi", body: "<p>{{ name }}</p>", data });
    expect(mail.text?.trimEnd()).toBe("Dear Ada & Bob,\nhi");
    expect(mail.html).toContain("<p>Ada &amp; Bob</p>");
  });

  test("without a body makes a message that has only a text part", async () => {
    const mail = await received({ text: "Only {{ word }}", data: { word: "text" } }, TEXT_ONLY);
    expect(mail.headers.get("content-type")).toMatchObject({ value: "text/plain" });
    expect(mail.text?.trimEnd()).toBe("Only text");
    expect(mail.html).toBe(false);
  });

  test("without a body keeps the files as files, also inline ones", async () => {
    const attachments = [
      { filename: "a.txt", content: "QQ==" },
      { filename: "b.png", content: "QQ==", contentId: "b", disposition: "inline" },
    ];
    const mail = await received({ text: "See files", attachments }, TEXT_ONLY);
    expect(mail.headers.get("content-type")).toMatchObject({ value: "multipart/mixed" });
    expect(mail.attachments.map(({ filename }) => filename)).toEqual(["a.txt", "b.png"]);
  });

  test("replaces the text that a template would get, and has the footer of marketing mail", async () => {
    const template = { name: "T", subject: "T", body: "<p>From the template</p>" };
    const id = await t.create("/templates", { ...template, type: "MARKETING" }, "data.id");
    const mail = await received(
      { template: id, text: "From the request", subscribed: true },
      { to: MAIL.to, from: MAIL.from },
    );
    expect(mail.text).toStartWith("From the request\n\n--\n");
    expect(mail.html).toContain("From the template");
  });

  test("is in the content that people look at, and goes with the content", async () => {
    const answer = await send({ text: "My text" });
    const id = answer.text("emails.0.email");
    const shown = await t.call("GET", `/emails/${id}/content`);
    expect(shown.text("data.text").trimEnd()).toBe("My text");
    const contact = answer.text("emails.0.contact.id");
    expect((await t.call("DELETE", `/contacts/${contact}`)).status).toBe(204);
    expect((await t.call("GET", `/emails/${id}/content`)).status).toBe(404);
  });

  test("with a syntax error, of another language, or empty is refused", async () => {
    const before = t.contents();
    const faulty: [unknown, string][] = [
      ["{{ name", "invalid_format"],
      ["{{#if x}}y{{/if}}", "invalid_format"],
      ["", "too_small"],
      [5, "invalid_type"],
    ];
    for (const [text, code] of faulty) {
      expectError(await send({ text }), {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [["text", code]],
      });
    }
    expect(t.contents()).toEqual(before);
  });

  test("that cannot be rendered names itself", async () => {
    const answer = await send({ text: "{% for i in (1..9999999) %}x{% endfor %}" });
    expect(answer.status).toBe(422);
    expect(answer.at("error.errors.0.field")).toBe("text");
  });

  test("and body are both named if there is neither", async () => {
    expectError(await send({}, TEXT_ONLY), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["body", "required"]],
    });
  });
});

describe("replyTo", () => {
  test("takes several addresses with names", async () => {
    const mail = await received({
      replyTo: ["a@acme.test", { name: "Müller, Jörg", email: "j@acme.test" }, "C <c@acme.test>"],
    });
    expect(mail.replyTo?.value).toEqual([
      { address: "a@acme.test", name: "" },
      { address: "j@acme.test", name: "Müller, Jörg" },
      { address: "c@acme.test", name: "C" },
    ]);
  });

  test("of a repeated letter is the same as of a mail in full", async () => {
    const template = { name: "T", subject: "T", body: "<p>{{ name }}</p>", type: "TRANSACTIONAL" };
    const id = await t.create("/templates", template, "data.id");
    const mail = await received({ template: id, replyTo: ["a@acme.test", "b@acme.test"] }, MAIL);
    expect(mail.replyTo?.value.map(({ address }) => address)).toEqual([
      "a@acme.test",
      "b@acme.test",
    ]);
  });

  test("takes one address in each form", async () => {
    const forms = ["R <r@acme.test>", { name: "R", email: "r@acme.test" }];
    for (const replyTo of forms) {
      const mail = await received({ replyTo });
      expect(mail.replyTo?.value).toEqual([{ address: "r@acme.test", name: "R" }]);
    }
  });

  test("is refused beside its older name, with a bad address, or with too many", async () => {
    const faulty: [object, string, string][] = [
      [{ replyTo: "a@acme.test", reply: "b@acme.test" }, "reply", "invalid_value"],
      [{ replyTo: ["a@acme.test", "nope"] }, "replyTo.1", "invalid_format"],
      [{ replyTo: [] }, "replyTo", "too_small"],
      [{ replyTo: Array(11).fill("a@acme.test") }, "replyTo", "too_big"],
      [{ replyTo: "a@acme.test, b@acme.test" }, "replyTo", "invalid_format"],
    ];
    const before = t.contents();
    for (const [fields, field, code] of faulty) {
      expectError(await send(fields), {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [[field, code]],
      });
    }
    expect(t.contents()).toEqual(before);
  });
});
