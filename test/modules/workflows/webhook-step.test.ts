/** Tests the WEBHOOK step: its request, its response, and hosts that must not be called. */

import { afterEach, describe, expect, test } from "bun:test";
import { createFetchGuarded } from "../../../src/protocols/fetch-guarded/fetch-guarded.ts";
import type { TestOptions } from "../../support/app.ts";
import {
  type Automation,
  automationPerTest,
  DAY,
  HOUR,
  MINUTE,
  startAutomation,
} from "../../support/automation.ts";
import { longestHoldDuring, waitUntil, waitUntilRead } from "../../support/eventually.ts";
import { FAILING_DNS } from "../../support/dns.ts";
import { valueAt } from "../../support/json.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";
import { chain, delay, step } from "./graphs.ts";

let a: Automation;
let server: WebServer;
/** The application of a test with options of its own. */
let own: Automation | null = null;
const next = automationPerTest();
afterEach(async () => {
  await own?.close();
  own = null;
  await server.close();
});

async function start(answer: WebServer["answer"] = () => ({}), options: TestOptions | null = null) {
  server = await startWebServer({ answer });
  if (options !== null) own = await startAutomation(options);
  a = own ?? (await next());
}

const webhook = (config: Record<string, unknown> = {}) =>
  step("call", "WEBHOOK", { url: `${server.origin}/hook`, method: "POST", ...config });

/** Treats the address of the test server as the only public one. */
const guarded = (rest: { timeoutMs?: number } = {}) => ({
  fetchGuarded: createFetchGuarded({
    dns: FAILING_DNS,
    allowPrivateAddresses: false,
    isPublic: (address) => address === "127.0.0.1",
    ...rest,
  }),
});

test("a call under way changes nothing when an exit has ended its execution", async () => {
  let release = () => {};
  await start(() => ({
    write(response) {
      release = () => response.end('{"late": true}');
    },
  }));
  const exits = [{ on: "EVENT", eventName: "bought" }];
  const id = await a.workflow(chain(webhook(), delay("wait")), { exits });
  const track = (event: string) =>
    a.t.call("POST", "/v1/track", { event, email: "ada@example.net" });
  await track("signed-up");
  await waitUntil(() => server.requests.length === 1);
  await track("bought");
  const statusNow = async () => (await a.executions(id)).map(({ status }) => status);
  await waitUntilRead(async () => (await statusNow())[0] === "EXITED");
  release();
  await a.settle();
  const execution = await a.only(id);
  expect(execution).toMatchObject({
    status: "EXITED",
    exitReason: 'The event "bought" happened.',
    steps: ["start COMPLETED"],
    context: {},
  });
});

describe("the request", () => {
  test("contains the workflow, execution, contact and event, and its own id", async () => {
    await start();
    const id = await a.workflow(chain(webhook()));
    const now = new Date(a.t.clock.now()).toISOString();
    await a.track("signed-up", { plan: "pro" });
    const execution = await a.only(id);
    expect(execution).toMatchObject({
      status: "COMPLETED",
      steps: ["start COMPLETED", "call COMPLETED"],
    });
    const [request] = server.requests;
    expect(request).toMatchObject({
      method: "POST",
      path: "/hook",
      headers: {
        "content-type": "application/json",
        "webhook-id": `${execution.id}.2`,
        "idempotency-key": `${execution.id}.2`,
      },
    });
    expect(JSON.parse(request?.body ?? "")).toMatchObject({
      workflow: { id, name: "Flow" },
      execution: {
        id: execution.id,
        startedAt: now,
        context: { plan: "pro" },
      },
      contact: { id: a.contactId(), email: "ada@example.net", data: { plan: "pro" } },
      event: { name: "signed-up", data: { plan: "pro" }, createdAt: now },
    });
  });

  test("is rendered by a thread if that takes long", async () => {
    await start();
    const slow = "{% for i in (1..20000) %}{% assign x = i | times: 3 %}{% endfor %}{{ plan }}";
    const id = await a.workflow(chain(webhook({ body: { a: slow, b: "{{ email }}" } })));
    expect(await longestHoldDuring(a.track("signed-up", { plan: "pro" }))).toBeLessThan(0.5);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
    expect(server.requests[0]?.body).toBe('{"a":"pro","b":"ada@example.net"}');
  });

  test("renders Liquid in URL, headers and body", async () => {
    await start();
    await a.workflow(
      chain(
        webhook({
          url: `${server.origin}/{{ plan | url_encode }}`,
          method: "PUT",
          headers: { "X-Who": "{{ email }}", "Content-Type": "application/vnd.a+json" },
          body: { who: "{{ contact.email }}", n: 1, list: ["{{ event.name }}", null] },
        }),
      ),
    );
    await a.track("signed-up", { plan: 'p"/?' });
    expect(server.requests[0]).toMatchObject({
      method: "PUT",
      path: "/p%22%2F%3F",
      headers: { "x-who": "ada@example.net", "content-type": "application/vnd.a+json" },
      body: '{"who":"ada@example.net","n":1,"list":["signed-up",null]}',
    });
  });

  test("has no body if it is a GET, and a plain text body if the config has a string", async () => {
    await start();
    await a.workflow(chain(webhook({ method: "GET" }), webhook2("Hello {{ email }}")));
    await a.track("signed-up");
    expect(server.requests.map(({ method, body }) => [method, body])).toEqual([
      ["GET", ""],
      ["POST", "Hello ada@example.net"],
    ]);
    expect(server.requests[1]?.headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  const webhook2 = (body: string) => ({ ...webhook({ body }), id: "second" });

  test("is not made if the URL is empty, and the step fails", async () => {
    await start();
    const nowhere = await a.workflow(chain(webhook({ url: "{{ missing }}" })));
    await a.track("signed-up");
    expect(await a.only(nowhere)).toMatchObject({ status: "FAILED", error: "This is not a URL." });
    expect(server.requests).toEqual([]);
  });
});

describe("the response", () => {
  test("is stored as an excerpt, and its JSON is added to the context", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    await start(() => ({ status: 201, headers, body: '{"score":7}' }));
    const yes = step("ask", "CONDITION", {
      field: "context.webhook.score",
      operator: "greaterThan",
      value: 5,
    });
    const id = await a.workflow(chain(webhook(), yes));
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution.context).toEqual({ webhook: { score: 7 } });
    expect(execution.details[1]).toEqual({ status: 201, body: '{"score":7}' });
    expect(execution.steps[2]).toBe("ask COMPLETED:yes");
  });

  const withoutJson: [name: string, answer: ReturnType<WebServer["answer"]>, detail: object][] = [
    [
      "with another content type",
      { headers: { "content-type": "text/plain" }, body: '{"score":5}' },
      {
        status: 200,
        body: '{"score":5}',
        isLeftOut: true,
        reason: "The content type of the response is not JSON.",
      },
    ],
    ["without a body", { status: 204 }, { status: 204, body: "" }],
  ];

  test.each(withoutJson)(
    "%s removes the one of an earlier step from the context",
    async (_, answer, detail) => {
      const headers = { "content-type": "application/json" };
      await start((_request, count) => (count === 1 ? { headers, body: '{"score":5}' } : answer));
      const ask = step("ask", "CONDITION", {
        field: "context.webhook.score",
        operator: "equals",
        value: 5,
      });
      const id = await a.workflow(chain(webhook(), { ...webhook(), id: "again" }, ask));
      await a.track("signed-up", { plan: "pro" });
      const execution = await a.only(id);
      expect(execution.steps.slice(1)).toEqual([
        "call COMPLETED",
        "again COMPLETED",
        "ask COMPLETED:no",
      ]);
      expect(execution.context).toEqual({ plan: "pro" });
      expect(execution.details[2]).toEqual(detail);
    },
  );

  test("is not added to the context if it is nested too deeply", async () => {
    const headers = { "content-type": "application/json" };
    const body = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
    await start(() => ({ status: 200, headers, body }));
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution).toMatchObject({ status: "COMPLETED", context: {} });
    expect(execution.details[1]).toMatchObject({
      isLeftOut: true,
      reason: "The response is nested too deeply.",
    });
  });

  test("is cut off if it is too long", async () => {
    const chunk = Buffer.alloc(64 * 1024, "x");
    let sent = 0;
    await start(() => ({
      write: (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const more = () => {
          while (sent < 1024 ** 3 && !response.destroyed) {
            sent += chunk.length;
            if (!response.write(chunk)) return void response.once("drain", more);
          }
          response.end();
        };
        more();
      },
    }));
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution).toMatchObject({ status: "COMPLETED", context: {} });
    expect(execution.details[1]).toMatchObject({
      status: 200,
      body: "x".repeat(1000),
      reason: "The response is longer than 64 KiB.",
    });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test("is not added if it is too large for the context, and the step says so", async () => {
    const body = JSON.stringify({ much: "x".repeat(40_000) });
    await start(() => ({ headers: { "content-type": "application/json" }, body }));
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up", { text: { value: "y".repeat(40_000), persistent: false } });
    const execution = await a.only(id);
    expect(execution.status).toBe("COMPLETED");
    expect(execution.details[1]).toMatchObject({ status: 200, isLeftOut: true });
  });

  test.each([301, 400, 401, 404, 410, 422])("%d fails the step", async (status) => {
    await start(() => ({ status }));
    const id = await a.workflow(chain(webhook(), step("end", "EXIT")));
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({
      status: "FAILED",
      currentStepId: "call",
      error: `The receiver answered ${status}.`,
      steps: ["start COMPLETED", "call FAILED"],
    });
    await a.advance(2 * DAY);
    expect(server.requests).toHaveLength(1);
  });

  test.each([408, 429, 500, 503])("%d leads to a retry with the same id", async (status) => {
    await start((_, count) => ({ status: count < 3 ? status : 200 }));
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({
      status: "RUNNING",
      currentStepId: "call",
      error: `The receiver answered ${status}.`,
    });
    await a.advance(0.8 * MINUTE - 1);
    expect(server.requests).toHaveLength(1);
    await a.advance(0.4 * MINUTE + 1);
    expect(server.requests).toHaveLength(2);
    await a.advance(6 * MINUTE);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED", error: null });
    expect(new Set(server.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("delays the retry by its Retry-After", async () => {
    await start((_, count) =>
      count === 1 ? { status: 429, headers: { "retry-after": "7200" } } : { status: 200 },
    );
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    await a.advance(2 * HOUR - 1);
    expect(server.requests).toHaveLength(1);
    await a.advance(0.4 * HOUR + 1);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
  });

  test("fails the step after eight tries in about a day", async () => {
    await start(() => ({ status: 503 }));
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    const startedAt = a.t.clock.now();
    for (let tries = 1; tries < 8; tries++) {
      expect(server.requests).toHaveLength(tries);
      const due = a.t.db.sqlite
        .query<{ at: number }, [string]>(
          `SELECT e.due_at AS at FROM workflow_executions e JOIN workflows w ON w.seq = e.workflow_seq
           WHERE w.id = ?`,
        )
        .get(id);
      await a.advance((due?.at ?? 0) - a.t.clock.now());
    }
    const hours = (a.t.clock.now() - startedAt) / HOUR;
    expect(hours).toBeGreaterThan(18);
    expect(hours).toBeLessThan(30);
    const execution = await a.only(id);
    expect(execution).toMatchObject({
      status: "FAILED",
      steps: ["start COMPLETED", "call FAILED"],
    });
    expect(execution.error).toBe("The receiver answered 503. That was the last of 8 tries.");
    await a.advance(10 * DAY);
    expect(server.requests).toHaveLength(8);
  });
});

describe("a host", () => {
  const nextGuarded = automationPerTest({
    fetchGuarded: createFetchGuarded({ dns: FAILING_DNS, allowPrivateAddresses: false }),
  });
  test.each([
    ["private", "http://10.1.2.3/"],
    ["loopback", "http://127.0.0.2:8080/"],
    ["localhost", "http://localhost:8080/"],
    ["with metadata", "http://169.254.169.254/latest/meta-data/"],
    ["with metadata, IPv6", "http://[fd00:ec2::254]/"],
  ] as const)("%s is never called, and the step fails", async (_, url) => {
    server = await startWebServer();
    a = await nextGuarded();
    const id = await a.workflow(chain(webhook({ url })));
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution.status).toBe("FAILED");
    expect(execution.error).toContain("has no address that may be asked");
  });

  test("that redirects to a private address is not followed", async () => {
    const location = "http://169.254.169.254/latest/";
    await start(() => ({ status: 302, headers: { location } }), guarded());
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution).toMatchObject({
      status: "FAILED",
      steps: ["start COMPLETED", "call FAILED"],
    });
    expect(execution.error).toContain("169.254.169.254 has no address that may be asked");
    expect(server.requests).toHaveLength(1);
  });

  test("that never answers is called again after a timeout", async () => {
    const silent = { write: () => {} };
    const fetches = [guarded({ timeoutMs: 50 }), guarded()].map((each) => each.fetchGuarded);
    const [hasty, patient] = fetches;
    if (hasty === undefined || patient === undefined) throw new Error("two clients");
    let calls = 0;
    await start((_, count) => (count === 1 ? silent : { status: 200 }), {
      fetchGuarded: (...request) => (calls++ === 0 ? hasty : patient)(...request),
    });
    const id = await a.workflow(chain(webhook()));
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution).toMatchObject({ status: "RUNNING", currentStepId: "call" });
    expect(execution.error).toContain("Timed out");
    await a.advance(2 * MINUTE);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
  });

  test("that refuses the connection is called again", async () => {
    await start();
    const { port } = server;
    await server.close();
    const id = await a.workflow(chain(webhook({ url: `http://127.0.0.1:${port}/` })));
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({ status: "RUNNING", currentStepId: "call" });
    server = await startWebServer({ port });
    await a.advance(2 * MINUTE);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
  });
});

describe("a call that is under way", () => {
  test("does not change an execution that was cancelled", async () => {
    let release: () => void = () => {};
    const requested = Promise.withResolvers<void>();
    await start(() => ({
      write: (response) => {
        release = () => response.end("{}");
        requested.resolve();
      },
    }));
    const id = await a.workflow(chain(webhook(), step("end", "EXIT")));
    const tracked = a.track("signed-up");
    await requested.promise;
    const [executionId] = (await a.executions(id)).map((execution) => execution.id);
    const cancelled = await a.t.call(
      "POST",
      `/workflows/${id}/executions/${executionId ?? ""}/cancel`,
    );
    expect(cancelled.at("data.status")).toBe("CANCELLED");
    release();
    await tracked;
    expect(await a.only(id)).toMatchObject({ status: "CANCELLED", steps: ["start COMPLETED"] });
  });

  test("is not repeated after the clock jumped forward by a day", async () => {
    let release: () => void = () => {};
    const requested = Promise.withResolvers<void>();
    await start(() => ({
      write: (response) => {
        release = () => response.end("{}");
        requested.resolve();
      },
    }));
    const id = await a.workflow(chain(webhook(), delay("wait", 1, "hours")));
    const tracked = a.track("signed-up");
    await requested.promise;
    a.t.clock.advance(DAY);
    await Bun.sleep(0);
    release();
    await tracked;
    expect(server.requests).toHaveLength(1);
    expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "wait" });
  });

  test("leaves slots free for other workflows if its receiver is slow", async () => {
    const held: (() => void)[] = [];
    await start(({ path }) =>
      path === "/slow"
        ? { write: (response) => void held.push(() => response.end()) }
        : { status: 200 },
    );
    const slow = await a.workflow(chain(webhook({ url: `${server.origin}/slow` })));
    for (let i = 0; i < 30; i++) {
      await a.t.call("POST", "/v1/track", { event: "signed-up", email: `p${i}@example.net` });
    }
    while (held.length < 16) await Bun.sleep(0);
    const quick = await a.workflow({
      ...chain(webhook()),
      steps: [{ id: "start", type: "TRIGGER", config: { eventName: "other" } }, webhook()],
    });
    await a.t.call("POST", "/v1/track", { event: "other", email: "p0@example.net" });
    while ((await a.executions(quick))[0]?.status !== "COMPLETED") await Bun.sleep(0);
    // The limit of concurrent calls of one workflow.
    expect(held).toHaveLength(16);
    while (server.requests.filter(({ path }) => path === "/slow").length < 30 || held.length > 0) {
      for (const release of held.splice(0)) release();
      await Bun.sleep(0);
    }
    await a.settle();
    const statuses = (await a.executions(slow)).map(({ status }) => status);
    expect(statuses.every((status) => status === "COMPLETED")).toBe(true);
  });
});

test("the details of the step do not contain the request", async () => {
  await start(() => ({ status: 404, body: "no such thing" }));
  const id = await a.workflow(chain(webhook({ headers: { Authorization: "Bearer secret" } })));
  await a.track("signed-up");
  const execution = await a.only(id);
  expect(valueAt(execution.details[1], "body")).toBe("no such thing");
  expect(JSON.stringify(execution)).not.toContain("Bearer secret");
});
