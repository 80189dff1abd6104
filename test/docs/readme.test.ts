/** The README is a front page: short, with pictures that exist and are small. */

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const MAX_WORDS = 900;
const MAX_PICTURE_BYTES = 200_000;
const SIZE_OFFSET = 16;

const readme = readFileSync(join(ROOT, "README.md"), "utf8");

test("the README has at most 900 words", () => {
  // Marks such as the borders of a table are no words.
  const words = readme.split(/\s+/).filter((text) => /[\p{L}\p{N}]/u.test(text));
  expect(words.length).toBeWithin(300, MAX_WORDS + 1);
});

test("the README shows the dashboard in light and dark, 1280 by 800 pixels", () => {
  const pictures = [...readme.matchAll(/(?:src|srcset)="([^"]+\.png)"/g)].map(
    ([, path = ""]) => path,
  );
  expect(pictures.toSorted()).toEqual([
    "docs/pictures/emails-dark.png",
    "docs/pictures/emails-light.png",
  ]);
  for (const path of pictures) {
    const png = readFileSync(join(ROOT, path));
    expect(png.byteLength).toBeLessThan(MAX_PICTURE_BYTES);
    expect([png.readUInt32BE(SIZE_OFFSET), png.readUInt32BE(SIZE_OFFSET + 4)]).toEqual([1280, 800]);
  }
});

test("the links of the README lead to files", () => {
  const targets = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = ""]) => path);
  expect(targets.length).toBeGreaterThan(10);
  expect(targets.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
