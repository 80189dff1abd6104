/** The exported names of source files and their uses, for the tests of the architecture. */

import { Glob } from "bun";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export type TextFile = {
  /** Path below the root of the repository, with forward slashes. */
  file: string;
  text: string;
};

const ROOT = join(import.meta.dir, "../..");

/** All TypeScript files of these folders. */
export function filesOf(folders: readonly string[]): TextFile[] {
  return folders
    .flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(ROOT)])
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !file.endsWith(".d.ts"))
    .toSorted()
    .map((file) => ({ file, text: readFileSync(join(ROOT, file), "utf8") }));
}

const DECLARATION =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|type|interface) (\w+)/gm;
const EXPORT_LIST = /^export (?:type )?\{([^}]*)\}/gm;

/** The names that a file exports; a name with two declarations (type and value) is listed once. */
export function exportedNames({ text }: Pick<TextFile, "text">): string[] {
  const declared = [...text.matchAll(DECLARATION)].map(([, name = ""]) => name);
  const listed = [...text.matchAll(EXPORT_LIST)].flatMap(([, list = ""]) =>
    itemsOf(list).map(([, alias]) => alias),
  );
  return [...new Set([...declared, ...listed])];
}

const FROM = /^(?:import|export)\b([^;]*?)\bfrom\s*"(\.[^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"(\.[^"]+)"\s*\)/g;

/** The names that a file imports from others, as `path name`; `path *` if it imports all names. */
export function usedNames({ file, text }: TextFile): string[] {
  const pathOf = (target: string) =>
    relative(ROOT, join(ROOT, dirname(file), target)).replaceAll("\\", "/");
  const named = [...text.matchAll(FROM)].flatMap(([, clause = "", target = ""]) =>
    namesOf(clause).map((name) => `${pathOf(target)} ${name}`),
  );
  const all = [...text.matchAll(DYNAMIC)].map(([, target = ""]) => `${pathOf(target)} *`);
  return [...named, ...all];
}

function namesOf(clause: string): string[] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1];
  return list === undefined ? ["*"] : itemsOf(list).map(([name]) => name);
}

/** `a, type B, c as d` has the items [a, a], [B, B] and [c, d]. */
function itemsOf(list: string): [name: string, alias: string][] {
  return list
    .split(",")
    .map((item) => item.trim().replace(/^type\s+/, ""))
    .filter((item) => item !== "")
    .map((item) => item.split(/\s+as\s+/))
    .map(([name = "", alias = name]) => [name, alias]);
}
