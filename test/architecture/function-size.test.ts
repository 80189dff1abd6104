/**
 * A function has at most 60 lines; a factory or a class, which groups functions around their shared
 * state, at most 120. Components in .tsx files are exempt. The linter counts the lines.
 */

import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesOf } from "../support/exports.ts";
import { listAt, stringAt } from "../support/json.ts";

const MAX_LINES = 60;
const MAX_FACTORY_LINES = 120;

/** A factory returns an object of functions: `createWriter`, `contactRoutes`, `relayTransport`. */
const FACTORY = /^create[A-Z]|^class |(?:Routes|Transport|Store)$/;

/** Functions and factories that are longer, with their size. The list only shrinks. */
const LONGER: Readonly<Record<string, number>> = {};

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

/** Classes of a formatted text. */
function classes({ file, text }: { file: string; text: string }): Sized[] {
  return [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+)[^]*?^\}/gm)].map(
    ([body, name]) => ({ name: `${file} class ${name}`, lines: body.split("\n").length }),
  );
}

function tooLong(found: readonly Sized[]): Sized[] {
  return found.filter(({ name, lines }) => {
    if (COMPONENT.test(name)) return false;
    const isFactory = FACTORY.test(name.slice(name.indexOf(" ") + 1));
    return !(lines <= (isFactory ? MAX_FACTORY_LINES : MAX_LINES));
  });
}

const found = tooLong([...longFunctions("src"), ...filesOf(["src"]).flatMap(classes)]);

test("no function is too long, apart from those of the list", () => {
  const longer = found.filter(({ name, lines }) => !(lines <= (LONGER[name] ?? 0)));
  expect(longer).toEqual([]);
});

test("every function of the list is still too long", () => {
  const names = new Set(found.map(({ name }) => name));
  expect(Object.keys(LONGER).filter((name) => !names.has(name))).toEqual([]);
});

describe("a violation is found", () => {
  const body = (lines: number) => `{\n${"  run();\n".repeat(lines - 2)}}\n`;

  test("of a function and of a factory", () => {
    const folder = mkdtempSync(join(tmpdir(), "mailstead-size-"));
    const file = join(folder, "a.ts");
    const of = (name: string, lines: number) => `export function ${name}() ${body(lines)}`;
    writeFileSync(
      file,
      of("short", 60) + of("long", 61) + of("createSmall", 120) + of("createBig", 121),
    );
    const names = tooLong(longFunctions(file)).map(({ name }) => name.split(" ")[1] ?? "");
    rmSync(folder, { recursive: true });
    expect(new Set(names)).toEqual(new Set(["createBig", "long"]));
    const components = ["a.tsx LongPage", "a.ts LongPage", "a.tsx longPage"];
    expect(
      tooLong(components.map((name) => ({ name, lines: 61 }))).map(({ name }) => name),
    ).toEqual(components.slice(1));
  });

  test("of a class", () => {
    const of = (lines: number) => ({ file: "a.ts", text: `export class Big ${body(lines)}` });
    expect(tooLong(classes(of(120)))).toEqual([]);
    expect(tooLong(classes(of(121)))).toEqual([{ name: "a.ts class Big", lines: 121 }]);
  });
});
