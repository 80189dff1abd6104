/** Imports point down: each layer of src/ uses only the layers below it. */

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Import, imports, packagesOf, sources } from "../support/sources.ts";

const SRC = join(import.meta.dir, "../../src");

/** Each layer with the layers that it may use besides itself. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  protocols: ["lib"],
  db: ["lib"],
  config: ["protocols", "lib"],
  /** The type App: what every function works with. */
  core: ["config", "protocols", "db", "lib"],
  events: ["core", "db", "lib"],
  render: ["core", "protocols", "db", "lib"],
  checks: ["core", "protocols", "lib"],
  http: ["core", "render", "protocols", "db", "lib"],
  outbox: ["core", "events", "render", "protocols", "db", "config", "lib"],
  /** Backups, which commands make beside a server. */
  backup: ["outbox", "db", "lib"],
  /** Releases, and how one is installed. */
  upgrade: ["backup", "outbox", "db", "config", "lib"],
  modules: [
    "core",
    "backup",
    "upgrade",
    "http",
    "outbox",
    "events",
    "render",
    "checks",
    "protocols",
    "db",
    "config",
    "lib",
  ],
  /** The certificate of HTTPS and of the SMTP listeners. */
  tls: ["core", "protocols", "db", "config", "lib"],
  smtp: ["core", "tls", "modules", "http", "protocols", "db", "config", "lib"],
  doctor: ["tls", "modules", "backup", "outbox", "protocols", "db", "config", "lib"],
  /** The files in src/ itself, which create the modules. */
  app: [
    "core",
    "backup",
    "upgrade",
    "doctor",
    "smtp",
    "tls",
    "modules",
    "http",
    "outbox",
    "events",
    "render",
    "protocols",
    "db",
    "config",
    "lib",
  ],
  /** Commands create the parts that they need, as app.ts does. */
  cli: [
    "app",
    "backup",
    "upgrade",
    "core",
    "doctor",
    "smtp",
    "tls",
    "modules",
    "http",
    "outbox",
    "events",
    "render",
    "protocols",
    "db",
    "config",
    "lib",
  ],
  "main.ts": ["cli", "lib"],
  /** It runs in browsers: from other folders it takes types only, by a rule of its own below. */
  dashboard: ["modules", "http"],
};

const files = new Set(sources.map(({ file }) => file));
const show = ({ from, to }: Import) => `${from} imports ${to}`;

function layerOf(file: string): string {
  const [first = ""] = file.split("/");
  return LAYERS[first] === undefined && first === file ? "app" : first;
}

test("the imports of each file are found, as many as the transpiler finds", () => {
  const transpilers = {
    ts: new Bun.Transpiler({ loader: "ts" }),
    tsx: new Bun.Transpiler({ loader: "tsx" }),
  };
  for (const { file, text } of sources) {
    const transpiler = transpilers[file.endsWith(".tsx") ? "tsx" : "ts"];
    const expected = transpiler.scanImports(text).filter(({ path }) => path.startsWith("."));
    const found = imports.filter(({ from }) => from === file).length;
    const isComplete = found >= new Set(expected.map(({ path }) => path)).size;
    expect([file, isComplete]).toEqual([file, true]);
  }
  expect(imports.length).toBeGreaterThan(100);
});

test("every import names an existing file with its extension", () => {
  const isStyle = (to: string) => to.endsWith(".css") && existsSync(join(SRC, to));
  const unknown = imports.filter(
    ({ to }) => !to.startsWith("..") && !files.has(to) && !isStyle(to),
  );
  expect(unknown.map(show)).toEqual([]);
});

describe("imports point down", () => {
  test("every file belongs to a layer", () => {
    expect([...files].filter((file) => LAYERS[layerOf(file)] === undefined)).toEqual([]);
  });

  for (const [layer, below] of Object.entries(LAYERS)) {
    test(`${layer} imports ${below.join(", ") || "nothing"}`, () => {
      const wrong = imports.filter(
        ({ from, to }) =>
          layerOf(from) === layer &&
          !to.startsWith("..") && // The version is read from package.json.
          ![layer, ...below].includes(layerOf(to)),
      );
      expect(wrong.map(show)).toEqual([]);
    });
  }
});

test("only http and modules use the HTTP framework; lib and protocols use no database", () => {
  const usersOf = (pattern: RegExp, layers: readonly string[]) =>
    sources
      .filter((source) => layers.includes(layerOf(source.file)))
      .filter((source) => packagesOf(source).some((name) => pattern.test(name)))
      .map(({ file }) => file);
  expect(usersOf(/^elysia$/, ["lib", "protocols", "db", "events", "render", "outbox"])).toEqual([]);
  expect(usersOf(/sqlite|drizzle/, ["lib", "protocols", "render"])).toEqual([]);
});

describe("the dashboard is a program of its own", () => {
  const isInterface = (to: string) =>
    /^modules\/(?:(?:[\w-]+\/)+(?:[\w-]+-)?model|([\w-]+)\/\1|[\w-]+)\.ts$/.test(to);
  const isDashboard = (file: string) => layerOf(file) === "dashboard";

  /** Imports between the dashboard and the server that are not types of the HTTP interface. */
  function violations(all: readonly Import[]): string[] {
    return all
      .filter(({ from, to }) => isDashboard(from) !== isDashboard(to))
      .filter(({ from, to, isType }) => !(isDashboard(from) && isType && isInterface(to)))
      .map(show);
  }

  test("it imports only types of models, and the server does not import it", () => {
    expect(violations(imports)).toEqual([]);
  });

  test("a violation is found", () => {
    const of = (from: string, to: string, isType: boolean) => ({ from, to, isType, names: [] });
    const page = "dashboard/pages/emails/list.tsx";
    const model = "modules/emails/model.ts";
    const wrong = [
      of(page, model, false),
      of(page, "modules/emails/service.ts", true),
      of(page, "lib/id.ts", false),
      of("http/ui.ts", "dashboard/api.ts", true),
    ];
    expect(violations([...wrong, of(page, model, true)])).toEqual(wrong.map(show));
  });
});

describe("there are no circles", () => {
  test("between files, by values", () => {
    expect(firstCircle(imports.filter(({ isType }) => !isType))).toBeNull();
  });

  test("a circle is found", () => {
    const edges = [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "c", to: "b" },
    ];
    expect(firstCircle(edges)).toEqual(["b", "c"]);
  });
});

test("no file only exports other files", () => {
  expect([...files].filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([]);
});

/** The files of one circle in order, or null if there is none. */
function firstCircle(edges: readonly { from: string; to: string }[]): string[] | null {
  const targets = Map.groupBy(edges, ({ from }) => from);
  const done = new Set<string>();
  const path: string[] = [];

  function findCircle(file: string): string[] | null {
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (done.has(file)) return null;
    path.push(file);
    for (const { to } of targets.get(file) ?? []) {
      const circle = findCircle(to);
      if (circle !== null) return circle;
    }
    path.pop();
    done.add(file);
    return null;
  }

  for (const file of targets.keys()) {
    const circle = findCircle(file);
    if (circle !== null) return circle;
  }
  return null;
}
