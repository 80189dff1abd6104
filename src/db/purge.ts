/** The type that all purges share, and the stored mark up to which a purge is finished. */

import type { Database } from "bun:sqlite";

/** False once the time of the current step has elapsed. */
type HasTime = () => boolean;

/**
 * Removes rows older than `before`, oldest first, while there is time. Each call is a change of its
 * own, so that other changes wait only briefly. Returns true if there may be more to remove.
 */
export type Purge = (before: number, hasTime: HasTime) => boolean;

/** A `seq` of the purged table; all rows up to it need no further purge. */
type PurgeMark = { read(): number; write(seq: number): void };

/** The scan of all projects, or that of one project, which keeps its data for a shorter time. */
export type ProjectScope = number | null;

export function createPurgeMark(
  sqlite: Database,
  kind: "bodies" | "captured" | "executions",
  projectSeq: ProjectScope,
): PurgeMark {
  const name = projectSeq === null ? kind : `${kind} ${projectSeq}`;
  const find = sqlite.prepare<{ seq: number }, [string]>(
    "SELECT seq FROM purge_marks WHERE name = ?",
  );
  const save = sqlite.prepare<unknown, [string, number]>(`
    INSERT INTO purge_marks (name, seq) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET seq = excluded.seq`);
  return {
    read: () => find.get(name)?.seq ?? 0,
    write: (seq) => void save.run(name, seq),
  };
}
