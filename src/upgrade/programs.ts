/**
 * Runs this program, another version of it, or a program of the system. The versions talk by the commands
 * `version`, `backup`, `migrate` and `check` with `--json`, so these must keep their form.
 */

import { statSync } from "node:fs";
import { UpgradeError } from "./refusal.ts";

type Ran = { code: number; stdout: string; stderr: string };

/** The user and the group who own the data folder. */
type Owner = { uid: number; gid: number };

/** The environment of the commands: no settings of this process, but the ones that are given. */
export type Programs = {
  env: Readonly<Record<string, string | undefined>>;
  /** If this process is root's, the commands run as this user. */
  owner: Owner;
};

/** Throws UpgradeError for a user who may not change the data folder. */
export function programsFor(data: string, env: Programs["env"]): Programs {
  const { uid, gid } = statSync(data);
  const user = process.getuid?.() ?? uid;
  if (user === ROOT || user === uid) return { env, owner: { uid, gid } };
  throw new UpgradeError(
    `The data folder ${data} belongs to another user.`,
    "Run this command as root, or --check as that user.",
  );
}

const MAX_OUTPUT = 64 * 1024;
const ROOT = 0;

/** Runs a version of this program on a data folder, and returns its output. Never rejects because of it. */
export async function runVersion(
  executable: string,
  words: readonly string[],
  { env, owner }: Programs,
): Promise<Ran> {
  const asOwner = process.getuid?.() === ROOT && owner.uid !== ROOT ? owner : {};
  return run([executable, ...words], { env, ...asOwner });
}

/**
 * Runs the work in the data folder as its owner, if this process is root's. So it creates no files that the
 * server cannot use, and follows no link to a place that the owner may not change. The work is synchronous,
 * because the user is that of the whole process.
 */
export function asOwner<T>({ owner }: Pick<Programs, "owner">, work: () => T): T {
  const [user, group] = [process.geteuid?.(), process.getegid?.()];
  if (user !== ROOT || group === undefined || owner.uid === ROOT) return work();
  process.setegid?.(owner.gid);
  process.seteuid?.(owner.uid);
  try {
    return work();
  } finally {
    process.seteuid?.(user);
    process.setegid?.(group);
  }
}

/** The same with the environment of this process, and as its user. */
export function runSystem(words: readonly string[], env: Programs["env"]): Promise<Ran> {
  return run(words, { env });
}

async function run(
  words: readonly string[],
  options: { env: Programs["env"] } & Partial<Owner>,
): Promise<Ran> {
  try {
    const child = await started(() =>
      Bun.spawn([...words], {
        ...options,
        env: { ...options.env },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      }),
    );
    const [code, stdout, stderr] = await Promise.all([
      child.exited,
      endOf(child.stdout),
      endOf(child.stderr),
    ]);
    return { code, stdout, stderr };
  } catch (error) {
    // A file that this machine cannot execute, such as one for another processor.
    const why = error instanceof Error ? error.message : String(error);
    return { code: -1, stdout: "", stderr: why };
  }
}

const START_TRIES = 20;
const START_PAUSE_MS = 50;

/**
 * Linux does not start a file that is open for writing. A process that was started while the file was
 * written has it open for the moment until it becomes another program.
 */
async function started<T>(start: () => T): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return start();
    } catch (error) {
      const isBusy = error instanceof Error && "code" in error && error.code === "ETXTBSY";
      if (!isBusy || tries === START_TRIES) throw error;
      await Bun.sleep(START_PAUSE_MS);
    }
  }
}

async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of stream) {
    text = (text + Buffer.from(piece).toString("utf8")).slice(-MAX_OUTPUT);
  }
  return text;
}

/** Throws UpgradeError with the last lines of the output of a program, if it has failed. */
export function requireSuccess({ code, stdout, stderr }: Ran, message: string, advice: string) {
  if (code === 0) return;
  const lines = `${stdout}\n${stderr}`.split("\n").filter(isTelling).slice(-MAX_SHOWN_LINES);
  throw new UpgradeError([`${message} (exit code ${code}).`, ...lines].join("\n"), advice);
}

const MAX_SHOWN_LINES = 12;

/** Checks that passed are not shown. */
function isTelling(line: string): boolean {
  return line.trim() !== "" && !line.startsWith("ok  ");
}

/** Removes the settings of this process from its environment. */
export function withoutSettings(env: Programs["env"]): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("MAILSTEAD_")));
}
