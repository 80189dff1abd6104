/** Rows of jobs, which are long operations on contacts: their input, progress and result. */

import { and, asc, eq, gt, inArray, lt, notInArray, sql } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { jobs } from "../../../db/schema/jobs.ts";
import type { Change } from "../../../db/writer.ts";
import type { Clock } from "../../../lib/clock.ts";
import { notFound } from "../../../lib/errors.ts";

export type JobRow = typeof jobs.$inferSelect;
export type JobKind = JobRow["kind"];
export type Jobs = ReturnType<typeof createJobs>;

/**
 * Progress of a job. It is stored in the same change as the work that it counts, so both always
 * agree.
 */
export type Progress = {
  /** Position at which the job continues; its meaning depends on the job. */
  cursor: number;
  processed: number;
  created: number;
  updated: number;
  failed: number;
};

/** Most errors stored per job. */
const MAX_ERRORS = 100;

export function createJobs({ db, clock }: { db: Db; clock: Clock }) {
  const { sqlite } = db;
  const advance = sqlite.prepare<unknown, [number, number, number, number, number, number]>(`
    UPDATE jobs SET cursor = ?, processed = ?, created = ?, updated = ?, failed = ?
    WHERE seq = ?`);

  const patchInput = sqlite.prepare<unknown, [string, number]>(
    "UPDATE jobs SET input = json_patch(input, ?) WHERE seq = ?",
  );

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

    get(projectSeq: number, kinds: readonly JobKind[], id: string): JobRow {
      const isOfKind = inArray(jobs.kind, [...kinds]);
      const match = and(eq(jobs.projectSeq, projectSeq), isOfKind, eq(jobs.id, id));
      const [job] = db.select().from(jobs).where(match).limit(1).all();
      if (job === undefined) throw notFound("JOB");
      return job;
    },

    /**
     * The next job of any project except these, or null: first a job that was running when the last
     * process ended, then the oldest queued job.
     */
    next(busyProjects: readonly number[]): JobRow | null {
      const isFree = notInArray(jobs.projectSeq, [...busyProjects]);
      const [job] = [withStatus("RUNNING"), withStatus("QUEUED")].flatMap((match) =>
        db.select().from(jobs).where(and(match, isFree)).orderBy(asc(jobs.seq)).limit(1).all(),
      );
      return job ?? null;
    },

    /** Ids of the jobs that need their file, or may need it again. */
    idsWithFile: (): string[] =>
      db
        .select({ id: jobs.id })
        .from(jobs)
        .where(gt(jobs.fileBytes, 0))
        .all()
        .map(({ id }) => id),

    /** Jobs that ended before a time and whose files are kept. */
    keptFiles: (before: number, projectSeq?: number): Pick<JobRow, "seq" | "id">[] =>
      db
        .select({ seq: jobs.seq, id: jobs.id })
        .from(jobs)
        .where(
          and(
            gt(jobs.fileBytes, 0),
            lt(jobs.finishedAt, before),
            projectSeq === undefined ? undefined : eq(jobs.projectSeq, projectSeq),
          ),
        )
        .all(),

    /** The file of a job no longer counts, inside a change. */
    dropFile(seq: number): void {
      db.update(jobs).set({ fileBytes: 0 }).where(eq(jobs.seq, seq)).run();
    },

    /** Marks the job as running, inside a change. */
    start(seq: number): void {
      db.update(jobs).set({ status: "RUNNING" }).where(eq(jobs.seq, seq)).run();
    },

    /** Stores the number of rows to process, inside a change. */
    setTotal(seq: number, total: number): void {
      db.update(jobs).set({ total }).where(eq(jobs.seq, seq)).run();
    },

    /** Stores the progress, inside the change that did the work. */
    advance(seq: number, { cursor, processed, created, updated, failed }: Progress): void {
      advance.run(cursor, processed, created, updated, failed, seq);
    },

    /** Changes members of the input, inside a change. */
    changeInput(seq: number, members: Readonly<Record<string, unknown>>): void {
      patchInput.run(JSON.stringify(members), seq);
    },

    /** Adds errors, inside a change. Only the first `MAX_ERRORS` in the given order are stored. */
    addErrors<T>(seq: number, errors: readonly T[], order: (a: T, b: T) => number): void {
      const [job] = db.select({ errors: jobs.errors }).from(jobs).where(eq(jobs.seq, seq)).all();
      const known: T[] = JSON.parse(job?.errors ?? "[]");
      const merged = [...known, ...errors].toSorted(order).slice(0, MAX_ERRORS);
      db.update(jobs)
        .set({ errors: JSON.stringify(merged) })
        .where(eq(jobs.seq, seq))
        .run();
    },

    /**
     * Ends the job, inside a change. Its ids and filter, which may be large, are removed from the
     * row. Its file no longer counts, because it is removed next, unless it is kept.
     */
    end(seq: number, status: "COMPLETED" | "FAILED", keepsFile: boolean): void {
      const input = sql`json_remove(${jobs.input}, '$.ids', '$.filter')`;
      db.update(jobs)
        .set({ status, finishedAt: clock.now(), input, ...(keepsFile ? {} : { fileBytes: 0 }) })
        .where(eq(jobs.seq, seq))
        .run();
    },
  };
}

/** The progress of a job when its row was read. */
export function progressOf({ cursor, processed, created, updated, failed }: JobRow): Progress {
  return { cursor, processed, created, updated, failed };
}
