import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Answered, type TestApp, testApp } from "../../support/app.ts";
import { listAt, textAt } from "../../support/json.ts";
import { expectRefusal, type Refusal } from "../../support/refusal.ts";
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

/** `start>a`, `c>b:yes`: the transitions of an answer, as graphs.ts writes them. */
function ways(answer: Answered): string[] {
  return listAt(answer.body, "data.transitions").map((way) => {
    const branch = Reflect.get(Object(way), "branch");
    const ends = `${textAt(way, "from")}>${textAt(way, "to")}`;
    return branch === null ? ends : `${ends}:${String(branch)}`;
  });
}

/** The request is refused and changes nothing. */
async function refused(
  method: string,
  path: string,
  body: unknown,
  refusal: Refusal,
): Promise<Answered> {
  const before = t.contents();
  const answer = await t.call(method, path, body);
  expectRefusal(answer, refusal);
  expect(t.contents()).toEqual(before);
  return answer;
}

const invalid = (...errors: [string, string][]): Refusal => ({
  status: 422,
  code: "VALIDATION_ERROR",
  errors,
});

describe("POST /workflows", () => {
  test("answers the whole record, 201", async () => {
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
      allowReentry: true,
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

  test("with a trigger alone: its TRIGGER is the whole graph", async () => {
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
  const told: [name: string, body: object, steps: string[], ways: string[]][] = [
    [
      "before the one step that nothing leads to",
      { trigger: paid, ...graph([delay("a"), delay("b")], ["a>b"]) },
      ["trigger", "a", "b"],
      ["a>b", "trigger>a"],
    ],
    [
      "where a transition says so",
      { trigger: paid, ...graph([delay("a"), delay("b")], ["trigger>b", "b>a", "a>b"]) },
      ["trigger", "a", "b"],
      ["trigger>b", "b>a", "a>b"],
    ],
    [
      "beside a step of its id",
      { trigger: paid, ...graph([delay("trigger")]) },
      ["trigger-2", "trigger"],
      ["trigger-2>trigger"],
    ],
    ["by both, and they agree", { trigger: paid, ...graph([trigger("paid")]) }, ["start"], []],
    [
      "by both, the step leaving it to the trigger",
      { trigger: paid, ...graph([step("start", "TRIGGER")]) },
      ["start"],
      [],
    ],
  ];
  for (const [name, body, steps, transitions] of told) {
    test(`a trigger is told ${name}`, async () => {
      const answer = await t.call("POST", "/workflows", { name: "W", ...body });
      expect(answer.status).toBe(201);
      const ids = listAt(answer.body, "data.steps").map((each) => textAt(each, "id"));
      expect([ids, ways(answer)]).toEqual([steps, transitions]);
      expect(answer.at("data.trigger")).toEqual(paid);
    });
  }

  const bad: [name: string, body: unknown, errors: [string, string][]][] = [
    ["nothing", undefined, [["body", "required"]]],
    [
      "no name and no trigger",
      {},
      [
        ["name", "required"],
        ["trigger", "required"],
      ],
    ],
    ["an empty graph", { name: "W", ...graph([]) }, [["trigger", "required"]]],
    ["a name of a wrong type", { name: 1, ...chain() }, [["name", "invalid_type"]]],
    ["a long name", { name: "x".repeat(256), ...chain() }, [["name", "too_big"]]],
    [
      "a long description",
      { name: "W", description: "x".repeat(1001), ...chain() },
      [["description", "too_big"]],
    ],
    ["enabled as text", { name: "W", enabled: "true", ...chain() }, [["enabled", "invalid_type"]]],
    [
      "allowReentry as a number",
      { name: "W", allowReentry: 1, ...chain() },
      [["allowReentry", "invalid_type"]],
    ],
    [
      "another kind of trigger",
      { name: "W", trigger: { type: "CRON", eventName: "e" } },
      [["trigger.type", "invalid_value"]],
    ],
    [
      "a trigger without a type",
      { name: "W", trigger: { eventName: "e" } },
      [["trigger.type", "required"]],
    ],
    [
      "a trigger without a name",
      { name: "W", trigger: { type: "EVENT" } },
      [["trigger.eventName", "required"]],
    ],
    [
      "a trigger that disagrees with its step",
      { name: "W", trigger: paid, ...chain() },
      [["trigger.eventName", "invalid_value"]],
    ],
    [
      "two firsts for a trigger",
      { name: "W", trigger: paid, ...graph([delay("a"), delay("b")]) },
      [
        ["steps.0", "invalid_value"],
        ["steps.1", "invalid_value"],
      ],
    ],
    ["steps as an object", { name: "W", steps: {} }, [["steps", "invalid_type"]]],
    [
      "transitions as text",
      { name: "W", trigger: paid, transitions: "a" },
      [["transitions", "invalid_type"]],
    ],
    [
      "faults everywhere, all told",
      { name: "", ...chain(delay("a", 0), step("b", "EXIT", { reason: 1 })) },
      [
        ["name", "too_small"],
        ["steps.1.config.amount", "too_small"],
        ["steps.2.config.reason", "invalid_type"],
      ],
    ],
  ];
  for (const [name, body, errors] of bad) {
    test(`refuses ${name}`, async () => {
      const answer = await t.call("POST", "/workflows", body);
      if (name === "nothing") return expect(answer.status).toBe(422);
      return refused("POST", "/workflows", body, invalid(...errors));
    });
  }

  test("an unknown template: 422 that names the step", async () => {
    const body = {
      name: "W",
      ...chain({ ...mail("m", "gone"), name: "Hello" }, mail("n", "gone")),
    };
    const unknown: [string, string][] = [
      ["steps.1.config.templateId", "unknown_reference"],
      ["steps.2.config.templateId", "unknown_reference"],
    ];
    const answer = await refused("POST", "/workflows", body, invalid(...unknown));
    expect(answer.text("error.errors.0.message")).toBe(
      'names no template of this project, in step "Hello" (m)',
    );
  });

  test("a template of another project is unknown", async () => {
    const { secretKey: key } = await t.makeProject("stranger");
    const body = { name: "W", ...chain(mail("m")) };
    const answer = await t.call("POST", "/workflows", body, { key });
    expectRefusal(answer, invalid(["steps.1.config.templateId", "unknown_reference"]));
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
    test(`an unknown segment in a ${name} condition`, async () => {
      const body = { name: "W", ...chain(step("c", "CONDITION", config)) };
      const errors = invalid([`steps.1.${field}`, "unknown_reference"]);
      const answer = await refused("POST", "/workflows", body, errors);
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
    test(`a webhook to ${url} is refused`, async () => {
      const body = { name: "W", ...chain(step("h", "WEBHOOK", { url, method: "POST" })) };
      await refused("POST", "/workflows", body, invalid(["steps.1.config.url", "invalid_value"]));
    });
  }

  test("… and taken where private addresses are allowed", async () => {
    const own = await testApp({ config: { allowPrivateAddresses: true } });
    const config = { url: "http://127.0.0.1/x", method: "POST" };
    const body = { name: "W", ...chain(step("h", "WEBHOOK", config)) };
    expect((await own.call("POST", "/workflows", body)).status).toBe(201);
    await own.close();
  });

  test("with an Idempotency-Key: made once, the same answer", async () => {
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
  test("newest first, page by page, filtered by enabled, with the exact total", async () => {
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
      const items = listAt(answer.body, "data.items").map((item) => textAt(item, "id"));
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

  for (const query of ["limit=0", "limit=101", "limit=x", "cursor=x", "enabled=yes"]) {
    test(`refuses ?${query}`, async () => {
      expect((await t.call("GET", `/workflows?${query}`)).status).toBe(422);
    });
  }
});

describe("PATCH /workflows/{id}", () => {
  test("changes what is given, and nothing else", async () => {
    const id = await make({ description: "d", ...chain(delay("wait")) });
    const before = await read(id);
    t.clock.advance(1000);
    const answer = await t.call("PATCH", `/workflows/${id}`, { enabled: true, name: "Other" });
    expect(answer.at("data")).toEqual({
      ...Object(before),
      enabled: true,
      name: "Other",
      updatedAt: new Date(t.clock.now()).toISOString(),
    });
    const cleared = await t.call("PATCH", `/workflows/${id}`, { description: null });
    expect(cleared.at("data.description")).toBeNull();
  });

  test("what was read can be sent back", async () => {
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
    expect(ways(answer)).toEqual(["start>a", "a>b"]);
  });

  test("a trigger alone changes the TRIGGER; a TRIGGER changes the trigger", async () => {
    const id = await make();
    const other = { type: "EVENT", eventName: "left" };
    const answer = await t.call("PATCH", `/workflows/${id}`, { trigger: other });
    expect(answer.at("data.steps.0.config")).toEqual({ eventName: "left" });
    const back = await t.call("PATCH", `/workflows/${id}`, graph([trigger("came")], []));
    expect(back.at("data.trigger.eventName")).toBe("came");
  });

  test("may leave out the trigger and the way from it, as creation may", async () => {
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
      "steps that the transitions miss",
      { steps: [trigger(), delay("b")] },
      [["transitions.0.to", "unknown_reference"]],
    ],
    [
      "no way to a step",
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
      await refused("PATCH", `/workflows/${await make()}`, patch, invalid(...errors));
    });
  }
});

describe("single steps", () => {
  let id: string;
  beforeEach(async () => {
    id = await make(graph([trigger(), split("c"), delay("d")], ["start>c", "c>d:no"]));
  });
  const add = (body: unknown) => t.call("POST", `/workflows/${id}/steps`, body);

  test("one is inserted after another: what came there comes after it", async () => {
    const answer = await add({ id: "m", name: "Mail", ...mail("m"), after: "start" });
    expect(answer.status).toBe(201);
    expect(ways(answer)).toEqual(["start>m", "c>d:no", "m>c"]);
    expect(answer.at("data.steps.3")).toEqual({
      ...mail("m"),
      name: "Mail",
      position: { x: 0, y: 0 },
    });
  });

  const inserted: [name: string, body: Given, expected: string[]][] = [
    ["into a branch", { ...delay("n"), after: "c", branch: "no" }, ["start>c", "c>n:no", "n>d"]],
    [
      "into a branch that led nowhere",
      { ...delay("n"), after: "c", branch: "yes" },
      ["start>c", "c>d:no", "c>n:yes"],
    ],
    ["at an end", { ...delay("n"), after: "d" }, ["start>c", "c>d:no", "d>n"]],
    [
      "as a CONDITION: yes goes on",
      { ...split("n"), after: "start" },
      ["start>n", "c>d:no", "n>c:yes"],
    ],
    [
      "as a multi: default goes on",
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
      "without an id",
      { type: "UPDATE_CONTACT", config: { updates: { a: 1 } }, after: "d" },
      ["start>c", "c>d:no", "d>update-contact"],
    ],
    ["as an EXIT at an end", { ...step("x", "EXIT"), after: "d" }, ["start>c", "c>d:no", "d>x"]],
  ];
  for (const [name, body, expected] of inserted) {
    test(`inserted ${name}`, async () => {
      const answer = await add(body);
      expect(answer.status).toBe(201);
      expect(ways(answer)).toEqual(expected);
      expect(await read(id)).toEqual(answer.at("data"));
    });
  }

  const bad: [name: string, body: Given, errors: [string, string][]][] = [
    ["after nothing", delay("n"), [["after", "required"]]],
    ["after what is not there", { ...delay("n"), after: "gone" }, [["after", "unknown_reference"]]],
    ["without a type", { id: "n", after: "d" }, [["type", "required"]]],
    ["of an unknown type", { id: "n", type: "SMS", after: "d" }, [["type", "invalid_value"]]],
    [
      "with a wrong config",
      { ...delay("n", "2"), after: "d" },
      [["config.amount", "invalid_type"]],
    ],
    [
      "with an id that is taken",
      { ...delay("d"), after: "c", branch: "yes" },
      [["id", "invalid_value"]],
    ],
    ["with an id of a wrong type", { ...delay("n"), id: 1, after: "d" }, [["id", "invalid_type"]]],
    [
      "without a branch where there are some",
      { ...delay("n"), after: "c" },
      [["branch", "invalid_value"]],
    ],
    [
      "by a branch that is none",
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
    test(`none is inserted ${name}`, async () => {
      await refused("POST", `/workflows/${id}/steps`, body, invalid(...errors));
    });
  }

  test("one is changed", async () => {
    const patch = { name: "Rest", position: { x: 5, y: 6 }, config: { amount: 1, unit: "hours" } };
    const answer = await t.call("PATCH", `/workflows/${id}/steps/d`, patch);
    expect(answer.status).toBe(200);
    expect(answer.at("data.steps.2")).toEqual({ id: "d", type: "DELAY", ...patch });
  });

  test("the TRIGGER is changed, and the trigger with it", async () => {
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
    test(`refuses ${JSON.stringify(patch)}`, async () => {
      await refused("PATCH", `/workflows/${id}/steps/d`, patch, invalid(...errors));
    });
  }

  test("a change that leaves a branch without its step is refused", async () => {
    const multi = { mode: "multi", field: "data.a", branches: [{ id: "x", operator: "exists" }] };
    const path = `/workflows/${id}/steps/c`;
    const branch = invalid(["transitions.1.branch", "invalid_value"]);
    await refused("PATCH", path, { config: multi }, branch);
  });

  test("one is deleted: what was before it leads to what was after it", async () => {
    await add({ ...mail("m"), after: "start" });
    const answer = await t.call("DELETE", `/workflows/${id}/steps/m`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(ways(await t.call("GET", `/workflows/${id}`))).toEqual(["start>c", "c>d:no"]);
    expect((await t.call("DELETE", `/workflows/${id}/steps/d`)).status).toBe(204);
    expect(ways(await t.call("GET", `/workflows/${id}`))).toEqual(["start>c"]);
  });

  test("a step that comes after itself is deleted", async () => {
    const loop = await make(graph([trigger(), delay("d")], ["start>d", "d>d"]));
    expect((await t.call("DELETE", `/workflows/${loop}/steps/d`)).status).toBe(204);
    expect(ways(await t.call("GET", `/workflows/${loop}`))).toEqual([]);
  });

  test("409: the TRIGGER, a step with several ways on, one without which a loop has no rest", async () => {
    const conflict = { status: 409, code: "CONFLICT" };
    await refused("DELETE", `/workflows/${id}/steps/start`, undefined, conflict);
    await add({ ...mail("m"), after: "c", branch: "yes" });
    const answer = await refused("DELETE", `/workflows/${id}/steps/c`, undefined, conflict);
    expect(answer.text("error.message")).toContain('Step "CONDITION" (c)');
    const loop = await make(graph([trigger(), mail("m"), delay("d")], ["start>m", "m>d", "d>m"]));
    await refused("DELETE", `/workflows/${loop}/steps/d`, undefined, conflict);
  });

  test("404: what is not there", async () => {
    const lost = { status: 404, code: "STEP_NOT_FOUND" };
    await refused("PATCH", `/workflows/${id}/steps/gone`, { name: "x" }, lost);
    await refused("DELETE", `/workflows/${id}/steps/gone`, undefined, lost);
  });

  test("an id that must be encoded in a path", async () => {
    const given = "a/b ü?";
    await add({ ...delay(given), after: "d" });
    const path = `/workflows/${id}/steps/${encodeURIComponent(given)}`;
    expect((await t.call("PATCH", path, { name: "Odd" })).at("data.steps.3.name")).toBe("Odd");
  });

  test("with an Idempotency-Key: inserted once", async () => {
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

  test("one is added, led elsewhere and deleted", async () => {
    const added = await t.call("POST", path(), { id: "t", from: "d", to: "c" });
    expect([added.status, ways(added)]).toEqual([201, ["start>c", "c>d:no", "d>c"]]);
    const led = await t.call("PATCH", path("/t"), { from: "c", to: "d", branch: "yes" });
    expect([led.status, ways(led)]).toEqual([200, ["start>c", "c>d:no", "c>d:yes"]]);
    const plain = await t.call("PATCH", path("/t"), { from: "d", branch: null });
    expect(ways(plain)).toEqual(["start>c", "c>d:no", "d>d"]);
    expect((await t.call("DELETE", path("/t"))).status).toBe(204);
    expect(ways(await t.call("GET", `/workflows/${id}`))).toEqual(["start>c", "c>d:no"]);
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
      await refused(method, path(rest), body, invalid(...errors));
    });
  }

  test("409: one without which a step is lost; 404: one that is not there", async () => {
    const conflict = { status: 409, code: "CONFLICT" };
    const answer = await refused("DELETE", path("/c-no"), undefined, conflict);
    expect(answer.text("error.message")).toContain('step "DELAY" (d)');
    const lost = { status: 404, code: "TRANSITION_NOT_FOUND" };
    await refused("DELETE", path("/gone"), undefined, lost);
    await refused("PATCH", path("/gone"), { to: "d" }, lost);
  });
});

describe("what a workflow uses cannot be deleted", () => {
  const conflict = { status: 409, code: "CONFLICT" };

  test("a template, until no workflow sends it", async () => {
    const template = { name: "T", subject: "s", body: "b", type: "TRANSACTIONAL" };
    const used = await t.create("/templates", template, "data.id");
    const id = await make({ ...chain(mail("m", used)), name: "Series" });
    const answer = await refused("DELETE", `/templates/${used}`, undefined, conflict);
    expect(answer.text("error.message")).toBe('This template is used by workflow "Series".');
    const hook = { url: "https://a.example", method: "POST", body: { templateId: used } };
    await t.call("PATCH", `/workflows/${id}`, chain(step("h", "WEBHOOK", hook)));
    expect((await t.call("DELETE", `/templates/${used}`)).status).toBe(204);
  });

  test("a segment, until no workflow asks for it or the workflow is gone", async () => {
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
    const answer = await refused("DELETE", `/segments/${used}`, undefined, conflict);
    expect(answer.text("error.message")).toBe(
      'This segment is used by workflow "Series", workflow "Other".',
    );
    await t.call("DELETE", `/workflows/${id}`);
    await t.call("DELETE", `/workflows/${other}`);
    expect((await t.call("DELETE", `/segments/${used}`)).status).toBe(204);
  });
});

describe("what belongs to another project is not found, and stays as it is", () => {
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
      expectRefusal(answer, { status: 404, code: "WORKFLOW_NOT_FOUND" });
      expect(t.contents()).toEqual(before);
    });
  }

  test("the list shows one's own", async () => {
    const { secretKey: key } = await t.makeProject("stranger");
    await make();
    const answer = await t.call("GET", "/workflows", undefined, { key });
    expect([listAt(answer.body, "data.items"), answer.at("data.total")]).toEqual([[], 0]);
  });

  test("a public key may do nothing here", async () => {
    const answer = await t.call("GET", "/workflows", undefined, { key: t.publicKey });
    expectRefusal(answer, { status: 403, code: "FORBIDDEN" });
  });
});
