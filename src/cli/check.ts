/** The command `mailstead check`: reads the whole database and reports inconsistencies. */

import type { Database } from "bun:sqlite";
import { readConfig } from "../config/read.ts";
import { findDatabase } from "../db/folder.ts";
import type { Violation } from "../db/invariant.ts";
import { openForReading } from "../db/open-stored.ts";
import { systemClock } from "../lib/clock.ts";
import { awaitShortLog } from "./check/pause.ts";
import { checkSteps, MAX_READ, type Step } from "./check/steps.ts";
import type { Command } from "./command.ts";

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
    const config = readConfig(input.settings, input.environment, {}, ["data"]);
    const { sqlite } = openForReading(findDatabase(config.data));
    const results: Result[] = [];
    try {
      for (const step of checkSteps(sqlite)) {
        const result = await run(step, sqlite);
        results.push(result);
        if (!input.isJson) console.log(textOf(result));
      }
    } finally {
      sqlite.close();
    }
    const failed = results.filter(({ ok }) => !ok).length;
    if (input.isJson) console.log(JSON.stringify({ failed, checks: results }));
    else console.log(summaryOf(failed, results.length));
    return failed > 0 ? 1 : 0;
  },
};

async function run({ name, rule, pieces }: Step, sqlite: Database): Promise<Result> {
  const violations: Violation[] = [];
  for (const [done, piece] of pieces.entries()) {
    if (violations.length >= MAX_READ) break;
    await showProgress(`${name}: ${done + 1} of ${pieces.length}, ${piece.name}`);
    violations.push(...piece.find());
    await awaitShortLog(sqlite, systemClock);
  }
  await showProgress("");
  return {
    name,
    rule,
    ok: violations.length === 0,
    violations: violations.slice(0, MAX_SHOWN),
    hasMore: violations.length > MAX_SHOWN,
  };
}

/** Shows the progress only on a terminal, in a line that the next text replaces. */
async function showProgress(text: string): Promise<void> {
  if (!process.stderr.isTTY) return;
  await new Promise<void>((resolve) => {
    process.stderr.write(CLEAR_LINE + text, () => resolve());
  });
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
