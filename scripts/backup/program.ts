/** Runs the commands of backups as child processes, and follows their phases. */

import { readFileSync } from "node:fs";
import { linesOf, ROOT } from "../bench/children.ts";

export type Commands = {
  /** Path of the executable; null runs the sources. */
  binary: string | null;
  /** Variables with the settings of the bucket. */
  env: Readonly<Record<string, string>>;
};

export type Ended = {
  code: number | null;
  json: unknown;
  stderr: string;
  /** Seconds from the start to the end. */
  seconds: number;
  /** Largest resident memory in MiB; NaN on systems without /proc. */
  peakMiB: number;
};

const POLL_MS = 10;

export function startCommand({ binary, env }: Commands, words: readonly string[]) {
  const program = binary === null ? [process.execPath, "src/main.ts"] : [binary];
  const startedAt = performance.now();
  const child = Bun.spawn([...program, ...words, "--json"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let stderr = "";
  let phase = "";
  let peakMiB = Number.NaN;
  const stdout = child.stdout.text();
  const read = (async () => {
    for await (const line of linesOf(child.stderr)) {
      stderr += `${line}\n`;
      [, phase = phase] = /"phase":"(\w+)"/.exec(line) ?? [];
    }
  })();
  const polling = setInterval(() => {
    peakMiB = peakOf(child.pid) ?? peakMiB;
  }, POLL_MS);

  return {
    kill: () => child.kill("SIGKILL"),
    /** Resolves when the phase has begun, or the command has ended. */
    async untilPhase(name: string): Promise<void> {
      const isOver = () => phase === name || child.exitCode !== null;
      while (!isOver()) await Bun.sleep(1);
    },
    async end(): Promise<Ended> {
      await Promise.all([child.exited, read]);
      clearInterval(polling);
      const text = await stdout;
      const json: unknown = text.startsWith("{") ? JSON.parse(text) : null;
      const seconds = (performance.now() - startedAt) / 1000;
      return { code: child.exitCode, json, stderr, seconds, peakMiB };
    },
  };
}

export const runCommand = (commands: Commands, words: readonly string[]): Promise<Ended> =>
  startCommand(commands, words).end();

/** The high-water mark of proc_pid_status(5). */
function peakOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const [, kib] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? [];
    return kib === undefined ? null : Number(kib) / 1024;
  } catch {
    return null; // The process has ended, or this system has no /proc.
  }
}
