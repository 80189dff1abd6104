/** What every purge has in common. */

/** Whether the time of a step is not over yet. */
export type HasTime = () => boolean;

/**
 * Removes what is older than a moment, oldest first, as long as there is time. Each call is part of
 * a change of its own, so that nobody waits for long. True if there may be more to remove.
 */
export type Purge = (before: number, hasTime: HasTime) => boolean;
