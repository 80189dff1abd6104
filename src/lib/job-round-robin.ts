/** Takes jobs that wait for threads from their owners, round robin. */

/**
 * Takes the next job of the first owner of whom fewer than `most` jobs run, and moves this owner to
 * the end. Null if no owner may have another job.
 */
export function takeRoundRobin<Job>(
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
