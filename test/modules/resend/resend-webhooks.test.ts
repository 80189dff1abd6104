/** Webhooks in the interface of Resend (docs/resend.md). */

import { beforeEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/resend${path}`, body);
const hook = { endpoint: "https://hooks.example.com/mail", events: ["email.delivered"] };

test("a webhook is created, shown without its secret, changed and deleted", async () => {
  const created = await call("POST", "/webhooks", hook);
  const id = created.text("id");
  const signing_secret = expect.stringMatching(/^whsec_/);
  expect([created.status, created.body]).toEqual([201, { object: "webhook", id, signing_secret }]);
  const shown = {
    id,
    ...hook,
    status: "enabled",
    created_at: new Date(t.clock.now()).toISOString(),
  };
  const read = async () => (await call("GET", `/webhooks/${id}`)).body;
  expect(await read()).toEqual({ object: "webhook", ...shown, signing_secret: null });
  expect((await call("GET", "/webhooks")).body).toEqual({
    object: "list",
    has_more: false,
    data: [shown],
  });
  const change = { status: "disabled", events: ["email.bounced", "email.sent"] };
  expect((await call("PATCH", `/webhooks/${id}`, change)).body).toEqual({ object: "webhook", id });
  expect(await read()).toMatchObject({ ...change, endpoint: hook.endpoint });
  const rotated = await call("POST", `/webhooks/${id}/signing-secret/rotate`);
  expect(rotated.text("signing_secret")).not.toBe(created.text("signing_secret"));
  expect((await call("DELETE", `/webhooks/${id}`)).body).toEqual({
    object: "webhook",
    id,
    deleted: true,
  });
  expect((await call("GET", `/webhooks/${id}`)).status).toBe(404);
});

test("a webhook of our own form is none of Resend's", async () => {
  const input = { url: "https://hooks.example.com/", events: ["email.*"] };
  const path = `/webhooks/${await t.create("/webhooks", input, "data.id")}`;
  expect(listAt((await call("GET", "/webhooks")).body, "data")).toEqual([]);
  for (const [method, at, body] of [
    ["GET", path, undefined],
    ["PATCH", path, { status: "disabled" }],
    ["POST", `${path}/signing-secret/rotate`, undefined],
    ["DELETE", path, undefined],
  ] as const) {
    expect((await call(method, at, body)).status).toBe(404);
  }
  expect((await t.call("GET", path)).at("data.enabled")).toBe(true);
});

test.each<[object, string]>([
  [{ ...hook, endpoint: "ftp://hooks.example.com" }, "endpoint: "],
  [{ ...hook, endpoint: "http://127.0.0.1/" }, "endpoint: "],
  [{ ...hook, events: [] }, "events: "],
  [{ ...hook, events: ["email.sent", "topic.created"] }, "events.1: is not supported"],
  [{ ...hook, secret: "x" }, "secret: is not supported"],
])("%j is refused", async (body, message) => {
  const answer = await call("POST", "/webhooks", body);
  expect([answer.status, answer.text("message")]).toEqual([422, expect.stringContaining(message)]);
  expect(listAt((await call("GET", "/webhooks")).body, "data")).toEqual([]);
});
