/** Every block marked `sh` in the README and in docs/ runs against a real server and succeeds. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { mailstead, startMailstead, stopServers } from "../support/command-line.ts";
import { stringAt, valueAt } from "../support/json.ts";

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

/**
 * The program `mailstead` of the blocks: it passes its words and its input to this process, which runs
 * the command. The last line of the answer is the exit code.
 */
const PROGRAM = `#!/usr/bin/env bash
words=()
for word; do words+=(--form-string "word=$word"); done
answer="$(curl --silent --fail --form "input=<-" "\${words[@]}" "$COMMANDS")"
printf '%s\\n' "\${answer%$'\\n'*}"
exit "\${answer##*$'\\n'}"
`;

let folder: string;
let commands: ReturnType<typeof runCommands>;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-docs-"));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "mailstead"), PROGRAM, { mode: 0o755 });
  const data = join(folder, "data");
  const words = ["dev", "--data", data, "--port", "0", "--capture-smtp", "127.0.0.1:0", "--json"];
  const info: unknown = JSON.parse((await startMailstead(words)).greeting);
  const at = (name: string) => stringAt(info, name);
  const settings = { MAILSTEAD_DATA: data, MAILSTEAD_CAPTURE_SMTP: at("smtp") };
  commands = runCommands(settings);
  environment = {
    PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: folder,
    COMMANDS: String(commands.url),
    URL: at("url"),
    SECRET_KEY: at("secretKey"),
    PUBLIC_KEY: at("publicKey"),
    SMTP: at("smtp"),
  };
  environment["TEMPLATE_ID"] = await makeTemplate();
});

afterAll(async () => {
  await commands.stop();
  await stopServers();
  rmSync(folder, { recursive: true });
});

function runCommands(settings: Record<string, string>) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const form = await request.formData();
      const words = form.getAll("word").map(String);
      const stdin = String(form.get("input"));
      const ran = await mailstead(words, settings, { cwd: folder, stdin });
      return new Response(`${ran.stdout}${ran.stderr}${ran.code}`);
    },
  });
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
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [output, errors] = await Promise.all([run.stdout.text(), run.stderr.text()]);
      const code = await run.exited;
      expect({ code, said: code === 0 ? "" : output + errors }).toEqual({ code: 0, said: "" });
    });
  }

  test("a block with a command that fails does not succeed", async () => {
    const script = "mailstead project disable nowhere";
    const run = Bun.spawn(["bash", "-euo", "pipefail", "-c", script], {
      cwd: folder,
      env: environment,
      stdin: "ignore",
      stdout: "pipe",
    });
    expect(await run.stdout.text()).toContain('There is no project "nowhere"');
    expect(await run.exited).toBe(1);
  });
});
