/** Mail that is sent over HTTP with the transport `capture` appears in the default inbox. */

import { beforeEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const MESSAGES = "/inboxes/default/messages";
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hello</p>" };

async function send(to: string | string[] = mail.to): Promise<void> {
  expect((await t.call("POST", "/v1/send", { ...mail, to })).status).toBe(200);
  await t.deliver();
}

test("with a link to its email record, and the same bytes as GET /emails/{id}/raw", async () => {
  await send();
  const { body } = await t.call("GET", `${MESSAGES}/latest`);
  expect(valueAt(body, "data")).toMatchObject({
    subject: "Hi",
    from: { name: "", address: "a@acme.test" },
    to: [{ name: "", address: "ada@example.com" }],
    envelope: { from: "a@acme.test", to: ["ada@example.com"], peer: "", sessionId: null },
  });
  const emailId = stringAt(body, "data.emailId");
  expect((await t.call("GET", `/emails/${emailId}`)).at("data.status")).toBe("SENT");
  const raw = await t.call("GET", `/emails/${emailId}/raw`);
  expect((await t.call("GET", `${MESSAGES}/latest/raw`)).body).toBe(raw.body);
});

test("in the inbox of its own project, once for each recipient", async () => {
  const other = await t.makeProject("other");
  await send(["a@example.com", "b@example.com"]);
  expect((await t.call("GET", MESSAGES)).at("data.total")).toBe(2);
  const theirs = await t.call("GET", MESSAGES, undefined, { key: other.secretKey });
  expect(theirs.at("data.total")).toBe(0);
});

test("a wait sees it, and search finds it", async () => {
  const waited = t.call("GET", "/inboxes/default/wait?query=to:ada");
  await send();
  expect((await waited).at("data.matched")).toBe(true);
  expect((await t.call("GET", `${MESSAGES}?query=hello`)).at("data.total")).toBe(1);
});

test("is removed when its contact is removed", async () => {
  const rawRows = () => t.countRows("inbox_raw");
  const before = rawRows();
  await send();
  expect(rawRows()).toBe(before + 1);
  const contacts = await t.call("GET", "/contacts");
  const id = stringAt(listAt(contacts.body, "items")[0], "id");
  expect((await t.call("DELETE", `/contacts/${id}`)).status).toBe(204);
  expect((await t.call("GET", MESSAGES)).at("data.total")).toBe(0);
  expect(rawRows()).toBe(before);
});
