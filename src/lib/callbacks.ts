/**
 * How a caller learns the result of a request that is made thousands of times a second: by one of two
 * functions instead of a promise, because promises, and the code that awaits them, took a fifth of
 * the processor time of a mail.
 */

/** Exactly one of the functions is called, once. It may be called before the request returns. */
export type Callbacks<T> = { resolve: (value: T) => void; reject: (error: unknown) => void };
