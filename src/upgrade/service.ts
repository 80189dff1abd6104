/**
 * Stops and starts the server for an upgrade: by systemd if a unit runs this executable, or
 * by two commands of the operator. It has stopped when the lock of its data folder is free, independent
 * of the result of a command, and it is ready when GET /readyz says so.
 */

import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import type { Clock } from "../lib/clock.ts";
import { runSystem } from "./programs.ts";
import { UpgradeError } from "./refusal.ts";

type Env = Readonly<Record<string, string | undefined>>;

export type Service = {
  /** The commands, for people. */
  stopText: string;
  startText: string;
  stop: () => Promise<void>;
  start: () => Promise<void>;
};

/** A running process of a unit: how it was started. */
export type ServiceProcess = {
  words: readonly string[];
  env: Record<string, string>;
  cwd: string;
};

/** A stop takes at most 30 s with the unit of Mailstead (TimeoutStopSec). */
const STOP_LIMIT_MS = 60_000;
const PAUSE_MS = 100;
const SHELL = "/bin/sh";
const REFUSED: readonly string[] = ["ECONNREFUSED", "ConnectionRefused"];
const REQUEST_LIMIT_MS = 5_000;
const MAX_REASON_CHARACTERS = 300;

/** A server that is run by two commands of the operator. */
export function commandService(stop: string, start: string, env: Env): Service {
  return {
    stopText: stop,
    startText: start,
    stop: () => requireRun([SHELL, "-c", stop], env),
    start: () => requireRun([SHELL, "-c", start], env),
  };
}

/** The unit, if systemd runs this executable as it; null otherwise. */
export async function findUnit(
  unit: string,
  executable: string,
  env: Env,
): Promise<{ service: Service; process: ServiceProcess | null } | null> {
  const systemctl = Bun.which("systemctl", { PATH: env["PATH"] ?? "" });
  if (systemctl === null) return null;
  const show = await runSystem(
    [systemctl, "show", unit, "--property=ExecStart", "--property=MainPID"],
    env,
  );
  const [, path] = /^ExecStart=\{ path=([^;]{1,4096}) ;/m.exec(show.stdout) ?? [];
  if (show.code !== 0 || path === undefined || realPath(path) !== executable) return null;
  const pid = Number(/^MainPID=(\d{1,10})$/m.exec(show.stdout)?.[1] ?? 0);
  const control = (verb: string) => requireRun([systemctl, verb, unit], env);
  return {
    service: {
      stopText: `systemctl stop ${unit}`,
      startText: `systemctl start ${unit}`,
      stop: () => control("stop"),
      async start() {
        // A version that ended often has used up the starts that the unit allows (StartLimitBurst). It fails
        // for a unit that is not loaded, which the start then tells.
        await runSystem([systemctl, "reset-failed", unit], env);
        await control("start");
      },
    },
    process: pid === 0 ? null : readProcess(pid),
  };
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null; // The unit names a file that is not there.
  }
}

/** Null if this user may not read it. */
function readProcess(pid: number): ServiceProcess | null {
  try {
    const partsOf = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
    const variables = partsOf("environ").flatMap((line): [string, string][] => {
      const equals = line.indexOf("=");
      return equals > 0 ? [[line.slice(0, equals), line.slice(equals + 1)]] : [];
    });
    return {
      words: partsOf("cmdline").slice(1, -1),
      env: Object.fromEntries(variables),
      cwd: readlinkSync(`/proc/${pid}/cwd`),
    };
  } catch {
    return null; // The settings are then those of the command line, as for every other command.
  }
}

async function requireRun(words: readonly string[], env: Env): Promise<void> {
  const { code, stdout, stderr } = await runSystem(words, env);
  if (code === 0) return;
  const said = (stderr.trim() || stdout.trim()).slice(-MAX_REASON_CHARACTERS);
  throw new UpgradeError(`The command ${words.join(" ")} failed (exit code ${code}): ${said}`);
}

/**
 * Stops the server and resolves when this process has the lock of its data folder; null if the server
 * goes on. A command that fails because the server has ended already is no failure.
 */
export async function stopAndLock(
  service: Service,
  tryLock: () => (() => void) | null,
  clock: Clock,
): Promise<(() => void) | null> {
  try {
    await service.stop();
  } catch (error) {
    const unlock = tryLock();
    if (unlock === null) throw error;
    return unlock;
  }
  const deadline = clock.elapsed() + STOP_LIMIT_MS;
  for (;;) {
    const unlock = tryLock();
    if (unlock !== null || clock.elapsed() > deadline) return unlock;
    await pause(clock);
  }
}

/** Resolves to null when the server is ready, or to the last reason why it is not, after the limit. */
export async function awaitReady(
  url: string,
  limitMs: number,
  clock: Clock,
): Promise<string | null> {
  const deadline = clock.elapsed() + limitMs;
  for (;;) {
    const reason = await whyNotReady(url);
    if (reason === null || clock.elapsed() > deadline) return reason;
    await pause(clock);
  }
}

async function whyNotReady(url: string): Promise<string | null> {
  const answer = await ask(url);
  if (!("status" in answer)) return answer.reason;
  if (answer.status === 200) return null;
  return `${url} answers ${answer.status} ${answer.text.slice(0, MAX_REASON_CHARACTERS)}`;
}

/** Resolves to null if a server answers at all, or to the reason why not. */
export async function whyUnreachable(url: string): Promise<string | null> {
  const answer = await ask(url);
  return "status" in answer ? null : answer.reason;
}

async function ask(url: string): Promise<{ status: number; text: string } | { reason: string }> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
      proxy: false,
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const isRefused =
      error instanceof Error && "code" in error && REFUSED.includes(String(error.code));
    if (isRefused) return { reason: `nothing answers at ${url}` };
    const why = error instanceof Error ? error.message : String(error);
    return { reason: `${url} does not answer: ${why}` };
  }
}

function pause(clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  clock.after(PAUSE_MS, resolve);
  return promise;
}
