/**
 * Connection slots ordered by how long their mails have waited. Slots start to wait in the order in
 * which they are added, so the oldest are always first and no search is needed. All moments are
 * milliseconds of the monotonic clock.
 */

import { SLOW_MS } from "./site.ts";

export type Aging = {
  /** Called once the slot has waited for SLOW_MS. */
  becomeOld(): void;
};

export class SlotAges<Slot extends Aging> {
  /** Slot → when it started to wait. */
  readonly #young = new Map<Slot, number>();
  readonly #old = new Map<Slot, number>();

  /** Starts the wait of the slot again from zero. */
  start(slot: Slot, now: number): void {
    this.end(slot);
    this.#young.set(slot, now);
  }

  end(slot: Slot): void {
    this.#young.delete(slot);
    this.#old.delete(slot);
  }

  /** Notifies the slots that have become old by `now`. */
  advance(now: number): void {
    for (const [slot, since] of this.#young) {
      if (now - since < SLOW_MS) return;
      this.#young.delete(slot);
      this.#old.set(slot, since);
      slot.becomeOld();
    }
  }

  waitedMs(slot: Slot, now: number): number {
    return now - (this.#young.get(slot) ?? this.#old.get(slot) ?? now);
  }

  /** True once the slot was notified that it has waited for SLOW_MS. */
  isOld(slot: Slot): boolean {
    return this.#old.has(slot);
  }

  /** Milliseconds until the next slot becomes old; SLOW_MS if none waits. */
  nextMs(now: number): number {
    const [first] = this.#young.values();
    return first === undefined ? SLOW_MS : Math.max(0, SLOW_MS - (now - first));
  }

  /** The slots that have waited for SLOW_MS, the longest wait first. */
  old(): Iterable<Slot> {
    return this.#old.keys();
  }
}
