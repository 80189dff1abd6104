/** Nothing of a disabled project leaves: its mail, its webhooks and the calls of its workflows wait. */

import { expect, test } from "bun:test";
import { changeProject, listProjects } from "../../src/modules/projects.ts";
import type { FetchGuarded } from "../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { testApp } from "../support/app.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";

const WORKFLOW = {
  name: "Call",
  enabled: true,
  trigger: { type: "EVENT", eventName: "signed-up" },
  steps: [
    { id: "call", type: "WEBHOOK", config: { url: "https://step.example/", method: "POST" } },
    { id: "end", type: "EXIT", config: {} },
  ],
  transitions: [{ from: "call", to: "end" }],
};

test("a disabled project calls nobody until it is enabled", async () => {
  const called: string[] = [];
  const fetchGuarded: FetchGuarded = async (url) => {
    called.push(url);
    return { status: 200, headers: new Headers(), body: new Uint8Array(), isTruncated: false };
  };
  const t = await testApp({ fetchGuarded, config: { transport: "capture" } });
  await t.create("/webhooks", { url: "https://hook.example/", events: ["signed-up"] }, "data.id");
  await t.create("/workflows", WORKFLOW, "data.id");
  await t.call("POST", "/v1/track", { event: "signed-up", email: "ada@example.com" });
  const [project] = listProjects(t.app.app);
  if (project === undefined) throw new Error("there is no project");
  const enable = (isEnabled: boolean) =>
    t.app.writer.write(() => changeProject(t.app.app, project, { isEnabled }));
  await enable(false);
  await t.start();
  await t.app.automation.idle();
  await settleEventLoop();
  expect(t.countRows("webhook_deliveries")).toBe(1);
  expect(called).toEqual([]);

  await enable(true);
  const works = t.app.recurring.filter(({ name }) =>
    ["webhook deliveries", "workflow calls"].includes(name),
  );
  for (const { run } of works) await run();
  await waitUntil(() => called.length === 2);
  expect(called.toSorted()).toEqual(["https://hook.example/", "https://step.example/"]);
  await t.close();
});
