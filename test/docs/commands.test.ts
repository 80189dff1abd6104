/** Every block marked `sh` in the README and in docs/ runs against a real server and succeeds. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { startMailstead, stopServers } from "../support/command-line.ts";
import { startCommandServer } from "../support/command-server.ts";
import { stringAt, valueAt } from "../support/json.ts";

const ROOT = join(import.meta.dir, "../..");
/** `./scripts/start` and `./scripts/test` install the packages, and a test must not run itself. */
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
let commands: ReturnType<typeof startCommandServer>;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-docs-"));
  const data = join(folder, "data");
  const words = ["dev", "--data", data, "--port", "0", "--capture-smtp", "127.0.0.1:0", "--json"];
  const info: unknown = JSON.parse((await startMailstead(words)).greeting);
  const at = (name: string) => stringAt(info, name);
  const settings = { MAILSTEAD_DATA: data, MAILSTEAD_CAPTURE_SMTP: at("smtp") };
  commands = startCommandServer(folder, settings);
  environment = {
    PATH: `${commands.bin}${delimiter}${process.env["PATH"] ?? ""}`,
    HOME: folder,
    URL: at("url"),
    SECRET_KEY: at("secretKey"),
    PUBLIC_KEY: at("publicKey"),
    SMTP: at("smtp"),
  };
  const template = { name: "t", subject: "s", body: "b", type: "TRANSACTIONAL" };
  environment["TEMPLATE_ID"] = await make("/templates", template);
  const trigger = { type: "EVENT", eventName: "documented" };
  environment["WORKFLOW_ID"] = await make("/workflows", { name: "w", enabled: true, trigger });
});

afterAll(async () => {
  await commands.stop();
  await stopServers();
  rmSync(folder, { recursive: true });
});

/** Makes an object and returns its id. */
async function make(path: string, object: object): Promise<string> {
  const answer = await fetch(`${environment["URL"]}${path}`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${environment["SECRET_KEY"]}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify(object),
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
