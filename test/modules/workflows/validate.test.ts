/** Tests the rules of graphs: the field and the code of each violation, and the step in its message. */

import { beforeAll, describe, expect, test } from "bun:test";
import { defineFormats } from "../../../src/http/formats.ts";
import { checkGraph } from "../../../src/modules/workflows/graph/validate.ts";
import { PREDICATE } from "../../support/refusal.ts";
import { chain, delay, type Given, graph, step, trigger } from "./graphs.ts";

beforeAll(defineFormats);

type Parts = { steps: unknown; transitions: unknown };

function faults({ steps, transitions }: Parts): [string, string][] {
  const checked = checkGraph({ steps, transitions });
  if (checked.ok) return [];
  for (const { message } of checked.errors) expect(message).toMatch(PREDICATE);
  return checked.errors.map(({ field, code }) => [field, code]);
}

function messages({ steps, transitions }: Parts): string {
  const checked = checkGraph({ steps, transitions });
  return checked.ok ? "" : checked.errors.map(({ message }) => message).join("\n");
}

const mail = (id: string) => step(id, "SEND_EMAIL", { templateId: "t" });
const exit = (id: string) => step(id, "EXIT");
const wait = (id: string, timeout?: number) =>
  step(id, "WAIT_FOR_EVENT", { eventName: "paid", ...(timeout === undefined ? {} : { timeout }) });
const split = (id: string) =>
  step(id, "CONDITION", { field: "data.plan", operator: "equals", value: "pro" });
const multi = (id: string) =>
  step(id, "CONDITION", {
    mode: "multi",
    field: "data.plan",
    branches: [
      { id: "pro", operator: "equals", value: "pro" },
      { id: "any", operator: "exists" },
    ],
  });
const many = (count: number) =>
  chain(...Array.from({ length: count - 1 }, (_, i) => delay(`d${i}`)));

describe("checkGraph accepts", () => {
  const cases: [string, Parts][] = [
    ["a TRIGGER alone", graph([trigger()])],
    ["a chain", chain(mail("a"), delay("b"), wait("c", 60), exit("d"))],
    ["500 steps", many(500)],
    [
      "two transitions to one step",
      graph([trigger(), split("c"), mail("m")], ["start>c", "c>m:yes", "c>m:no"]),
    ],
    [
      "a branch without a transition",
      graph([trigger(), split("c"), mail("m")], ["start>c", "c>m:yes"]),
    ],
    ["a timeout", graph([trigger(), wait("w", 60), mail("m")], ["start>w", "w>m:timeout"])],
    [
      "all branches of a CONDITION in the mode multi",
      graph(
        [trigger(), multi("c"), mail("m"), mail("n"), mail("o")],
        ["start>c", "c>m:pro", "c>n:any", "c>o:default"],
      ),
    ],
    ["a loop with a DELAY", graph([trigger(), mail("m"), delay("d")], ["start>m", "m>d", "d>m"])],
    [
      "a loop with a WAIT_FOR_EVENT",
      graph([trigger(), wait("w", 9), mail("m")], ["start>w", "w>m:timeout", "m>w"]),
    ],
    ["a DELAY that leads to itself", graph([trigger(), delay("d")], ["start>d", "d>d"])],
    ["an id of 100 characters", chain(mail("x".repeat(100)))],
    [
      "ids that are names of members of objects",
      graph([trigger("e", "__proto__"), mail("constructor")], ["__proto__>constructor"]),
    ],
  ];
  for (const [name, parts] of cases) test(name, () => expect(faults(parts)).toEqual([]));
});

describe("checkGraph refuses", () => {
  type Case = [name: string, parts: Parts, expected: [string, string][]];
  const cases: Case[] = [
    ["a graph without a trigger", graph([mail("a")]), [["steps", "required"]]],
    ["an empty graph", graph([]), [["steps", "required"]]],
    [
      "two triggers",
      graph([trigger(), trigger("b", "second")], []),
      [["steps.1.type", "invalid_value"]],
    ],
    ["501 steps", many(501), [["steps", "too_big"]]],
    [
      "2001 transitions",
      {
        steps: [trigger()],
        transitions: Array.from({ length: 2001 }, () => ({ from: "start", to: "start" })),
      },
      [["transitions", "too_big"]],
    ],
    [
      "steps and transitions of a wrong type",
      { steps: {}, transitions: "no" },
      [
        ["steps", "invalid_type"],
        ["transitions", "invalid_type"],
      ],
    ],
    [
      "an unreachable step",
      graph([trigger(), mail("a"), mail("lost")], ["start>a"]),
      [["steps.2", "invalid_value"]],
    ],
    [
      "a cycle that cannot be reached",
      graph([trigger(), delay("a"), delay("b")], ["a>b", "b>a"]),
      [
        ["steps.1", "invalid_value"],
        ["steps.2", "invalid_value"],
      ],
    ],
    [
      "a transition to an unknown step",
      graph([trigger(), mail("a")], ["start>a", "a>gone"]),
      [["transitions.1.to", "unknown_reference"]],
    ],
    [
      "a transition from an unknown step",
      graph([trigger()], ["gone>start"]),
      [
        ["transitions.0.from", "unknown_reference"],
        ["transitions.0.to", "invalid_value"],
      ],
    ],
    [
      "a transition to the TRIGGER",
      graph([trigger(), delay("a")], ["start>a", "a>start"]),
      [["transitions.1.to", "invalid_value"]],
    ],
    [
      "two steps with one id",
      graph([trigger(), mail("a"), mail("a")], ["start>a"]),
      [["steps.2.id", "invalid_value"]],
    ],
    [
      "two transitions with one id",
      {
        steps: [trigger(), split("c"), mail("m")],
        transitions: [
          { id: "t", from: "start", to: "c" },
          { id: "t", from: "c", to: "m", branch: "yes" },
        ],
      },
      [["transitions.1.id", "invalid_value"]],
    ],
    [
      "an unknown branch",
      graph([trigger(), split("c"), mail("m")], ["start>c", "c>m:maybe"]),
      [["transitions.1.branch", "invalid_value"]],
    ],
    [
      "a transition from a CONDITION without a branch",
      graph([trigger(), split("c"), mail("m")], ["start>c", "c>m"]),
      [["transitions.1.branch", "invalid_value"]],
    ],
    [
      "a branch of a step that has none",
      graph([trigger(), mail("a"), mail("b")], ["start>a", "a>b:yes"]),
      [["transitions.1.branch", "invalid_value"]],
    ],
    [
      "a branch of the TRIGGER",
      graph([trigger(), mail("a")], ["start>a:yes"]),
      [["transitions.0.branch", "invalid_value"]],
    ],
    [
      "the branch timeout of a wait without a timeout",
      graph([trigger(), wait("w"), mail("m")], ["start>w", "w>m:timeout"]),
      [["transitions.1.branch", "invalid_value"]],
    ],
    [
      "the branch yes of a CONDITION in the mode multi",
      graph([trigger(), multi("c"), mail("m")], ["start>c", "c>m:yes"]),
      [["transitions.1.branch", "invalid_value"]],
    ],
    [
      "a step after an EXIT",
      graph([trigger(), exit("x"), mail("m")], ["start>x", "x>m"]),
      [["transitions.1.from", "invalid_value"]],
    ],
    [
      "two unconditional transitions of one step",
      graph([trigger(), mail("a"), mail("b")], ["start>a", "start>b"]),
      [["transitions.1.from", "invalid_value"]],
    ],
    [
      "two transitions of one branch",
      graph([trigger(), split("c"), mail("a"), mail("b")], ["start>c", "c>a:yes", "c>b:yes"]),
      [["transitions.2.from", "invalid_value"]],
    ],
    [
      "a cycle without a step that waits",
      graph([trigger(), mail("a"), split("c")], ["start>a", "a>c", "c>a:no"]),
      [["steps.1", "invalid_value"]],
    ],
    [
      "a step that leads to itself without a wait",
      graph([trigger(), mail("a")], ["start>a", "a>a"]),
      [["steps.1", "invalid_value"]],
    ],
    [
      "a cycle without a wait beside one with a DELAY",
      graph(
        [trigger(), split("c"), delay("d"), mail("m")],
        ["start>c", "c>d:yes", "d>c", "c>m:no", "m>c"],
      ),
      [["steps.1", "invalid_value"]],
    ],
    [
      "more than 5,000 outputs in all steps",
      chain(
        ...[1, 2].map((i) =>
          step(`w${i}`, "WEBHOOK", {
            url: "https://a.example",
            method: "POST",
            body: { list: "{{ a }}".repeat(2_501) },
          }),
        ),
      ),
      [["steps", "too_big"]],
    ],
    [
      "more than 1 MiB",
      chain(
        ...Array.from({ length: 17 }, (_, i) =>
          step(`w${i}`, "WEBHOOK", {
            url: "https://a.example",
            method: "POST",
            body: "x".repeat(65_000),
          }),
        ),
      ),
      [["steps", "too_big"]],
    ],
  ];
  for (const [name, parts, expected] of cases) {
    test(name, () => expect(faults(parts)).toEqual(expected));
  }

  test("steps with messages that contain their name and id", () => {
    const lost = { ...mail("m2"), name: "Second mail" };
    expect(messages(graph([trigger(), lost]))).toEndWith(': step "Second mail" (m2)');
    expect(messages(graph([trigger(), split("c"), mail("m")], ["start>c", "c>m:maybe"]))).toBe(
      'must be a branch that step "c" has: "yes", "no"',
    );
    const cycle = graph([trigger(), mail("a"), split("c")], ["start>a", "a>c", "c>a:no"]);
    expect(messages(cycle)).toEndWith('step "a" → step "c" → step "a"');
  });

  test("a cycle of hundreds of steps without a stack overflow", () => {
    const steps = Array.from({ length: 499 }, (_, i) => mail(`m${i}`));
    const parts = chain(...steps);
    expect(faults(parts)).toEqual([]);
    parts.transitions.push({ from: "m498", to: "m3" });
    expect(faults(parts)).toEqual([["steps.4", "invalid_value"]]);
  });
});

describe("checkGraph with steps and transitions of a wrong type", () => {
  const validStep = mail("a");
  const cases: [string, unknown, [string, string][]][] = [
    ["null", null, [["steps.1", "invalid_type"]]],
    ["text", "mail", [["steps.1", "invalid_type"]]],
    ["a list", [], [["steps.1", "invalid_type"]]],
    [
      "an empty object",
      {},
      [
        ["steps.1.id", "required"],
        ["steps.1.type", "required"],
      ],
    ],
    ["id: number", { ...validStep, id: 1 }, [["steps.1.id", "invalid_type"]]],
    ["id: empty", { ...validStep, id: "" }, [["steps.1.id", "too_small"]]],
    ["id: 101 characters", { ...validStep, id: "x".repeat(101) }, [["steps.1.id", "too_big"]]],
    ["id: two lines", { ...validStep, id: "a\nb" }, [["steps.1.id", "invalid_format"]]],
    ["type: unknown", { ...validStep, type: "SEND_SMS" }, [["steps.1.type", "invalid_value"]]],
    ["type: lower case", { ...validStep, type: "exit" }, [["steps.1.type", "invalid_value"]]],
    ["name: number", { ...validStep, name: 1 }, [["steps.1.name", "invalid_type"]]],
    ["name: empty", { ...validStep, name: "" }, [["steps.1.name", "too_small"]]],
    ["position: text", { ...validStep, position: "left" }, [["steps.1.position", "invalid_type"]]],
    [
      "position: without y",
      { ...validStep, position: { x: 1 } },
      [["steps.1.position.y", "required"]],
    ],
    [
      "position: Infinity",
      { ...validStep, position: { x: Infinity, y: 0 } },
      [["steps.1.position.x", "invalid_type"]],
    ],
    ["config: text", { ...validStep, config: "x" }, [["steps.1.config", "invalid_type"]]],
    ["config: a list", { ...validStep, config: [] }, [["steps.1.config", "invalid_type"]]],
    ["config: missing", { id: "a", type: "DELAY" }, [["steps.1.config", "required"]]],
  ];
  for (const [name, given, expected] of cases) {
    test(`refuses a step: ${name}`, () => {
      const parts = { steps: [trigger(), given], transitions: [{ from: "start", to: "a" }] };
      const own = faults(parts).filter(([field]) => field.startsWith("steps.1"));
      expect(own).toEqual(expected);
    });
  }

  const edges: [string, unknown, [string, string][]][] = [
    ["text", "start>a", [["transitions.0", "invalid_type"]]],
    [
      "empty",
      {},
      [
        ["transitions.0.from", "required"],
        ["transitions.0.to", "required"],
      ],
    ],
    ["from: number", { from: 1, to: "a" }, [["transitions.0.from", "invalid_type"]]],
    [
      "branch: true",
      { from: "start", to: "a", branch: true },
      [["transitions.0.branch", "invalid_type"]],
    ],
    [
      "branch: empty",
      { from: "start", to: "a", branch: "" },
      [["transitions.0.branch", "too_small"]],
    ],
    ["id: empty", { id: "", from: "start", to: "a" }, [["transitions.0.id", "too_small"]]],
  ];
  for (const [name, given, expected] of edges) {
    test(`refuses a transition: ${name}`, () => {
      expect(faults({ steps: [trigger(), validStep], transitions: [given] })).toEqual(expected);
    });
  }

  test("accepts null as absent in branch, name, position and id", () => {
    const edge = { id: null, from: "start", to: "a", branch: null };
    const given = { ...validStep, name: null, position: null };
    expect(faults({ steps: [trigger(), given], transitions: [edge] })).toEqual([]);
  });
});

const short = (rest: Given) => ({ field: "data.plan", operator: "equals", value: "pro", ...rest });
const hook = (rest: Given = {}) => ({ url: "https://a.example/x", method: "POST", ...rest });
const branches = (...list: unknown[]) => ({ mode: "multi", field: "data.plan", branches: list });
const condition = (...filters: unknown[]) => ({
  condition: { logic: "AND", groups: [{ filters }] },
});

/** Invalid configs, with the field in `config` and the code of the violation. */
const invalid: Record<string, [config: unknown, field: string, code: string][]> = {
  TRIGGER: [
    [{}, "eventName", "required"],
    [{ eventName: "" }, "eventName", "too_small"],
    [{ eventName: "x".repeat(256) }, "eventName", "too_big"],
    [{ eventName: 5 }, "eventName", "invalid_type"],
  ],
  SEND_EMAIL: [
    [{}, "templateId", "required"],
    [{ templateId: 1 }, "templateId", "invalid_type"],
    [{ templateId: "" }, "templateId", "too_small"],
    [{ templateId: "t", recipient: "a@b.co" }, "recipient", "invalid_type"],
    [{ templateId: "t", recipient: {} }, "recipient.type", "required"],
    [{ templateId: "t", recipient: { type: "BOSS" } }, "recipient.type", "invalid_value"],
    [{ templateId: "t", recipient: { type: "CUSTOM" } }, "recipient.email", "required"],
    [
      { templateId: "t", recipient: { type: "CUSTOM", email: "nobody" } },
      "recipient.email",
      "invalid_format",
    ],
    [
      { templateId: "t", recipient: { type: "CUSTOM", email: "a@b.co\r\nBcc: c@d.co" } },
      "recipient.email",
      "invalid_format",
    ],
  ],
  DELAY: [
    [{ unit: "days" }, "amount", "required"],
    [{ amount: "2", unit: "days" }, "amount", "invalid_type"],
    [{ amount: 0, unit: "days" }, "amount", "too_small"],
    [{ amount: -1, unit: "days" }, "amount", "too_small"],
    [{ amount: 1.5, unit: "days" }, "amount", "invalid_type"],
    [{ amount: true, unit: "days" }, "amount", "invalid_type"],
    [{ amount: 366, unit: "days" }, "amount", "too_big"],
    [{ amount: 8761, unit: "hours" }, "amount", "too_big"],
    [{ amount: 525_601, unit: "minutes" }, "amount", "too_big"],
    [{ amount: 1 }, "unit", "required"],
    [{ amount: 1, unit: "weeks" }, "unit", "invalid_value"],
  ],
  WAIT_FOR_EVENT: [
    [{}, "eventName", "required"],
    [{ eventName: "" }, "eventName", "too_small"],
    [{ eventName: "x".repeat(256) }, "eventName", "too_big"],
    [{ eventName: "e", timeout: 0 }, "timeout", "too_small"],
    [{ eventName: "e", timeout: 31_536_001 }, "timeout", "too_big"],
    [{ eventName: "e", timeout: "60" }, "timeout", "invalid_type"],
    [{ eventName: "e", timeout: 0.5 }, "timeout", "invalid_type"],
  ],
  CONDITION: [
    [{ operator: "equals", value: 1 }, "field", "required"],
    [{ field: 1, operator: "equals" }, "field", "invalid_type"],
    [short({ field: "plan" }), "field", "invalid_value"],
    [short({ field: "context." }), "field", "invalid_value"],
    [short({ operator: "is" }), "operator", "invalid_value"],
    [short({ operator: "lessThan", value: "15.06.2030" }), "value", "invalid_format"],
    [short({ operator: "lessThan", value: "99,50" }), "value", "invalid_format"],
    [
      condition({ field: "context.day", operator: "greaterThan", value: "06/15/2030" }),
      "condition.groups.0.filters.0.value",
      "invalid_format",
    ],
    [
      branches({ id: "a", operator: "lessThanOrEqual", value: "1-2-2030" }),
      "branches.0.value",
      "invalid_format",
    ],
    [{ field: "data.plan" }, "operator", "required"],
    [{ field: "data.plan", operator: "equals" }, "value", "required"],
    [short({ value: {} }), "value", "invalid_type"],
    [{ field: "subscribed", operator: "equals", value: "true" }, "value", "invalid_type"],
    [{ field: "context.a", operator: "triggered" }, "operator", "invalid_value"],
    [{ field: "event.paid", operator: "triggeredWithin", value: 3 }, "unit", "required"],
    [{ field: "email.seen", operator: "triggered" }, "field", "invalid_value"],
    [{ condition: [] }, "condition", "invalid_type"],
    [{ condition: { groups: [{ filters: [short({})] }] } }, "condition.logic", "required"],
    [condition(), "condition.groups.0.filters", "too_small"],
    [
      condition({ field: "nope", operator: "equals", value: 1 }),
      "condition.groups.0.filters.0.field",
      "invalid_value",
    ],
    [
      condition({ field: "context.a", operator: "triggered" }),
      "condition.groups.0.filters.0.operator",
      "invalid_value",
    ],
    [
      { ...condition({ field: "email.opened", operator: "triggered" }), field: "x" },
      "field",
      "invalid_value",
    ],
    [{ ...branches(), mode: "many" }, "mode", "invalid_value"],
    [branches(), "branches", "too_small"],
    [branches("a"), "branches.0", "invalid_type"],
    [branches({ operator: "exists" }), "branches.0.id", "required"],
    [branches({ id: "default", operator: "exists" }), "branches.0.id", "invalid_value"],
    [
      branches({ id: "a", operator: "exists" }, { id: "a", operator: "notExists" }),
      "branches.1.id",
      "invalid_value",
    ],
    [branches({ id: "a", operator: "like", value: "x" }), "branches.0.operator", "invalid_value"],
    [
      branches({ id: "a", operator: "greaterThan", value: true }),
      "branches.0.value",
      "invalid_type",
    ],
    [
      { mode: "multi", field: "plan", branches: [{ id: "a", operator: "exists" }] },
      "field",
      "invalid_value",
    ],
    [
      branches(...Array.from({ length: 51 }, (_, i) => ({ id: `b${i}`, operator: "exists" }))),
      "branches",
      "too_big",
    ],
  ],
  WEBHOOK: [
    [{ method: "POST" }, "url", "required"],
    [hook({ url: 1 }), "url", "invalid_type"],
    [hook({ url: "" }), "url", "too_small"],
    [hook({ url: "/relative" }), "url", "invalid_format"],
    [hook({ url: "ftp://a.example" }), "url", "invalid_format"],
    [hook({ url: "javascript:alert(1)" }), "url", "invalid_format"],
    [hook({ url: "https://" }), "url", "invalid_format"],
    [hook({ url: "https://user:pass@a.example" }), "url", "invalid_format"],
    [hook({ url: "https://a.example/a b" }), "url", "invalid_format"],
    [hook({ url: "https://a.example/\r\nHost: b" }), "url", "invalid_format"],
    [hook({ url: "file://{{ data.x }}" }), "url", "invalid_format"],
    [hook({ url: "https://a.example:25/x" }), "url", "invalid_value"],
    [hook({ url: "https://a.example:0/x" }), "url", "invalid_value"],
    [hook({ url: "https://a.example:22/{{ data.x }}" }), "url", "invalid_value"],
    [hook({ url: "https://{{ data.x }}.example:1023/" }), "url", "invalid_value"],
    [hook({ url: "https://{{ data.x }}@a.example/" }), "url", "invalid_value"],
    [hook({ url: "https://user:{{ data.x }}@a.example/" }), "url", "invalid_value"],
    [hook({ url: "https://a.example:{{ data.x }}/" }), "url", "invalid_value"],
    [hook({ url: "https://[{{ data.x }}]/" }), "url", "invalid_value"],
    [hook({ url: "https://a.example/{{ data.x | upcas }}" }), "url", "invalid_format"],
    [hook({ url: "https://a.example/{% cycle a, b %}" }), "url", "invalid_format"],
    [hook({ url: "https://a.example/{{ x" }), "url", "invalid_format"],
    [hook({ url: `https://a.example/${"x".repeat(4096)}` }), "url", "too_big"],
    [{ url: "https://a.example" }, "method", "required"],
    [hook({ method: "TRACE" }), "method", "invalid_value"],
    [hook({ method: "post" }), "method", "invalid_value"],
    [hook({ headers: [] }), "headers", "invalid_type"],
    [hook({ headers: { a: 1 } }), "headers.a", "invalid_type"],
    [hook({ headers: { "a b": "x" } }), "headers.a b", "invalid_format"],
    [hook({ headers: { "x-a": "1\r\nx-b: 2" } }), "headers.x-a", "invalid_format"],
    [hook({ headers: { "x-a": "ł" } }), "headers.x-a", "invalid_format"],
    [hook({ headers: { "x-a": "{{ x" } }), "headers.x-a", "invalid_format"],
    [hook({ headers: { "x-a": "x".repeat(999) } }), "headers.x-a", "too_big"],
    [hook({ headers: { Host: "b" } }), "headers.Host", "invalid_value"],
    [hook({ headers: { "content-length": "1" } }), "headers.content-length", "invalid_value"],
    [
      hook({ headers: { "Transfer-Encoding": "chunked" } }),
      "headers.Transfer-Encoding",
      "invalid_value",
    ],
    [hook({ headers: { "x-a": "1", "X-A": "2" } }), "headers.X-A", "invalid_value"],
    [
      hook({ headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`x-${i}`, ""])) }),
      "headers",
      "too_big",
    ],
    [hook({ body: "x".repeat(65_537) }), "body", "too_big"],
    [hook({ body: { a: "x".repeat(65_530) } }), "body", "too_big"],
    [hook({ body: "{{ x" }), "body", "invalid_format"],
    [hook({ body: { a: ["{% if %}"] } }), "body.a.0", "invalid_format"],
  ],
  UPDATE_CONTACT: [
    [{}, "updates", "required"],
    [{ updates: {} }, "updates", "required"],
    [{ updates: null, subscriptionAction: null }, "updates", "required"],
    [{ updates: "x" }, "updates", "invalid_type"],
    [{ updates: [1] }, "updates", "invalid_type"],
    [{ subscriptionAction: "leave" }, "subscriptionAction", "invalid_value"],
    [{ updates: { a: "x".repeat(65_536) } }, "updates", "too_big"],
  ],
  EXIT: [
    [{ reason: 1 }, "reason", "invalid_type"],
    [{ reason: "x".repeat(1001) }, "reason", "too_big"],
  ],
};

/** Valid configs, with the stored config if it differs. */
const valid: Record<string, [config: Given, stored?: Given][]> = {
  SEND_EMAIL: [
    [{ templateId: "t" }],
    [{ templateId: "t", recipient: null }, { templateId: "t" }],
    [
      { templateId: "t", recipient: { type: "CONTACT", email: "a@b.co" }, other: 1 },
      { templateId: "t", recipient: { type: "CONTACT" } },
    ],
    [
      { templateId: "t", recipient: { type: "CUSTOM", email: " Boss@B.co" } },
      { templateId: "t", recipient: { type: "CUSTOM", email: "boss@b.co" } },
    ],
  ],
  DELAY: [
    [{ amount: 1, unit: "minutes" }],
    [{ amount: 365, unit: "days" }],
    [{ amount: 8760, unit: "hours" }],
    [{ amount: 525_600, unit: "minutes" }],
  ],
  WAIT_FOR_EVENT: [
    [{ eventName: "x".repeat(255) }],
    [{ eventName: "email.opened", timeout: 1 }],
    [{ eventName: "segment.vip.entry", timeout: 31_536_000 }],
    [{ eventName: "e", timeout: null }, { eventName: "e" }],
  ],
  CONDITION: [
    [condition({ field: "email.opened", operator: "triggered" })],
    [condition({ field: "context.a", operator: "exists" }, short({}))],
    [short({ other: 1 }), short({})],
    [{ field: "context.order.total", operator: "greaterThan", value: 100 }],
    [{ field: "event.paid", operator: "triggeredWithin", value: 3, unit: "days" }],
    [branches({ id: "yes", operator: "equals", value: "pro" }, { id: "b", operator: "exists" })],
    [{ mode: "multi", field: "context.a", branches: [{ id: "a", operator: "exists" }] }],
  ],
  WEBHOOK: [
    [hook()],
    [hook({ url: "http://a.example:8080/{{ data.id }}?x=1" })],
    [hook({ url: "{{ data.callback | raw }}" })],
    [hook({ url: "{{ data.callback }}" })],
    [hook({ url: "https://{{ data.tenant }}.example.com/{{ First Name ?? none }}?a={{ a }}" })],
    [hook({ url: "https://{% if a %}a{% else %}b{% endif %}.example:8080/" })],
    [hook({ url: "{% if a %}https://a.example{% else %}https://b.example{% endif %}/" })],
    [hook({ url: "{{ scheme | raw }}://a.example/" })],
    [hook({ url: "http://a.example:80/" })],
    [hook({ url: "http://a.example:443/" })],
    [hook({ url: "http://a.example:65535/{{ x }}" })],
    [hook({ headers: { authorization: "Bearer {{ data.token }}", "x-e": "é" } })],
    [hook({ method: "GET", body: { id: "{{ id }}", n: [1, null, true] } })],
    [hook({ body: "x".repeat(65_536) })],
    [hook({ headers: null, body: null }), hook()],
  ],
  UPDATE_CONTACT: [
    [{ updates: { plan: "pro", gone: null } }],
    [{ subscriptionAction: "unsubscribe" }],
    [{ updates: {}, subscriptionAction: "subscribe" }, { subscriptionAction: "subscribe" }],
  ],
  EXIT: [[{}], [{ reason: "opened" }], [{ reason: null }, {}]],
};

describe("the config of", () => {
  for (const [type, cases] of Object.entries(invalid)) {
    for (const [config, field, code] of cases) {
      test(`${type} refuses ${field} of ${JSON.stringify(config).slice(0, 90)}`, () => {
        const steps = type === "TRIGGER" ? [] : [trigger()];
        const parts = {
          steps: [...steps, { id: "a", type, name: "Named", config }],
          transitions: [],
        };
        const own = faults(parts).filter(([name]) => name.includes(".config"));
        expect(own).toEqual([[`steps.${steps.length}.config.${field}`, code]]);
        expect(messages(parts)).toContain(', in step "Named" (a)');
      });
    }
  }

  for (const [type, cases] of Object.entries(valid)) {
    for (const [config, stored = config] of cases) {
      test(`${type} accepts ${JSON.stringify(config).slice(0, 90)}`, () => {
        const { steps, transitions } = chain(step("a", type, config));
        const checked = checkGraph({ steps, transitions });
        const read: unknown = checked.ok ? checked.value.steps[1] : checked.errors;
        expect(read).toEqual({
          id: "a",
          type,
          name: type,
          position: { x: 0, y: 0 },
          config: stored,
        });
      });
    }
  }

  test("several steps reports at most 100 violations at once", () => {
    const bad = (i: number) => step(`d${i}`, "DELAY", { amount: "x", unit: "y" });
    const steps = [trigger(), ...Array.from({ length: 80 }, (_, i) => bad(i))];
    const found = faults({ steps, transitions: [{ from: "start", to: "nowhere" }] });
    expect(found).toHaveLength(100);
    expect(found.slice(0, 3)).toEqual([
      ["steps.1.config.amount", "invalid_type"],
      ["steps.1.config.unit", "invalid_value"],
      ["steps.2.config.amount", "invalid_type"],
    ]);
  });
});

test("transitions without an id get one that is unused and not too long", () => {
  const long = "x".repeat(100);
  const { steps } = chain(split("c"), mail(long));
  const transitions = [
    { id: "c-no", from: "start", to: "c" },
    { from: "c", to: long, branch: "no" },
    { from: "c", to: long, branch: "yes" },
  ];
  const checked = checkGraph({ steps, transitions });
  const ids = checked.ok ? checked.value.transitions.map(({ id }) => id) : [];
  expect(ids).toEqual(["c-no", "c-no-2", "c-yes"]);
});
