/** GET /system/alerts and POST /system/alerts/test, for owners. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { testApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { expectError } from "../../support/refusal.ts";
import { signIn } from "../../support/session.ts";
import { type AlertApp, alertApp, alertTargetServers, OPERATOR } from "./alert-app.ts";

let servers: Awaited<ReturnType<typeof alertTargetServers>>;
let a: AlertApp;

beforeAll(async () => {
  servers = await alertTargetServers();
  a = await alertApp(servers, { config: { heartbeatUrl: "https://hc-ping.com/secret" } });
});
afterAll(async () => {
  await a.close();
  await servers.close();
});

test("shows open and cleared alerts, the targets without their secrets, and tests them", async () => {
  const owner = await signIn(a.t);
  const host = new URL(servers.web.origin).host;
  servers.web.answer = ({ path }) =>
    path === "/slack" ? { status: 410, body: "gone" } : { body: "ok" };
  a.sender.start();
  a.world.certificates = [{ name: "HTTPS", life: null, failure: { count: 3, message: "refused" } }];
  await a.minutes(1);
  await a.sender.idle();
  a.world.certificates = [];
  a.world.space.freeBytes = 1;
  await a.minutes(1);
  await a.sender.idle();
  const seen = await owner.get("/system/alerts");
  expect(seen.status).toBe(200);
  expect(JSON.stringify(seen.body)).not.toContain("secret");
  expect(seen.at("data")).toMatchObject({
    open: [{ condition: "disk_low", severity: "critical", clearedAt: null }],
    history: [{ condition: "certificate", clearedAt: "2026-03-02T10:02:00.000Z" }],
    targets: [
      { kind: "EMAIL", label: OPERATOR, waiting: 0, last: { isDelivered: true } },
      { kind: "WEBHOOK", label: host, waiting: 0, last: { isDelivered: true, reply: "200 ok" } },
      { kind: "NTFY", label: host, waiting: 0 },
      { kind: "SLACK", label: host, waiting: 3, last: { isDelivered: false, reply: "410 gone" } },
    ],
    heartbeat: { label: "hc-ping.com", everyMinutes: 5, at: null, failure: null },
  });

  servers.web.requests.length = 0;
  servers.sink.messages.length = 0;
  const tested = await owner.post("/system/alerts/test");
  expect(tested.at("data.targets")).toMatchObject([
    { kind: "EMAIL", isDelivered: true, reply: expect.stringContaining("250") },
    { kind: "WEBHOOK", isDelivered: true, reply: "200 ok" },
    { kind: "NTFY", isDelivered: true },
    { kind: "SLACK", isDelivered: false, reply: "410 gone" },
  ]);
  expect((await owner.get("/app/api/audit?action=testAlerts")).at("data.total")).toBe(1);
  expect(servers.web.requests).toHaveLength(3);
  expect(Buffer.from(servers.sink.messages[0]?.data ?? "").toString()).toContain("Test: Alerts");
  expect((await a.t.call("GET", "/system/alerts")).status).toBe(403);
  expect((await a.t.call("POST", "/system/alerts/test", {})).status).toBe(403);
});

test("a test that hangs ends after a while, and only one runs at once", async () => {
  const owner = await signIn(a.t);
  servers.web.requests.length = 0;
  servers.web.answer = ({ path }) => (path === "/hook" ? { write() {} } : { status: 200 });
  const tested = owner.post("/system/alerts/test");
  await waitUntil(() => servers.web.requests.length === 3);
  expectError(await owner.post("/system/alerts/test"), { status: 409, code: "CONFLICT" });
  a.clock.advance(10_000);
  expect((await tested).at("data.targets.1")).toMatchObject({
    isDelivered: false,
    reply: "Timed out: no answer within 10 s.",
  });
});

test("without targets, the alerts are only shown", async () => {
  const other = await testApp();
  const owner = await signIn(other);
  expect((await owner.get("/system/alerts")).at("data")).toEqual({
    open: [],
    history: [],
    targets: [],
    heartbeat: null,
  });
  expectError(await owner.post("/system/alerts/test"), { status: 409, code: "CONFLICT" });
  await other.close();
});
