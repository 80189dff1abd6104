/** What strace(1) writes of the calls that matter to a disk, read line by line. */

import { basename } from "node:path";

export type Call =
  | { is: "write"; file: string; offset: number; bytes: Uint8Array }
  | { is: "resize"; file: string; size: number }
  | { is: "sync"; file: string }
  | { is: "send"; text: string };

/** A call begins; a call of the same thread ends. */
export type Step = { thread: string; begins: Call } | { thread: string; ends: true };

const SYNCS = ["fsync", "fdatasync"];
const SENDS = ["sendto", "write"];
const CALLS = [...SYNCS, ...SENDS, "pwrite64", "ftruncate"];
/** Longer than any write of SQLite or answer of ours. */
const LONGEST = 1024 * 1024;

/** To be put before the command; `-D`: its process is the command's own. */
export function straceTo(file: string): string[] {
  const calls = `trace=${CALLS.join(",")}`;
  return ["strace", "-D", "-f", "-qqq", "-y", "-xx", "-s", `${LONGEST}`, "-e", calls, "-o", file];
}

/** THREAD NAME(FD<FILE>, ARGUMENTS) = RESULT; cut in two where another thread comes between. */
const LINE =
  /^(\d+) +(?:(\w+)\(\d+<([^>]*)>(?:, (.*?))?(?:\) += (.*)| <unfinished \.\.\.>)|(<\.\.\. .* resumed>).*)$/s;

/** What a line says: nothing, the begin of a call, or its begin and its end. */
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
  if (SENDS.includes(name)) return { is: "send", text: bytesOf(quoted).toString() };
  const offset = Number(numbers.split(", ").at(-1));
  return { is: "write", file, offset, bytes: bytesOf(quoted) };
}

/** Of `\xHH\xHH…`. */
function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}
