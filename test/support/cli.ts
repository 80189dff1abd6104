/**
 * Runs the program as a child process, as an operator does: from source, or the executable at the
 * path in TEST_EXECUTABLE (scripts/test).
 */

import type { Subprocess } from "bun";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const EXECUTABLE = process.env["TEST_EXECUTABLE"];
const PROGRAM = EXECUTABLE === undefined ? [process.execPath, MAIN] : [EXECUTABLE];
const LIMIT_MS = 20_000;

/** True if the tests start the executable instead of the sources. */
export const isExecutable = EXECUTABLE !== undefined;

export type Ran = {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output parsed as JSON; undefined if it is not a JSON object. */
  json: unknown;
};

type Environment = Record<string, string>;

/**
 * Returns the environment without settings (MAILSTEAD_ and MP_), so that the caller's settings change
 * nothing. The flag ends a child process if the tests are killed.
 */
function environmentWith(extra: Environment): Environment {
  const own = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value === undefined || /^(MAILSTEAD|MP)_/.test(name) || name === "NODE_ENV"
      ? []
      : [[name, value]],
  );
  return { ...Object.fromEntries(own), BUN_FEATURE_FLAG_NO_ORPHANS: "1", ...extra };
}

type Limits = {
  /** Milliseconds after which the program is killed; 0 if never. */
  limitMs: number;
  /** Limit of file descriptors; by default that of this process. */
  maxDescriptors?: number;
};

function spawn(words: readonly string[], environment: Environment, limits: Limits) {
  const { limitMs, maxDescriptors } = limits;
  const limited =
    maxDescriptors === undefined
      ? []
      : ["bash", "-c", `ulimit -n ${maxDescriptors}; exec "$@"`, "bash"];
  return Bun.spawn([...limited, ...PROGRAM, ...words], {
    env: environmentWith(environment),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: limitMs,
    killSignal: "SIGKILL",
  });
}

/** Runs a command and waits for its end. */
export async function mailstead(
  words: readonly string[],
  environment: Environment = {},
): Promise<Ran> {
  const child = spawn(words, environment, { limitMs: LIMIT_MS });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  const isJson = stdout.startsWith("{");
  return { code: child.exitCode, stdout, stderr, json: isJson ? JSON.parse(stdout) : undefined };
}

export type Running = {
  /** Standard output until the server was ready. */
  greeting: string;
  child: Subprocess<"ignore", "pipe", "pipe">;
  /** Returns the log so far. */
  log(): string;
  /** Sends SIGTERM; resolves to the exit code and the log. */
  stop(): Promise<{ code: number | null; log: string }>;
};

/** Starts a server and waits until `isReady` returns true for its standard output. */
export async function startMailstead(
  words: readonly string[],
  isReady: (greeting: string) => boolean,
  { environment = {}, ...limits }: Omit<Limits, "limitMs"> & { environment?: Environment } = {},
): Promise<Running> {
  const child = spawn(words, environment, { limitMs: 0, ...limits });
  let log = "";
  const logged = readText(child.stderr, (text) => (log += text));
  const decoder = new TextDecoder();
  let greeting = "";
  const reader = child.stdout.getReader();
  while (!isReady(greeting)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the server exited: ${greeting}${await logged.then(() => log)}`);
    greeting += decoder.decode(value, { stream: true });
  }
  return {
    greeting,
    child,
    log: () => log,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
      await logged;
      return { code: child.exitCode, log };
    },
  };
}

async function readText(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onText: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) onText(text);
}
