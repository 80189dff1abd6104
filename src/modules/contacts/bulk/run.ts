/**
 * Runs a bulk action in changes of a few milliseconds. Each change also stores the progress of the
 * job.
 */

import { Value } from "@sinclair/typebox/value";
import type { App } from "../../../core/app.ts";
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import { AppError } from "../../../lib/errors.ts";
import { contactFilter, contactPages, countContacts } from "../search.ts";
import type { ActionOf, ContactAction } from "./actions.ts";
import type { FindAudience } from "./bulk.ts";
import { type BulkError, BulkJob, type BulkQuery } from "./model.ts";
import type { JobRunner, RunEnd } from "../jobs/worker.ts";
import { type JobRow, type Jobs, type Progress, progressOf } from "../jobs/jobs.ts";
import { systemClock } from "../../../lib/clock.ts";

/** Time that one change may take. */
const CHUNK_MS = 5;
const NO_CONTACT = "There is no contact with this id.";

/** The contacts to act on, the index of the next one, and the progress of the job before it. */
type Position<T> = { targets: readonly T[]; index: number; progress: Progress };
/** Acts on one contact inside a change, and counts the result. */
type Step<T> = (target: T, progress: Progress, errors: BulkError[]) => void;

export function createBulkRunner(deps: {
  app: App;
  db: Db;
  jobs: Jobs;
  actionOf: ActionOf;
  audience: FindAudience;
  writer: Writer;
}): JobRunner {
  const { app, db, jobs, actionOf, audience, writer } = deps;
  const findSeq = db.sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = ? AND id = ?",
  );
  const findId = db.sqlite.prepare<{ id: string }, [number]>(
    "SELECT id FROM contacts WHERE seq = ?",
  );

  /** Counts a contact that cannot have the values, such as one whose data would be too large. */
  function tryAction(
    act: () => boolean,
    id: () => string | null,
    { progress, errors }: { progress: Progress; errors: BulkError[] },
  ): void {
    try {
      if (act()) progress.updated++;
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422) throw error;
      progress.failed++;
      errors.push({ id: id(), message: error.message });
    }
  }

  /** The change that acts on the next contacts for `CHUNK_MS`; it returns the new position. */
  function runChunk<T>(job: JobRow, step: Step<T>, { targets, index, progress }: Position<T>) {
    return (): Position<T> => {
      const endsAt = systemClock.elapsed() + CHUNK_MS;
      const counted = { ...progress };
      const errors: BulkError[] = [];
      let next = index;
      for (; next < targets.length; next++) {
        const target = targets[next];
        if (target === undefined || (next > index && systemClock.elapsed() >= endsAt)) break;
        step(target, counted, errors);
      }
      counted.processed += next - index;
      jobs.advance(job.seq, counted);
      if (errors.length > 0) jobs.addErrors(job.seq, errors, keepOrder);
      return { targets, index: next, progress: counted };
    };
  }

  async function runAll<T>(
    job: JobRow,
    start: Position<T>,
    { step, isStopping }: { step: Step<T>; isStopping: () => boolean },
  ): Promise<Progress> {
    let position = start;
    while (position.index < position.targets.length && !isStopping()) {
      position = await writer.write(runChunk(job, step, position));
    }
    return position.progress;
  }

  /** A step for a list of ids: the cursor is the number of ids done. */
  function stepById(job: JobRow, act: ContactAction): Step<string> {
    return (id, progress, errors) => {
      progress.cursor++;
      const contact = findSeq.get(job.projectSeq, id);
      if (contact === null) {
        progress.failed++;
        errors.push({ id, message: NO_CONTACT });
        return;
      }
      const counts = { progress, errors };
      tryAction(
        () => act(job.projectSeq, contact.seq),
        () => id,
        counts,
      );
    };
  }

  /** A step for a filter: the cursor is the `seq` of the last contact done. */
  function stepBySeq(job: JobRow, act: ContactAction): Step<number> {
    return (seq, progress, errors) => {
      progress.cursor = seq;
      const counts = { progress, errors };
      tryAction(
        () => act(job.projectSeq, seq),
        () => findId.get(seq)?.id ?? null,
        counts,
      );
    };
  }

  /** The contacts of the filters of a list, as `FindAudience` finds those of a condition. */
  function foundBy({ data, subscribed, search, topic }: BulkQuery) {
    const filter = contactFilter({
      search,
      topic,
      ...(subscribed === undefined ? {} : { subscribed: subscribed ? "true" : "false" }),
      ...(data === undefined ? {} : { data: JSON.stringify(data) }),
    });
    return {
      count: (projectSeq: number) => countContacts(app, projectSeq, filter),
      async *members(projectSeq: number, afterSeq: number) {
        for await (const rows of contactPages(app, projectSeq, filter, afterSeq)) {
          yield rows.map(({ seq }) => seq);
        }
      },
    };
  }

  const meets = (filter: unknown) => ({
    count: (projectSeq: number) => audience.count(projectSeq, filter),
    members: (projectSeq: number, afterSeq: number) =>
      audience.members(projectSeq, filter, afterSeq),
  });

  async function runFilter(job: JobRow, input: BulkJob, isStopping: () => boolean): Promise<void> {
    const { filter, query = null, newestSeq } = input;
    const targeted = query === null ? meets(filter) : foundBy(query);
    if (job.total === null) {
      const total = await targeted.count(job.projectSeq);
      await writer.write(() => jobs.setTotal(job.seq, total));
    }
    const step = stepBySeq(job, actionOf(job.id, input));
    let progress = progressOf(job);
    for await (const found of targeted.members(job.projectSeq, progress.cursor)) {
      const targets = found.filter((seq) => seq <= newestSeq);
      progress = await runAll(job, { targets, index: 0, progress }, { step, isStopping });
      if (isStopping() || targets.length < found.length) return;
    }
  }

  return {
    async run(job, isStopping): Promise<RunEnd> {
      const input = Value.Parse(BulkJob, JSON.parse(job.input));
      if (input.ids === null) await runFilter(job, input, isStopping);
      else {
        const { ids } = input;
        await writer.write(() => jobs.setTotal(job.seq, ids.length));
        const start = { targets: ids, index: job.cursor, progress: progressOf(job) };
        await runAll(job, start, { step: stepById(job, actionOf(job.id, input)), isStopping });
      }
      return { is: isStopping() ? "stopped" : "completed" };
    },

    noteFailure(job, message) {
      jobs.addErrors<BulkError>(job.seq, [{ id: null, message }], keepOrder);
    },

    async cleanUp() {},
  };
}

/** Keeps the order in which the errors occurred. */
function keepOrder(): number {
  return 0;
}
