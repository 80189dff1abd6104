/**
 * Runs the official clients of Resend against a server, and prints a table: the client, its version, the
 * number of calls, and those that did not end as expected.
 *
 * `bun scripts/ecosystem.ts [NAME …]`, such as `node`
 *
 * Each client is installed into a temporary folder with the package manager of its language, and its
 * program in ecosystem/clients/ makes the calls. A client whose language is missing is reported, and the
 * exit code is then 1, as for a call that failed.
 */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { freePort, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import { prepareStore } from "./bench/store.ts";
import { type CommandResult, run } from "./interop/packages.ts";

const PROGRAMS = join(import.meta.dir, "ecosystem/clients");
const MOST_FAULTS_SHOWN = 20;
/** A client receives the requests of its webhooks on loopback. */
const SERVER_ARGS = ["--transport", "capture", "--allow-private-addresses"];

type Client = {
  name: string;
  /** The program that must exist, and the commands that install the client, run in its folder. */
  needs: string;
  install: readonly (readonly string[])[];
  /** The file of ecosystem/clients/, and the name that it has in the folder. */
  program: readonly [file: string, name: string];
  command: readonly string[];
  env: (url: string, folder: string) => Record<string, string>;
};

const CLIENTS: readonly Client[] = [
  {
    name: "node",
    needs: "npm",
    install: [["npm", "install", "--no-audit", "--no-fund", "resend@6.38.0"]],
    program: ["resend.mjs", "resend.mjs"],
    command: ["node", "resend.mjs"],
    env: (url) => ({ RESEND_BASE_URL: url }),
  },
  {
    name: "mcp",
    needs: "npm",
    install: [
      [
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "resend-mcp@2.22.0",
        "@modelcontextprotocol/sdk@1.26.0",
      ],
    ],
    program: ["resend-mcp.mjs", "calls.mjs"],
    command: ["node", "calls.mjs"],
    env: (url) => ({ RESEND_BASE_URL: url }),
  },
  {
    name: "python",
    needs: "python3",
    install: [["python3", "-m", "pip", "install", "--quiet", "--target", "lib", "resend==2.52.0"]],
    program: ["resend.py", "calls.py"],
    command: ["python3", "calls.py"],
    env: (url, folder) => ({ RESEND_API_URL: url, PYTHONPATH: join(folder, "lib") }),
  },
  {
    name: "anymail",
    needs: "python3",
    install: [
      ["python3", "-m", "pip", "install", "--quiet", "--target", "lib", "django-anymail==15.2"],
    ],
    program: ["anymail.py", "calls.py"],
    command: ["python3", "calls.py"],
    env: (url, folder) => ({ URL: url, PYTHONPATH: join(folder, "lib") }),
  },
  {
    name: "go",
    needs: "go",
    install: [
      ["go", "mod", "init", "calls"],
      ["go", "get", "github.com/resend/resend-go/v3@v3.1.1"],
    ],
    program: ["resend.go", "main.go"],
    command: ["go", "run", "."],
    env: (url) => ({ RESEND_BASE_URL: `${url}/` }),
  },
];

const Line = Type.Union([
  Type.Object({ version: Type.String() }),
  Type.Object({ call: Type.String(), fault: Type.Union([Type.String(), Type.Null()]) }),
]);

type Result = { version: string; calls: number; faults: string[] };

const inFolder = (folder: string, words: readonly string[]) => [
  "sh",
  "-c",
  `cd '${folder}' && exec "$@"`,
  "sh",
  ...words,
];

async function runClient(client: Client, folder: string, server: Server): Promise<Result> {
  const missing = (reason: string): Result => ({ version: "", calls: 0, faults: [reason] });
  if (Bun.which(client.needs) === null) return missing(`${client.needs} is missing`);
  mkdirSync(folder);
  const [file, name] = client.program;
  for (const words of client.install) {
    const { code, err, out } = await run(inFolder(folder, words));
    if (code !== 0) return missing(`${words.join(" ")}: ${`${err}${out}`.trim().slice(-300)}`);
  }
  copyFileSync(join(PROGRAMS, file), join(folder, name));
  const env = {
    RESEND_API_KEY: server.key,
    SENDER: `Acme <${SENDER}>`,
    DOMAIN: `${client.name}.example`,
    ...client.env(`${server.url}/resend`, folder),
  };
  return readLines(await run(inFolder(folder, client.command), { env }));
}

function readLines({ code, out, err }: CommandResult): Result {
  const result: Result = { version: "", calls: 0, faults: [] };
  for (const text of out.split("\n").filter((line) => line.startsWith("{"))) {
    const line = Value.Parse(Line, JSON.parse(text));
    if ("version" in line) result.version = line.version;
    else {
      result.calls++;
      if (line.fault !== null) result.faults.push(`${line.call}: ${line.fault}`);
    }
  }
  if (code !== 0) result.faults.push(`exit code ${code}: ${err.trim().slice(-300)}`);
  return result;
}

type Server = { url: string; key: string };

async function main(folder: string, names: readonly string[]): Promise<boolean> {
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const port = freePort();
  const server = await startServer({ binary: null, data, port, args: SERVER_ARGS });
  const chosen = CLIENTS.filter(({ name }) => names.length === 0 || names.includes(name));
  let isRight = chosen.length > 0;
  console.log("client     version    calls  failed");
  for (const client of chosen) {
    const at = { url: `http://127.0.0.1:${port}`, key };
    const { version, calls, faults } = await runClient(client, join(folder, client.name), at);
    const numbers = `${String(calls).padEnd(6)} ${faults.length}`;
    console.log(`${client.name.padEnd(10)} ${version.padEnd(10)} ${numbers}`);
    for (const fault of faults.slice(0, MOST_FAULTS_SHOWN)) console.log(`  ${fault}`);
    isRight &&= faults.length === 0;
  }
  await server.stop();
  removeFolder(data);
  return isRight;
}

const folder = mkdtempSync(join(tmpdir(), "mailstead-ecosystem-"));
try {
  process.exitCode = (await main(folder, Bun.argv.slice(2))) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
