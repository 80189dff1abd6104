/**
 * The processor time that one request may spend on rendering. All renders of a request share one limit,
 * even with many recipients, because other work waits meanwhile.
 */

import { systemClock } from "../lib/clock.ts";
import { recentThreadCpuMs, threadCpuMs } from "../lib/thread-cpu.ts";
import { render, type Rendered, type Template, type Variables } from "./template/template.ts";
import { RENDER_LIMIT_MS, TOO_SLOW } from "./template/limits.ts";

export type RenderedField = "subject" | "body" | "text";
type FieldRendered =
  Extract<Rendered, { ok: true }> | { ok: false; reason: string; field: RenderedField };

export type RenderBudget = {
  /**
   * Renders a field within the remaining time. A failure names the field at fault, which is the one
   * that took the most time if no time is left.
   */
  render(field: RenderedField, template: Template, variables: Variables): FieldRendered;
  /** Whether no time is left. A render that failed then may not be at fault itself. */
  isSpent(): boolean;
};

/** The reason when no time of a request is left. */
export const EXHAUSTED = `Rendering for this request takes longer than ${RENDER_LIMIT_MS} ms in total.`;

/** From the first render on that takes longer, the renders of a request are measured by processor time. */
const SHORT_MS = 1;

export function createRenderBudget(totalMs: number = RENDER_LIMIT_MS): RenderBudget {
  const tookMs = { subject: 0, body: 0, text: 0 };
  let isCostly = false;
  const leftMs = () => totalMs - tookMs.subject - tookMs.body - tookMs.text;
  const isSpent = () => leftMs() <= 0;

  function slowest(): RenderedField {
    const { subject, body, text } = tookMs;
    if (text > Math.max(subject, body)) return "text";
    return subject > body ? "subject" : "body";
  }

  function renderInTime(field: RenderedField, template: Template, variables: Variables): Rendered {
    if (isSpent()) return { ok: false, reason: EXHAUSTED };
    // Most renders are short: the clock, which is read much faster than the processor time, is enough.
    const beforeMs = systemClock.elapsed();
    const beforeCpuMs = isCostly ? threadCpuMs() : recentThreadCpuMs();
    const rendered = render(template, variables, leftMs());
    // A render that was stopped has used all of the time, also if others had the processor.
    const isStopped = !rendered.ok && rendered.reason === TOO_SLOW;
    const elapsedMs = systemClock.elapsed() - beforeMs;
    isCostly ||= elapsedMs > SHORT_MS;
    const usedMs = isCostly ? threadCpuMs() - beforeCpuMs : elapsedMs;
    tookMs[field] += Math.max(usedMs, isStopped ? leftMs() : 0);
    return rendered;
  }

  return {
    render(field, template, variables) {
      const rendered = renderInTime(field, template, variables);
      if (rendered.ok) return rendered;
      return { ...rendered, field: isSpent() ? slowest() : field };
    },
    isSpent,
  };
}
