/** Comparisons of order have a number or a date in ISO 8601 as their value, never another text. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Automation, automationPerTest } from "../../support/automation.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { graph, step, trigger } from "../workflows/graphs.ts";

const ORDER = ["greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"] as const;
const wrap = (...filters: unknown[]) => ({ logic: "AND", groups: [{ filters }] });
const compared = (value: unknown, operator: string = "lessThan", field = "data.x") =>
  wrap({ field, operator, value });

/** Texts that are no date, and the form that the refusal names; null if there is none to guess. */
const REFUSED: [text: string, right: string | null][] = [
  ["2025-02-30", null],
  ["2025-13-01", null],
  ["2025", "2025"],
  ["2025-01", null],
  ["2025-1-1", "2025-01-01"],
  ["2025/01/01", "2025-01-01"],
  ["2025.1.31", "2025-01-31"],
  ["20250101", "2025-01-01"],
  [" 2025-01-01", "2025-01-01"],
  ["2025-01-01 ", "2025-01-01"],
  ["2025/01/01 10:00", "2025-01-01T10:00"],
  ["2025-01-01T10:00:00 +0200", "2025-01-01T10:00:00+02:00"],
  ["2025-01-01t10:00:00z", "2025-01-01T10:00:00Z"],
  ["2025-01-01T25:00", "2025-01-01"],
  ["2025-01-01 soon", "2025-01-01"],
  ["2025-W01-1", null],
  ["31.12.2025", null],
  ["12/31/2025", null],
  ["12:30", null],
  ["now", null],
  ["yesterday", null],
  ["", null],
  [" ", null],
  ["pro", null],
  ["99.5", "99.5"],
  ["99,50", "99.5"],
  ["-1", "-1"],
  [" 7", "7"],
  ["1,000", null],
  ["1.000,50", null],
  ["1_000", null],
  ["1 000", null],
  ["1e5", null],
  ["0x10", null],
  ["١٢", null],
  ["99,50 €", null],
  ["NaN", null],
  ["Infinity", null],
  ["true", null],
  ["null", null],
  [`${"9".repeat(60_000)},5`, null],
];

const ACCEPTED = [
  0, -0, 5, -3, 99.5, 1e21, 1e-7, 20250101, 9_007_199_254_740_991,
  "2025-01-01", "2024-02-29", "0001-01-01", "2025-01-01T10:00", "2025-01-01 10:00",
  "2025-01-01T10:00:00Z", "2025-01-01T10:00:00.123Z", "2025-01-01T10:00:00.123456+02:00",
  "2025-01-01 10:00:00-05:30",
]; // prettier-ignore

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const preview = (condition: unknown) => t.call("POST", "/segments/preview", { condition });

describe("the value of a comparison", () => {
  test("is refused if it is neither a number nor a date, with the right form", async () => {
    for (const [text, right] of REFUSED) {
      const answer = await preview(compared(text));
      const { status } = answer;
      const field = answer.at("error.errors.0.field");
      const hint = / write (.*)$/.exec(answer.text("error.errors.0.message"))?.[1] ?? null;
      expect([text, status, field, hint]).toEqual([
        text,
        422,
        "condition.groups.0.filters.0.value",
        right,
      ]);
    }
  });

  test("is accepted if it is a number or a date, by each operator", async () => {
    for (const value of ACCEPTED) {
      for (const operator of ORDER) {
        expect([value, (await preview(compared(value, operator))).status]).toEqual([value, 200]);
      }
    }
  });

  test("is refused wherever a condition is given", async () => {
    const audienceFilter = compared("2025/01/01");
    const campaign = { name: "C", subject: "s", body: "b", from: "a@acme.test" };
    const short = { field: "data.x", operator: "lessThan", value: "2025/01/01" };
    const multi = { mode: "multi", field: "context.x", branches: [{ id: "a", ...short }] };
    const workflow = (config: object) =>
      graph([trigger(), step("ask", "CONDITION", { ...config })], ["start>ask"]);
    const requests: [path: string, body: object][] = [
      ["/segments", { name: "S", condition: audienceFilter }],
      ["/segments/preview", { condition: compared("2025/01/01", "greaterThan", "createdAt") }],
      ["/campaigns", { ...campaign, audienceType: "FILTERED", audienceFilter }],
      ["/contacts/bulk", { action: "delete", filter: audienceFilter }],
      ["/workflows", { name: "W", ...workflow({ condition: audienceFilter }) }],
      ["/workflows", { name: "W", ...workflow(short) }],
      ["/workflows", { name: "W", ...workflow(multi) }],
    ];
    for (const [path, body] of requests) {
      const answer = await t.call("POST", path, body);
      expect([path, answer.status]).toEqual([path, 422]);
      expect(answer.text("error.errors.0.field")).toEndWith(".value");
      expect(answer.text("error.errors.0.message")).toContain("write 2025-01-01");
    }
  });
});

describe("a comparison with a text that an earlier version stored", () => {
  const projects = projectPerTest();
  const stored = JSON.stringify(compared("2025/01/01", "lessThan", "data.joined"));
  let id: string;
  let p: TestApp;
  const segment = (name: string, condition: unknown, more = {}) =>
    p.create("/segments", { name, condition, ...more }, "data.id");
  const read = async (one: string) => (await p.call("GET", `/segments/${one}`)).at("data");
  const problem = { field: "data.joined", value: "2025/01/01" };

  beforeEach(async () => {
    p = await projects.next();
    for (const [email, joined] of [
      ["ada@example.com", "2024/06/01"],
      ["bob@example.com", "2024-06-01"],
    ]) {
      await p.call("POST", "/contacts", { email, data: { joined, plan: "pro" } });
    }
    const condition = compared("2025-01-01", "lessThan", "data.joined");
    id = await segment("Early", condition, { trackMembership: true });
    await p.app.segments.recompute();
    p.db.sqlite.run("UPDATE segments SET condition = ? WHERE id = ?", [stored, id]);
  });

  test("is named by its segment and matches no contact", async () => {
    const message = expect.stringContaining("write 2025-01-01");
    const problems = [{ ...problem, message }];
    expect(await read(id)).toMatchObject({ memberCount: 0, problems });
    const list = await p.call("GET", "/segments");
    expect(list.at("data.items.0")).toMatchObject({ memberCount: 0, problems });
    const outer = await segment(
      "Not early",
      wrap({ field: `segment.${id}`, operator: "notMemberOf" }),
    );
    expect(await read(outer)).toMatchObject({ memberCount: 0, problems });
    const other = { filters: [{ field: "data.plan", operator: "equals", value: "pro" }] };
    const condition = { logic: "OR", groups: [...compared("2025").groups, other] };
    p.db.sqlite.run("UPDATE segments SET condition = ? WHERE id = ?", [
      JSON.stringify(condition),
      outer,
    ]);
    expect(await read(outer)).toMatchObject({ memberCount: 2 });
  });

  test("changes no recorded members, and is corrected by another condition", async () => {
    const before = p.eventNames();
    await p.call("POST", "/contacts", { email: "bob@example.com", data: { plan: "free" } });
    await p.app.segments.recompute();
    const members = p.db.sqlite.query(
      "SELECT 1 FROM segment_members JOIN segments ON segments.seq = segment_seq WHERE id = ?",
    );
    expect(members.all(id)).toHaveLength(1);
    expect((await p.call("PATCH", `/segments/${id}`, { name: "Renamed" })).status).toBe(200);
    const condition = compared("2025-01-01", "lessThan", "data.joined");
    const patched = await p.call("PATCH", `/segments/${id}`, { condition });
    expect(patched.at("data")).toMatchObject({ memberCount: 1, problems: [] });
    expect(p.eventNames()).toEqual(before);
  });

  test("keeps a campaign from being sent, with the reason", async () => {
    const audience = { audienceType: "SEGMENT", segmentId: id };
    const content = { name: "C", subject: "s", body: "b", from: "news@acme.test" };
    const campaign = await p.create("/campaigns", { ...content, ...audience }, "data.id");
    const answer = await p.call("POST", `/campaigns/${campaign}/send`, {});
    expect(answer.status).toBe(409);
    expect(answer.text("error.message")).toContain("data.joined");
    expect(answer.text("error.message")).toContain("write 2025-01-01");
  });
});

describe("a CONDITION step with such a comparison", () => {
  let a: Automation;
  const next = automationPerTest();
  beforeEach(async () => {
    a = await next();
  });

  test.each(["data.day", "context.day"])("of %s fails and takes neither branch", async (field) => {
    const config = { field, operator: "lessThan", value: "2025-01-01" };
    const id = await a.workflow(
      graph(
        [trigger(), step("ask", "CONDITION", config), step("no", "EXIT", { reason: "no" })],
        ["start>ask", "ask>no:no"],
      ),
    );
    a.t.db.sqlite.run(
      "UPDATE workflow_versions SET graph = replace(graph, '2025-01-01', '2025/01/01')",
    );
    await a.track("signed-up", { day: "2024-01-01" });
    const execution = await a.only(id);
    expect(execution.status).toBe("FAILED");
    expect(JSON.stringify(execution)).toContain(`The comparison of ${field} with`);
  });
});
