/** Stores graphs as immutable versions and caches parsed ones. */

import type { Db } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Graph } from "./graph/graph.ts";

/**
 * Limits of the cache, by number and by length of JSON. A parsed graph takes up to about ten times
 * the memory of its JSON.
 */
const MAX_CACHED_GRAPHS = 500;
const MAX_CACHED_LENGTH = 8 * 1024 * 1024;

export type Versions = ReturnType<typeof createVersions>;

export function createVersions({ db: { sqlite }, clock }: { db: Db; clock: Clock }) {
  const find = sqlite.prepare<{ graph: string }, [number]>(
    "SELECT graph FROM workflow_versions WHERE seq = +?",
  );
  const findLast = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM sqlite_sequence WHERE name = 'workflow_versions'",
  );
  const insert = sqlite.prepare<unknown, [number, number, string, number]>(
    "INSERT INTO workflow_versions (seq, workflow_seq, graph, created_at) VALUES (?, ?, ?, ?)",
  );
  const dropUnused = sqlite.prepare<unknown, [number]>(`
    DELETE FROM workflow_versions AS version
    WHERE workflow_seq = +?
      AND seq <> (SELECT version_seq FROM workflows WHERE seq = version.workflow_seq)
      AND NOT EXISTS (
        SELECT 1 FROM workflow_executions
        WHERE version_seq = version.seq AND status IN ('RUNNING', 'WAITING'))`);
  /** A `seq` is never reused, not even after a rollback, because it is the key of the cache. */
  let lastSeq = 0;
  /** In order of use, least recently used first. */
  const cache = new Map<number, { graph: Graph; length: number }>();
  let cachedLength = 0;

  function addToCache(seq: number, graph: Graph, length: number): void {
    cache.set(seq, { graph, length });
    cachedLength += length;
    for (const [oldest, entry] of cache) {
      if (cache.size <= MAX_CACHED_GRAPHS && cachedLength <= MAX_CACHED_LENGTH) return;
      cache.delete(oldest);
      cachedLength -= entry.length;
    }
  }

  return {
    /**
     * The graph of a version; null if the version was deleted. The current version and the versions
     * of active executions are never deleted.
     */
    graphOf(seq: number): Graph | null {
      const known = cache.get(seq);
      if (known !== undefined) {
        cache.delete(seq);
        cache.set(seq, known);
        return known.graph;
      }
      const row = find.get(seq);
      if (row === null) return null;
      const graph = parseGraph(row.graph);
      addToCache(seq, graph, row.graph.length);
      return graph;
    },

    /** Part of a change: stores a new version of a workflow and returns its `seq`. */
    store(workflowSeq: number, graph: Graph): number {
      lastSeq = Math.max(lastSeq, findLast.get()?.seq ?? 0) + 1;
      insert.run(lastSeq, workflowSeq, JSON.stringify(graph), clock.now());
      return lastSeq;
    },

    /**
     * Part of a change of the graph or of the end of an execution: deletes the versions that are
     * not current and have no active execution.
     */
    dropUnused(workflowSeq: number): void {
      dropUnused.run(workflowSeq);
    },
  };
}

/** Parses a stored graph, which was checked before it was stored. */
export function parseGraph(text: string): Graph {
  return JSON.parse(text);
}
