/** Tallies: sums that the changes of a transaction add to, written once per key at its end. */

export type Tally<K> = {
  /** Runs inside a change. The amount of a refused change does not count. */
  add(key: K, amount: number): void;
  /**
   * Returns the amounts that the current transaction added so far and that are not in the database
   * yet. It includes the amounts of refused changes until the transaction ends.
   */
  pending(key: K): number;
};

type Tallies = {
  /**
   * Creates a tally. `collect` receives each addition as a function; the amount counts when `write`
   * calls that function.
   */
  create<K>(
    apply: (key: K, sum: number) => void,
    collect: (addition: () => void) => void,
  ): Tally<K>;
  /** Calls the additions and writes the sums. */
  write(additions: readonly (() => void)[]): void;
  /** Resets all amounts at the end of a transaction. */
  clear(): void;
};

export function createTallies(): Tallies {
  const tallies: { write: () => void; clear: () => void }[] = [];
  return {
    create<K>(
      apply: (key: K, sum: number) => void,
      collect: (addition: () => void) => void,
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
          collect(() => void sums.set(key, (sums.get(key) ?? 0) + amount));
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
