/** Shows a growing number on standard error while a command works. */

import type { Output } from "../io.ts";

const LINE_EVERY = 1000;

/** Returns a function that takes the number so far; null ends the line on a terminal. */
export function showProgress(output: Output, what: string): (count: number | null) => void {
  const { isTerminal } = output;
  let shown = 0;
  return (count) => {
    if (count === null) {
      if (isTerminal && shown > 0) void output.write("\n");
      return;
    }
    const isDue = count % (isTerminal ? LINE_EVERY / 20 : LINE_EVERY) === 0;
    if (!isDue) return;
    shown = count;
    void output.write(isTerminal ? `\r${count} ${what}` : `${count} ${what}\n`);
  };
}
