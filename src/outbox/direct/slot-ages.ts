/**
 * Connection slots ordered by how long their mails have waited. Slots start to wait in the order in
 * which they are added, so the oldest are always first and no search is needed.
 */

import { SLOW_MS } from "./site.ts";

export type Aging = {
  /** Monotonic milliseconds. */
  readonly since: number;
  /** Called once the slot has waited for SLOW_MS. */
  becomeOld(): void;
};

export class SlotAges<Slot extends Aging> {
  readonly #young = new Set<Slot>();
  readonly #old = new Set<Slot>();

  /** Starts the wait of the slot again from zero. */
  start(slot: Slot): void {
    this.end(slot);
    this.#young.add(slot);
  }

  end(slot: Slot): void {
    this.#young.delete(slot);
    this.#old.delete(slot);
  }

  /** Notifies the slots that have become old by `now`. */
  advance(now: number): void {
    for (const slot of this.#young) {
      if (now - slot.since < SLOW_MS) return;
      this.#young.delete(slot);
      this.#old.add(slot);
      slot.becomeOld();
    }
  }

  /** Milliseconds until the next slot becomes old; SLOW_MS if none waits. */
  nextMs(now: number): number {
    const [first] = this.#young;
    return first === undefined ? SLOW_MS : Math.max(0, SLOW_MS - (now - first.since));
  }

  /** The slots that have waited for SLOW_MS, the longest wait first. */
  old(): Iterable<Slot> {
    return this.#old;
  }
}
