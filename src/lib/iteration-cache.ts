/**
 * Creates a function that finds each value once per iteration of the event loop. Requests that
 * arrive together share what was read, and the next iteration reads it again, so a change takes
 * effect with the next request.
 */
export function cachePerIteration<T>(find: (key: string) => T): (key: string) => T {
  const found = new Map<string, T>();
  return (key) => {
    const known = found.get(key);
    if (known !== undefined) return known;
    const value = find(key);
    if (found.size === 0) setImmediate(() => found.clear());
    found.set(key, value);
    return value;
  };
}
