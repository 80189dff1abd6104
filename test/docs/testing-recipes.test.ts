/**
 * The recipes of docs/testing.md: those whose tool is here and starts quickly are run, all others by
 * `bun scripts/recipes.ts`, and settings are checked as texts.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linkPackages, QUICK_RECIPES, readRecipes, runRecipe } from "../../scripts/recipes/run.ts";
import { startMailstead, stopServers } from "../support/command-line.ts";
import { startCommandServer } from "../support/command-server.ts";
import { stringAt } from "../support/json.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/testing.md"), "utf8");

let folder: string;
let commands: ReturnType<typeof startCommandServer>;
let url: string;
let smtp: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-recipes-"));
  const words = ["dev", "--json", "--data", join(folder, "data"), "--port", "0"];
  const server = await startMailstead([...words, "--capture-smtp", "127.0.0.1:0"]);
  const info: unknown = JSON.parse(server.greeting);
  [url, smtp] = [stringAt(info, "url"), stringAt(info, "smtp")];
  commands = startCommandServer(folder, { MAILSTEAD_CAPTURE_SMTP: smtp });
  linkPackages(folder);
});
afterAll(async () => {
  await commands.stop();
  await stopServers();
  rmSync(folder, { recursive: true });
});

for (const recipe of QUICK_RECIPES) {
  test.skipIf(!recipe.isInstalled())(
    `${recipe.name} (skipped if its tool is missing)`,
    async () => {
      const { code, output } = await runRecipe(recipe, { folder, url, smtp });
      expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
    },
  );
}

describe("settings of frameworks", () => {
  const settings: [file: string, lines: string[]][] = [
    ["settings.py", ['EMAIL_HOST = "127.0.0.1"', "EMAIL_PORT = 1025"]],
    [".env", ["MAIL_HOST=127.0.0.1", "MAIL_PORT=1025", "MAIL_ENCRYPTION=null"]],
    ["config/environments/development.rb", ['address: "127.0.0.1"', "port: 1025"]],
    ["php.ini", ["mailstead sendmail -t -i"]],
    ["cypress/support/commands.js", ["http://127.0.0.1:8025", "/inboxes/default/wait"]],
  ];
  test.each(settings)("%s", (file, lines) => {
    const text = readRecipes().get(file) ?? "";
    expect(lines.filter((line) => !text.includes(line))).toEqual([]);
  });
});

test("every route on the page exists", async () => {
  const response = await fetch(`${url}/openapi.json`);
  expect(response.status).toBe(200);
  const document: unknown = await response.json();
  const paths = Object.keys(Object(Reflect.get(Object(document), "paths"))).map(shapeOf);
  const named = [...page.matchAll(/\/inboxes(?:\/[\w{}$.-]+(?:\['id'\]\})?)*/g)].map(
    ([path]) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  expect([...new Set(named.map(shapeOf))].filter((path) => !paths.includes(path))).toEqual([]);
});

/** A path with `*` for its ids, such as `default`, `latest`, `{id}` and `${items[0].id}`. */
function shapeOf(path: string): string {
  return path.replace(/^(\/inboxes)\/[^/]+/, "$1/*").replace(/(\/messages)\/[^/]+/, "$1/*");
}
