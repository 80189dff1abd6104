/** The watchdog, the metrics and the stall detection in a whole application. */

import { afterEach, describe, expect, test } from "bun:test";
import { createLog } from "../src/lib/log.ts";
import { createPace } from "../src/outbox/pace.ts";
import { changeProject, findProject } from "../src/modules/projects.ts";
import { type TestApp, type TestOptions, testApp } from "./support/app.ts";
import { manualClock } from "./support/clock.ts";
import { settleEventLoop, waitUntil, waitUntilRead } from "./support/eventually.ts";
import { valueAt } from "./support/json.ts";
import { expectError } from "./support/refusal.ts";
import { ACCEPTED, testTransport } from "./support/transport.ts";

const apps: TestApp[] = [];
afterEach(async () => {
  for (const t of apps.splice(0)) {
    const state = { isClosed: false };
    const closed = t.close().finally(() => (state.isClosed = true));
    // A mail that becomes ready during the stop waits for the pace, until the time for it is over.
    await waitUntil(() => {
      t.clock.advance(1_000);
      return state.isClosed;
    });
    await closed;
  }
});

async function started(options: TestOptions = {}): Promise<TestApp> {
  const t = await testApp(options);
  apps.push(t);
  await t.app.start();
  return t;
}

const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
/** A template that takes time in proportion to `rounds`, a number or a variable. */
const slow = (rounds: number | string) =>
  `{% for i in (1..${rounds}) %}{{ i | times: 2 }}{% endfor %}`;

describe("a hold of the event loop", () => {
  test("by a render in a request is logged with its route", async () => {
    const lines: unknown[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line));
    const log = createLog({ level: "warn", format: "json", write });
    const t = await started({ log, loopWatch: { heldMs: 0, logIntervalMs: 0 } });
    const { subject, from } = mail;
    const template = { name: "Slow", type: "TRANSACTIONAL", subject, from, body: slow(5_000) };
    const id = (await t.call("POST", "/templates", template)).text("data.id");
    const find = () =>
      lines.find((line) => valueAt(line, "route") === "POST /templates/:id/preview");
    // A render that ends between two ticks is not noticed.
    await waitUntilRead(async () => {
      expect((await t.call("POST", `/templates/${id}/preview`, {})).status).toBe(200);
      await settleEventLoop();
      return find() !== undefined;
    });
    expect(valueAt(find(), "message")).toBe("event loop held");
    expect(valueAt(find(), "workMs")).toBeGreaterThan(0);
  });
});

describe("rendering for one request", () => {
  test("is refused when all recipients together take longer than a second", async () => {
    const t = await started();
    const to = Array.from({ length: 300 }, (_, i) => `person${i}@example.com`);
    const answer = await t.call("POST", "/v1/send", { ...mail, to, body: slow(9_000) });
    const errors: [string, string][] = [["body", "invalid_value"]];
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(answer.text("error.errors.0.message")).toMatch(/longer than 1000 ms/);
    expect(t.countRows("emails")).toBe(0);
  });

  test("yields to other requests between two mails", async () => {
    const t = await started();
    const to = Array.from({ length: 60 }, (_, i) => `person${i}@example.com`);
    const state = { isAnswered: false };
    const large = (async () => {
      const answer = await t.call("POST", "/v1/send", { ...mail, to, body: slow(1_000) });
      state.isAnswered = true;
      return answer;
    })();
    let others = 0;
    while (!state.isAnswered) {
      await t.call("GET", "/livez", undefined, { key: null });
      if (!state.isAnswered) others++;
      await Bun.sleep(0);
    }
    expect(others).toBeGreaterThan(3);
    // On a busy machine this may take longer than the second that the request has.
    expect([200, 422]).toContain((await large).status);
  });
});

describe("/readyz notices mail that does not move", () => {
  const ready = (t: TestApp) => t.call("GET", "/readyz", undefined, { key: null });

  test("answers 503 after due mail has waited a minute for a transport that never answers", async () => {
    const transport = testTransport({ concurrency: 1 });
    const t = await started({ transport });
    for (const to of ["a@example.com", "b@example.com", "c@example.com", "d@example.com"]) {
      expect((await t.call("POST", "/v1/send", { ...mail, to })).status).toBe(200);
    }
    await waitUntil(() => transport.open().length === 1);
    expect((await ready(t)).status).toBe(200);
    t.clock.advance(59_000);
    expect((await ready(t)).status).toBe(200);
    t.clock.advance(2_000);
    const answer = await ready(t);
    expectError(answer, { status: 503, code: "SERVICE_UNAVAILABLE" });
    expect(answer.text("error.message")).toBe("Mail that is due has not moved for 61 s.");
    transport.answer = ACCEPTED;
    for (const handed of transport.open()) handed.end(ACCEPTED);
    await waitUntil(() => transport.handed.length === 4);
    expect((await ready(t)).status).toBe(200);
  });

  test("answers 200 for the paused mail of a disabled project", async () => {
    const transport = testTransport({ answer: ACCEPTED });
    const t = await testApp({ transport });
    apps.push(t);
    await t.call("POST", "/v1/send", mail);
    const project = findProject(t.app.app, "acme");
    if (project === null) throw new Error("there is no project");
    await t.app.writer.write(() => changeProject(t.app.app, project, { isEnabled: false }));
    await t.app.start();
    t.clock.advance(10 * 60_000);
    expect((await ready(t)).status).toBe(200);
    expect(transport.handed).toEqual([]);
  });

  test("answers 200 while a rate of one mail in two minutes makes mail wait", async () => {
    const clock = manualClock();
    const pace = createPace({ ratePerSecond: 1 / 120, clock });
    const transport = testTransport({ answer: ACCEPTED, pace });
    const t = await started({ transport, clock, config: { sendRate: 1 / 120 } });
    for (const to of ["a@example.com", "b@example.com", "c@example.com"]) {
      await t.call("POST", "/v1/send", { ...mail, to });
    }
    await waitUntil(() => transport.handed.length === 1);
    t.clock.advance(90_000);
    expect((await ready(t)).status).toBe(200);
  });
});

test("GET /metrics shows responses, outcomes and the queue on its own address", async () => {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = probe.port ?? 0;
  await probe.stop(true);
  const metrics = { host: "127.0.0.1", port };
  const transport = testTransport({ answer: ACCEPTED });
  const t = await started({ transport, config: { port: 0, metrics } });
  await t.app.listen();
  await t.call("POST", "/v1/send", mail);
  await t.call("GET", "/nowhere");
  await t.deliver();
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(text).toContain('mailstead_emails_total{outcome="accepted"} 1\n');
  expect(text).toContain('mailstead_http_responses_total{status="200"} 1\n');
  expect(text).toContain('mailstead_http_responses_total{status="404"} 1\n');
  expect(text).toMatch(/^mailstead_event_loop_held_seconds_count \d+$/m);
  expect(text).toContain("mailstead_queue_overdue_seconds 0\n");
  expect(text).toContain("mailstead_storage_healthy 1\n");
  expect(text).toContain("mailstead_http_request_body_bytes 0\n");
  expect(text).toContain("mailstead_update_available 0\n");
  expect((await t.call("GET", "/metrics")).status).toBe(404);
});
