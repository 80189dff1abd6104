/** Long work on contacts as rows: what to do, how far it is, and what came of it. */

import { and, asc, eq, inArray, notInArray, sql } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { jobs } from "../../../db/schema/jobs.ts";
import type { Change } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { notFound } from "../../../lib/errors.ts";

export type JobRow = typeof jobs.$inferSelect;
export type JobKind = JobRow["kind"];
export type Jobs = ReturnType<typeof createJobs>;

/** Written in the change that does the work it counts: neither is ever there without the other. */
export type Progress = {
  /** Where to go on. */
  cursor: number;
  processed: number;
  created: number;
  updated: number;
  failed: number;
};

const MOST_ERRORS_KEPT = 100;

export function createJobs({ db, clock }: { db: Db; clock: Clock }) {
  const { sqlite } = db;
  const advance = sqlite.prepare<unknown, [number, number, number, number, number, number]>(`
    UPDATE jobs SET cursor = ?, processed = ?, created = ?, updated = ?, failed = ?
    WHERE seq = ?`);

  const withStatus = (...statuses: JobRow["status"][]) => inArray(jobs.status, statuses);

  return {
    create(
      job: Pick<JobRow, "id" | "projectSeq" | "kind"> & { fileBytes?: number },
      input: unknown,
    ): Change<void> {
      return () => {
        db.insert(jobs)
          .values({
            ...job,
            status: "QUEUED",
            input: JSON.stringify(input),
            createdAt: clock.now(),
          })
          .run();
      };
    },

    get(projectSeq: number, kind: JobKind, id: string): JobRow {
      const match = and(eq(jobs.projectSeq, projectSeq), eq(jobs.kind, kind), eq(jobs.id, id));
      const [job] = db.select().from(jobs).where(match).limit(1).all();
      if (job === undefined) throw notFound("JOB");
      return job;
    },

    /**
     * The job to begin with, of a project that is none of these: first the jobs that a dead process
     * left behind, then the one that waits longest.
     */
    next(busyProjects: readonly number[]): JobRow | null {
      const isFree = notInArray(jobs.projectSeq, [...busyProjects]);
      const [job] = [withStatus("RUNNING"), withStatus("QUEUED")].flatMap((match) =>
        db.select().from(jobs).where(and(match, isFree)).orderBy(asc(jobs.seq)).limit(1).all(),
      );
      return job ?? null;
    },

    unfinished: (kind: JobKind): JobRow[] =>
      db
        .select()
        .from(jobs)
        .where(and(withStatus("QUEUED", "RUNNING"), eq(jobs.kind, kind)))
        .all(),

    /** Part of a change. */
    start(seq: number): void {
      db.update(jobs).set({ status: "RUNNING" }).where(eq(jobs.seq, seq)).run();
    },

    /** Part of a change. */
    setTotal(seq: number, total: number): void {
      db.update(jobs).set({ total }).where(eq(jobs.seq, seq)).run();
    },

    /** Part of the change that did the work. */
    advance(seq: number, { cursor, processed, created, updated, failed }: Progress): void {
      advance.run(cursor, processed, created, updated, failed, seq);
    },

    /** Part of a change: keeps the first errors, by `order`. */
    addErrors<T>(seq: number, errors: readonly T[], order: (a: T, b: T) => number): void {
      const [job] = db.select({ errors: jobs.errors }).from(jobs).where(eq(jobs.seq, seq)).all();
      const known: T[] = JSON.parse(job?.errors ?? "[]");
      const kept = [...known, ...errors].toSorted(order).slice(0, MOST_ERRORS_KEPT);
      db.update(jobs)
        .set({ errors: JSON.stringify(kept) })
        .where(eq(jobs.seq, seq))
        .run();
    },

    /** Part of a change; the ids of its contacts, perhaps thousands, and its file are not kept. */
    end(seq: number, status: "COMPLETED" | "FAILED"): void {
      const input = sql`json_remove(${jobs.input}, '$.ids', '$.filter')`;
      db.update(jobs)
        .set({ status, finishedAt: clock.now(), input, fileBytes: 0 })
        .where(eq(jobs.seq, seq))
        .run();
    },
  };
}

/** How far a job was when its row was read. */
export function progressOf({ cursor, processed, created, updated, failed }: JobRow): Progress {
  return { cursor, processed, created, updated, failed };
}
