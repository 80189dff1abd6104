/** The sizes of the built dashboard, and its list of component styles. */

import { beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gunzipSync } from "node:zlib";
import { buildDashboard } from "../support/browser.ts";
import { filesOf } from "../support/exports.ts";

const ROOT = join(import.meta.dir, "../..");
const OUTPUT = join(ROOT, "dist", "ui");
const KB = 1_000;
const FIRST_VISIT_BYTES = 300 * KB;

let names: string[];
beforeAll(() => {
  buildDashboard();
  names = readdirSync(OUTPUT)
    .filter((file) => file.endsWith(".gz"))
    .map((file) => file.replace(/\.gz$/, ""));
}, 60_000);

const gzipped = (name: string) => readFileSync(join(OUTPUT, `${name}.gz`));
const textOf = (name: string) => gunzipSync(gzipped(name)).toString();

/** The sizes with Brotli in this build, and those at a level next to that of a release. */
const built = new Map<string, number>();
const compressed = new Map<string, number>();

function brotliBytes(name: string): number {
  const bytes = built.get(name) ?? statSync(join(OUTPUT, `${name}.br`)).size;
  built.set(name, bytes);
  return compressed.get(name) ?? bytes;
}

/** A release has the highest level, whose files are a little smaller, and which takes twice as long. */
function compress(name: string): void {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY - 1 };
  compressed.set(name, brotliCompressSync(gunzipSync(gzipped(name)), { params }).byteLength);
}

/** The size of files in this build, or a smaller one, but not smaller than in a release. */
function sizeWithin(limit: number, files: readonly string[]): number {
  const total = () => sum(files.map(brotliBytes));
  // To compress all files takes seconds, so the largest come first.
  for (const name of files.toSorted((a, b) => brotliBytes(b) - brotliBytes(a))) {
    if (total() <= limit) break;
    if (!compressed.has(name)) compress(name);
  }
  return total();
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** The files that the document names, and the scripts that those import before they run. */
function firstFiles(): string[] {
  const html = textOf("index.html");
  const named = [...html.matchAll(/(?:src|href)="\/app\/assets\/([^"]+)"/g)];
  return withImports(named.map(([, path = ""]) => path));
}

function withImports(start: readonly string[]): string[] {
  const found = new Set<string>();
  function add(name: string): void {
    if (found.has(name) || !names.includes(name)) return;
    found.add(name);
    if (!name.endsWith(".js")) return;
    const imports = textOf(name).matchAll(/(?:from|import)\s*"(?:\/app\/assets\/|\.\/)([^"]+)"/g);
    for (const [, target = ""] of imports) add(target);
  }
  for (const name of start) add(name);
  return [...found];
}

test("the scripts of the first load have at most 190 kB with gzip", () => {
  const scripts = firstFiles().filter((name) => name.endsWith(".js"));
  expect(scripts.length).toBeGreaterThanOrEqual(2);
  const bytes = sum(scripts.map((name) => gzipped(name).byteLength));
  expect(bytes).toBeWithin(100 * KB, 190 * KB);
});

test("the page has one stylesheet, with at most 30 kB with Brotli, and few parts have their own", () => {
  const styles = names.filter((name) => name.endsWith(".css"));
  const first = firstFiles().filter((name) => name.endsWith(".css"));
  expect(first.length).toBe(1);
  expect(sizeWithin(30 * KB, first)).toBeLessThan(30 * KB);
  const later = styles.filter((name) => !first.includes(name));
  expect(later.filter((name) => sizeWithin(5 * KB, [name]) > 5 * KB)).toEqual([]);
});

/** Parts that are loaded only where they are used, by the start of the name of their chunk. */
const LARGE_PARTS = {
  "code-editor": 190 * KB,
  "visual-editor": 330 * KB,
  canvas: 80 * KB,
} as const;

/** The largest size of a chunk. */
const limitOfChunk = (name: string): number =>
  Object.entries(LARGE_PARTS).find(([part]) => name.startsWith(`${part}-`))?.[1] ?? 40 * KB;

test("the chunk of a page has at most 40 kB with Brotli, that of an editor its own budget", () => {
  const first = firstFiles();
  const chunks = names.filter((name) => name.endsWith(".js") && !first.includes(name));
  expect(chunks.length).toBeGreaterThan(3);
  const large = chunks.map((name) => [name, sizeWithin(limitOfChunk(name), [name])] as const);
  expect(large.filter(([name, bytes]) => bytes > limitOfChunk(name))).toEqual([]);
  for (const part of Object.keys(LARGE_PARTS)) {
    expect(chunks.filter((name) => name.startsWith(`${part}-`)).length).toBe(1);
  }
});

/** The chunks of the pages that the router loads when they are opened, by the name of their file. */
function pageChunks(): Map<string, string | undefined> {
  const router = ["router.tsx", "entry-routes.tsx", "user-routes.tsx"]
    .map((file) => readFileSync(join(ROOT, "src/dashboard", file), "utf8"))
    .join("");
  const pages = [...router.matchAll(/import\("\.\/pages\/[^"]*\/([^/"]+)\.tsx"\)/g)];
  return new Map(
    pages.map(([, page = ""]) => [
      page,
      names.find((name) => name.replace(/-[^-]+\.js$/, "") === page),
    ]),
  );
}

test("each page has a chunk of its own, and with it the first visit loads at most 300 kB", () => {
  const chunks = [...pageChunks()];
  expect(chunks.length).toBeGreaterThanOrEqual(12);
  expect(chunks.filter(([, chunk]) => chunk === undefined)).toEqual([]);
  const limitOf = (page: string) => (page === "overview" ? 260 * KB : FIRST_VISIT_BYTES);
  const first = firstFiles();
  const loads = chunks.map(([page, chunk = ""]) => {
    const files = new Set([...first, ...withImports([chunk])]);
    return [page, sizeWithin(limitOf(page), [...files])] as const;
  });
  expect(loads.filter(([page, bytes]) => bytes > limitOf(page))).toEqual([]);
  expect(loads.find(([page]) => page === "overview")?.[1]).toBeGreaterThan(100 * KB);
});

test("mantine.css lists the styles of every component that is imported, and of no other twice", () => {
  const folder = join(ROOT, "node_modules/@mantine/core/styles");
  const css = readFileSync(join(ROOT, "src/dashboard/mantine.css"), "utf8");
  const listed = [...css.matchAll(/styles\/(\w+)\.layer\.css/g)].map(([, name = ""]) => name);
  const imported = filesOf(["src/dashboard"]).flatMap(({ text }) =>
    [...text.matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => name.trim()),
    ),
  );
  const styled = imported.filter((name) => existsSync(join(folder, `${name}.layer.css`)));
  expect(styled.length).toBeGreaterThan(10);
  expect(styled.filter((name) => !listed.includes(name))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});
