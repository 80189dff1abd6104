/** Sums that many changes of one transaction add to, each written once per key at its end. */

export type Tallies = {
  /** A new sum. The function that is returned gives an addition, which counts once it is called. */
  create<K>(apply: (key: K, sum: number) => void): (key: K, amount: number) => () => void;
  /** Makes the additions and writes the sums; whatever happens, the next ones start at nothing. */
  write(additions: readonly (() => void)[]): void;
};

export function createTallies(): Tallies {
  const tallies: { write: () => void; clear: () => void }[] = [];
  return {
    create<K>(apply: (key: K, sum: number) => void) {
      const sums = new Map<K, number>();
      tallies.push({
        write: () => sums.forEach((sum, key) => apply(key, sum)),
        clear: () => sums.clear(),
      });
      return (key: K, amount: number) => () => void sums.set(key, (sums.get(key) ?? 0) + amount);
    },
    write(additions) {
      try {
        for (const add of additions) add();
        for (const tally of tallies) tally.write();
      } finally {
        for (const tally of tallies) tally.clear();
      }
    },
  };
}
