/**
 * Callbacks for requests that are made thousands of times a second, because promises and the code
 * that awaits them take several times as long.
 */

/** Exactly one of the functions is called, once. It may be called before the request returns. */
export type Callbacks<T> = { resolve: (value: T) => void; reject: (error: unknown) => void };

/**
 * Calls `call` for each item, also after a call that throws, and then `end`. Throws the first error
 * at the end.
 */
export function callForEach<T>(
  items: Iterable<T>,
  call: (item: T) => void,
  end: () => void = () => {},
): void {
  let failure: { error: unknown } | null = null;
  for (const item of items) {
    try {
      call(item);
    } catch (error) {
      failure ??= { error };
    }
  }
  end();
  if (failure !== null) throw failure.error;
}
