/** WEBHOOK steps whose receiver never answers do not delay the steps of another project. */

import { expect, test } from "bun:test";
import { startAutomation } from "../../support/automation.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";
import { startWebServer } from "../../support/web-server.ts";
import { chain, step } from "./graphs.ts";

test("workflows whose calls hang use only the slots of their project", async () => {
  const hanging = await startWebServer({ answer: () => ({ write: () => {} }) });
  const server = await startWebServer();
  const a = await startAutomation({ config: { quotaWebhookCalls: 24 } });
  const { t } = a;
  const { secretKey: key } = await t.makeProject("hog");
  const calling = (origin: string) => ({
    name: "Flow",
    enabled: true,
    ...chain(step("call", "WEBHOOK", { url: `${origin}/hook`, method: "POST" })),
  });
  const track = (email: string, rest = {}) =>
    t.create("/v1/track", { event: "signed-up", email }, "data.event", rest);

  for (let i = 0; i < 6; i++) {
    await t.create("/workflows", calling(hanging.origin), "data.id", { key });
  }
  for (let i = 0; i < 20; i++) await track(`person-${i}@example.net`, { key });
  await waitUntil(() => hanging.requests.length >= 24);
  await settleEventLoop();
  expect(hanging.requests.length).toBe(24);

  await t.create("/workflows", calling(server.origin), "data.id");
  await track("ada@example.net");
  await waitUntil(() => server.requests.length > 0);

  // The hanging calls end with their connections, and the other calls of the project are made.
  hanging.answer = () => ({ status: 200 });
  await hanging.close();
  await server.close();
  await a.close();
});
