/**
 * The difference of two texts by lines, by the algorithm of Myers ("An O(ND) Difference Algorithm",
 * 1986). Texts that differ in very many lines are shown as one replaced by the other.
 */

export type DiffLine = {
  kind: "SAME" | "REMOVED" | "ADDED";
  /** Line numbers from 1; null on the side that does not have the line. */
  before: number | null;
  after: number | null;
  text: string;
};

/**
 * The largest number of differing lines for which the shortest difference is searched. Time and
 * memory grow with its square.
 */
const MOST_DIFFERENCES = 1_200;

export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = editsOf(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const kinds = [
    ...Array<DiffLine["kind"]>(start).fill("SAME"),
    ...middle,
    ...Array<DiffLine["kind"]>(end).fill("SAME"),
  ];
  let [i, j] = [0, 0];
  return kinds.map((kind): DiffLine => {
    const text = (kind === "ADDED" ? b[j] : a[i]) ?? "";
    return {
      kind,
      before: kind === "ADDED" ? null : ++i,
      after: kind === "REMOVED" ? null : ++j,
      text,
    };
  });
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.split(/\r?\n/));

/** The kinds of the lines in their order, removed lines before added ones. */
function editsOf(a: readonly string[], b: readonly string[]): DiffLine["kind"][] {
  const trace = searchPath(a, b);
  if (trace === null) {
    return [...a.map(() => "REMOVED" as const), ...b.map(() => "ADDED" as const)];
  }
  const kinds: DiffLine["kind"][] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d > 0; d--) {
    const row = trace[d - 1] ?? [];
    const reach = (k: number) => row[k + d] ?? -1;
    const k = x - y;
    const isDown = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
    const from = isDown ? k + 1 : k - 1;
    const startX = reach(from);
    const startY = startX - from;
    while (x > startX && y > startY) {
      kinds.push("SAME");
      x--;
      y--;
    }
    kinds.push(isDown ? "ADDED" : "REMOVED");
    [x, y] = [startX, startY];
  }
  while (x-- > 0) kinds.push("SAME");
  return kinds.toReversed();
}

/**
 * Returns for each number of differences `d` how far along `a` each diagonal `k` reaches, at the index
 * `k + d + 1`. Null if there are too many differences.
 */
function searchPath(a: readonly string[], b: readonly string[]): number[][] | null {
  const trace: number[][] = [];
  let before: number[] = [];
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_DIFFERENCES); d++) {
    const row = Array<number>(2 * d + 3).fill(-1);
    const reach = (k: number) => before[k + d] ?? -1;
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
      let x = d === 0 ? 0 : isDown ? reach(k + 1) : reach(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      row[k + d + 1] = x;
      if (x >= a.length && x - k >= b.length) return [...trace, row];
    }
    trace.push(row);
    before = row;
  }
  return null;
}

/** A row of the view: a removed line beside the line that was added in its place. */
export type DiffPair = { left: DiffLine | null; right: DiffLine | null };

export function pairLines(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  function flush(): void {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      pairs.push({ left: removed[i] ?? null, right: added[i] ?? null });
    }
    [removed, added] = [[], []];
  }
  for (const line of lines) {
    if (line.kind === "REMOVED") removed.push(line);
    else if (line.kind === "ADDED") added.push(line);
    else {
      flush();
      pairs.push({ left: line, right: line });
    }
  }
  flush();
  return pairs;
}

/** A run of lines, or the number of equal lines that are left out. */
export type DiffPart<T> = { rows: T[] } | { hidden: number };

/** Leaves out equal rows that are far from any difference. */
export function shortenRows<T>(
  rows: readonly T[],
  isSame: (row: T) => boolean,
  context = 3,
): DiffPart<T>[] {
  const isShown = new Uint8Array(rows.length);
  for (const [i, row] of rows.entries()) {
    if (!isSame(row)) isShown.fill(1, Math.max(0, i - context), i + context + 1);
  }
  const parts: DiffPart<T>[] = [];
  for (const [i, row] of rows.entries()) {
    const last = parts.at(-1);
    if (isShown[i] === 1) {
      if (last !== undefined && "rows" in last) last.rows.push(row);
      else parts.push({ rows: [row] });
    } else if (last !== undefined && "hidden" in last) last.hidden++;
    else parts.push({ hidden: 1 });
  }
  return parts;
}
