/** Every block marked `sh` in the README and in docs/ runs against a real server and succeeds. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { valueAt } from "../support/json.ts";

const ROOT = join(import.meta.dir, "../..");
/** Installing is what `./scripts/start` and `./scripts/test` do; a test must not run itself. */
const NOT_HERE = /^\.\/scripts\/(start|test)\b/m;

type Block = { page: string; number: number; script: string };

const pages = [
  "README.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((f) => f.endsWith(".md"))
    .map((f) => `docs/${f}`),
];
const blocks = pages.flatMap((page) => blocksOf(page, readFileSync(join(ROOT, page), "utf8")));

function blocksOf(page: string, text: string): Block[] {
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)]
    .map(([, script = ""], i) => ({ page, number: i + 1, script }))
    .filter(({ script }) => !NOT_HERE.test(script));
}

let folder: string;
let server: ReturnType<typeof Bun.spawn>;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-docs-"));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const program = join(bin, "mailstead");
  writeFileSync(
    program,
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "src/main.ts")}" "$@"\n`,
  );
  chmodSync(program, 0o755);
  environment = {
    PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: folder,
    MAILSTEAD_DATA: join(folder, "data"),
  };
  const started = Bun.spawn(
    [program, "dev", "--port", "0", "--capture-smtp", "127.0.0.1:0", "--json"],
    {
      cwd: folder,
      env: environment,
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  server = started;
  const facts = await firstLine(started.stdout);
  Object.assign(environment, {
    URL: String(valueAt(facts, "url")),
    SECRET_KEY: String(valueAt(facts, "secretKey")),
    PUBLIC_KEY: String(valueAt(facts, "publicKey")),
    // The commands of the pages send mail to the listener of this server.
    MAILSTEAD_CAPTURE_SMTP: String(valueAt(facts, "smtp")),
    SMTP: String(valueAt(facts, "smtp")),
  });
  environment["TEMPLATE_ID"] = await makeTemplate();
}, 30_000);

afterAll(async () => {
  server.kill();
  await server.exited;
  rmSync(folder, { recursive: true });
});

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<unknown> {
  let text = "";
  for await (const chunk of stream) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.includes("\n")) return JSON.parse(text.slice(0, text.indexOf("\n")));
  }
  throw new Error("the server ended before it was ready");
}

async function makeTemplate(): Promise<string> {
  const answer = await fetch(`${environment["URL"]}/templates`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${environment["SECRET_KEY"]}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ name: "t", subject: "s", body: "b", type: "TRANSACTIONAL" }),
  });
  return String(valueAt(await answer.json(), "data.id"));
}

test("there are blocks to run", () => {
  expect(blocks.length).toBeGreaterThan(10);
});

describe("each block marked sh succeeds", () => {
  for (const { page, number, script } of blocks) {
    test(`${page}, block ${number}`, async () => {
      const run = Bun.spawn(["bash", "-euo", "pipefail", "-c", script], {
        cwd: folder,
        env: environment,
        stdout: "pipe",
        stderr: "pipe",
      });
      const output = await new Response(run.stdout).text();
      const errors = await new Response(run.stderr).text();
      const code = await run.exited;
      expect({ code, output: code === 0 ? "" : output, errors: code === 0 ? "" : errors }).toEqual({
        code: 0,
        output: "",
        errors: "",
      });
    }, 30_000);
  }
});
