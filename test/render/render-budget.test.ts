import { expect, test } from "bun:test";
import { createRenderBudget } from "../../src/render/render-budget.ts";
import { withoutOtherWork } from "../support/clock.ts";
import { compileTemplate, type Template } from "../../src/render/template/template.ts";

function compiled(source: string): Template {
  const result = compileTemplate(source, "text");
  if (!result.ok) throw new Error(result.message);
  return result.template;
}

const slow = compiled("{% for i in (1..100) %}{{ i | times: 2 }}{% endfor %}");

test("all renders of one request share the time limit, and a render beyond it fails", () => {
  const budget = createRenderBudget(50);
  let renders = 0;
  withoutOtherWork(() => {
    while (budget.render("body", slow, {}).ok) renders++;
  });
  expect(renders).toBeGreaterThan(0);
  expect(budget.render("body", compiled("short"), {})).toEqual({
    ok: false,
    reason: "Rendering for this request takes longer than 1000 ms in total.",
    field: "body",
  });
});

test.each([
  ["body", "subject"],
  ["subject", "body"],
] as const)("a failure names the %s if it took the time and the %s follows", (long, short) => {
  const budget = createRenderBudget(20);
  while (budget.render(long, slow, {}).ok);
  expect(budget.render(short, compiled("short"), {})).toMatchObject({ ok: false, field: long });
});

test("a failure names its own field while time is left", () => {
  const faulty = compiled("{{ a | append }}");
  const budget = createRenderBudget();
  expect(budget.render("subject", faulty, {})).toMatchObject({ ok: false, field: "subject" });
  expect(budget.render("body", faulty, {})).toMatchObject({ ok: false, field: "body" });
});
