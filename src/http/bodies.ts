/** Creates the readers of request bodies: the memory budget, the bytes, and the JSON in them. */

import { createYield } from "../lib/yield.ts";
import type { Clock } from "../lib/clock.ts";
import { createGarbage } from "../lib/garbage.ts";
import { createArrivals } from "./body-arrival.ts";
import { createBodyBudget } from "./body-budget.ts";
import { createBodyBytes } from "./body-bytes.ts";
import { createBodyShares } from "./body-shares.ts";
import { createJsonBodies } from "./body.ts";

export type Bodies = ReturnType<typeof createBodies>;

export function createBodies(deps: {
  clock: Clock;
  /** Called with the route whose body is processed next, for the watchdog of the event loop. */
  beginWork: (name: string) => void;
}) {
  const { clock, beginWork } = deps;
  const budget = createBodyBudget(clock);
  const yieldIfBusy = createYield();
  const arrivals = createArrivals(clock);
  const shares = createBodyShares({ budget, garbage: createGarbage({ clock }) });
  const bytes = createBodyBytes({ shares, arrivals, yieldIfBusy });
  const json = createJsonBodies({ bytes, shares, yieldIfBusy, beginWork });
  return {
    budget,
    arrivals,
    /** Resolves to the parsed JSON body of a request, or to undefined if there is none. */
    readJson: json.read,
    /** Resolves to the pieces of a body that is not held in memory as a whole. */
    pieces: bytes.pieces,
    /** Awaited before a request copies its data for many recipients. */
    takeCopies: shares.takeCopies,
    /** Returns what a request took from the budget; called after its response. */
    returnShares: shares.giveBack,
    /** Reads the limits that the routes declare with `limited`; called once, with all routes. */
    registerRoutes: json.learn,
  };
}
