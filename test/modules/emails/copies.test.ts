/** `cc` and `bcc` of `POST /v1/send` (docs/interface.md#send). */

import { beforeEach, describe, expect, test } from "bun:test";
import { type AddressObject, type ParsedMail, simpleParser } from "mailparser";
import { findMailOfReport } from "../../../src/modules/bounces/match.ts";
import { removeOldData } from "../../../src/modules/retention.ts";
import { addSuppression } from "../../../src/modules/suppressions.ts";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const send = (fields: object) => t.call("POST", "/v1/send", { ...MAIL, ...fields });

/** The ids of the accepted mails by their address. */
async function accepted(fields: object): Promise<Map<string, string>> {
  const answer = await send(fields);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return new Map(
    listAt(answer.body, "emails").map((each) => [
      stringAt(each, "contact.email"),
      stringAt(each, "email"),
    ]),
  );
}

async function mailOf(id = ""): Promise<ParsedMail> {
  const { body } = await t.call("GET", `/emails/${id}/raw`);
  return simpleParser(String(body));
}

const texts = (field: AddressObject | AddressObject[] | undefined) =>
  [field ?? []].flat().map(({ text }) => text);

async function purge(): Promise<void> {
  while (await removeOldData(t.app.app));
}

const storedRecipients = () =>
  t.db.sqlite
    .query("SELECT recipients FROM messages WHERE project_seq = ? ORDER BY seq")
    .values(t.project.seq)
    .flat();

describe("a mail with cc and bcc", () => {
  test("goes to each address, and all copies show To and Cc and never Bcc", async () => {
    const ids = await accepted({
      to: [{ name: "Ada", email: "ada@example.com" }, "bob@example.com"],
      cc: { name: "Cy, Inc.", email: "cy@example.com" },
      bcc: ["dan@example.com", "Eve <eve@example.com>"],
    });
    expect([...ids.keys()]).toEqual(
      ["ada", "bob", "cy", "dan", "eve"].map((name) => `${name}@example.com`),
    );
    await t.deliver();
    const messageIds = new Set<string | undefined>();
    for (const id of ids.values()) {
      const mail = await mailOf(id);
      expect(texts(mail.to)).toEqual([`"Ada" <ada@example.com>, bob@example.com`]);
      expect(texts(mail.cc)).toEqual([`"Cy, Inc." <cy@example.com>`]);
      expect(mail.headerLines.map(({ key }) => key)).not.toContain("bcc");
      expect(JSON.stringify(mail.headerLines)).not.toMatch(/dan@|eve@/);
      messageIds.add(mail.messageId);
    }
    expect([...messageIds]).toEqual([`<${ids.get("ada@example.com")}@acme.test>`]);
  });

  test("has a record for each copy, which says how its recipient was named", async () => {
    const ids = await accepted({ cc: ["Cy <cy@example.com>"], bcc: "dan@example.com" });
    const records = await Promise.all(
      [...ids.values()].map(async (id) => (await t.call("GET", `/emails/${id}`)).at("data")),
    );
    const addressees = { to: ["ada@example.com"], cc: ["Cy <cy@example.com>"] };
    const messageId = `<${ids.get("ada@example.com")}@acme.test>`;
    expect(records).toMatchObject([
      { to: "ada@example.com", recipientType: "TO", addressees, messageId },
      { to: "cy@example.com", recipientType: "CC", addressees, messageId },
      { to: "dan@example.com", recipientType: "BCC", addressees, messageId },
    ]);
  });

  test("has the content for its first recipient, and only links of each recipient", async () => {
    await t.create("/contacts", { email: "ada@example.com", data: { name: "Ada" } }, "id");
    await t.create("/contacts", { email: "cy@example.com", data: { name: "Cy" } }, "id");
    const ids = await accepted({
      cc: "cy@example.com",
      body: "<p>{{ name }}, {{ order }} {{ unsubscribeUrl }}</p>",
      data: { order: 7 },
    });
    await t.deliver();
    const bodies = await Promise.all([...ids.values()].map(mailOf));
    for (const { html } of bodies) expect(html).toStartWith("<p>Ada, 7 ");
    expect(bodies[0]?.html).not.toEqual(bodies[1]?.html);
  });

  test("stores the data of the request and the subscription only for those in to", async () => {
    await accepted({ cc: "cy@example.com", data: { plan: "pro" }, subscribed: true });
    const contactOf = async (email: string) =>
      (await t.call("GET", `/contacts?search=${email}`)).at("contacts.0");
    expect(await contactOf("ada@example.com")).toMatchObject({
      subscribed: true,
      data: { plan: "pro" },
    });
    expect(await contactOf("cy@example.com")).toMatchObject({ subscribed: false, data: {} });
  });

  test("goes once to an address that is named twice, as the first field has it", async () => {
    const ids = await accepted({
      to: ["ada@example.com", "Ada@Example.com"],
      cc: ["ada@example.com", "cy@example.com"],
      bcc: "cy@example.com",
    });
    expect([...ids.keys()]).toEqual(["ada@example.com", "cy@example.com"]);
    await t.deliver();
    const mail = await mailOf(ids.get("ada@example.com"));
    expect([texts(mail.to), texts(mail.cc)]).toEqual([["ada@example.com"], ["cy@example.com"]]);
  });

  test("is sent to the others if one address is suppressed", async () => {
    await t.app.writer.write(() =>
      addSuppression(t.app.app, t.project.seq, "cy@example.com", {
        reason: "MANUAL",
        at: t.clock.now(),
      }),
    );
    const ids = await accepted({ cc: "cy@example.com" });
    await t.deliver();
    const statusOf = async (address: string) =>
      (await t.call("GET", `/emails/${ids.get(address)}`)).at("data.status");
    expect(await statusOf("ada@example.com")).toBe("SENT");
    expect(await statusOf("cy@example.com")).toBe("SUPPRESSED");
  });

  test.each(["ada", "cy"])(
    "shows the same To and Cc after the contact of %s was deleted",
    async (name) => {
      const address = `${name}@example.com`;
      const ids = await accepted({ cc: "cy@example.com", bcc: "dan@example.com" });
      const contact = (await t.call("GET", `/contacts?search=${address}`)).text("contacts.0.id");
      expect((await t.call("DELETE", `/contacts/${contact}`)).status).toBe(204);
      const own = await t.call("GET", `/emails/${ids.get(address)}`);
      expect(own.at("data")).toMatchObject({ to: null, recipientType: null });
      await purge();
      await accepted({ cc: "cy@example.com", bcc: "dan@example.com" });
      await t.deliver();
      for (const copy of [...ids.keys()].filter((each) => each !== address)) {
        const mail = await mailOf(ids.get(copy));
        expect([copy, texts(mail.to), texts(mail.cc)]).toEqual([
          copy,
          ["ada@example.com"],
          ["cy@example.com"],
        ]);
      }
      // The message of the second request is another one, and it is not forgotten.
      t.clock.advance(60 * 60_000);
      await purge();
      expect(storedRecipients()).toEqual([null, "ada@example.com\ncy@example.com"]);
      const record = await t.call("GET", `/emails/${ids.get("dan@example.com")}`);
      expect(record.at("data")).toMatchObject({ recipientType: null, addressees: null });
    },
  );

  test("is forgotten at once with a contact if no copy waits", async () => {
    await accepted({ cc: "cy@example.com" });
    await t.deliver();
    const contact = (await t.call("GET", "/contacts?search=cy@example.com")).text("contacts.0.id");
    expect((await t.call("DELETE", `/contacts/${contact}`)).status).toBe(204);
    expect(storedRecipients()).toEqual([null]);
  });

  test("that is sent again has a Message-ID of its own and the same To and Cc", async () => {
    const ids = await accepted({ cc: "cy@example.com" });
    await t.deliver();
    const again = await t.call("POST", `/emails/${ids.get("cy@example.com")}/resend`);
    await t.deliver();
    const mail = await mailOf(again.text("data.id"));
    expect(mail.messageId).toBe(`<${again.text("data.id")}@acme.test>`);
    expect([texts(mail.to), texts(mail.cc)]).toEqual([["ada@example.com"], ["cy@example.com"]]);
  });

  test("without addresses in cc and bcc is an ordinary mail", async () => {
    const ids = await accepted({ to: ["a@example.com", "a@example.com"], cc: [], bcc: [] });
    const record = await t.call("GET", `/emails/${ids.get("a@example.com")}`);
    expect(record.at("data")).toMatchObject({ recipientType: "TO", addressees: null });
    expect(t.countRows("emails")).toBe(2);
  });

  test("has one message for requests with the same content and recipients", async () => {
    await accepted({ cc: "cy@example.com" });
    await accepted({ cc: "cy@example.com" });
    await accepted({ cc: "dan@example.com" });
    expect([t.countRows("messages"), t.countRows("emails")]).toEqual([2, 6]);
  });
});

describe("a report about a copy", () => {
  const clues = (messageId: string, recipients: string[]) => ({
    recipient: null,
    fields: [],
    envelopeId: null,
    original: { messageIds: [messageId], ownId: null, listUnsubscribe: null, to: null },
    recipients,
    projectSeq: t.project.seq,
  });

  test("finds the copy of the recipient that it names", async () => {
    const ids = await accepted({ cc: "cy@example.com", bcc: "dan@example.com" });
    const messageId = `<${ids.get("ada@example.com")}@acme.test>`;
    for (const [address, id] of ids) {
      const found = findMailOfReport(t.app.app, clues(messageId, [address]));
      expect(found?.id).toBe(id);
    }
  });

  test("without a recipient, or with several, finds none", async () => {
    const ids = await accepted({ cc: "cy@example.com" });
    const messageId = `<${ids.get("ada@example.com")}@acme.test>`;
    for (const recipients of [[], ["eve@example.com"], [...ids.keys()]]) {
      expect(findMailOfReport(t.app.app, clues(messageId, recipients))).toBeNull();
    }
  });
});

describe("refuses", () => {
  const many = (count: number, name: string) =>
    Array.from({ length: count }, (_, i) => `${name}${i}@example.com`);

  test.each<[string, object, string, string]>([
    ["a bad address", { cc: ["b@example.com", "nope"] }, "cc.1", "invalid_format"],
    ["an address that is none", { bcc: 5 }, "bcc", "invalid_type"],
    ["two addresses in one text", { cc: "b@x.test, c@x.test" }, "cc", "invalid_format"],
    [
      "a name with a placeholder",
      { cc: { name: "{{ x }}", email: "b@x.test" } },
      "cc.name",
      "invalid_format",
    ],
    ["more than 50 in one field", { cc: many(51, "c") }, "cc", "too_big"],
    ["more than 50 together", { to: many(30, "t"), bcc: many(21, "b") }, "bcc", "too_big"],
  ])("%s", async (_, fields, field, code) => {
    const before = t.contents();
    expectError(await send(fields), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [[field, code]],
    });
    expect(t.contents()).toEqual(before);
  });

  test("copies of marketing mail", async () => {
    const template = { name: "T", subject: "T", body: "<p>T</p>", type: "MARKETING" };
    const id = await t.create("/templates", template, "data.id");
    const before = t.contents();
    for (const field of ["cc", "bcc"]) {
      const answer = await send({ template: id, subscribed: true, [field]: "cy@example.com" });
      expectError(answer, {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [[field, "invalid_value"]],
      });
    }
    expect(t.contents()).toEqual(before);
  });

  test("a subject that cannot be sent to the recipients of a copy, once", async () => {
    const answer = await send({ subject: "{{ nothing }}", cc: "cy@example.com" });
    expect([answer.status, valueAt(answer.body, "error.errors.0.field")]).toEqual([422, "subject"]);
  });
});
