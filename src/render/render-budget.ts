/**
 * The time that one request may spend on rendering. While a template is rendered, everything else in
 * the process waits, so the renders of a request share one limit however many recipients it names.
 */

import { systemClock } from "../lib/clock.ts";
import { render, type Rendered, type Template, type Variables } from "./template/template.ts";
import { RENDER_LIMIT_MS } from "./template/limits.ts";

export type RenderBudget = {
  /** Renders within the time that is left; without any, the result is a reason. */
  render(template: Template, variables: Variables): Rendered;
};

const EXHAUSTED = `Rendering for this request takes longer than ${RENDER_LIMIT_MS} ms in total.`;

export function createRenderBudget(totalMs: number = RENDER_LIMIT_MS): RenderBudget {
  let leftMs = totalMs;
  return {
    render(template, variables) {
      if (leftMs <= 0) return { ok: false, reason: EXHAUSTED };
      const startedAt = systemClock.elapsed();
      const rendered = render(template, variables, leftMs);
      leftMs -= systemClock.elapsed() - startedAt;
      return rendered;
    },
  };
}
