/** Every citation of a page in docs/ names a page and an anchor that exist. */

import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const FOLDERS = ["src", "test", "scripts", "migrations", "docs"];
const CITATION = /\bdocs\/([\w-]+\.md)(?:#([\w-]+(?:\.\w+)*))?/g;
/** Documents that a reader of this repository does not have. */
const ELSEWHERE = /\b(?:interface decisions? [A-L]\b|delivery rules? [WSTRC]\d|specification §)/gi;

type Citation = { file: string; page: string; anchor: string | undefined };

const files = ["README.md", ...FOLDERS.flatMap(textFiles)];

function textFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(tsx?|sql|md|py|sh)$/.test(file))
    .map((file) => join(folder, file));
}

function citationsIn(file: string, text: string): Citation[] {
  return [...text.matchAll(CITATION)].map(([, page = "", anchor]) => ({ file, page, anchor }));
}

function isResolved({ page, anchor }: Citation): boolean {
  const path = join(ROOT, "docs", page);
  if (!existsSync(path)) return false;
  return anchor === undefined || readFileSync(path, "utf8").includes(`<a id="${anchor}"></a>`);
}

test("finds citations, and tells one that does not resolve", () => {
  const text = "see docs/delivery.md#S5, docs/delivery.md#S99 and docs/nowhere.md";
  expect(citationsIn("x", text).map(isResolved)).toEqual([true, false, false]);
});

test("every citation of a page in docs/ resolves", () => {
  const own = "test/docs/citations.test.ts";
  const citations = files
    .filter((file) => file !== own)
    .flatMap((file) => citationsIn(file, readFileSync(join(ROOT, file), "utf8")));
  expect(citations.length).toBeGreaterThan(50);
  const broken = citations.filter((citation) => !isResolved(citation));
  expect(broken).toEqual([]);
});

test("nothing cites a document that is not in the repository", () => {
  const own = "test/docs/citations.test.ts";
  const found = files
    .filter((file) => file !== own && !file.startsWith("docs/"))
    .flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(ELSEWHERE)].map(([text]) => [file, text]),
    );
  expect(found).toEqual([]);
});
