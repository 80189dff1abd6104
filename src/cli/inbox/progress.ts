/** Shows a growing number on standard error while a command works. */

const LINE_EVERY = 1000;

/** Returns a function that takes the number so far; null ends the line on a terminal. */
export function showProgress(what: string): (count: number | null) => void {
  const { isTTY } = process.stderr;
  let shown = 0;
  return (count) => {
    if (count === null) {
      if (isTTY && shown > 0) process.stderr.write("\n");
      return;
    }
    const isDue = count % (isTTY ? LINE_EVERY / 20 : LINE_EVERY) === 0;
    if (!isDue) return;
    shown = count;
    process.stderr.write(isTTY ? `\r${count} ${what}` : `${count} ${what}\n`);
  };
}
