/** Puts the reading of request bodies together: their budget, their bytes, and the JSON in them. */

import { createBreather } from "../lib/breather.ts";
import type { Clock } from "../lib/clock.ts";
import { createGarbage } from "../lib/garbage.ts";
import { createArrivals } from "./body-arrival.ts";
import { createBodyBudget } from "./body-budget.ts";
import { createBodyBytes } from "./body-bytes.ts";
import { createJsonBodies } from "./body.ts";

export type Bodies = ReturnType<typeof createBodies>;

export function createBodies(deps: {
  clock: Clock;
  /** Told what is worked on, for the watchdog of the event loop. */
  beginWork: (name: string) => void;
}) {
  const { clock, beginWork } = deps;
  const budget = createBodyBudget(clock);
  const breathe = createBreather();
  const arrivals = createArrivals(clock);
  const bytes = createBodyBytes({
    budget,
    arrivals,
    breathe,
    garbage: createGarbage(),
  });
  const json = createJsonBodies({ bytes, breathe, beginWork });
  return {
    budget,
    arrivals,
    /** The parsed JSON body of a request, or undefined where there is none. */
    readJson: json.read,
    /** The pieces of a body that is not kept in memory. */
    pieces: bytes.pieces,
    /** Gives back what a request took from the budget, once it was answered. */
    giveBack: bytes.giveBack,
    /** Called once, when all routes are there: what they declare with `limited`. */
    learn: json.learn,
  };
}
