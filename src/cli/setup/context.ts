/** The objects that all steps of setup use, and the files of an earlier setup. */

import type { Clock } from "../../lib/clock.ts";
import type { Input } from "../command.ts";
import { readEnvironment, MAX_ENVIRONMENT_CHARACTERS } from "./environment-file.ts";
import type { Machine } from "./machine.ts";
import type { Prompter } from "./terminal.ts";
import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "../command.ts";

export const ENVIRONMENT_FILE = "/etc/mailstead/environment";
export const RELAY_FILE = "/etc/mailstead/relay-url";

export type SetupContext = {
  input: Input;
  machine: Machine;
  prompter: Prompter;
  clock: Clock;
  /** The values in the files of an earlier setup. */
  current: CurrentFiles;
  /** Prints a line for the user: to stderr with --json, whose result is on stdout. */
  say: (line: string) => void;
  /** A sentence for the end after Ctrl-C, which says how to go on. */
  next: string;
};

type CurrentFiles = {
  /** The text of the environment file, and its variables. */
  environment: string;
  variables: Readonly<Record<string, string>>;
  relayUrl: string | null;
};

export function readCurrentFiles(machine: Machine): CurrentFiles {
  const environment = readIfPresent(machine, ENVIRONMENT_FILE) ?? "";
  const relayUrl = readIfPresent(machine, RELAY_FILE)?.trim() ?? null;
  return { environment, variables: readEnvironment(environment), relayUrl };
}

function readIfPresent(machine: Machine, file: string): string | null {
  const path = machine.path(file);
  if (!existsSync(path)) return null;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file} cannot be read: ${reason}`);
  }
  if (text.length <= MAX_ENVIRONMENT_CHARACTERS) return text;
  throw new UsageError(`${file} is larger than ${MAX_ENVIRONMENT_CHARACTERS / 1024} KiB`);
}

/** Waits for some time; Ctrl-C ends the setup. */
export function pause(
  { clock, prompter }: Pick<SetupContext, "clock" | "prompter">,
  ms: number,
): Promise<void> {
  return prompter.orStopped(new Promise<void>((resolve) => void clock.after(ms, resolve)));
}
