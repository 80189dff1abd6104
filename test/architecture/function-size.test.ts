/**
 * A function has at most 60 lines. A factory is exempt, because it groups functions around their shared
 * state, and so is a component of a .tsx file. The linter counts the lines.
 */

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listAt, stringAt } from "../support/json.ts";

const MAX_LINES = 60;

/** A factory returns an object of functions or a table: `createWriter`, `webhookOperations`. */
const FACTORY = /^create[A-Z]|(?:Routes|Operations|Transport|Store)$/;

/** A component: its lines are mostly the elements that it shows. */
const COMPONENT = /\.tsx [A-Z]\w*$/;

type Sized = { name: string; lines: number };

const MESSAGE = /unction(?: `(\w+)`)? has too many lines \((\d+)\)/;

/** All functions with more than MAX_LINES lines. */
function longFunctions(path: string): Sized[] {
  const config = join(import.meta.dir, "function-size.json");
  const { stdout } = Bun.spawnSync(
    [
      process.execPath,
      "run",
      "--silent",
      "--bun",
      "oxlint",
      "-c",
      config,
      "--format",
      "json",
      path,
    ],
    { cwd: join(import.meta.dir, "../.."), stderr: "ignore" },
  );
  const output: unknown = JSON.parse(stdout.toString());
  return listAt(output, "diagnostics").map((found) => {
    const message = stringAt(found, "message");
    const [, name = "(anonymous)", lines] = MESSAGE.exec(message) ?? [];
    return { name: `${stringAt(found, "filename")} ${name}`, lines: Number(lines) };
  });
}

function tooLong(found: readonly Sized[]): Sized[] {
  return found.filter(({ name, lines }) => {
    const isExempt = COMPONENT.test(name) || FACTORY.test(name.slice(name.indexOf(" ") + 1));
    return !isExempt && !(lines <= MAX_LINES);
  });
}

test("no function is too long", () => {
  expect(tooLong(longFunctions("src"))).toEqual([]);
});

test("a function that is too long is found, and a factory or a component is not", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-size-"));
  const file = join(folder, "a.ts");
  const of = (name: string, lines: number) =>
    `export function ${name}() {\n${"  run();\n".repeat(lines - 2)}}\n`;
  writeFileSync(file, of("short", 60) + of("long", 61) + of("createBig", 121));
  const names = tooLong(longFunctions(file)).map(({ name }) => name.split(" ")[1] ?? "");
  rmSync(folder, { recursive: true });
  expect(names).toEqual(["long"]);
  const components = ["a.tsx LongPage", "a.ts LongPage", "a.tsx longPage"];
  expect(tooLong(components.map((name) => ({ name, lines: 61 }))).map(({ name }) => name)).toEqual(
    components.slice(1),
  );
});
