/** Does a bulk action in changes of a few milliseconds, each with how far it came. */

import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../../db/open.ts";
import type { Writer } from "../../../db/writer.ts";
import type { Act } from "./actions.ts";
import type { FindAudience } from "./bulk.ts";
import { type BulkAction, type BulkError, BulkJob } from "./model.ts";
import type { JobRunner, RunEnd } from "../jobs/worker.ts";
import { type JobRow, type Jobs, type Progress, progressOf } from "../jobs/jobs.ts";
import { systemClock } from "../../../lib/clock.ts";

const CHUNK_MS = 5;
const NO_CONTACT = "No such contact.";

/** Contacts to act on, the next of them, and what was done up to there. */
type Place<T> = { targets: readonly T[]; at: number; progress: Progress };
/** Part of a change: acts on one of them and counts what came of it. */
type Step<T> = (target: T, progress: Progress, errors: BulkError[]) => void;

export function createBulkRunner(deps: {
  db: Db;
  jobs: Jobs;
  actions: Readonly<Record<BulkAction, Act>>;
  audience: FindAudience;
  writer: Writer;
}): JobRunner {
  const { db, jobs, actions, audience, writer } = deps;
  const findSeq = db.sqlite.prepare<{ seq: number }, [number, string]>(
    "SELECT seq FROM contacts WHERE project_seq = ? AND id = ?",
  );

  /** The change that does some; it returns how far that came. */
  function doSome<T>(job: JobRow, step: Step<T>, { targets, at, progress }: Place<T>) {
    return (): Place<T> => {
      const endsAt = systemClock.elapsed() + CHUNK_MS;
      const next = { ...progress };
      const errors: BulkError[] = [];
      let done = at;
      for (; done < targets.length; done++) {
        const target = targets[done];
        if (target === undefined || (done > at && systemClock.elapsed() >= endsAt)) break;
        step(target, next, errors);
      }
      next.processed += done - at;
      jobs.advance(job.seq, next);
      if (errors.length > 0) jobs.addErrors(job.seq, errors, inOrder);
      return { targets, at: done, progress: next };
    };
  }

  async function doAll<T>(
    job: JobRow,
    start: Place<T>,
    { step, isStopping }: { step: Step<T>; isStopping: () => boolean },
  ): Promise<Progress> {
    let place = start;
    while (place.at < place.targets.length && !isStopping()) {
      place = await writer.write(doSome(job, step, place));
    }
    return place.progress;
  }

  /** The cursor counts ids. */
  function stepById(job: JobRow, act: Act): Step<string> {
    return (id, progress, errors) => {
      progress.cursor++;
      const contact = findSeq.get(job.projectSeq, id);
      if (contact === null) {
        progress.failed++;
        errors.push({ id, message: NO_CONTACT });
      } else if (act(job.projectSeq, contact.seq)) progress.updated++;
    };
  }

  /** The cursor is the last contact. */
  function stepBySeq(job: JobRow, act: Act): Step<number> {
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
      progress = await doAll(job, { targets, at: 0, progress }, { step, isStopping });
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
        const start = { targets: ids, at: job.cursor, progress: progressOf(job) };
        await doAll(job, start, { step: stepById(job, actions[input.action]), isStopping });
      }
      return { is: isStopping() ? "stopped" : "completed" };
    },

    noteFailure(job, message) {
      jobs.addErrors<BulkError>(job.seq, [{ id: null, message }], inOrder);
    },

    async tidy() {},
  };
}

/** As they came. */
function inOrder(): number {
  return 0;
}
