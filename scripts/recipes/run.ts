/** The recipes of docs/testing.md that are programs, with the commands that run them. */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const PAGE = join(ROOT, "docs/testing.md");
const LIMIT_MS = 120_000;

/** A server that catches mail. */
type Catcher = { url: string; smtp: string };

/** Writes a recipe into the folder, with the ports of the server, and returns its path. */
type Write = (name: string) => string;

export type Recipe = {
  name: string;
  isInstalled: () => boolean;
  command: (write: Write, folder: string) => string[];
};

const has = (program: string) => () => Bun.which(program) !== null;

/** Go needs most of a second only to link its test. */
export const SLOW_RECIPES: readonly Recipe[] = [
  {
    name: "Go",
    isInstalled: has("go"),
    command(write, folder) {
      writeFileSync(join(folder, "go.mod"), "module mail\n\ngo 1.21\n");
      write("mail_test.go");
      return ["go", "test", "./..."];
    },
  },
];

export const QUICK_RECIPES: readonly Recipe[] = [
  {
    name: "Python with pytest",
    isInstalled: () => Bun.spawnSync(["sh", "-c", "python3 -c 'import pytest'"]).exitCode === 0,
    command: (write) => {
      const options = ["-q", "-p", "no:cacheprovider"];
      return ["python3", "-m", "pytest", ...options, write("test_mail.py")];
    },
  },
  {
    name: "nodemailer",
    isInstalled: () => true,
    command: (write) => [process.execPath, write("mail.mjs")],
  },
  {
    name: "nodemailer on Node",
    isInstalled: has("node"),
    command: (write) => ["node", write("mail.mjs")],
  },
  {
    name: "Playwright, with its requests and without its runner",
    isInstalled: () => true,
    command: (write) => [process.execPath, "test", write("sign-up.spec.ts")],
  },
  {
    name: "PHP, with its sendmail",
    isInstalled: has("php"),
    command: (write) => ["php", "-c", write("php.ini"), write("mail.php")],
  },
];

/** The text of each block by the file that its first line names. */
export function readRecipes(): Map<string, string> {
  const page = readFileSync(PAGE, "utf8");
  const blocks = page.matchAll(/^```\w+\n((?:<\?php )?(?:#|\/\/|;) (\S+)[^]*?)^```$/gm);
  return new Map([...blocks].map(([, text = "", file = ""]) => [file, text]));
}

/** Makes the packages that the recipes import available in the folder. */
export function linkPackages(folder: string): void {
  const path = (name: string): string => {
    const file = join(folder, "node_modules", name);
    mkdirSync(dirname(file), { recursive: true });
    return file;
  };
  symlinkSync(join(ROOT, "node_modules/nodemailer"), path("nodemailer"));
  // The runner of Playwright is not installed; its requests are, and they are what the recipe uses.
  writeFileSync(
    path("@playwright/test/index.ts"),
    `import { expect, test as bunTest } from "bun:test";
     import { request } from ${JSON.stringify(join(ROOT, "node_modules/playwright-core/index.mjs"))};
     export { expect };
     export const test = (name, run) =>
       bunTest(name, async () => run({ request: await request.newContext() }));`,
  );
}

/**
 * Runs a recipe in the folder, whose subfolder `bin` has the program `mailstead`. Resolves to the exit
 * code and the output.
 */
export async function runRecipe(
  recipe: Recipe,
  { folder, url, smtp }: Catcher & { folder: string },
): Promise<{ code: number; output: string }> {
  const recipes = readRecipes();
  const write: Write = (name) => {
    const text = recipes.get(name);
    if (text === undefined) throw new Error(`docs/testing.md has no ${name}`);
    const port = smtp.slice(smtp.lastIndexOf(":") + 1);
    const file = join(folder, name);
    writeFileSync(file, text.replaceAll("http://127.0.0.1:8025", url).replaceAll("1025", port));
    return file;
  };
  const child = Bun.spawn(recipe.command(write, folder), {
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
  return { code: await child.exited, output: out + err };
}
