/** Every file that docs/architecture.md names exists. */

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");

function filesIn(text: string): string[] {
  return [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = ""]) => file);
}

test("every named file exists", () => {
  const files = filesIn(page).filter((file) => file.includes("/"));
  expect(files.length).toBeGreaterThan(50);
  const exists = (file: string) =>
    existsSync(join(ROOT, "src", file)) || existsSync(join(ROOT, file));
  expect(files.filter((file) => !exists(file))).toEqual([]);
});
