/**
 * Values that all test files of a process share, such as a browser: `bun test --parallel --no-isolate`
 * runs many files in one process, which keeps its modules.
 */

/** Returns a function that makes a value at its first call, and a new one when that is not usable. */
export function shared<T>(
  make: () => Promise<T>,
  isUsable: (value: T) => boolean,
): () => Promise<T> {
  let making: Promise<T> | undefined;
  let made: { value: T } | undefined;

  async function start(): Promise<T> {
    try {
      const value = await make();
      made = { value };
      return value;
    } catch (error) {
      making = undefined;
      throw error;
    }
  }

  return () => {
    if (made !== undefined && !isUsable(made.value)) making = made = undefined;
    making ??= start();
    return making;
  };
}
