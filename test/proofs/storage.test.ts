/** Stored data survives crashes in the middle of a job, and the write-ahead log stays short. */

import { crashImport } from "./import.ts";
import { growLog } from "./log-growth.ts";
import { prove } from "./prove.ts";

prove([
  {
    name: "an import continues after each of many crashes, without losing or repeating a row",
    run: (form) =>
      crashImport(
        {
          short: { lines: 3_000, between: 400 },
          long: { lines: 200_000, between: 1_000 },
        }[form],
      ),
  },
  ...(["background", "sqlite"] as const).map((durability) => ({
    name: `searches without a pause do not let the write-ahead log grow: ${durability}`,
    run: (form: "short" | "long") => growLog(durability, form),
  })),
]);
