/** Child processes and temporary folders of a measurement; none of them outlives this process. */

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";

const READY_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 20_000;
const REQUEST_LIMIT_MS = 5_000;
/** proc_pid_stat(5): times are in clock ticks, of which Linux has 100 a second. */
const TICK_MS = 10;
export const ROOT = join(import.meta.dir, "..", "..");

const children = new Set<Subprocess>();
const folders = new Set<string>();

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
});
process.on("SIGINT", () => process.exit(130));
process.on("SIGTERM", () => process.exit(143));
process.on("SIGHUP", () => process.exit(129));

/** Without the settings of whoever runs this. */
const environment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("MAILSTEAD_")),
  ),
  BUN_FEATURE_FLAG_NO_ORPHANS: "1",
};

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-bench-"));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  folders.delete(folder);
}

/** A port that was free a moment ago. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** A script of ours in a process of its own that says one JSON value per line. */
export type Helper = {
  pid: number;
  /** The next line, checked. */
  next<T extends TSchema>(schema: T): Promise<Static<T>>;
  /** A line of its input: its sign to do what it does once more. */
  again(): void;
  /** Ends its input, which is its sign to finish. */
  finish(): void;
  kill(): void;
};

export function startHelper(script: string, settings: unknown): Helper {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, script), JSON.stringify(settings)],
    { cwd: ROOT, env: environment, stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  children.add(child);
  void child.exited.then(() => children.delete(child));
  const lines = linesOf(child.stdout);
  return {
    pid: child.pid,
    async next(schema) {
      const { value } = await lines.next();
      if (value === undefined) throw new Error(`${script} ended without an answer`);
      return parse(schema, JSON.parse(value));
    },
    again() {
      void child.stdin.write("\n");
      void child.stdin.flush();
    },
    finish: () => void child.stdin.end(),
    kill: () => child.kill("SIGKILL"),
  };
}

export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
  return undefined;
}

export function parse<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value;
  const error = Value.Errors(schema, value).First();
  throw new Error(`${error?.path ?? ""} ${error?.message ?? ""} in ${JSON.stringify(value)}`);
}

/** What the helpers are told and what they answer: their command line, and their first line. */
export const Listening = Type.Object({ port: Type.Number() });

export type Server = {
  pid: number;
  port: number;
  /** SIGTERM; resolves to its exit code. */
  stop(): Promise<number>;
  /** SIGKILL. */
  crash(): Promise<void>;
};

export type ServerOptions = {
  /** Path of the executable; null: the sources. */
  binary: string | null;
  /** Another program that takes the same arguments. */
  program?: readonly string[];
  data: string;
  args: readonly string[];
  port?: number;
};

/** Mail goes to an SMTP server on this machine; `sendRate` mails a second, 0 for no limit. */
export function relayTo(port: number, sendRate: number): string[] {
  const relayUrl = `smtp://127.0.0.1:${port}?tls=none`;
  const rates = ["--send-rate", String(sendRate), "--api-rate", "0"];
  return ["--transport", "relay", "--relay-url", relayUrl, ...rates];
}

/** Mail goes straight to servers on this machine, at one port, found by a name server on another. */
export function directTo(at: { port: number; dns: string }): string[] {
  const where = ["--direct-port", String(at.port), "--dns", at.dns];
  const rates = ["--send-rate", "0", "--api-rate", "0"];
  return ["--transport", "direct", "--allow-private-addresses", "true", ...where, ...rates];
}

export function logFileOf(data: string): string {
  return join(data, "server.log");
}

/** `mailstead serve`, ready; its log lies in the data folder. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { data, args, port = freePort() } = options;
  const program =
    options.program ??
    (options.binary === null ? [process.execPath, "src/main.ts"] : [options.binary]);
  const logFile = logFileOf(data);
  const log = openSync(logFile, "a");
  const child = Bun.spawn(
    [...program, "serve", "--data", data, "--port", String(port), "--log-format", "json", ...args],
    { cwd: ROOT, env: environment, stdin: "ignore", stdout: log, stderr: log },
  );
  closeSync(log);
  children.add(child);
  void child.exited.then(() => children.delete(child));
  await untilReady(child, port).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${readFileSync(logFile, "utf8").slice(-4000)}`);
  });
  return {
    pid: child.pid,
    port,
    async stop() {
      child.kill("SIGTERM");
      const code = await Promise.race([child.exited, Bun.sleep(STOP_LIMIT_MS)]);
      if (code === undefined) throw new Error(`no end within ${STOP_LIMIT_MS} ms of SIGTERM`);
      return code;
    },
    async crash() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function untilReady(child: Subprocess, port: number): Promise<void> {
  const deadline = performance.now() + READY_LIMIT_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    }).catch(() => null);
    if (response?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`not ready within ${READY_LIMIT_MS} ms`);
    await Bun.sleep(1);
  }
}

/**
 * Processor time that a process has taken so far, all its threads, in milliseconds; NaN where the
 * system does not tell. Hardly depends on what else the machine does.
 */
export function processorMs(pid: number): number {
  try {
    const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const [user, system] = fields.split(" ").slice(11, 13);
    return (Number(user) + Number(system)) * TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/**
 * Processor time that the first thread of a process took, where the event loop runs, in seconds.
 * Says on a machine that does other work what a rate does not; NaN where the system does not tell.
 */
export function loopSeconds(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8");
    return Number(text.split(" ")[0]) / 1e9;
  } catch {
    return Number.NaN;
  }
}

/** Resident memory of a process in MiB. */
export function residentMiB(pid: number): number {
  try {
    const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  } catch {
    const { stdout } = Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]);
    return Number(stdout.toString()) / 1024;
  }
}
