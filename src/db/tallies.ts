/** Sums that many changes of one transaction add to. Each is written once per key at its end. */

export type Tally<K> = {
  /** Part of a change. The amount of a change that is refused does not count. */
  add(key: K, amount: number): void;
  /**
   * What the changes of this transaction added so far, which is not in the database yet. Amounts of
   * refused changes are included until the transaction ends.
   */
  pending(key: K): number;
};

export type Tallies = {
  /** `keep` receives each addition of a change, which counts once it is called. */
  create<K>(apply: (key: K, sum: number) => void, keep: (addition: () => void) => void): Tally<K>;
  /** Makes the additions and writes the sums. */
  write(additions: readonly (() => void)[]): void;
  /** Forgets all amounts, at the end of each transaction. */
  clear(): void;
};

export function createTallies(): Tallies {
  const tallies: { write: () => void; clear: () => void }[] = [];
  return {
    create<K>(
      apply: (key: K, sum: number) => void,
      keep: (addition: () => void) => void,
    ): Tally<K> {
      const sums = new Map<K, number>();
      const pendingSums = new Map<K, number>();
      tallies.push({
        write: () => sums.forEach((sum, key) => apply(key, sum)),
        clear() {
          sums.clear();
          pendingSums.clear();
        },
      });
      return {
        add(key, amount) {
          pendingSums.set(key, (pendingSums.get(key) ?? 0) + amount);
          keep(() => void sums.set(key, (sums.get(key) ?? 0) + amount));
        },
        pending: (key) => pendingSums.get(key) ?? 0,
      };
    },
    write(additions) {
      for (const add of additions) add();
      for (const tally of tallies) tally.write();
    },
    clear() {
      for (const tally of tallies) tally.clear();
    },
  };
}
