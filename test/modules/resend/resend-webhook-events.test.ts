/** The requests of webhooks that were made in the interface of Resend (docs/resend.md). */

import { afterEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { resendEvent } from "../../../src/modules/resend/webhook-event.ts";
import { deliveryDetails } from "../../../src/modules/webhooks/deliveries.ts";
import { getWebhook } from "../../../src/modules/webhooks/webhooks.ts";
import type { TestApp } from "../../support/app.ts";
import { stringAt, valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { closeAll, observe, startReceiver, webhooksPerTest } from "../webhooks/setup.ts";

const { nextApp } = webhooksPerTest();
afterEach(closeAll);

const MAIL = {
  from: "Acme <a@acme.test>",
  to: "ada@example.com",
  subject: "Hi",
  html: "<p>Hi</p>",
};

async function webhookFor(t: TestApp, events: readonly string[]) {
  await t.deliver();
  const server = await startReceiver();
  const created = await t.call("POST", "/resend/webhooks", {
    endpoint: `${server.origin}/hook`,
    events,
  });
  return { server, id: created.text("id"), secret: created.text("signing_secret"), ...observe(t) };
}

const sentMail = async (t: TestApp, fields: object = {}): Promise<string> =>
  (await t.call("POST", "/resend/emails", { ...MAIL, ...fields })).text("id");

test("a request has the headers of Svix, a signature for the secret, and the form of Resend", async () => {
  const t = await nextApp();
  const { server, secret, settled, rows } = await webhookFor(t, ["email.sent"]);
  const id = await sentMail(t, { cc: "b@example.com", tags: [{ name: "order", value: "1001" }] });
  await t.deliver();
  await settled(2);
  const [request] = server.requests;
  const headers = Object(request?.headers);
  const signed = {
    "webhook-id": stringAt(headers, "svix-id"),
    "webhook-timestamp": stringAt(headers, "svix-timestamp"),
    "webhook-signature": stringAt(headers, "svix-signature"),
  };
  expect(signed["webhook-id"]).toBe(rows()[0]?.id ?? "");
  expect(new Webhook(secret).verify(request?.body ?? "", signed)).toEqual({
    type: "email.sent",
    created_at: expect.any(String),
    data: {
      email_id: id,
      message_id: expect.stringMatching(/^<.+@acme\.test>$/),
      created_at: expect.any(String),
      from: "Acme <a@acme.test>",
      to: ["ada@example.com"],
      subject: "Hi",
      tags: { order: "1001" },
    },
  });
  expect(valueAt(headers, "webhook-id")).toBeUndefined();
  const copy: unknown = JSON.parse(server.requests[1]?.body ?? "");
  expect(valueAt(copy, "data")).toMatchObject({ email_id: id, to: ["b@example.com"] });
});

const SOFT = { type: "Transient", subType: "General" };
const HARD = { type: "Permanent", subType: "General" };

test.each<[string, object, string, object]>([
  ["email.delivered", {}, "email.delivered", {}],
  ["email.complained", { feedbackType: "abuse" }, "email.complained", {}],
  ["email.opened", {}, "email.opened", {}],
  [
    "email.bounced",
    { class: "no_such_recipient", reason: "No such user" },
    "email.bounced",
    { bounce: { message: "No such user", ...HARD } },
  ],
  [
    "email.bounced",
    { class: "policy", reason: "Refused" },
    "email.bounced",
    { bounce: { message: "Refused", ...SOFT } },
  ],
  ["email.failed", { reason: "No" }, "email.failed", { failed: { reason: "No" } }],
  [
    "email.suppressed",
    { reason: "COMPLAINT" },
    "email.suppressed",
    { suppressed: { message: "COMPLAINT", type: "OnAccountSuppressionList" } },
  ],
  [
    "email.clicked",
    { url: "https://a.example/" },
    "email.clicked",
    { click: { link: "https://a.example/", timestamp: "2026-03-02T10:00:00.000Z" } },
  ],
])("%s with the data %j is %s with the mail and %j", async (name, data, type, details) => {
  const t = await nextApp();
  const emailId = await sentMail(t);
  const createdAt = "2026-03-02T10:00:00.000Z";
  const event = { id: "e", name, data: { ...data }, contactId: null, contactEmail: null };
  const shown = resendEvent(t.app.app, t.project.seq, {
    ...event,
    emailId,
    emailTags: null,
    createdAt,
  });
  expect(shown).toMatchObject({
    type,
    created_at: createdAt,
    data: { email_id: emailId, to: ["ada@example.com"], subject: "Hi", ...details },
  });
});

describe("a webhook in the form of Resend", () => {
  test("gets changes of subscriptions as contact.updated, and no events of other names", async () => {
    const t = await nextApp();
    const { server, settled } = await webhookFor(t, ["contact.updated"]);
    const contact = { email: "ada@example.com", first_name: "Ada" };
    const id = (await t.call("POST", "/resend/contacts", contact)).text("id");
    await t.call("PATCH", `/resend/contacts/${id}`, { unsubscribed: true });
    await settled(2);
    expect(JSON.parse(server.requests[1]?.body ?? "")).toMatchObject({
      type: "contact.updated",
      data: { id, email: "ada@example.com", first_name: "Ada", unsubscribed: true },
    });
  });

  test("is one of ours with the shape RESEND, whose events stay those of Resend", async () => {
    const t = await nextApp();
    const { id, server } = await webhookFor(t, ["email.sent"]);
    expect((await t.call("GET", `/webhooks/${id}`)).at("data.shape")).toBe("RESEND");
    const answer = await t.call("PATCH", `/webhooks/${id}`, { events: ["email.*"] });
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["events.0", "invalid_value"]],
    });
    await t.call("POST", `/webhooks/${id}/test`, {});
    expect(JSON.parse(server.requests[0]?.body ?? "")).toMatchObject({
      type: "webhook.test",
      data: {},
    });
  });

  test("shows its requests, but not to viewers", async () => {
    const t = await nextApp();
    const { id, server, settled, rows } = await webhookFor(t, ["email.sent"]);
    await sentMail(t);
    await t.deliver();
    await settled(1);
    const webhook = getWebhook(t.app.app, t.project.seq, id);
    const bodyFor = (role: "ADMIN" | "VIEWER") =>
      deliveryDetails(t.app.app, webhook, { id: rows()[0]?.id ?? "", role }).request;
    expect(bodyFor("ADMIN")).toMatchObject({
      headers: { "svix-id": rows()[0]?.id },
      body: server.requests[0]?.body,
    });
    expect(bodyFor("VIEWER").body).not.toContain("ada@example.com");
  });
});

test("the events of a webhook are listed with their attempts, and replayed", async () => {
  const t = await nextApp();
  const { id, server, settled, attempted, rows } = await webhookFor(t, ["email.sent"]);
  server.answer = () => ({ status: 503, body: "later" });
  await sentMail(t);
  await t.deliver();
  await settled(1);
  const path = `/resend/webhooks/${id}/events`;
  const event = rows()[0]?.id ?? "";
  const shown = { id: event, type: "email.sent", created_at: expect.any(String) };
  expect((await t.call("GET", path)).body).toEqual({
    object: "list",
    has_more: false,
    data: [{ ...shown, status: "attempting" }],
  });
  server.answer = () => ({});
  const replayed = await t.call("POST", `${path}/${event}/replay`);
  expect(replayed.body).toEqual({ object: "webhook_event", id: event });
  await attempted(2);
  const payload: unknown = JSON.parse(server.requests[1]?.body ?? "");
  expect((await t.call("GET", `${path}/${event}`)).body).toEqual({
    object: "webhook_event",
    ...shown,
    status: "success",
    next_attempt_at: null,
    payload,
  });
  const sent_at = expect.any(String);
  const attempts = (await t.call("GET", `${path}/${event}/attempts`)).body;
  expect(valueAt(attempts, "data")).toEqual([
    { id: `${event}-2`, http_status_code: 200, response: "", sent_at },
    { id: `${event}-1`, http_status_code: 503, response: "The receiver answered 503.", sent_at },
  ]);
  expect((await t.call("GET", `${path}/none`)).status).toBe(404);
});

test("an event whose mail or contact was removed has only its id", async () => {
  const t = await nextApp();
  const gone = { id: "e", data: { id: "gone" }, contactEmail: null, emailTags: null };
  const createdAt = "2026-03-02T10:00:00.000Z";
  for (const [name, data] of [
    ["email.sent", { email_id: "gone", to: [], subject: "" }],
    ["email.received", { email_id: "gone", to: [], attachments: [] }],
    ["contact.subscribed", { id: "gone", email: "" }],
  ] as const) {
    const event = { ...gone, name, contactId: "gone", emailId: "gone", createdAt };
    expect(resendEvent(t.app.app, t.project.seq, event).data).toMatchObject(data);
  }
});
