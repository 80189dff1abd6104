/** The program gives the same results as simple models of it, with random data. */

import { compareBacktests } from "./models/backtests.ts";
import { compareDemoBacktest } from "./models/demo-backtest.ts";
import { compareImports } from "./models/imports.ts";
import { compareSearches } from "./models/search.ts";
import { compareSegmentBacktests } from "./models/segment-backtests.ts";
import { compareSegments } from "./models/segments.ts";
import { compareWorkflows } from "./models/workflows.ts";
import { prove } from "./prove.ts";

/** The same data each time; the environment may choose others. */
const seed = Number(process.env["SEED"] ?? 20260302);

prove([
  {
    name: "the workflow engine does what a naive implementation does",
    run: (form) => compareWorkflows({ runs: { short: 300, long: 5_000 }[form], seed }),
  },
  {
    name: "a backtest of the log finds what the live run of its events did",
    run: (form) =>
      compareBacktests({
        workflows: { short: 8, long: 300 }[form],
        events: { short: 60, long: 6_000 }[form],
        seed,
      }),
  },
  {
    name: "a backtest of the demonstration finds what a live run of its events did",
    // It takes half a minute.
    isPossible: process.env["PROOFS"] === "long",
    run: () => compareDemoBacktest({ seed: 3 }),
  },
  {
    name: "the SQL of a condition selects the contacts that meet it",
    run: (form) => compareSegments({ conditions: { short: 150, long: 5_000 }[form], seed }),
  },
  {
    name: "a backtest of a segment finds the members that it had on each day",
    run: (form) =>
      compareSegmentBacktests({
        segments: { short: 40, long: 300 }[form],
        contacts: { short: 10, long: 30 }[form],
        events: { short: 100, long: 500 }[form],
        seed,
      }),
  },
  {
    name: "an import subscribes nobody who was out",
    run: (form) => compareImports({ imports: { short: 150, long: 10_000 }[form], seed }),
  },
  {
    name: "a search of an inbox finds what a filter over all its messages finds",
    run: (form) =>
      compareSearches({
        messages: { short: 200, long: 2_000 }[form],
        queries: { short: 200, long: 2_000 }[form],
        seed,
      }),
  },
]);
