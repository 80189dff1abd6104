/**
 * Measures against the project's aims; each measurement prints its baseline from the same run.
 *
 * `bun scripts/bench.ts [accept|deliver|deliver-direct|pace|slow|start|tracking|all] [--quick]
 *   [--binary[=PATH]]`
 *
 * The server is a process of its own (from the sources, or the executable with `--binary`), and so
 * are the load generator and the SMTP server. `start` always takes the executable. Exit code 1
 * where an aim was missed. A machine that does other work at the time gives other numbers.
 */

import { join } from "node:path";
import { benchAccept } from "./bench/accept.ts";
import { ROOT } from "./bench/children.ts";
import { benchDeliver } from "./bench/deliver.ts";
import { benchDirect } from "./bench/direct.ts";
import { benchPace } from "./bench/pace.ts";
import { benchSlow } from "./bench/slow.ts";
import { benchStart } from "./bench/start.ts";
import { benchTracking } from "./bench/tracking.ts";

const LIMIT_MS = 30 * 60_000;
const DEFAULT_BINARY = join(ROOT, "dist", "mailstead");

type Options = { binary: string | null; isQuick: boolean };

const BENCHES: Readonly<Record<string, (options: Options) => Promise<boolean>>> = {
  accept: benchAccept,
  deliver: benchDeliver,
  "deliver-direct": benchDirect,
  pace: benchPace,
  start: ({ binary, isQuick }) => benchStart({ binary: binary ?? DEFAULT_BINARY, isQuick }),
  slow: benchSlow,
  tracking: benchTracking,
};

const USAGE = `usage: bun scripts/bench.ts [${Object.keys(BENCHES).join("|")}|all] [--quick] [--binary[=PATH]]`;

function readArguments(words: readonly string[]): { names: string[]; options: Options } {
  const options: Options = { binary: null, isQuick: false };
  const names: string[] = [];
  for (const word of words) {
    if (word === "--quick") options.isQuick = true;
    else if (word === "--binary") options.binary = DEFAULT_BINARY;
    else if (word.startsWith("--binary=")) options.binary = word.slice("--binary=".length);
    else if (word === "all") names.push(...Object.keys(BENCHES));
    else if (Object.hasOwn(BENCHES, word)) names.push(word);
    else throw new Error(`${word}: not known\n${USAGE}`);
  }
  return { names: names.length === 0 ? Object.keys(BENCHES) : names, options };
}

async function run(): Promise<number> {
  const { names, options } = readArguments(Bun.argv.slice(2));
  let areAllMet = true;
  for (const name of names) {
    const isMet = await BENCHES[name]?.(options);
    if (isMet !== true) areAllMet = false;
    console.log("");
  }
  return areAllMet ? 0 : 1;
}

setTimeout(() => {
  console.error(`not done within ${LIMIT_MS / 60_000} minutes`);
  process.exit(1);
}, LIMIT_MS);

try {
  process.exit(await run());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
