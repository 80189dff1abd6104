/**
 * Runs the long form of the proofs that have no script of their own: linear time, random models,
 * crashes during an import and the length of the write-ahead log.
 *
 * `bun scripts/proofs.ts [linear-time] [models] [storage] [--seed N]`
 *
 * The short forms in `test/proofs/` run the same code with smaller sizes. Other proofs have scripts
 * with options: attack.ts, content.ts, crash.ts, crash-campaign.ts, crash-workflows.ts,
 * hostile-template.ts and power-cut.ts. `--seed` chooses other random data. The exit code is 1 if a
 * proof fails.
 */

import { ROOT } from "./bench/children.ts";

const NAMES = ["linear-time", "models", "storage"];

const words = Bun.argv.slice(2);
const at = words.indexOf("--seed");
const [, seed] = at === -1 ? [] : words.splice(at, 2);
const unknown = words.find((word) => !NAMES.includes(word));
if (unknown !== undefined || (at !== -1 && !/^\d+$/.test(seed ?? ""))) {
  console.error(`usage: bun scripts/proofs.ts [${NAMES.join("] [")}] [--seed N]`);
  process.exit(2);
}
const names = words.length === 0 ? NAMES : words;
const tests = Bun.spawn(
  [process.execPath, "test", ...names.map((name) => `./test/proofs/${name}.test.ts`)],
  {
    cwd: ROOT,
    env: { ...process.env, PROOFS: "long", ...(seed === undefined ? {} : { SEED: seed }) },
    stdio: ["ignore", "inherit", "inherit"],
  },
);
process.exit(await tests.exited);
