import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type TestResponse, type TestApp, testApp } from "../../support/app.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { expectError, type ExpectedError } from "../../support/refusal.ts";
import { signIn } from "../../support/session.ts";
import { chain, delay, type Given, graph, step, trigger } from "./graphs.ts";

let t: TestApp;
let templateId: string;
beforeAll(async () => {
  t = await testApp();
  const template = { name: "Hi", subject: "s", body: "b", type: "MARKETING" };
  templateId = await t.create("/templates", template, "data.id");
});
afterAll(() => t.close());

const mail = (id: string, template = templateId) =>
  step(id, "SEND_EMAIL", { templateId: template });
const split = (id: string, field = "email.opened") =>
  step(id, "CONDITION", { field, operator: "triggered" });

const make = (body: object = chain(delay("wait"))) =>
  t.create("/workflows", { name: "W", ...body }, "data.id");
const read = async (id: string) => (await t.call("GET", `/workflows/${id}`)).at("data");

/** The transitions of a response in the notation of graphs.ts: `start>a`, `c>b:yes`. */
function transitionsOf(answer: TestResponse): string[] {
  return listAt(answer.body, "data.transitions").map((edge) => {
    const branch = Reflect.get(Object(edge), "branch");
    const ends = `${stringAt(edge, "from")}>${stringAt(edge, "to")}`;
    return branch === null ? ends : `${ends}:${String(branch)}`;
  });
}

/** Expects that the request is refused and changes nothing. */
async function expectRefused(
  method: string,
  path: string,
  body: unknown,
  refusal: ExpectedError,
): Promise<TestResponse> {
  const before = t.contents();
  const answer = await t.call(method, path, body);
  expectError(answer, refusal);
  expect(t.contents()).toEqual(before);
  return answer;
}

const invalid = (...errors: [string, string][]): ExpectedError => ({
  status: 422,
  code: "VALIDATION_ERROR",
  errors,
});

describe("headers of a WEBHOOK step", () => {
  const headers = { Authorization: "Bearer secret-of-the-crm", "X-Team": "sales" };
  const call = { url: "https://crm.example/leads", method: "POST", headers };

  async function member(role: "VIEWER" | "EDITOR") {
    const session = await signIn(t, { email: `${role.toLowerCase()}@b.co`, isOwner: false });
    const { accounts, writer } = t.app;
    await writer.write(() => accounts.members.put(t.project.seq, session.user.seq, role));
    return session;
  }
  const headersIn = (steps: unknown[]) =>
    steps.flatMap((each) => valueAt(each, "config.headers") ?? []);

  test("are shown with their values to editors and secret keys, and without to viewers", async () => {
    const id = await make(chain(step("call", "WEBHOOK", call)));
    const one = `/workflows/${id}?project=${t.project.id}`;
    const list = `/workflows?project=${t.project.id}`;
    const readers = [
      { get: (path: string) => t.call("GET", path), expected: headers },
      { get: (await member("EDITOR")).get, expected: headers },
      {
        get: (await member("VIEWER")).get,
        expected: { Authorization: "(hidden)", "X-Team": "(hidden)" },
      },
    ];
    for (const { get, expected } of readers) {
      const shown = listAt((await get(one)).body, "data.steps");
      expect(headersIn(shown)).toEqual([expected]);
      const listed = listAt((await get(list)).body, "data.items");
      expect(headersIn(listed.flatMap((each) => listAt(each, "steps")))).toEqual([expected]);
    }
    expect((await t.call("DELETE", `/workflows/${id}`)).status).toBe(204);
  });
});

describe("POST /workflows", () => {
  test("responds 201 with the whole record", async () => {
    const answer = await t.call("POST", "/workflows", {
      name: "Welcome",
      description: "New customers",
      allowReentry: true,
      ...chain(mail("mail"), { ...delay("wait"), name: "Two days", position: { x: 1, y: -2.5 } }),
    });
    expect(answer.status).toBe(201);
    const shown = { position: { x: 0, y: 0 } };
    expect(answer.at("data")).toEqual({
      id: answer.text("data.id"),
      name: "Welcome",
      description: "New customers",
      enabled: false,
      trigger: { type: "EVENT", eventName: "signed-up" },
      nextEntryAt: null,
      allowReentry: true,
      exits: [],
      revision: 1,
      steps: [
        { ...trigger(), name: "TRIGGER", ...shown },
        { ...mail("mail"), name: "SEND_EMAIL", ...shown },
        { ...delay("wait"), name: "Two days", position: { x: 1, y: -2.5 } },
      ],
      transitions: [
        { id: "start-next", from: "start", to: "mail", branch: null },
        { id: "mail-next", from: "mail", to: "wait", branch: null },
      ],
      createdAt: "2026-03-02T10:00:00.000Z",
      updatedAt: "2026-03-02T10:00:00.000Z",
    });
    const again = await t.call("GET", `/workflows/${answer.text("data.id")}`);
    expect(again.body).toEqual(answer.body);
  });

  test("creates a graph of one TRIGGER from a trigger alone", async () => {
    const body = { name: "W", trigger: { type: "EVENT", eventName: "paid" } };
    const answer = await t.call("POST", "/workflows", body);
    expect(answer.at("data.steps")).toEqual([
      {
        id: "trigger",
        type: "TRIGGER",
        name: "Trigger",
        position: { x: 0, y: 0 },
        config: { eventName: "paid" },
      },
    ]);
    expect(answer.at("data.transitions")).toEqual([]);
    expect([answer.at("data.enabled"), answer.at("data.allowReentry")]).toEqual([false, false]);
  });

  const paid = { type: "EVENT", eventName: "paid" };
  const triggers: [name: string, body: object, steps: string[], transitions: string[]][] = [
    [
      "and leads to the only first step",
      { trigger: paid, ...graph([delay("a"), delay("b")], ["a>b"]) },
      ["trigger", "a", "b"],
      ["a>b", "trigger>a"],
    ],
    [
      "and leads to the step of a given transition",
      { trigger: paid, ...graph([delay("a"), delay("b")], ["trigger>b", "b>a", "a>b"]) },
      ["trigger", "a", "b"],
      ["trigger>b", "b>a", "a>b"],
    ],
    [
      "and gets another id than the steps",
      { trigger: paid, ...graph([delay("trigger")]) },
      ["trigger-2", "trigger"],
      ["trigger-2>trigger"],
    ],
    [
      "and equals the event of the TRIGGER",
      { trigger: paid, ...graph([trigger("paid")]) },
      ["start"],
      [],
    ],
    [
      "and completes a TRIGGER without a config",
      { trigger: paid, ...graph([step("start", "TRIGGER")]) },
      ["start"],
      [],
    ],
  ];
  for (const [name, body, steps, transitions] of triggers) {
    test(`accepts a trigger that is given ${name}`, async () => {
      const answer = await t.call("POST", "/workflows", { name: "W", ...body });
      expect(answer.status).toBe(201);
      const ids = listAt(answer.body, "data.steps").map((each) => stringAt(each, "id"));
      expect([ids, transitionsOf(answer)]).toEqual([steps, transitions]);
      expect(answer.at("data.trigger")).toEqual(paid);
    });
  }

  const bad: [name: string, body: unknown, errors: [string, string][]][] = [
    [
      "no name and no trigger",
      {},
      [
        ["name", "required"],
        ["trigger", "required"],
      ],
    ],
    ["an empty graph", { name: "W", ...graph([]) }, [["trigger", "required"]]],
    [
      "a trigger that disagrees with its step",
      { name: "W", trigger: paid, ...chain() },
      [["trigger.eventName", "invalid_value"]],
    ],
    [
      "two first steps for a trigger",
      { name: "W", trigger: paid, ...graph([delay("a"), delay("b")]) },
      [
        ["steps.0", "invalid_value"],
        ["steps.1", "invalid_value"],
      ],
    ],
    [
      "violations in several fields, which are all reported",
      { name: "", ...chain(delay("a", 0), step("b", "EXIT", { reason: 1 })) },
      [
        ["name", "too_small"],
        ["steps.1.config.amount", "too_small"],
        ["steps.2.config.reason", "invalid_type"],
      ],
    ],
  ];
  for (const [name, body, errors] of bad) {
    test(`refuses ${name}`, () => expectRefused("POST", "/workflows", body, invalid(...errors)));
  }

  test("refuses an unknown template with an error that names the step", async () => {
    const body = {
      name: "W",
      ...chain({ ...mail("m", "gone"), name: "Hello" }, mail("n", "gone")),
    };
    const unknown: [string, string][] = [
      ["steps.1.config.templateId", "unknown_reference"],
      ["steps.2.config.templateId", "unknown_reference"],
    ];
    const answer = await expectRefused("POST", "/workflows", body, invalid(...unknown));
    expect(answer.text("error.errors.0.message")).toBe(
      'names no template of this project, in step "Hello" (m)',
    );
  });

  test("counts the steps of the request in errors, with and without a TRIGGER among them", async () => {
    const unlisted = {
      steps: [delay("d"), mail("m", "gone")],
      transitions: [{ from: "d", to: "m" }],
    };
    const created = {
      name: "W",
      trigger: { eventName: "signed-up" },
      ...unlisted,
    };
    const errors = invalid(["steps.1.config.templateId", "unknown_reference"]);
    await expectRefused("POST", "/workflows", created, errors);
    const id = await make(chain(delay("d")));
    await expectRefused("PATCH", `/workflows/${id}`, unlisted, errors);
    const listed = chain(delay("d"), mail("m", "gone"));
    const later = invalid(["steps.2.config.templateId", "unknown_reference"]);
    await expectRefused("PATCH", `/workflows/${id}`, listed, later);
  });

  test("refuses a template of another project", async () => {
    const { secretKey: key } = await t.makeProject("stranger");
    const body = { name: "W", ...chain(mail("m")) };
    const answer = await t.call("POST", "/workflows", body, { key });
    expectError(answer, invalid(["steps.1.config.templateId", "unknown_reference"]));
  });

  const lost = { field: "segment.gone", operator: "memberOf" };
  const conditions: [name: string, config: Given, field: string][] = [
    ["short", lost, "config.field"],
    [
      "long",
      { condition: { logic: "AND", groups: [{ filters: [lost] }] } },
      "config.condition.groups.0.filters.0.field",
    ],
    [
      "multi",
      { mode: "multi", field: "segment.gone", branches: [{ id: "a", operator: "memberOf" }] },
      "config.branches.0.field",
    ],
  ];
  for (const [name, config, field] of conditions) {
    test(`refuses an unknown segment in a condition of the ${name} form`, async () => {
      const body = { name: "W", ...chain(step("c", "CONDITION", config)) };
      const errors = invalid([`steps.1.${field}`, "unknown_reference"]);
      const answer = await expectRefused("POST", "/workflows", body, errors);
      expect(answer.text("error.errors.0.message")).toEndWith(', in step "CONDITION" (c)');
    });
  }

  const hosts = [
    "http://127.0.0.1/x",
    "http://0x7f.1/",
    "http://10.1.2.3",
    "http://[::1]:8080/x",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest",
    "http://localhost:3000",
    "http://x.localhost",
    "https://192.168.0.1/{{ data.id }}",
    "http://2130706433/",
  ];
  for (const url of hosts) {
    test(`refuses a webhook to ${url}`, async () => {
      const body = { name: "W", ...chain(step("h", "WEBHOOK", { url, method: "POST" })) };
      await expectRefused(
        "POST",
        "/workflows",
        body,
        invalid(["steps.1.config.url", "invalid_value"]),
      );
    });
  }

  test("accepts a webhook to a private address if the configuration allows them", async () => {
    const own = await testApp({ config: { allowPrivateAddresses: true } });
    const config = { url: "http://127.0.0.1/x", method: "POST" };
    const body = { name: "W", ...chain(step("h", "WEBHOOK", config)) };
    expect((await own.call("POST", "/workflows", body)).status).toBe(201);
    await own.close();
  });

  test("creates one workflow per Idempotency-Key and repeats its response", async () => {
    const before = t.countRows("workflows");
    const post = () =>
      t.call(
        "POST",
        "/workflows",
        { name: "W", ...chain() },
        { headers: { "idempotency-key": "k" } },
      );
    const [first, second] = [await post(), await post()];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(t.countRows("workflows")).toBe(before + 1);
  });
});

describe("GET /workflows", () => {
  test("lists workflows page by page, newest first, filtered by enabled, with exact totals", async () => {
    const own = await testApp();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.unshift(
        await own.create(
          "/workflows",
          { name: `W${i}`, enabled: i % 2 === 0, ...chain() },
          "data.id",
        ),
      );
    }
    const idsAt = async (query: string) => {
      const answer = await own.call("GET", `/workflows${query}`);
      const items = listAt(answer.body, "data.items").map((item) => stringAt(item, "id"));
      return { items, total: answer.at("data.total"), next: answer.at("data.nextCursor") };
    };
    expect(await idsAt("")).toEqual({ items: ids, total: 5, next: null });
    const first = await idsAt("?limit=2");
    expect([first.items, first.total]).toEqual([ids.slice(0, 2), 5]);
    const rest = await idsAt(`?limit=3&cursor=${String(first.next)}`);
    expect(rest).toEqual({ items: ids.slice(2), total: 5, next: null });
    const on = await idsAt("?enabled=true");
    expect([on.items, on.total]).toEqual([ids.filter((_, i) => i % 2 === 0), 3]);
    const off = await idsAt("?enabled=false");
    expect([off.items, off.total]).toEqual([ids.filter((_, i) => i % 2 === 1), 2]);
    await own.close();
  });

  test("refuses a cursor that it did not return", async () => {
    expect((await t.call("GET", "/workflows?cursor=x")).status).toBe(422);
  });
});

describe("PATCH /workflows/{id}", () => {
  test("changes only the given fields", async () => {
    const id = await make({ description: "d", ...chain(delay("wait")) });
    const before = await read(id);
    t.clock.advance(1000);
    const answer = await t.call("PATCH", `/workflows/${id}`, { enabled: true, name: "Other" });
    expect(answer.at("data")).toEqual({
      ...Object(before),
      enabled: true,
      name: "Other",
      revision: 2,
      updatedAt: new Date(t.clock.now()).toISOString(),
    });
    const cleared = await t.call("PATCH", `/workflows/${id}`, { description: null });
    expect(cleared.at("data.description")).toBeNull();
  });

  test("accepts a record that was read", async () => {
    const id = await make(
      chain(split("c"), delay("d")) &&
        graph([trigger(), split("c"), delay("d")], ["start>c", "c>d:no"]),
    );
    const before = await read(id);
    const answer = await t.call("PATCH", `/workflows/${id}`, before);
    expect(answer.status).toBe(200);
    expect(answer.at("data")).toEqual({
      ...Object(before),
      updatedAt: answer.at("data.updatedAt"),
    });
  });

  test("replaces the graph as a whole", async () => {
    const id = await make();
    const answer = await t.call("PATCH", `/workflows/${id}`, chain(mail("a"), step("b", "EXIT")));
    expect(transitionsOf(answer)).toEqual(["start>a", "a>b"]);
  });

  test("changes the TRIGGER step with a trigger, and the trigger with a TRIGGER step", async () => {
    const id = await make();
    const other = { type: "EVENT", eventName: "left" };
    const answer = await t.call("PATCH", `/workflows/${id}`, { trigger: other });
    expect(answer.at("data.steps.0.config")).toEqual({ eventName: "left" });
    const back = await t.call("PATCH", `/workflows/${id}`, graph([trigger("came")], []));
    expect(back.at("data.trigger.eventName")).toBe("came");
  });

  test("adds the TRIGGER step and its transition if the request leaves them out", async () => {
    const started = { type: "EVENT", eventName: "came" };
    const steps = [delay("b"), delay("c")];
    const transitions = [{ id: "1", from: "b", to: "c" }];
    const body = { name: "Short", trigger: started, steps, transitions };
    const id = await t.create("/workflows", body, "data.id");
    const before = (await t.call("GET", `/workflows/${id}`)).at("data.steps.0");
    for (const patch of [
      { steps, transitions },
      { transitions },
      { steps: [delay("b")], transitions: [] },
    ]) {
      const answer = await t.call("PATCH", `/workflows/${id}`, patch);
      expect(answer.status).toBe(200);
      expect([answer.at("data.trigger"), answer.at("data.steps.0")]).toEqual([started, before]);
      expect(answer.at("data.transitions")).toContainEqual(
        expect.objectContaining({ from: "trigger", to: "b" }),
      );
    }
  });

  const other = { type: "EVENT", eventName: "left" };
  const bad: [name: string, patch: unknown, errors: [string, string][]][] = [
    ["an empty name", { name: "" }, [["name", "too_small"]]],
    ["no steps", { steps: [] }, [["transitions.0.to", "unknown_reference"]]],
    [
      "steps without the targets of transitions",
      { steps: [trigger(), delay("b")] },
      [["transitions.0.to", "unknown_reference"]],
    ],
    [
      "steps that cannot be reached",
      { steps: [trigger(), delay("b"), delay("c")], transitions: [] },
      [
        ["steps.1", "invalid_value"],
        ["steps.2", "invalid_value"],
      ],
    ],
    [
      "a trigger that disagrees",
      { trigger: other, ...chain() },
      [["trigger.eventName", "invalid_value"]],
    ],
    ["null as steps", { steps: null }, [["steps", "invalid_type"]]],
    [
      "an unknown template",
      chain(step("m", "SEND_EMAIL", { templateId: "gone" })),
      [["steps.1.config.templateId", "unknown_reference"]],
    ],
  ];
  for (const [name, patch, errors] of bad) {
    test(`refuses ${name}`, async () => {
      await expectRefused("PATCH", `/workflows/${await make()}`, patch, invalid(...errors));
    });
  }
});

describe("single steps", () => {
  let id: string;
  beforeEach(async () => {
    id = await make(graph([trigger(), split("c"), delay("d")], ["start>c", "c>d:no"]));
  });
  const add = (body: unknown) => t.call("POST", `/workflows/${id}/steps`, body);

  test("are inserted between a step and the step that followed it", async () => {
    const answer = await add({ id: "m", name: "Mail", ...mail("m"), after: "start" });
    expect(answer.status).toBe(201);
    expect(transitionsOf(answer)).toEqual(["start>m", "c>d:no", "m>c"]);
    expect(answer.at("data.steps.3")).toEqual({
      ...mail("m"),
      name: "Mail",
      position: { x: 0, y: 0 },
    });
  });

  const inserted: [name: string, body: Given, expected: string[]][] = [
    ["at a branch", { ...delay("n"), after: "c", branch: "no" }, ["start>c", "c>n:no", "n>d"]],
    [
      "at a branch without a transition",
      { ...delay("n"), after: "c", branch: "yes" },
      ["start>c", "c>d:no", "c>n:yes"],
    ],
    ["after the last step", { ...delay("n"), after: "d" }, ["start>c", "c>d:no", "d>n"]],
    [
      "as a CONDITION, whose branch yes leads to the next step",
      { ...split("n"), after: "start" },
      ["start>n", "c>d:no", "n>c:yes"],
    ],
    [
      "as a CONDITION in the mode multi, whose branch default leads to the next step",
      {
        ...step("n", "CONDITION", {
          mode: "multi",
          field: "data.a",
          branches: [{ id: "x", operator: "exists" }],
        }),
        after: "start",
      },
      ["start>n", "c>d:no", "n>c:default"],
    ],
    [
      "without an id, which is generated",
      { type: "UPDATE_CONTACT", config: { updates: { a: 1 } }, after: "d" },
      ["start>c", "c>d:no", "d>update-contact"],
    ],
    [
      "as an EXIT after the last step",
      { ...step("x", "EXIT"), after: "d" },
      ["start>c", "c>d:no", "d>x"],
    ],
  ];
  for (const [name, body, expected] of inserted) {
    test(`are inserted ${name}`, async () => {
      const answer = await add(body);
      expect(answer.status).toBe(201);
      expect(transitionsOf(answer)).toEqual(expected);
      expect(await read(id)).toEqual(answer.at("data"));
    });
  }

  const bad: [name: string, body: Given, errors: [string, string][]][] = [
    ["without after", delay("n"), [["after", "required"]]],
    ["after an unknown step", { ...delay("n"), after: "gone" }, [["after", "unknown_reference"]]],
    ["without a type", { id: "n", after: "d" }, [["type", "required"]]],
    ["of an unknown type", { id: "n", type: "SMS", after: "d" }, [["type", "invalid_value"]]],
    [
      "with an invalid config",
      { ...delay("n", "2"), after: "d" },
      [["config.amount", "invalid_type"]],
    ],
    [
      "with an id that is used",
      { ...delay("d"), after: "c", branch: "yes" },
      [["id", "invalid_value"]],
    ],
    ["with an id of a wrong type", { ...delay("n"), id: 1, after: "d" }, [["id", "invalid_type"]]],
    [
      "without a branch after a step that has branches",
      { ...delay("n"), after: "c" },
      [["branch", "invalid_value"]],
    ],
    [
      "at an unknown branch",
      { ...delay("n"), after: "d", branch: "yes" },
      [["branch", "invalid_value"]],
    ],
    [
      "as a second TRIGGER",
      { ...trigger("e", "t2"), after: "d" },
      [
        ["type", "invalid_value"],
        ["after", "invalid_value"],
      ],
    ],
    [
      "as an EXIT before others",
      { ...step("x", "EXIT"), after: "start" },
      [
        ["steps.1", "invalid_value"],
        ["steps.2", "invalid_value"],
      ],
    ],
    [
      "with an unknown template",
      { ...step("m", "SEND_EMAIL", { templateId: "gone" }), after: "d" },
      [["config.templateId", "unknown_reference"]],
    ],
  ];
  for (const [name, body, errors] of bad) {
    test(`are not inserted ${name}`, async () => {
      await expectRefused("POST", `/workflows/${id}/steps`, body, invalid(...errors));
    });
  }

  test("are changed", async () => {
    const patch = { name: "Rest", position: { x: 5, y: 6 }, config: { amount: 1, unit: "hours" } };
    const answer = await t.call("PATCH", `/workflows/${id}/steps/d`, patch);
    expect(answer.status).toBe(200);
    expect(answer.at("data.steps.2")).toEqual({ id: "d", type: "DELAY", ...patch });
  });

  test("change the trigger if they are the TRIGGER", async () => {
    const patch = { config: { eventName: "left" } };
    const answer = await t.call("PATCH", `/workflows/${id}/steps/start`, patch);
    expect(answer.at("data.trigger.eventName")).toBe("left");
  });

  const badPatches: [patch: Given, errors: [string, string][]][] = [
    [{ config: { amount: 0, unit: "days" } }, [["config.amount", "too_small"]]],
    [{ config: null }, [["config", "invalid_type"]]],
    [{ name: 1 }, [["name", "invalid_type"]]],
    [{ position: "x" }, [["position", "invalid_type"]]],
    [
      { type: "TRIGGER", config: { eventName: "e" } },
      [
        ["type", "invalid_value"],
        ["transitions.1.to", "invalid_value"],
      ],
    ],
    [
      { type: "WEBHOOK" },
      [
        ["config.url", "required"],
        ["config.method", "required"],
      ],
    ],
  ];
  for (const [patch, errors] of badPatches) {
    test(`are not changed to ${JSON.stringify(patch)}`, async () => {
      await expectRefused("PATCH", `/workflows/${id}/steps/d`, patch, invalid(...errors));
    });
  }

  test("are not changed if a transition would have an unknown branch", async () => {
    const multi = { mode: "multi", field: "data.a", branches: [{ id: "x", operator: "exists" }] };
    const path = `/workflows/${id}/steps/c`;
    const branch = invalid(["transitions.1.branch", "invalid_value"]);
    await expectRefused("PATCH", path, { config: multi }, branch);
  });

  test("are deleted, and the step before leads to the step after", async () => {
    await add({ ...mail("m"), after: "start" });
    const answer = await t.call("DELETE", `/workflows/${id}/steps/m`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(transitionsOf(await t.call("GET", `/workflows/${id}`))).toEqual(["start>c", "c>d:no"]);
    expect((await t.call("DELETE", `/workflows/${id}/steps/d`)).status).toBe(204);
    expect(transitionsOf(await t.call("GET", `/workflows/${id}`))).toEqual(["start>c"]);
  });

  test("are deleted even if they lead to themselves", async () => {
    const loop = await make(graph([trigger(), delay("d")], ["start>d", "d>d"]));
    expect((await t.call("DELETE", `/workflows/${loop}/steps/d`)).status).toBe(204);
    expect(transitionsOf(await t.call("GET", `/workflows/${loop}`))).toEqual([]);
  });

  test("are not deleted if they are the TRIGGER, have several transitions or are the wait of a cycle", async () => {
    const conflict = { status: 409, code: "CONFLICT" };
    await expectRefused("DELETE", `/workflows/${id}/steps/start`, undefined, conflict);
    await add({ ...mail("m"), after: "c", branch: "yes" });
    const answer = await expectRefused("DELETE", `/workflows/${id}/steps/c`, undefined, conflict);
    expect(answer.text("error.message")).toContain('Step "CONDITION" (c)');
    const loop = await make(graph([trigger(), mail("m"), delay("d")], ["start>m", "m>d", "d>m"]));
    await expectRefused("DELETE", `/workflows/${loop}/steps/d`, undefined, conflict);
  });

  test("respond 404 if they are unknown", async () => {
    const lost = { status: 404, code: "STEP_NOT_FOUND" };
    await expectRefused("PATCH", `/workflows/${id}/steps/gone`, { name: "x" }, lost);
    await expectRefused("DELETE", `/workflows/${id}/steps/gone`, undefined, lost);
  });

  test("may have an id that must be encoded in a path", async () => {
    const given = "a/b ü?";
    await add({ ...delay(given), after: "d" });
    const path = `/workflows/${id}/steps/${encodeURIComponent(given)}`;
    expect((await t.call("PATCH", path, { name: "Odd" })).at("data.steps.3.name")).toBe("Odd");
  });

  test("are inserted once per Idempotency-Key", async () => {
    const body = { ...delay("n"), after: "d" };
    const rest = { headers: { "idempotency-key": `steps-${id}` } };
    const first = await t.call("POST", `/workflows/${id}/steps`, body, rest);
    const second = await t.call("POST", `/workflows/${id}/steps`, body, rest);
    expect([second.status, second.body]).toEqual([201, first.body]);
  });
});

describe("single transitions", () => {
  let id: string;
  beforeEach(async () => {
    id = await make(graph([trigger(), split("c"), delay("d")], ["start>c", "c>d:no"]));
  });
  const path = (rest = "") => `/workflows/${id}/transitions${rest}`;

  test("are added, changed and deleted", async () => {
    const added = await t.call("POST", path(), { id: "t", from: "d", to: "c" });
    expect([added.status, transitionsOf(added)]).toEqual([201, ["start>c", "c>d:no", "d>c"]]);
    const led = await t.call("PATCH", path("/t"), { from: "c", to: "d", branch: "yes" });
    expect([led.status, transitionsOf(led)]).toEqual([200, ["start>c", "c>d:no", "c>d:yes"]]);
    const plain = await t.call("PATCH", path("/t"), { from: "d", branch: null });
    expect(transitionsOf(plain)).toEqual(["start>c", "c>d:no", "d>d"]);
    expect((await t.call("DELETE", path("/t"))).status).toBe(204);
    expect(transitionsOf(await t.call("GET", `/workflows/${id}`))).toEqual(["start>c", "c>d:no"]);
  });

  const bad: [method: string, rest: string, body: unknown, errors: [string, string][]][] = [
    [
      "POST",
      "",
      {},
      [
        ["from", "required"],
        ["to", "required"],
      ],
    ],
    ["POST", "", { from: "d", to: "gone" }, [["to", "unknown_reference"]]],
    ["POST", "", { from: "d", to: "start" }, [["to", "invalid_value"]]],
    ["POST", "", { from: "d", to: "c", branch: "yes" }, [["branch", "invalid_value"]]],
    ["POST", "", { from: "start", to: "d" }, [["from", "invalid_value"]]],
    ["POST", "", { id: "c-no", from: "d", to: "c" }, [["id", "invalid_value"]]],
    ["POST", "", { id: 1, from: "d", to: "c" }, [["id", "invalid_type"]]],
    ["PATCH", "/c-no", { to: "gone" }, [["to", "unknown_reference"]]],
    ["PATCH", "/c-no", { branch: "maybe" }, [["branch", "invalid_value"]]],
    [
      "PATCH",
      "/c-no",
      { to: "c" },
      [
        ["steps.2", "invalid_value"],
        ["steps.1", "invalid_value"],
      ],
    ],
    ["PATCH", "/start-next", { to: "d" }, [["steps.1", "invalid_value"]]],
    ["PATCH", "/c-no", { to: 1 }, [["to", "invalid_type"]]],
  ];
  for (const [method, rest, body, errors] of bad) {
    test(`${method} refuses ${JSON.stringify(body)}`, async () => {
      await expectRefused(method, path(rest), body, invalid(...errors));
    });
  }

  test("respond 409 if a step could not be reached without them, and 404 if they are unknown", async () => {
    const conflict = { status: 409, code: "CONFLICT" };
    const answer = await expectRefused("DELETE", path("/c-no"), undefined, conflict);
    expect(answer.text("error.message")).toContain('step "DELAY" (d)');
    const lost = { status: 404, code: "TRANSITION_NOT_FOUND" };
    await expectRefused("DELETE", path("/gone"), undefined, lost);
    await expectRefused("PATCH", path("/gone"), { to: "d" }, lost);
  });
});

describe("a workflow prevents the deletion of", () => {
  const conflict = { status: 409, code: "CONFLICT" };

  test("a template that it sends", async () => {
    const template = { name: "T", subject: "s", body: "b", type: "TRANSACTIONAL" };
    const used = await t.create("/templates", template, "data.id");
    const id = await make({ ...chain(mail("m", used)), name: "Series" });
    const answer = await expectRefused("DELETE", `/templates/${used}`, undefined, conflict);
    expect(answer.text("error.message")).toBe('This template is used by workflow "Series".');
    const hook = { url: "https://a.example", method: "POST", body: { templateId: used } };
    await t.call("PATCH", `/workflows/${id}`, chain(step("h", "WEBHOOK", hook)));
    expect((await t.call("DELETE", `/templates/${used}`)).status).toBe(204);
  });

  test("a segment in its conditions, until the workflow is deleted", async () => {
    const segment = { name: "VIP", type: "STATIC" };
    const used = await t.create("/segments", segment, "data.id");
    const filter = { field: `segment.${used}`, operator: "memberOf" };
    const long = { condition: { logic: "AND", groups: [{ filters: [filter] }] } };
    const id = await make({ ...chain(step("c", "CONDITION", long)), name: "Series" });
    const multi = {
      mode: "multi",
      field: filter.field,
      branches: [{ id: "in", operator: "memberOf" }],
    };
    const other = await make({ ...chain(step("c", "CONDITION", multi)), name: "Other" });
    const answer = await expectRefused("DELETE", `/segments/${used}`, undefined, conflict);
    expect(answer.text("error.message")).toBe(
      'This segment is used by workflow "Series", workflow "Other".',
    );
    await t.call("DELETE", `/workflows/${id}`);
    await t.call("DELETE", `/workflows/${other}`);
    expect((await t.call("DELETE", `/segments/${used}`)).status).toBe(204);
  });
});

describe("a workflow of another project is not found and not changed", () => {
  const cases: [method: string, rest: string, body?: unknown][] = [
    ["GET", ""],
    ["PATCH", "", { name: "mine" }],
    ["DELETE", ""],
    ["POST", "/steps", { ...delay("n"), after: "wait" }],
    ["PATCH", "/steps/wait", { name: "mine" }],
    ["DELETE", "/steps/wait"],
    ["POST", "/transitions", { from: "wait", to: "wait" }],
    ["PATCH", "/transitions/start-next", { to: "wait" }],
    ["DELETE", "/transitions/start-next"],
  ];
  for (const [method, rest, body] of cases) {
    test(`${method} /workflows/{id}${rest}`, async () => {
      const id = await make();
      const { secretKey: key } = await t.makeProject("stranger");
      const before = t.contents();
      const answer = await t.call(method, `/workflows/${id}${rest}`, body, { key });
      expectError(answer, { status: 404, code: "WORKFLOW_NOT_FOUND" });
      expect(t.contents()).toEqual(before);
    });
  }

  test("the list contains only workflows of the project", async () => {
    const { secretKey: key } = await t.makeProject("stranger");
    await make();
    const answer = await t.call("GET", "/workflows", undefined, { key });
    expect([listAt(answer.body, "data.items"), answer.at("data.total")]).toEqual([[], 0]);
  });

  test("a public key is refused", async () => {
    const answer = await t.call("GET", "/workflows", undefined, { key: t.publicKey });
    expectError(answer, { status: 403, code: "FORBIDDEN" });
  });
});
