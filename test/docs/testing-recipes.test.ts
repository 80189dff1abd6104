/** The recipes of docs/testing.md: those whose tool is here are run, the others are checked as settings. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Running, startMailstead } from "../support/cli.ts";
import { stringAt } from "../support/json.ts";

const ROOT = join(import.meta.dir, "../..");
const LIMIT_MS = 120_000;
const page = readFileSync(join(ROOT, "docs/testing.md"), "utf8");

/** The text of each block by the file that its first line names. */
const recipes = new Map(
  [...page.matchAll(/^```\w+\n((?:<\?php )?(?:#|\/\/|;) (\S+)[^]*?)^```$/gm)].map(
    ([, text = "", file = ""]) => [file, text],
  ),
);

let folder: string;
let server: Running;
let url: string;
let smtp: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-recipes-"));
  const words = ["dev", "--json", "--data", join(folder, "data"), "--port", "0"];
  const isReady = (text: string) => text.endsWith("}\n");
  server = await startMailstead([...words, "--capture-smtp", "127.0.0.1:0"], isReady);
  const info: unknown = JSON.parse(server.greeting);
  [url, smtp] = [stringAt(info, "url"), stringAt(info, "smtp")];
  symlinkSync(join(ROOT, "node_modules/nodemailer"), nodeModule("nodemailer"));
  // The runner of Playwright is not installed; its requests are, and they are what the recipe uses.
  writeFileSync(
    join(nodeModule("@playwright/test/index.ts")),
    `import { expect, test as bunTest } from "bun:test";
     import { request } from ${JSON.stringify(join(ROOT, "node_modules/playwright-core/index.mjs"))};
     export { expect };
     export const test = (name, run) =>
       bunTest(name, async () => run({ request: await request.newContext() }));`,
  );
}, LIMIT_MS);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function nodeModule(path: string): string {
  const file = join(folder, "node_modules", path);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** Writes a recipe with the ports of the server of this test. */
function write(name: string): string {
  const text = recipes.get(name);
  if (text === undefined) throw new Error(`docs/testing.md has no ${name}`);
  const port = smtp.slice(smtp.lastIndexOf(":") + 1);
  const file = join(folder, name);
  writeFileSync(file, text.replaceAll("http://127.0.0.1:8025", url).replaceAll("1025", port));
  return file;
}

async function run(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      MAILSTEAD_CAPTURE_SMTP: smtp,
      GOFLAGS: "-mod=mod",
      GOTOOLCHAIN: "local",
    },
    stdout: "pipe",
    stderr: "pipe",
    timeout: LIMIT_MS,
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  expect({ code, output: code === 0 ? "" : out + err }).toEqual({ code: 0, output: "" });
}

const hasPytest = Bun.spawnSync(["sh", "-c", "python3 -m pytest --version"]).exitCode === 0;

test.skipIf(!hasPytest)(
  "Python with pytest (skipped if pytest is not installed)",
  () => run(["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", write("test_mail.py")]),
  LIMIT_MS,
);

test("nodemailer", () => run([process.execPath, write("mail.mjs")]), LIMIT_MS);

test.skipIf(Bun.which("node") === null)(
  "nodemailer on Node (skipped if Node is not installed)",
  () => run(["node", write("mail.mjs")]),
  LIMIT_MS,
);

test(
  "Playwright, with its requests and without its runner",
  () => run([process.execPath, "test", write("sign-up.spec.ts")]),
  LIMIT_MS,
);

test.skipIf(Bun.which("go") === null)(
  "Go (skipped if Go is not installed)",
  async () => {
    writeFileSync(join(folder, "go.mod"), "module mail\n\ngo 1.21\n");
    write("mail_test.go");
    await run(["go", "test", "./..."]);
  },
  LIMIT_MS,
);

test.skipIf(Bun.which("php") === null)(
  "PHP, with its sendmail (skipped if PHP is not installed)",
  () => {
    const program = join(folder, "bin/mailstead");
    mkdirSync(dirname(program));
    const main = join(ROOT, "src/main.ts");
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
      mode: 0o755,
    });
    return run(["php", "-c", write("php.ini"), write("mail.php")]);
  },
  LIMIT_MS,
);

describe("settings of frameworks", () => {
  const settings: [file: string, lines: string[]][] = [
    ["settings.py", ['EMAIL_HOST = "127.0.0.1"', "EMAIL_PORT = 1025"]],
    [".env", ["MAIL_HOST=127.0.0.1", "MAIL_PORT=1025", "MAIL_ENCRYPTION=null"]],
    ["config/environments/development.rb", ['address: "127.0.0.1"', "port: 1025"]],
    ["php.ini", ["mailstead sendmail -t -i"]],
    ["cypress/support/commands.js", ["http://127.0.0.1:8025", "/inboxes/default/wait"]],
  ];
  test.each(settings)("%s", (file, lines) => {
    const text = recipes.get(file) ?? "";
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
