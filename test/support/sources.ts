/** The source files under src/ and their imports, for the tests of the architecture. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export type Source = {
  /** Path below src/, with forward slashes. */
  file: string;
  text: string;
};

export type Import = {
  from: string;
  to: string;
  /** The statement imports types only. */
  isType: boolean;
  /** The imported names as the other file exports them; empty for an import for its effects. */
  names: string[];
};

const SRC = join(import.meta.dir, "../../src");

const STATEMENT =
  /^(?:import|export)\b([^;]*?)from\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\("([^"]+)"\)/gm;

export const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
  .map((file) => file.replaceAll("\\", "/"))
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(SRC, file), "utf8") }));

/** All imports of files below src/, of types and of values. */
export const imports: readonly Import[] = sources.flatMap(importsOf);

export function importsOf({ file, text }: Source): Import[] {
  return [...text.matchAll(STATEMENT)].flatMap(([statement, names = "", from, bare, dynamic]) => {
    const target = from ?? bare ?? dynamic ?? "";
    if (!target.startsWith(".")) return [];
    const to = relative(SRC, join(SRC, dirname(file), target)).replaceAll("\\", "/");
    const isType = /^(?:import|export) type\b/.test(statement);
    return [{ from: file, to, isType, names: namesIn(names) }];
  });
}

/** `{ a, type B, c as d }` imports the names a, B and c. */
function namesIn(clause: string): string[] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
  return list
    .split(",")
    .map((item) => item.trim().replace(/^type\s+/, ""))
    .map((item) => item.split(/\s+as\s+/)[0] ?? "")
    .filter((name) => name !== "");
}

/** Returns the packages that a file imports, without relative imports. */
export function packagesOf({ text }: Source): string[] {
  return [...text.matchAll(/from "([^".][^"]*)"/g)].map(([, name = ""]) => name);
}
