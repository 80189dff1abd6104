/** The command `mailstead check`: reads the whole database and reports inconsistencies. */

import type { Database } from "bun:sqlite";
import { findDatabase } from "../db/folder.ts";
import type { Violation } from "../db/invariant.ts";
import { openForReading } from "../db/open-stored.ts";
import { systemClock } from "../lib/clock.ts";
import { awaitShortLog } from "./check/pause.ts";
import { checkSteps, MAX_READ, type Step } from "./check/steps.ts";
import { type Command, readSettings } from "./command.ts";
import type { Output } from "./io.ts";

type Result = {
  name: string;
  rule: string;
  ok: boolean;
  violations: Violation[];
  /** True if there are more violations than these. */
  hasMore: boolean;
};

/** Most violations that are shown for each check. */
const MAX_SHOWN = 5;
const CLEAR_LINE = "\r\u001b[K";

export const check: Command = {
  name: "check",
  summary: "Read the whole database and report damage; exit 1 if there is any",
  details:
    "It checks the file, every table with its indexes, every reference, and the invariants of\n" +
    "the rows, for example that each counter equals the number of its rows. It changes nothing,\n" +
    "and works with or without a running server.",
  positionals: [],
  flags: [],
  settings: ["data"],
  run: async (input) => {
    const { io } = input;
    const config = readSettings(input, { names: ["data"] });
    const { sqlite } = openForReading(findDatabase(config.data));
    const results: Result[] = [];
    try {
      for (const step of checkSteps(sqlite)) {
        const result = await run(step, sqlite, io.stderr);
        results.push(result);
        if (!input.isJson) io.stdout.line(textOf(result));
      }
    } finally {
      sqlite.close();
    }
    const failed = results.filter(({ ok }) => !ok).length;
    if (input.isJson) io.stdout.line(JSON.stringify({ failed, checks: results }));
    else io.stdout.line(summaryOf(failed, results.length));
    return failed > 0 ? 1 : 0;
  },
};

async function run(
  { name, rule, pieces }: Step,
  sqlite: Database,
  output: Output,
): Promise<Result> {
  const violations: Violation[] = [];
  for (const [done, piece] of pieces.entries()) {
    if (violations.length >= MAX_READ) break;
    await showProgress(output, `${name}: ${done + 1} of ${pieces.length}, ${piece.name}`);
    violations.push(...piece.find());
    await awaitShortLog(sqlite, systemClock);
  }
  await showProgress(output, "");
  return {
    name,
    rule,
    ok: violations.length === 0,
    violations: violations.slice(0, MAX_SHOWN),
    hasMore: violations.length > MAX_SHOWN,
  };
}

/** Shows the progress only on a terminal, in a line that the next text replaces. */
async function showProgress(output: Output, text: string): Promise<void> {
  if (output.isTerminal) await output.write(CLEAR_LINE + text);
}

function textOf({ name, rule, ok, violations, hasMore }: Result): string {
  return [
    `${ok ? "ok  " : "fail"}  ${name}: ${rule}`,
    ...violations.map(({ id, finding }) => `        ${id}: ${finding}`),
    ...(hasMore ? ["        … and more"] : []),
  ].join("\n");
}

function summaryOf(failed: number, all: number): string {
  if (failed === 0) return `All ${all} checks passed.`;
  return (
    `${failed} of ${all} checks failed. Copy the data folder before you do anything else. ` +
    "If tables, pages or references are damaged, restore the newest backup."
  );
}
