/** Two runs of `scripts/setup` in one checkout: the second waits for the first, and says so. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "../support/eventually.ts";

const WAITING = "setup: waiting for another setup of this checkout to finish";
const VERSION = "1.2.3";

/** A replacement of Bun. Its installation ends when a line is written to the named pipe `gate`. */
const BUN = `#!/bin/sh
if [ "$1" = --version ]; then echo ${VERSION}; exit; fi
echo "the installation begins" >&2
read -r line <gate
`;

let checkout: string;
/** Descriptor of the named pipe, open for reading and writing so that neither side blocks. */
let gate: number;

beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), "mailstead-setup-"));
  const path = (name: string) => join(checkout, name);
  mkdirSync(path("scripts"));
  cpSync(join(import.meta.dir, "../../scripts/setup"), path("scripts/setup"));
  const devDependencies = { bun: VERSION };
  writeFileSync(path("package.json"), JSON.stringify({ devDependencies }, null, 2));
  writeFileSync(path("bun.lock"), "{}");
  mkdirSync(path("node_modules/.bin"), { recursive: true });
  writeFileSync(path("node_modules/.bin/bun"), BUN, { mode: 0o755 });
  Bun.spawnSync(["mkfifo", path("gate")]);
  gate = openSync(path("gate"), "r+");
});

afterEach(() => {
  closeSync(gate);
  rmSync(checkout, { recursive: true });
});

/** Starts the script. `output` returns its messages until now. */
function startSetup(name: string) {
  const file = join(checkout, `${name}.log`);
  const { exited, pid } = Bun.spawn([join(checkout, "scripts/setup")], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(file),
  });
  return { exited, pid, output: () => readFileSync(file, "utf8") };
}

const isWithoutFlock = Bun.which("flock") === null;

test.skipIf(isWithoutFlock)("waits for the installation of a killed run, and says so", async () => {
  const first = startSetup("first");
  await waitUntil(() => first.output().includes("the installation begins"));
  process.kill(first.pid, "SIGKILL");
  await first.exited;
  const second = startSetup("second");
  await waitUntil(() => second.output().includes(WAITING));
  writeSync(gate, "end\n");
  expect(await second.exited).toBe(0);
  expect(second.output()).not.toContain("the installation begins");
  expect(first.output()).not.toContain(WAITING);
});
