/**
 * Starts the child processes of a measurement and makes its temporary folders. All of them are killed
 * or removed when this process exits.
 */

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";

const READY_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 20_000;
const REQUEST_LIMIT_MS = 5_000;
/** Length of a clock tick, the unit of times in proc_pid_stat(5): Linux has 100 per second. */
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

/** The environment without MAILSTEAD_ settings, so that the caller's settings change nothing. */
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

/** Returns a port that is free now; another process may still take it before it is used. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** Returns two different ports that are free now. */
export function twoFreePorts(): [number, number] {
  const first = freePort();
  for (;;) {
    const second = freePort();
    if (second !== first) return [first, second];
  }
}

/** A script of this folder that runs in its own process and prints one JSON value per line. */
export type Helper = {
  pid: number;
  /** Reads the next line and validates it against the schema. */
  next<T extends TSchema>(schema: T): Promise<Static<T>>;
  /** Writes an empty line to its standard input: the helper does its work once more. */
  again(): void;
  /** Closes its standard input: the helper prints its result and exits. */
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
      if (value === undefined) throw new Error(`${script} ended without printing a result`);
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

/** The first line of a helper that is a server. */
export const Listening = Type.Object({ port: Type.Number() });

export type Server = {
  pid: number;
  port: number;
  /** Sends SIGTERM and resolves to the exit code. */
  stop(): Promise<number>;
  /** Sends SIGKILL and waits until the process is gone. */
  crash(): Promise<void>;
};

export type ServerOptions = {
  /** Path of the executable; null runs the sources. */
  binary: string | null;
  /** Command that is run instead, with the same arguments. */
  program?: readonly string[];
  /** Variables besides those of every helper. */
  env?: Readonly<Record<string, string>>;
  data: string;
  args: readonly string[];
  port?: number;
  /** A file that Bun runs before the program, also in the executable. */
  preload?: string;
};

/** Flags that relay mail to an SMTP server on this machine; `sendRate` 0 sets no limit. */
export function relayTo(port: number, sendRate: number): string[] {
  const relayUrl = `smtp://127.0.0.1:${port}?tls=none`;
  const rates = ["--send-rate", String(sendRate), "--api-rate", "0"];
  return ["--transport", "relay", "--relay-url", relayUrl, ...rates];
}

/**
 * Flags that deliver mail directly to servers on this machine.
 *
 * @param at `port` is the SMTP port of all servers, `dns` the `address:port` of the name server.
 */
export function directTo(at: { port: number; dns: string }): string[] {
  const where = ["--direct-port", String(at.port), "--dns", at.dns];
  const rates = ["--send-rate", "0", "--api-rate", "0"];
  return ["--transport", "direct", "--allow-private-addresses", "true", ...where, ...rates];
}

export function logFileOf(data: string): string {
  return join(data, "server.log");
}

/** Starts `mailstead serve` and waits until it is ready; its log is written to the data folder. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { data, args, port = freePort(), preload, env } = options;
  const program =
    options.program ??
    (options.binary === null ? [process.execPath, "src/main.ts"] : [options.binary]);
  const settings = ["--data", data, "--port", String(port), "--log-format", "json"];
  const command = [...program, "serve", ...settings, ...args];
  const loaded = preload === undefined ? {} : { BUN_OPTIONS: `--preload=${preload}` };
  return startProgram({ command, logFile: logFileOf(data), port, env: { ...env, ...loaded } });
}

/** Starts a program and waits until its `/readyz` answers 200 on the port. */
export async function startProgram(options: {
  command: readonly string[];
  logFile: string;
  port: number;
  /** Variables besides those of every helper. */
  env?: Readonly<Record<string, string>>;
}): Promise<Server> {
  const { command, logFile, port, env = {} } = options;
  const log = openSync(logFile, "a");
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env: { ...environment, ...env },
    stdin: "ignore",
    stdout: log,
    stderr: log,
  });
  closeSync(log);
  children.add(child);
  void child.exited.then(() => children.delete(child));
  await waitUntilReady(child, port).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${readFileSync(logFile, "utf8").slice(-4000)}`);
  });
  return {
    pid: child.pid,
    port,
    async stop() {
      child.kill("SIGTERM");
      const code = await Promise.race([child.exited, Bun.sleep(STOP_LIMIT_MS)]);
      if (code === undefined) {
        throw new Error(`the server did not exit within ${STOP_LIMIT_MS} ms of SIGTERM`);
      }
      return code;
    },
    async crash() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function waitUntilReady(child: Subprocess, port: number): Promise<void> {
  const deadline = performance.now() + READY_LIMIT_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, {
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    }).catch(() => null);
    if (response?.status === 200) return;
    if (child.exitCode !== null) {
      throw new Error(`the server exited with code ${child.exitCode}`);
    }
    if (performance.now() > deadline) {
      throw new Error(`the server was not ready within ${READY_LIMIT_MS} ms`);
    }
    await Bun.sleep(1);
  }
}

/**
 * Returns the processor time that all threads of a process have used so far, in milliseconds; NaN on
 * systems without /proc. Other work on the machine hardly changes it.
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
 * Returns the processor time that the main thread of a process has used so far, in seconds; NaN on
 * systems without /proc. The event loop runs on that thread. Unlike a rate, it is comparable on a
 * machine that does other work.
 */
export function loopSeconds(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8");
    return Number(text.split(" ")[0]) / 1e9;
  } catch {
    return Number.NaN;
  }
}

/** Returns the resident memory of a process in MiB. */
export function residentMiB(pid: number): number {
  const resident = statusMiB(pid, "VmRSS");
  if (!Number.isNaN(resident)) return resident;
  const { stdout } = Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]);
  return Number(stdout.toString()) / 1024;
}

/**
 * Returns the part of the resident memory that does not come from files such as the executable, in
 * MiB; NaN on systems without /proc.
 */
export function anonymousMiB(pid: number): number {
  return statusMiB(pid, "RssAnon");
}

function statusMiB(pid: number, field: "VmRSS" | "RssAnon"): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const [, kib] = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status) ?? [];
    return Number(kib) / 1024;
  } catch {
    return Number.NaN;
  }
}
