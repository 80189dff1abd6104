/** The words that start this program again, for commands that a user can paste. */

import { relative } from "node:path";

export function programName(): string {
  const runtime = shortest(process.execPath);
  const script = Bun.main.endsWith("main.ts") && !Bun.main.includes("$bunfs") ? Bun.main : null;
  return script === null ? runtime : `${runtime} ${relative(process.cwd(), script)}`;
}

/** The name of a program in PATH, or else its path. */
function shortest(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (Bun.which(name) === path) return name;
  const fromHere = relative(process.cwd(), path);
  if (fromHere.startsWith("..")) return path;
  return fromHere.includes("/") ? fromHere : `./${fromHere}`;
}
