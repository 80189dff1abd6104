/**
 * Connections to SQLite that detect damaged files. If a read or a write fails because a file is
 * damaged, the latch of the database records the fault and the error becomes a StorageFaultError.
 */

import { Database } from "bun:sqlite";
import { damageOf, type FaultLatch } from "./fault.ts";
import { createLazyStatement, STATEMENT_METHODS } from "./lazy-statement.ts";

type ConnectionOptions = { create?: boolean; readonly?: boolean; readwrite?: boolean };

/**
 * Opens `file` with the default settings of SQLite. With `image`, the bytes of a database file, it
 * opens a copy of them in memory instead.
 */
export function openConnection(
  file: string,
  latch: FaultLatch,
  options: ConnectionOptions = { readwrite: true },
  image: Uint8Array | null = null,
): Database {
  const sqlite =
    image === null
      ? new Database(file, { ...options, strict: true })
      : Database.deserialize(image, { strict: true });
  const watch = createWatch(latch, file);
  watch(sqlite, ["run", "exec"]);
  watch(sqlite, ["prepare", "query"], (statement) => watch(statement, STATEMENT_METHODS));
  const compile: (...args: Parameters<Database["prepare"]>) => object = sqlite.prepare;
  Reflect.set(sqlite, "prepare", (...args: Parameters<typeof compile>) =>
    createLazyStatement(() => compile(...args)),
  );
  return sqlite;
}

type Watch = (
  target: object,
  methods: readonly string[],
  /** Called with each object that one of the methods returns. */
  onResult?: (result: object) => void,
) => void;

/** Replaces methods by versions that report damage to the latch; each object is wrapped once. */
function createWatch(latch: FaultLatch, file: string): Watch {
  const watched = new WeakSet<object>();
  return (target, methods, onResult) => {
    const isKnown = onResult === undefined && watched.has(target);
    if (isKnown) return;
    watched.add(target);
    for (const name of methods) Reflect.set(target, name, guarded(target, name, onResult));
  };

  function guarded(target: object, name: string, onResult?: (result: object) => void) {
    const method: unknown = Reflect.get(target, name);
    if (typeof method !== "function") throw new Error(`SQLite has no method ${name}()`);
    return (...args: unknown[]): unknown => {
      try {
        // The engine compiles this form without an array for the arguments.
        const result: unknown = method.apply(target, args);
        if (onResult !== undefined && typeof result === "object" && result !== null) {
          onResult(result);
        }
        return result;
      } catch (error) {
        const damage = damageOf(error, file);
        throw damage === null ? error : latch.raise(damage, error);
      }
    };
  }
}
