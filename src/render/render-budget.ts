/**
 * The time that one request may spend on rendering. All other work of the process waits while a
 * template is rendered, so all renders of a request share one limit, even with many recipients.
 */

import { systemClock } from "../lib/clock.ts";
import { render, type Rendered, type Template, type Variables } from "./template/template.ts";
import { RENDER_LIMIT_MS } from "./template/limits.ts";

export type RenderBudget = {
  /** Renders within the remaining time; fails with a reason if no time is left. */
  render(template: Template, variables: Variables): Rendered;
  /** Whether no time is left. A render that failed then may not be at fault itself. */
  isSpent(): boolean;
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
    isSpent: () => leftMs <= 0,
  };
}
