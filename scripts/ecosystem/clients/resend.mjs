// Calls the server with the official client of Resend for Node. It prints one line of JSON for each call.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { Resend } from "resend";

const { version } = JSON.parse(readFileSync("node_modules/resend/package.json", "utf8"));
console.log(JSON.stringify({ version }));

const resend = new Resend(process.env.RESEND_API_KEY);
const { SENDER: from, DOMAIN: domain } = process.env;

async function call(name, run, expected = null) {
  const { data, error } = await run();
  const fault = (error?.name ?? null) === expected ? null : JSON.stringify(error ?? data);
  console.log(JSON.stringify({ call: name, fault }));
  return data ?? {};
}

const mail = { from, to: ["ada@example.com"], subject: "Hello {{ you }}", html: "<p>Hello</p>" };
const attachments = [
  { filename: "a.txt", content: Buffer.from("hello") },
  { filename: "b.txt", content: Buffer.from("inline"), contentId: "b" },
];
const sent = await call("emails.send", () =>
  resend.emails.send({ ...mail, text: "Hello", cc: "b@example.com", replyTo: from, attachments }),
);
const once = { idempotencyKey: "order-1001" };
await call("emails.send with a key", () => resend.emails.send(mail, once));
await call(
  "emails.send with a used key",
  () => resend.emails.send({ ...mail, subject: "Other" }, once),
  "invalid_idempotent_request",
);
await call("emails.get", () => resend.emails.get(sent.id));
const later = { ...mail, scheduledAt: "in 1 hour", tags: [{ name: "order", value: "1001" }] };
const scheduled = await call("emails.send later", () => resend.emails.send(later));
const scheduledAt = new Date(Date.now() + 7_200_000).toISOString();
await call("emails.update", () => resend.emails.update({ id: scheduled.id, scheduledAt }));
await call("emails.cancel", () => resend.emails.cancel(scheduled.id));
await call("emails.list", () => resend.emails.list({ limit: 2 }));
await call("emails.list after", () => resend.emails.list({ limit: 2, after: sent.id }));
const files = await call("emails.attachments.list", () =>
  resend.emails.attachments.list({ emailId: sent.id }),
);
await call("emails.attachments.get", async () => {
  const id = files.data?.[0]?.id;
  const { data, error } = await resend.emails.attachments.get({ emailId: sent.id, id });
  const response = await fetch(data?.download_url);
  const text = await response.text();
  return text === "hello" ? { data, error } : { data, error: { name: text } };
});
await call("emails.receiving.list", () => resend.emails.receiving.list({ limit: 2 }));
await call("emails.receiving.get none", () => resend.emails.receiving.get("none"), "not_found");
await call(
  "emails.receiving.attachments.list none",
  () => resend.emails.receiving.attachments.list({ emailId: "none" }),
  "not_found",
);
await call(
  "emails.send without a recipient",
  () => resend.emails.send({ ...mail, to: undefined }),
  "missing_required_field",
);
await call("batch.send", () => resend.batch.send([mail, { ...mail, to: "b@example.com" }]));
await call("batch.send permissive", () =>
  resend.batch.send([mail, { ...mail, to: "nobody" }], { batchValidation: "permissive" }),
);
const wrong = new Resend("re_wrong");
await call("a wrong key", () => wrong.emails.list(), "invalid_api_key");

const template = await call("templates.create", () =>
  resend.templates.create({
    name: "Receipt",
    subject: "Order {{{ORDER}}}",
    html: "<p>{{{ORDER}}}</p>",
    variables: [{ key: "ORDER", type: "number", fallbackValue: 1 }],
  }),
);
await call("templates.publish", () => resend.templates.publish(template.id));
await call("emails.send a template", () =>
  resend.emails.send({
    from,
    to: "ada@example.com",
    template: { id: template.id, variables: { ORDER: 1001 } },
  }),
);
await call("templates.update", () => resend.templates.update(template.id, { name: "Bill" }));
await call("templates.get", () => resend.templates.get(template.id));
await call("templates.list", () => resend.templates.list());
const copy = await call("templates.duplicate", () => resend.templates.duplicate(template.id));
await call("templates.remove", () => resend.templates.remove(copy.id));

const added = await call("domains.create", () => resend.domains.create({ name: domain }));
await call("domains.get", () => resend.domains.get(added.id));
await call("domains.list", () => resend.domains.list());
await call("domains.verify", () => resend.domains.verify(added.id));
await call("domains.remove", () => resend.domains.remove(added.id));

const segment = await call("segments.create", () => resend.segments.create({ name: "News" }));
const segments = [{ id: segment.id }];
const email = "node@example.com";
const contact = await call("contacts.create", () =>
  resend.contacts.create({ email, firstName: "Ada", properties: { plan: "pro" }, segments }),
);
await call("contacts.get", () => resend.contacts.get({ email }));
await call("contacts.update", () => resend.contacts.update({ id: contact.id, unsubscribed: true }));
await call("contacts.list", () => resend.contacts.list());
await call("contacts.list of a segment", () => resend.contacts.list({ segmentId: segment.id }));
await call("contacts.segments.list", () => resend.contacts.segments.list({ email }));
await call("contacts.segments.remove", () =>
  resend.contacts.segments.remove({ email, segmentId: segment.id }),
);
await call("contacts.segments.add", () =>
  resend.contacts.segments.add({ email, segmentId: segment.id }),
);
await call("contacts.create in an audience", () =>
  resend.contacts.create({ email: "old@example.com", audienceId: segment.id }),
);
const broadcast = await call("broadcasts.create", () =>
  resend.broadcasts.create({
    segmentId: segment.id,
    from,
    subject: "News",
    html: "<p>Hello {{{contact.first_name|there}}}</p>",
  }),
);
await call("broadcasts.update", () => resend.broadcasts.update(broadcast.id, { name: "Spring" }));
await call("broadcasts.get", () => resend.broadcasts.get(broadcast.id));
await call("broadcasts.list", () => resend.broadcasts.list());
await call("broadcasts.send", () =>
  resend.broadcasts.send(broadcast.id, { scheduledAt: "in 1 hour" }),
);
await call("broadcasts.cancel", () => resend.broadcasts.cancel(broadcast.id));
await call("broadcasts.remove", () => resend.broadcasts.remove(broadcast.id));
const hook = { endpoint: "https://hooks.example.com/", events: ["email.delivered"] };
const webhook = await call("webhooks.create", () => resend.webhooks.create(hook));
await call("webhooks.update", () => resend.webhooks.update(webhook.id, { status: "disabled" }));
await call("webhooks.get", () => resend.webhooks.get(webhook.id));
await call("webhooks.list", () => resend.webhooks.list());
await call("webhooks.remove", () => resend.webhooks.remove(webhook.id));

// A server that takes one request of a webhook.
const receiver = createServer();
const arrived = new Promise((resolve) => {
  receiver.on("request", (request, response) => {
    const { headers } = request;
    resolve(request.toArray().then((chunks) => ({ payload: chunks.join(""), headers })));
    request.on("end", () => response.end());
  });
});
await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const endpoint = `http://127.0.0.1:${receiver.address().port}/`;
const local = await call("webhooks.create here", () =>
  resend.webhooks.create({ endpoint, events: ["email.sent"] }),
);
const seen = await call("emails.send for a webhook", () => resend.emails.send(mail));
await call("webhooks.verify", async () => {
  const { payload, headers } = await arrived;
  const event = resend.webhooks.verify({
    payload,
    headers: {
      id: headers["svix-id"],
      timestamp: headers["svix-timestamp"],
      signature: headers["svix-signature"],
    },
    webhookSecret: local.signing_secret,
  });
  const isRight = event.type === "email.sent" && event.data.email_id === seen.id;
  return isRight ? { data: event } : { error: { name: payload } };
});
receiver.close();
const webhookId = local.id;
const events = await call("webhooks.events.list", () => resend.webhooks.events.list({ webhookId }));
const eventId = events.data?.[0]?.id;
await call("webhooks.events.get", () => resend.webhooks.events.get({ webhookId, eventId }));
await call("webhooks.events.attempts.list", () =>
  resend.webhooks.events.attempts.list({ webhookId, eventId }),
);
await call("webhooks.events.replay", () => resend.webhooks.events.replay({ webhookId, eventId }));
await call("webhooks.remove here", () => resend.webhooks.remove(local.id));
const gone = ["gone@example.com", "left@example.com"];
await call("suppressions.add", () => resend.suppressions.add({ email: gone[0] }));
await call("suppressions.batch.add", () => resend.suppressions.batch.add({ emails: gone }));
const suppressed = await call("suppressions.list", () =>
  resend.suppressions.list({ origin: "manual", limit: 1 }),
);
await call("suppressions.get", () => resend.suppressions.get(suppressed.data?.[0]?.id));
await call("suppressions.remove", () => resend.suppressions.remove(gone[0]));
await call("suppressions.get none", () => resend.suppressions.get(gone[0]), "not_found");
await call("suppressions.batch.remove", () => resend.suppressions.batch.remove({ ids: gone }));
await call("contacts.remove", () => resend.contacts.remove({ id: contact.id }));
await call("segments.get", () => resend.segments.get(segment.id));
await call("segments.list", () => resend.segments.list());
await call("segments.remove", () => resend.segments.remove(segment.id));
await call("apiKeys.list", () => resend.apiKeys.list());
await call("apiKeys.create", () => resend.apiKeys.create({ name: "mine" }), "restricted_api_key");
