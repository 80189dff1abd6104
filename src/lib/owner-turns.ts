/** Jobs that wait for threads, by their owner. Owners take turns. */

/**
 * Takes the next job of an owner of whom fewer than `most` jobs run. This owner is the last one then.
 * Null if no owner may have another job.
 */
export function takeInTurn<Job>(
  waiting: Map<number, Job[]>,
  running: readonly (number | undefined)[],
  most: number,
): Job | null {
  for (const [owner, [job, ...others]] of waiting) {
    if (running.filter((other) => other === owner).length >= most) continue;
    waiting.delete(owner);
    if (others.length > 0) waiting.set(owner, others);
    return job ?? null;
  }
  return null;
}
