/** Imports point down only. The floors of the house, and which of them each may stand on. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const SRC = join(import.meta.dir, "../src");

/** Floor → the floors below it that it may use, beside itself. */
const FLOORS: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  mail: ["lib"],
  db: ["lib"],
  delivery: ["mail", "db", "lib"],
  http: ["mail", "db", "lib"],
  modules: ["delivery", "http", "mail", "db", "lib"],
  smtp: ["modules", "mail", "lib"],
  "config.ts": ["delivery", "lib"],
  /** What stands in `src/` itself and puts the parts together. */
  app: ["config.ts", "smtp", "modules", "http", "delivery", "mail", "db", "lib"],
  // Commands make the parts they need, as app.ts does.
  cli: ["app", "config.ts", "modules", "http", "delivery", "mail", "db", "lib"],
  "main.ts": ["cli", "lib"],
};

type Import = { from: string; to: string; isType?: boolean };

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
  .map((file) => file.replaceAll("\\", "/"));

/** Imports of types point down as well: they are knowledge too. */
const STATEMENT =
  /^(?:import|export)\b[^;]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\("([^"]+)"\)/gm;

const imports = files.flatMap((file) => {
  const source = readFileSync(join(SRC, file), "utf8");
  return [...source.matchAll(STATEMENT)].flatMap(([statement, from, bare, dynamic]): Import[] => {
    const target = from ?? bare ?? dynamic ?? "";
    if (!target.startsWith(".")) return [];
    const to = relative(SRC, join(SRC, dirname(file), target)).replaceAll("\\", "/");
    return [{ from: file, to, isType: /^(?:import|export) type\b/.test(statement) }];
  });
});

function floorOf(file: string): string {
  const [first = ""] = file.split("/");
  return FLOORS[first] === undefined && first === file ? "app" : first;
}
const show = ({ from, to }: Import) => `${from} -> ${to}`;

test("the statements are found: as many as the transpiler sees, and those of types", () => {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  for (const file of files) {
    const seen = transpiler
      .scanImports(readFileSync(join(SRC, file), "utf8"))
      .map(({ path }) => path)
      .filter((path) => path.startsWith("."));
    const found = imports.filter(({ from }) => from === file).length;
    expect([file, found >= new Set(seen).size]).toEqual([file, true]);
  }
  expect(imports.length).toBeGreaterThan(100);
});

describe("imports point down only", () => {
  test("every file stands on a known floor", () => {
    expect(files.map(floorOf).filter((floor) => FLOORS[floor] === undefined)).toEqual([]);
  });

  test("every import names a file that is there, with its ending", () => {
    const known = new Set(files);
    const unknown = imports.filter(({ to }) => !to.startsWith("..") && !known.has(to));
    expect(unknown.map(show)).toEqual([]);
  });

  for (const [floor, below] of Object.entries(FLOORS)) {
    test(`${floor} -> ${below.join(", ") || "nothing"}`, () => {
      const wrong = imports.filter(
        ({ from, to }) =>
          floorOf(from) === floor &&
          !to.startsWith("..") && // package.json, for the version.
          ![floor, ...below].includes(floorOf(to)),
      );
      expect(wrong.map(show)).toEqual([]);
    });
  }

  test("mail and delivery know nothing of HTTP frameworks, and mail nothing of storage", () => {
    const packagesOf = (floor: string) =>
      files
        .filter((file) => floorOf(file) === floor)
        .flatMap((file) =>
          [...readFileSync(join(SRC, file), "utf8").matchAll(/from "([^".][^"]*)"/g)].map(
            ([, name = ""]) => name,
          ),
        );
    for (const floor of ["lib", "mail", "db", "delivery"])
      expect(packagesOf(floor)).not.toContain("elysia");
    for (const floor of ["lib", "mail"])
      expect(packagesOf(floor).filter((name) => /sqlite|drizzle/.test(name))).toEqual([]);
  });
});

test("there are no cycles: of values between files, of any kind between modules", () => {
  const values = imports.filter(({ isType }) => isType !== true);
  const byModule = imports
    .filter(({ from, to }) => floorOf(from) === "modules" && floorOf(to) === "modules")
    .map(({ from, to }): Import => ({ from: from.split("/")[1] ?? "", to: to.split("/")[1] ?? "" }))
    .filter(({ from, to }) => from !== to);
  expect([firstCycle(values), firstCycle(byModule)]).toEqual([null, null]);
});

test("a module is used through its files, never through its routes, and there are no barrels", () => {
  const intoRoutes = imports.filter(
    ({ from, to }) => to.endsWith("/routes.ts") && from !== "app.ts",
  );
  expect(intoRoutes.map(show)).toEqual([]);
  expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([]);
});

/** The files of one cycle, in order; null if there is none. */
function firstCycle(edges: readonly Import[]): string[] | null {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const path: string[] = [];

  function visit(file: string): string[] | null {
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (done.has(file)) return null;
    path.push(file);
    for (const { to } of targets.get(file) ?? []) {
      const cycle = visit(to);
      if (cycle !== null) return cycle;
    }
    path.pop();
    done.add(file);
    return null;
  }

  for (const file of targets.keys()) {
    const cycle = visit(file);
    if (cycle !== null) return cycle;
  }
  return null;
}
