/** Every file that docs/architecture.md names exists, and the tours have as many files as they say. */

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

test("each guided tour has as many files and changes of folder as its title says", () => {
  const tours = [
    ...page.matchAll(
      /\*\*[^*]+\*\* \((\d+) files, (\d+) changes of folder[^)]*\)\n([^]*?)(?=\n\*\*|\n## )/g,
    ),
  ];
  expect(tours.length).toBe(6);
  for (const [, files, changes, text = ""] of tours) {
    const names = filesIn(text);
    const folders = names.map((name) => name.split("/")[0]);
    expect(new Set(names).size).toBe(Number(files));
    expect(folders.filter((folder, i) => i > 0 && folder !== folders[i - 1]).length).toBe(
      Number(changes),
    );
  }
});
