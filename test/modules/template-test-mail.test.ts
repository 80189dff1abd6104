import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { signIn } from "../support/session.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const template = {
  name: "Receipt",
  subject: "Order {{ order }} of {{ name }}",
  preheader: "Soon",
  body: "<p>{{ name }}: {{ order }}, {{ email }}</p>",
  from: "shop@acme.test",
  fromName: "Shop",
  type: "TRANSACTIONAL",
};
const create = (fields: object = {}) =>
  t.create("/templates", { ...template, ...fields }, "data.id");
const sendTest = (id: string, body?: object) => t.call("POST", `/templates/${id}/test`, body);

/** The record and the content of a mail. */
async function mailOf(id: string) {
  const record = await t.call("GET", `/emails/${id}`);
  const content = await t.call("GET", `/emails/${id}/content`);
  return { record: Object(record.at("data")), content };
}

describe("POST /templates/{id}/test", () => {
  test("sends the stored template with data, marked and not counted", async () => {
    const id = await create();
    const answer = await sendTest(id, { to: "me@example.com", data: { order: 7, name: "Ada" } });
    expect(answer.status).toBe(200);
    await t.deliver();
    const { record, content } = await mailOf(answer.text("data.email"));
    expect(record).toMatchObject({
      to: "me@example.com",
      subject: "[TEST] Order 7 of Ada",
      source: "TEST",
      status: "SENT",
    });
    expect(content.at("data.html")).toEndWith("<p>Ada: 7, me@example.com</p>");
    expect(content.at("data.text")).toBe("Ada: 7, me@example.com");
    expect(Object(content.at("data.headers"))).toContainEqual(["From", "Shop <shop@acme.test>"]);
    expect(t.countRows("contacts")).toBe(0);
  });

  test("shows the data of a contact: of the given one, or of the one with the address", async () => {
    const id = await create();
    const contactId = await t.create(
      "/contacts",
      { email: "bob@example.com", data: { name: "Bob", order: 1 } },
      "id",
    );
    for (const body of [{ to: "me@example.com", contactId }, { to: "bob@example.com" }]) {
      const answer = await sendTest(id, body);
      const { record } = await mailOf(answer.text("data.email"));
      expect(record.subject).toBe("[TEST] Order 1 of Bob");
    }
    const unknown = await sendTest(id, { to: "me@example.com", contactId: "none" });
    expectError(unknown, { status: 404, code: "CONTACT_NOT_FOUND" });
  });

  test("is done once for an Idempotency-Key", async () => {
    const id = await create();
    const headers = { "idempotency-key": "k" };
    const send = () => t.call("POST", `/templates/${id}/test`, { to: "a@b.co" }, { headers });
    expect((await send()).body).toEqual((await send()).body);
    expect(t.countRows("emails")).toBe(1);
  });

  const refused: [
    why: string,
    fields: object,
    body: object | undefined,
    status: number,
    field: string | null,
  ][] = [
    ["no address with a key", {}, undefined, 422, "to"],
    ["an address that is none", {}, { to: "x" }, 422, "to"],
    ["a suppressed address", {}, { to: "bad@example.com" }, 422, "to"],
    ["no sender", { from: null }, { to: "me@example.com" }, 422, "from"],
    [
      "a sender that is not verified",
      { from: "a@else.example" },
      { to: "me@example.com" },
      403,
      null,
    ],
    [
      "a subject that is empty",
      { subject: "{{ none }}" },
      { to: "me@example.com" },
      422,
      "subject",
    ],
    [
      "a body that cannot be rendered",
      { body: "{{ a | append }}" },
      { to: "me@example.com" },
      422,
      "body",
    ],
  ];
  test("sends nothing to whom it must not, or with a fault", async () => {
    await t.call("POST", "/suppressions", { email: "bad@example.com" });
    for (const [why, fields, body, status, field] of refused) {
      const answer = await sendTest(await create(fields), body);
      expect([why, answer.status]).toEqual([why, status]);
      if (field !== null) expect([why, answer.at("error.errors.0.field")]).toEqual([why, field]);
    }
    expect(t.countRows("emails")).toBe(0);
  });

  test("goes to the user who is signed in, if no address is given", async () => {
    const id = await create();
    const user = await signIn(t, { email: "owner@example.com" });
    const headers = { "x-project": t.project.id };
    const answer = await user.call(
      "POST",
      `/templates/${id}/test`,
      { data: { order: 1 } },
      headers,
    );
    expect(answer.status).toBe(200);
    const { record } = await mailOf(answer.text("data.email"));
    expect(record.to).toBe("owner@example.com");
  });
});

test("the document of a draft is for its author alone", async () => {
  const draft = { subject: "Hi", body: "<p>Hi</p>", type: "TRANSACTIONAL" };
  const owner = await signIn(t, { email: "owner@example.com" });
  const other = await signIn(t, { email: "other@example.com" });
  const headers = { "x-project": t.project.id };
  const shown = await owner.call("POST", "/templates/preview", draft, headers);
  const path = `${shown.text("data.documentUrl")}?project=${t.project.id}`;
  expect((await owner.get(path)).body).toBe("<p>Hi</p>");
  for (const answer of [await other.get(path), await t.call("GET", path)]) {
    expectError(answer, { status: 404, code: "PREVIEW_NOT_FOUND" });
  }
});

test("a viewer renders and checks drafts, and requests no links by them", async () => {
  const viewer = await signIn(t, { email: "viewer@example.com", isOwner: false });
  const { members } = t.app.accounts;
  await t.app.writer.write(() => members.put(t.project.seq, viewer.user.seq, "VIEWER"));
  const headers = { "x-project": t.project.id };
  const draft = { subject: "Hi", body: "<p>Hi {{ token }}</p>", type: "TRANSACTIONAL" };
  const contact = { email: "ada@example.com", data: { token: "secret-of-ada" } };
  const contactId = await t.create("/contacts", contact, "id");
  const shown = await viewer.call("POST", "/templates/preview", { ...draft, contactId }, headers);
  expect(shown.at("data.html")).toBe("<p>Hi (hidden)</p>");
  const checks = await viewer.call("POST", "/templates/checks", draft, headers);
  expect(checks.status).toBe(200);
  const links = await viewer.call("POST", "/templates/checks?links=true", draft, headers);
  expectError(links, { status: 403, code: "FORBIDDEN" });
});
