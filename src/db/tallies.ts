/**
 * Sums that the changes of one transaction add to. Each sum is written once per key at the end of
 * the transaction.
 */

export type Tallies = {
  /** Creates a tally. The returned function makes an addition, which counts when it is called. */
  create<K>(apply: (key: K, sum: number) => void): (key: K, amount: number) => () => void;
  /** Calls the additions, writes the sums, and resets all sums, also if a write fails. */
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
