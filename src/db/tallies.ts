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

/** The sum of a key, and what it was before the change that added to it last. */
type Sum = { amount: number; before: number; change: number };

/** `beforeAdd` throws if no change runs. */
export function createTallies(beforeAdd: () => void) {
  const tallies: { write: () => void; clear: () => void }[] = [];
  /** Number of the change that runs. */
  let change = 0;
  /** The sums that this change added to, each once. */
  let changed: Sum[] = [];

  function addTo(sum: Sum, amount: number): void {
    if (sum.change !== change) {
      sum.before = sum.amount;
      sum.change = change;
      changed.push(sum);
    }
    sum.amount += amount;
  }

  return {
    create<K>(apply: (key: K, sum: number) => void): Tally<K> {
      const sums = new Map<K, Sum>();
      tallies.push({
        write() {
          for (const [key, { amount }] of sums) if (amount !== 0) apply(key, amount);
        },
        clear: () => sums.clear(),
      });
      return {
        add(key, amount) {
          beforeAdd();
          let sum = sums.get(key);
          if (sum === undefined) {
            sum = { amount: 0, before: 0, change: 0 };
            sums.set(key, sum);
          }
          addTo(sum, amount);
        },
        pending: (key) => sums.get(key)?.amount ?? 0,
      };
    },
    /** Called before each change. */
    beginChange(): void {
      change++;
      if (changed.length > 0) changed = [];
    },
    /** Called after the writes of the change that runs were rolled back. */
    undoChange(): void {
      for (const sum of changed) sum.amount = sum.before;
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
