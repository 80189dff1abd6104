/** Reads the output of strace(1) line by line, for calls that change files or send responses. */

import { basename } from "node:path";

export type Call =
  | { is: "write"; file: string; offset: number; bytes: Uint8Array }
  | { is: "resize"; file: string; size: number }
  | { is: "sync"; file: string }
  /** `file` names the socket; other files than the database are noted as well. */
  | { is: "send"; file: string; text: string };

/** A step of the trace: a call of a thread begins, or the call of that thread ends. */
export type Step = { thread: string; begins: Call } | { thread: string; ends: true };

const SYNCS = ["fsync", "fdatasync"];
const SENDS = ["sendto", "write"];
const CALLS = [...SYNCS, ...SENDS, "pwrite64", "ftruncate"];
/** Longest traced argument, in bytes; writes of SQLite and responses of the server are shorter. */
const MAX_BYTES = 1024 * 1024;

/** Returns the words to put before a command; with `-D` the process id is that of the command. */
export function straceTo(file: string): string[] {
  const calls = `trace=${CALLS.join(",")}`;
  return ["strace", "-D", "-f", "-qqq", "-y", "-xx", "-s", `${MAX_BYTES}`, "-e", calls, "-o", file];
}

/** THREAD NAME(FD<FILE>, ARGUMENTS) = RESULT; split into two lines if another thread intervenes. */
const LINE =
  /^(\d+) +(?:(\w+)\(\d+<([^>]*)>(?:, (.*?))?(?:\) += (.*)| <unfinished \.\.\.>)|(<\.\.\. .* resumed>).*)$/s;

/** Parses a line: returns no step, the begin of a call, its end, or both. */
export function stepsOf(line: string): Step[] {
  const found = LINE.exec(line);
  if (found === null) return [];
  const [, thread = "", name, path = "", rest = "", result, resumed] = found;
  if (resumed !== undefined) return [{ thread, ends: true }];
  const call = callOf(name ?? "", basename(bytesOf(path).toString()), rest);
  if (call === null) return [];
  const begins: Step = { thread, begins: call };
  return result === undefined ? [begins] : [begins, { thread, ends: true }];
}

function callOf(name: string, file: string, rest: string): Call | null {
  if (SYNCS.includes(name)) return { is: "sync", file };
  if (name === "ftruncate") return { is: "resize", file, size: Number(rest) };
  const [, quoted = "", numbers = ""] = /^"([^"]*)"(.*)$/s.exec(rest) ?? [];
  if (SENDS.includes(name)) return { is: "send", file, text: bytesOf(quoted).toString() };
  const offset = Number(numbers.split(", ").at(-1));
  return { is: "write", file, offset, bytes: bytesOf(quoted) };
}

/** Decodes text of the form `\xHH\xHH…`. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}
