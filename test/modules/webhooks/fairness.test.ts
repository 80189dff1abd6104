/** Webhooks of one project whose receiver never answers do not delay the events of another project. */

import { afterEach, expect, test } from "bun:test";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";
import type { TestApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";
import { receivedTypes, closeAll, webhookApp, startReceiver, observe } from "./setup.ts";

afterEach(closeAll);

const NEVER_ANSWERS = () => ({ write: () => {} });

/** Creates a project with `count` webhooks whose receiver never answers, and events for all of them. */
async function withHangingWebhooks(t: TestApp, project: string, count: number) {
  const { secretKey: key } = await t.makeProject(project);
  const server = await startReceiver(NEVER_ANSWERS);
  for (let i = 0; i < count; i++) {
    await t.create("/webhooks", { url: `${server.origin}/${i}`, events: ["*"] }, "data.id", {
      key,
    });
  }
  for (let i = 0; i < 8; i++) {
    const event = { event: "bought", email: `person-${i}@example.net` };
    await t.create("/v1/track", event, "data.event", { key });
  }
  return server;
}

/** Resolves when no more calls are started. */
async function untilSteady(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await settleEventLoop();
  }
}

test("50 webhooks that hang use only the slots of their project", async () => {
  const t = await webhookApp({ config: { quotaWebhookCalls: 32 } });
  await t.deliver();
  const hanging = await withHangingWebhooks(t, "hog", 50);
  await waitUntil(() => hanging.requests.length >= 32);
  await untilSteady(() => hanging.requests.length);
  expect(hanging.requests.length).toBe(32);

  const server = await startReceiver();
  await t.create("/webhooks", { url: server.origin, events: ["*"] }, "data.id");
  await observe(t).track("bought");
  await waitUntil(() => server.requests.length > 0);
  expect(receivedTypes(server)[0]).toBe("contact.subscribed");
});

test("several projects with hanging webhooks leave a slot free for the next project, without a quota", async () => {
  const t = await webhookApp({ config: { quotaWebhookCalls: 0 } });
  await t.deliver();
  const hanging = [];
  for (const name of ["hog", "boar", "sow"]) {
    hanging.push(await withHangingWebhooks(t, name, 50));
    const counted = hanging.at(-1);
    await waitUntil(() => (counted?.requests.length ?? 0) > 0);
    await untilSteady(() => counted?.requests.length ?? 0);
  }
  const server = await startReceiver();
  await t.create("/webhooks", { url: server.origin, events: ["*"] }, "data.id");
  await observe(t).track("bought");
  await waitUntil(() => server.requests.length > 0);
});

test("test calls that hang are limited per project, and the error names the quota", async () => {
  const t = await webhookApp({ config: { quotaWebhookCalls: 3 } });
  const hanging = await startReceiver(NEVER_ANSWERS);
  const url = `${hanging.origin}/hook`;
  const id = await t.create("/webhooks", { url, events: ["*"] }, "data.id");
  const underWay = [1, 2, 3].map(() => t.call("POST", `/webhooks/${id}/test`));
  await waitUntil(() => hanging.requests.length === 3);
  const refused = await t.call("POST", `/webhooks/${id}/test`);
  expectError(refused, { status: 429, code: "QUOTA_EXCEEDED" });
  expect(refused.text("error.message")).toBe(
    "The project has reached its quota of 3 webhook test calls at once (--quota-webhook-calls).",
  );
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(hanging.requests.length).toBe(3);

  const { secretKey: key } = await t.makeProject("other");
  const server = await startReceiver();
  const other = await t.create("/webhooks", { url: server.origin, events: ["*"] }, "data.id", {
    key,
  });
  const answer = await t.call("POST", `/webhooks/${other}/test`, undefined, { key });
  expect(answer.at("data.delivered")).toBe(true);

  await hanging.close();
  await Promise.all(underWay);
  expect((await t.call("POST", `/webhooks/${id}/test`)).status).toBe(200);
});
