/** The figures of an A/B test in words and bars. Pure. */

import type { AbTestState } from "../../../../modules/campaigns/ab-tests/ab-model.ts";
import { countText } from "../../overview/figures.ts";
import { counted } from "../numbers.ts";
import type { Winner } from "./ab-plan.ts";

/** The phase of an A/B test without a winner, in words; null for other campaigns. */
export function phaseText(state: AbTestState | null): string | null {
  if (state === null || state.phase === "REST") return null;
  if (state.phase === "TEST") return "A/B test";
  return state.waitsUntil === null
    ? "A/B test: waits for your choice"
    : "A/B test: waits for the winner";
}

type Figures = { hits: number; sent: number };

const rate = ({ hits, sent }: Figures): number => (sent === 0 ? 0 : Math.min(1, hits / sent));

const TOPS = [1, 2, 5, 10, 20, 50, 100];

/** The end of the scale of the bars, in percent: a round number that is not below the best rate. */
export function topOf(all: readonly Figures[]): number {
  const best = Math.max(0, ...all.map(rate));
  return TOPS.find((top) => best * 100 <= top) ?? 100;
}

/** The length of the bar of a variant in percent of a scale up to `top`. */
export const lengthOf = (variant: Figures, top: number): number =>
  Math.min(100, ((rate(variant) * 100) / top) * 100);

const WORDS: Readonly<Record<Winner["by"], string>> = {
  OPENS: "opened",
  CLICKS: "clicked",
  EVENT: "had the event",
  MANUAL: "clicked",
};

/** "12 of 100 recipients clicked" */
export const hitsText = ({ by }: Pick<Winner, "by">, hits: number, sent: number): string =>
  `${countText(hits)} of ${counted(sent, "recipient")} ${WORDS[by]}`;
