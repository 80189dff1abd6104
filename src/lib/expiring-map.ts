/** A bounded map whose entries expire; the one used longest ago leaves first. */

import type { Clock } from "./clock.ts";

type Entry<Value> = { value: Value; expiresAt: number };

export class ExpiringMap<Value> {
  readonly #maxEntries: number;
  readonly #now: Clock["now"];
  /** In order of their last use. */
  readonly #entries = new Map<string, Entry<Value>>();

  constructor(options: { maxEntries: number; clock: Pick<Clock, "now"> }) {
    this.#maxEntries = options.maxEntries;
    this.#now = options.clock.now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.entry(key)?.value;
  }

  /** The value with the moment it ends, in milliseconds since the epoch. */
  entry(key: string): Readonly<Entry<Value>> | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#now()) return undefined;
    this.#entries.set(key, entry);
    return entry;
  }

  /** A lifetime of zero or less keeps nothing, and forgets what was kept. */
  set(key: string, value: Value, lifetimeMs: number): void {
    this.#entries.delete(key);
    if (lifetimeMs <= 0) return;
    this.#entries.set(key, { value, expiresAt: this.#now() + lifetimeMs });
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
