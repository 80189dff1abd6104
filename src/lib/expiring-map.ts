/** A bounded map whose entries expire by the monotonic clock; the least recently used is dropped first. */

import type { Clock } from "./clock.ts";

type Entry<Value> = { value: Value; expiresAt: number };

export class ExpiringMap<Value> {
  readonly #maxEntries: number;
  readonly #elapsed: Clock["elapsed"];
  /** In order of their last use. */
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

  /** The value with the moment at which it expires, by `Clock.elapsed`. */
  entry(key: string): Readonly<Entry<Value>> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#elapsed()) return undefined;
    this.#entries.set(key, entry);
    return entry;
  }

  /** A lifetime of zero or less keeps nothing, and forgets what was kept. */
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
