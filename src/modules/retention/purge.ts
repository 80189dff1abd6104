/** The common type of all purges. */

/** False once the time of the current step has elapsed. */
export type HasTime = () => boolean;

/**
 * Removes rows older than `before`, oldest first, while there is time. Each call is a change of its
 * own, so that other changes wait only briefly. Returns true if there may be more to remove.
 */
export type Purge = (before: number, hasTime: HasTime) => boolean;
