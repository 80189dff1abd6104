/** Graphs as they were stored: immutable, so a parsed one stays right. */

import type { Db } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Graph } from "./graph.ts";

export type Versions = ReturnType<typeof createVersions>;

/** Parsed graphs in memory: about ten times the size of their JSON at worst. */
const MOST_CACHED = 500;
const MOST_CACHED_BYTES = 8 * 1024 * 1024;

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
  /** A number is never given twice, not even one that was rolled back: graphs are cached by it. */
  let lastSeq = 0;
  /** In order of use: the first was used longest ago. */
  const cache = new Map<number, { graph: Graph; bytes: number }>();
  let cachedBytes = 0;

  function keep(seq: number, graph: Graph, bytes: number): void {
    cache.set(seq, { graph, bytes });
    cachedBytes += bytes;
    for (const [oldest, entry] of cache) {
      if (cache.size <= MOST_CACHED && cachedBytes <= MOST_CACHED_BYTES) return;
      cache.delete(oldest);
      cachedBytes -= entry.bytes;
    }
  }

  return {
    /**
     * The graph of a version; null once the version was dropped, which none is that a workflow
     * or an execution under way needs.
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
      keep(seq, graph, row.graph.length);
      return graph;
    },

    /** Part of a change: a new version of a workflow, and its number. */
    store(workflowSeq: number, graph: Graph): number {
      lastSeq = Math.max(lastSeq, findLast.get()?.seq ?? 0) + 1;
      insert.run(lastSeq, workflowSeq, JSON.stringify(graph), clock.now());
      return lastSeq;
    },

    /**
     * Part of a change of the graph, or of an execution that ended: deletes the versions that are
     * neither current nor the way of an execution under way.
     */
    dropUnused(workflowSeq: number): void {
      dropUnused.run(workflowSeq);
    },
  };
}

/** What was checked when it was stored. */
export function parseGraph(text: string): Graph {
  return JSON.parse(text);
}
