/**
 * Sends mail with the official clients of SendGrid, Postmark, Mailgun and Amazon SES to `mailstead dev`,
 * and prints a table of the calls and their results.
 *
 * `bun scripts/interop-providers.ts [--packages=FOLDER]`
 *
 * The clients for Node and for Python run in Node and in python3. Their newest versions are installed
 * with npm and pip into a temporary folder, or into FOLDER, where the next run finds them. Only the URL
 * of the clients is changed. The exit code is 1 if a call has another result than the provider's.
 */

import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { startMailstead } from "../test/support/cli.ts";
import { parse } from "./bench/children.ts";
import { run } from "./interop/packages.ts";

const PACKAGES = [
  "@sendgrid/mail",
  "postmark",
  "mailgun.js",
  "form-data",
  "@aws-sdk/client-sesv2",
  "@aws-sdk/client-ses",
];
const PYTHON_PACKAGES = ["sendgrid", "boto3", "django", "django-anymail"];
const PROGRAMS = join(import.meta.dir, "interop/clients");

const Result = Type.Object({
  name: Type.String(),
  version: Type.String(),
  call: Type.String(),
  isOk: Type.Boolean(),
  text: Type.String(),
});
const Started = Type.Object({ url: Type.String() });

/** A program of clients, and the command that runs it in the folder with its packages. */
type Client = {
  install: () => Promise<void>;
  command: readonly string[];
  env: Record<string, string>;
};

function clientsIn(folder: string): Client[] {
  const [node, python] = [join(folder, "node"), join(folder, "python")];
  const npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", node, ...PACKAGES];
  const pip = ["python3", "-m", "pip", "install", "--quiet", "--target", python];
  return [
    {
      async install() {
        if (!existsSync(join(node, "node_modules"))) await finish(npm);
        // Node searches packages beside the program.
        cpSync(join(PROGRAMS, "providers.mjs"), join(node, "providers.mjs"));
      },
      command: ["node", join(node, "providers.mjs")],
      env: {},
    },
    {
      async install() {
        if (!existsSync(python)) await finish([...pip, ...PYTHON_PACKAGES]);
      },
      command: ["python3", join(PROGRAMS, "providers.py")],
      env: { PYTHONPATH: python },
    },
  ];
}

async function finish(words: readonly string[]): Promise<void> {
  const { code, err } = await run(words);
  if (code !== 0) throw new Error(`${words.join(" ")}: ${err}`);
}

/** Prints the rows of one program; false if one of its calls has a wrong result. */
async function runClient({ install, command, env }: Client, url: string): Promise<boolean> {
  await install();
  const { code, out, err } = await run([...command, url], { env });
  const lines = out.split("\n").filter((line) => line.startsWith("{"));
  const results = lines.map((line) => parse(Result, JSON.parse(line)));
  for (const { name, version, call, isOk, text } of results) {
    const shown = text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");
    console.log(`| ${name} | ${version} | ${call} | ${isOk ? "ok" : "NOT OK"}: ${shown} |`);
  }
  if (code !== 0) console.error(err);
  return code === 0 && results.length > 0 && results.every(({ isOk }) => isOk);
}

async function main(folder: string): Promise<boolean> {
  const words = ["dev", "--data", "temporary", "--port", "0", "--capture-smtp", "127.0.0.1:0"];
  const server = await startMailstead([...words, "--json"], (text) => text.includes("\n"));
  let isRight = true;
  try {
    const { url } = parse(Started, JSON.parse(server.greeting));
    console.log("| client | version | call | result |\n| --- | --- | --- | --- |");
    for (const client of clientsIn(folder)) isRight = (await runClient(client, url)) && isRight;
    return isRight;
  } finally {
    await server.stop();
  }
}

const given = Bun.argv.find((word) => word.startsWith("--packages="))?.slice("--packages=".length);
const folder =
  given === undefined ? mkdtempSync(join(tmpdir(), "mailstead-providers-")) : resolve(given);
try {
  process.exitCode = (await main(folder)) ? 0 : 1;
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
}
