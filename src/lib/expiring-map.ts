/**
 * A bounded map whose entries expire by the monotonic clock. If it is full, the least recently used
 * entry is removed.
 */

import type { Clock } from "./clock.ts";

type Entry<Value> = { value: Value; expiresAt: number };

export class ExpiringMap<Value> {
  readonly #maxEntries: number;
  readonly #elapsed: Clock["elapsed"];
  /** Sorted by last use, the oldest first. */
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(options: { maxEntries: number; clock: Pick<Clock, "elapsed"> }) {
    this.#maxEntries = options.maxEntries;
    this.#elapsed = options.clock.elapsed;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.entry(key)?.value;
  }

  /** Returns the value and its expiry time by `Clock.elapsed`. */
  entry(key: string): Readonly<Entry<Value>> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#elapsed()) return undefined;
    this.#entries.set(key, entry);
    return entry;
  }

  /** Stores a value. If the lifetime is zero or less, the entry is removed instead. */
  set(key: string, value: Value, lifetimeMs: number): void {
    this.#entries.delete(key);
    if (lifetimeMs <= 0) return;
    this.#entries.set(key, { value, expiresAt: this.#elapsed() + lifetimeMs });
    if (this.#entries.size <= this.#maxEntries) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
