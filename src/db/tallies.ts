/**
 * Tallies: sums that the changes of a transaction add to, written once per key at its end.
 *
 * A change that is rolled back takes its amounts back with it, so a sum always equals what the
 * transaction will store.
 */

export type Tally<K> = {
  /** Runs inside a change. */
  add(key: K, amount: number): void;
  /** Returns the amounts that the current transaction added, and that are not yet in the database. */
  pending(key: K): number;
};

/** `beforeAdd` throws if no change runs. */
export function createTallies(beforeAdd: () => void) {
  const tallies: { write: () => void; clear: () => void }[] = [];
  /** Functions that take back the amounts of the change that runs. */
  let undos: (() => void)[] = [];

  return {
    create<K>(apply: (key: K, sum: number) => void): Tally<K> {
      const sums = new Map<K, number>();
      const pending = (key: K): number => sums.get(key) ?? 0;
      tallies.push({
        write() {
          for (const [key, sum] of sums) if (sum !== 0) apply(key, sum);
        },
        clear: () => sums.clear(),
      });
      return {
        add(key, amount) {
          beforeAdd();
          sums.set(key, pending(key) + amount);
          undos.push(() => void sums.set(key, pending(key) - amount));
        },
        pending,
      };
    },
    /** Called before each change. */
    beginChange(): void {
      if (undos.length > 0) undos = [];
    },
    /** Called after the writes of the change that runs were rolled back. */
    undoChange(): void {
      for (const undo of undos) undo();
    },
    /** Writes the sums. */
    write(): void {
      for (const tally of tallies) tally.write();
    },
    /** Resets all sums at the end of a transaction. */
    clear(): void {
      for (const tally of tallies) tally.clear();
    },
  };
}
