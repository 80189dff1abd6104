import { expect, test } from "bun:test";
import { createRenderBudget } from "../../src/render/render-budget.ts";
import { compileTemplate, type Template } from "../../src/render/template/template.ts";

function compiled(source: string): Template {
  const result = compileTemplate(source, "text");
  if (!result.ok) throw new Error(result.message);
  return result.template;
}

test("all renders of one request share the time limit, and a render beyond it fails", () => {
  const slow = compiled("{% for i in (1..100) %}{{ i | times: 2 }}{% endfor %}");
  const budget = createRenderBudget(200);
  const startedAt = performance.now();
  let renders = 0;
  while (budget.render(slow, {}).ok) renders++;
  expect(renders).toBeGreaterThan(0);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(budget.render(compiled("short"), {})).toEqual({
    ok: false,
    reason: "Rendering for this request takes longer than 1000 ms in total.",
  });
});
