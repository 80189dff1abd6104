/**
 * Runs a bulk action in changes of a few milliseconds. Each change also stores the progress of the
 * job.
 */

import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { ContactAction } from "./actions.ts";
import type { FindAudience } from "./bulk.ts";
import { type BulkAction, type BulkError, BulkJob } from "./model.ts";
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
  db: Db;
  jobs: Jobs;
  actions: Readonly<Record<BulkAction, ContactAction>>;
  audience: FindAudience;
  writer: Writer;
}): JobRunner {
  const { db, jobs, actions, audience, writer } = deps;
  const findSeq = db.sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = ? AND id = ?",
  );

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
      } else if (act(job.projectSeq, contact.seq)) progress.updated++;
    };
  }

  /** A step for a filter: the cursor is the `seq` of the last contact done. */
  function stepBySeq(job: JobRow, act: ContactAction): Step<number> {
    return (seq, progress) => {
      progress.cursor = seq;
      if (act(job.projectSeq, seq)) progress.updated++;
    };
  }

  async function runFilter(
    job: JobRow,
    { action, filter, newestSeq }: BulkJob,
    isStopping: () => boolean,
  ): Promise<void> {
    if (job.total === null) {
      const total = await audience.count(job.projectSeq, filter);
      await writer.write(() => jobs.setTotal(job.seq, total));
    }
    const step = stepBySeq(job, actions[action]);
    let progress = progressOf(job);
    for await (const found of audience.members(job.projectSeq, filter, progress.cursor)) {
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
        await runAll(job, start, { step: stepById(job, actions[input.action]), isStopping });
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
