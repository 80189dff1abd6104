/**
 * Statements that SQLite compiles when they run for the first time. The modules prepare several
 * hundred statements when they are created, and a start runs only some of them; compiling the others
 * then would take a tenth of the start, and memory.
 */

/** The methods that run a statement. */
export const STATEMENT_METHODS = ["all", "get", "run", "values", "raw"] as const;

/**
 * Returns a statement with the methods that run it, and `finalize`. `compile` is called by the first
 * of them that is called; a mistake in the SQL is thrown then. The methods of its result are called
 * without `this`, except `finalize`.
 */
export function createLazyStatement(compile: () => object): object {
  let statement: object | null = null;
  const lazy = {
    finalize(): void {
      if (statement !== null) call(statement, "finalize", []);
    },
  };
  for (const name of STATEMENT_METHODS) {
    Reflect.set(lazy, name, (...args: unknown[]): unknown => {
      statement = compile();
      // The next calls reach the methods of the statement without a detour.
      for (const each of STATEMENT_METHODS) Reflect.set(lazy, each, Reflect.get(statement, each));
      return call(statement, name, args);
    });
  }
  return lazy;
}

function call(target: object, name: string, args: unknown[]): unknown {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== "function") throw new Error(`SQLite has no method ${name}()`);
  return method.apply(target, args);
}
