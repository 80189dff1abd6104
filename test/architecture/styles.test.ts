/**
 * The style sheets of the dashboard apply to all pages, also to those that did not load them, so that
 * a class has its rules in one of them. A rule for a class of another part names that part: `.campaign .card`.
 */

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DASHBOARD = join(import.meta.dir, "../../src/dashboard");

/** The classes that a style sheet styles by a selector of the class alone. */
function classesOf(css: string): Set<string> {
  const selectors = css
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .matchAll(/(?:^|[{},])\s*\.([\w-]+)\s*(?=[,{])/g);
  return new Set([...selectors].map(([, name = ""]) => name));
}

test("reads the classes of a style sheet", () => {
  const css = "/* .no { } */ .a,\n.b { x: 1 }\n@media (x) { .c { y: 2 } } .d .e { } .f:hover { }";
  expect([...classesOf(css)]).toEqual(["a", "b", "c"]);
});

test("no class has its rules in two style sheets", () => {
  const sheets = readdirSync(DASHBOARD, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".css"),
  );
  expect(sheets.length).toBeGreaterThan(10);
  const sheetsOf = new Map<string, string[]>();
  for (const sheet of sheets) {
    for (const name of classesOf(readFileSync(join(DASHBOARD, sheet), "utf8"))) {
      sheetsOf.set(name, [...(sheetsOf.get(name) ?? []), sheet]);
    }
  }
  expect([...sheetsOf].filter(([, found]) => found.length > 1)).toEqual([]);
});
