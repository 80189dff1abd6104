/**
 * Stores graphs as immutable versions with their exits, and caches parsed ones. The newest versions are
 * kept, so that they can be compared and restored; older ones only while executions need them.
 */

import type { Db } from "../../db/open.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import type { Clock } from "../../lib/clock.ts";
import { membershipEventName } from "../segments/slug.ts";
import type { Exit, Graph } from "./graph/graph.ts";

/**
 * Limits of the cache, by number and by length of JSON. A parsed graph takes up to about ten times
 * the memory of its JSON.
 */
const MAX_CACHED_GRAPHS = 500;
const MAX_CACHED_LENGTH = 8 * 1024 * 1024;

/** Newest versions of a workflow that are kept. */
const MAX_VERSIONS = 50;

/** SQL condition: the version is not the current one, and has no execution under way. */
const IS_UNUSED = `
  seq <> (SELECT version_seq FROM workflows WHERE seq = version.workflow_seq)
  AND NOT EXISTS (
    SELECT 1 FROM workflow_executions
    WHERE version_seq = version.seq AND status IN ('RUNNING', 'WAITING'))`;

/** The author of a version. */
export type GraphAuthor = Pick<RequestActor, "kind" | "id" | "label">;

type NewVersion = {
  seq: number;
  workflowSeq: number;
  graph: string;
  createdAt: number;
  authorKind: GraphAuthor["kind"] | null;
  authorId: string | null;
  authorName: string | null;
};

/** A version without its graph. */
export type StoredVersion = {
  seq: number;
  number: number;
  createdAt: number;
  authorKind: GraphAuthor["kind"] | null;
  authorName: string | null;
};

const VERSION_COLUMNS = `
  seq, number, created_at AS createdAt, author_kind AS authorKind, author_name AS authorName
  FROM workflow_versions`;

export type Versions = ReturnType<typeof createVersions>;

export function createVersions({ db: { sqlite }, clock }: { db: Db; clock: Clock }) {
  const find = sqlite.prepare<{ graph: string }, [number]>(
    "SELECT graph FROM workflow_versions WHERE seq = +?",
  );
  const findLast = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM sqlite_sequence WHERE name = 'workflow_versions'",
  );
  const insert = sqlite.prepare<unknown, [NewVersion]>(`
    INSERT INTO workflow_versions
      (seq, workflow_seq, number, graph, created_at, author_kind, author_id, author_name)
    VALUES ($seq, $workflowSeq,
      (SELECT coalesce(max(number), 0) + 1 FROM workflow_versions WHERE workflow_seq = $workflowSeq),
      $graph, $createdAt, $authorKind, $authorId, $authorName)`);
  const insertExit = sqlite.prepare<unknown, [number, number, string, string]>(`
    INSERT INTO workflow_exits (version_seq, project_seq, event_name, reason)
    VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const findSegment = sqlite.prepare<{ slug: string; name: string }, [string]>(
    "SELECT slug, name FROM segments WHERE id = +?",
  );
  const findNewest = sqlite.prepare<StoredVersion, [number]>(`
    SELECT ${VERSION_COLUMNS} WHERE workflow_seq = +? ORDER BY number DESC LIMIT ${MAX_VERSIONS}`);
  const findBefore = sqlite.prepare<StoredVersion, [number, number]>(`
    SELECT ${VERSION_COLUMNS}
    WHERE workflow_seq = +? AND number < +? ORDER BY number DESC LIMIT 1`);
  const findByNumber = sqlite.prepare<StoredVersion, [number, number]>(
    `SELECT ${VERSION_COLUMNS} WHERE workflow_seq = +? AND number = +?`,
  );
  const dropUnused = sqlite.prepare<unknown, [number, number]>(`
    DELETE FROM workflow_versions AS version
    WHERE workflow_seq = +?1 AND ${IS_UNUSED}
      AND number <= (SELECT max(number) FROM workflow_versions WHERE workflow_seq = +?1) - +?2`);
  const dropUnusedExits = sqlite.prepare<unknown, [number]>(`
    DELETE FROM workflow_exits WHERE version_seq IN (
      SELECT seq FROM workflow_versions AS version WHERE workflow_seq = +? AND ${IS_UNUSED})`);
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

  /** The event that is an exit, and the `exitReason` that it gives. */
  function eventOfExit(exit: Exit): { eventName: string; reason: string } {
    switch (exit.on) {
      case "EVENT":
        return { eventName: exit.eventName, reason: `The event "${exit.eventName}" happened.` };
      case "UNSUBSCRIBED":
        return { eventName: "contact.unsubscribed", reason: "The contact unsubscribed." };
      case "SEGMENT_LEFT": {
        const segment = findSegment.get(exit.segmentId);
        if (segment === null) throw new Error("the segment of an exit does not exist");
        const eventName = membershipEventName(segment.slug, "exit");
        return { eventName, reason: `The contact left the segment "${segment.name}".` };
      }
    }
  }

  return {
    /** Graphs are read again. */
    forget(): void {
      cache.clear();
      cachedLength = 0;
    },

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
    store(
      { seq: workflowSeq, projectSeq }: { seq: number; projectSeq: number },
      graph: Graph,
      author: GraphAuthor | null = null,
    ): number {
      lastSeq = Math.max(lastSeq, findLast.get()?.seq ?? 0) + 1;
      const {
        kind: authorKind = null,
        id: authorId = null,
        label: authorName = null,
      } = author ?? {};
      const createdAt = clock.now();
      const rest = { createdAt, authorKind, authorId, authorName };
      insert.run({ seq: lastSeq, workflowSeq, graph: JSON.stringify(graph), ...rest });
      for (const exit of graph.exits ?? []) {
        const { eventName, reason } = eventOfExit(exit);
        insertExit.run(lastSeq, projectSeq, eventName, reason);
      }
      return lastSeq;
    },

    /** The newest versions of a workflow without their graphs, newest first. */
    list: (workflowSeq: number): StoredVersion[] => findNewest.all(workflowSeq),

    /** The newest version with a smaller number; null if none is stored. */
    before: (workflowSeq: number, number: number): StoredVersion | null =>
      findBefore.get(workflowSeq, number),

    /** A version by its number; null if it does not exist or is not kept any more. */
    find: (workflowSeq: number, number: number): StoredVersion | null =>
      findByNumber.get(workflowSeq, number),

    /**
     * Part of a change of the graph or of the end of an execution: deletes the old versions that are
     * not current and have no active execution, and the exits of all that have none.
     */
    dropUnused(workflowSeq: number): void {
      dropUnused.run(workflowSeq, MAX_VERSIONS);
      dropUnusedExits.run(workflowSeq);
    },
  };
}

/** Parses a stored graph, which was checked before it was stored. */
export function parseGraph(text: string): Graph {
  return JSON.parse(text);
}
