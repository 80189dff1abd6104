/**
 * Runs all recipes of docs/testing.md with their tools: Python, Node, Playwright, Go and PHP.
 *
 * `bun scripts/recipes.ts [EXECUTABLE]` (default: the sources)
 *
 * The exit code is 1 if a recipe fails or if its tool is not installed. The tests run the recipes whose
 * tools start quickly (test/docs/testing-recipes.test.ts).
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stringAt } from "../test/support/json.ts";
import { startMailstead } from "../test/support/cli.ts";
import { linkPackages, QUICK_RECIPES, runRecipe, SLOW_RECIPES } from "./recipes/run.ts";

const [executable] = Bun.argv.slice(2);
const sources = [process.execPath, join(import.meta.dir, "../src/main.ts")];
const program = executable === undefined ? sources : [resolve(executable)];

const folder = mkdtempSync(join(tmpdir(), "mailstead-recipes-"));
mkdirSync(join(folder, "bin"));
const words = program.map((word) => `"${word}"`).join(" ");
writeFileSync(join(folder, "bin/mailstead"), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
linkPackages(folder);

const server = await startMailstead(
  ["dev", "--json", "--data", "temporary", "--port", "0", "--capture-smtp", "127.0.0.1:0"],
  (text) => text.endsWith("}\n"),
);
const info: unknown = JSON.parse(server.greeting);
const at = { folder, url: stringAt(info, "url"), smtp: stringAt(info, "smtp") };
let failed = 0;
for (const recipe of [...QUICK_RECIPES, ...SLOW_RECIPES]) {
  const result = recipe.isInstalled()
    ? await runRecipe(recipe, at)
    : { code: 1, output: "its tool is not installed" };
  console.log(`${result.code === 0 ? "ok" : "not ok"} ${recipe.name}`);
  if (result.code === 0) continue;
  failed++;
  console.log(result.output);
}
await server.stop();
rmSync(folder, { recursive: true });
process.exitCode = failed === 0 ? 0 : 1;
