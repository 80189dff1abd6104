/**
 * Walks the contacts of entry runs. Each round starts the runs of schedules that are due: one run, however
 * many times of a schedule passed while no process ran. A run is walked beside the rounds, in slices:
 * the executions of a slice are stored in one change with the cursor, so a process that crashed
 * continues at the next slice, and each contact enters once. A worker sleeps until the next planned time.
 */

import { and, eq, lt, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { isEndOfReads } from "../../db/reader.ts";
import { isStorageRefusal } from "../../db/refusal.ts";
import { workflowEntryRuns, workflows } from "../../db/schema/workflows.ts";
import { statement } from "../../db/statement.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { createWorker } from "../../lib/worker.ts";
import { queueHold } from "../../outbox/queue-hold.ts";
import { parseStored } from "../segments/condition/condition.ts";
import { problemSentence, problemsOf } from "../segments/condition/problems.ts";
import { segmentService } from "../segments/service.ts";
import type { Audience } from "../segments/sql/plan.ts";
import { nextTime } from "./cron.ts";
import {
  endEntryRun,
  type EntryRunRow,
  hasOpenRun,
  insertEntryRun,
  onEntriesDue,
} from "./entry-runs.ts";
import { type Graph, triggerOf } from "./graph/graph.ts";
import type { AnnounceExecution } from "./run/announced-rows.ts";
import type { StartableWorkflow, Triggers } from "./run/triggers.ts";

/** Contacts that enter in one change: about ten milliseconds of work. */
const SLICE = 200;
/** Schedules whose runs are created in one change: some milliseconds of work. */
const SCHEDULES_AT_ONCE = 20;
/** Pause after a slice if others wrote meanwhile. */
const REST_MS = 15;
/** Runs that are walked at the same time; others wait. */
const MAX_CONCURRENT_RUNS = 4;
/** Fewer, so that long runs of a project leave room for those of others. */
const MAX_RUNS_OF_PROJECT = 2;
const PAUSE_AFTER_ERROR_MS = 5_000;
/** Longest sleep. It is only a safeguard: changes and clock steps wake the worker. */
const LONGEST_SLEEP_MS = 60 * 60_000;

type Scheduled = { seq: number; projectSeq: number; versionSeq: number; plannedAt: number };

// The schedules and runs of a disabled project wait.
const IN_ENABLED_PROJECT = "JOIN projects AS p ON p.seq = w.project_seq AND p.is_enabled = 1";

const findDue = statement<Scheduled, [number]>(`
  SELECT w.seq, w.project_seq AS projectSeq, w.version_seq AS versionSeq,
         w.next_entry_at AS plannedAt
  FROM workflows AS w INDEXED BY workflows_next_entry ${IN_ENABLED_PROJECT}
  WHERE w.next_entry_at IS NOT NULL AND w.next_entry_at <= +?
  ORDER BY w.next_entry_at LIMIT ${SCHEDULES_AT_ONCE}`);

const findNext = statement<{ at: number }, []>(`
  SELECT w.next_entry_at AS at
  FROM workflows AS w INDEXED BY workflows_next_entry ${IN_ENABLED_PROJECT}
  WHERE w.next_entry_at IS NOT NULL ORDER BY w.next_entry_at LIMIT 1`);

const findScheduled = statement<Scheduled, []>(`
  SELECT seq, project_seq AS projectSeq, version_seq AS versionSeq, next_entry_at AS plannedAt
  FROM workflows INDEXED BY workflows_next_entry WHERE next_entry_at IS NOT NULL`);

/** The first open run of each workflow. */
const findOpen = statement<{ seq: number }, []>(`
  SELECT run.seq
  FROM workflow_entry_runs AS run INDEXED BY workflow_entry_runs_open
  JOIN workflows AS w ON w.seq = run.workflow_seq ${IN_ENABLED_PROJECT}
  WHERE run.status = 'RUNNING' ORDER BY run.seq`);

const findStartable = statement<
  Omit<StartableWorkflow, "allowReentry"> & { allowReentry: 0 | 1 },
  [number]
>(`
  SELECT seq, project_seq AS projectSeq, version_seq AS versionSeq, allow_reentry AS allowReentry
  FROM workflows WHERE seq = +? AND is_enabled AND deleted_at IS NULL`);

/** The contacts that still exist. One may have been deleted since it was read. */
const findExisting = statement<{ seq: number }, [string]>(`
  SELECT contacts.seq FROM json_each(?) AS asked CROSS JOIN contacts
  WHERE contacts.seq = asked.value`);

const NOT_ENABLED = "The workflow was disabled or deleted.";

export function createEntryRunner(deps: {
  app: App;
  triggers: Pick<Triggers, "startManually">;
  graphOf: (versionSeq: number) => Graph | null;
  /** Part of a change: tells clients that the executions of a workflow changed. */
  announce: AnnounceExecution;
  /** Is called after the commit of new executions. */
  wakeExecutions: () => void;
}) {
  const { app, triggers, graphOf, announce, wakeExecutions } = deps;
  const { db, writer, clock, log } = app;
  /** By the workflow. */
  const underWay = new Map<number, { projectSeq: number; ended: Promise<void> }>();
  const worker = createWorker({
    clock,
    step: round,
    onError: reportError,
    pauseMs: PAUSE_AFTER_ERROR_MS,
  });
  const hold = queueHold(app);
  hold.onReleased(worker.wake);
  onEntriesDue(app, worker.wake);

  async function round(): Promise<"more" | number> {
    if (hold.isHeld()) return LONGEST_SLEEP_MS;
    if (findDue(app).get(clock.now()) !== null) await writer.write(startDue);
    if (findDue(app).get(clock.now()) !== null) return "more";
    for (const { seq } of findOpen(app).all()) {
      const run = readRun(seq);
      if (run === null || underWay.has(run.workflowSeq)) continue;
      if (underWay.size >= MAX_CONCURRENT_RUNS) break;
      if (walksOf(run.projectSeq) >= MAX_RUNS_OF_PROJECT) continue;
      begin(run);
    }
    const next = findNext(app).get();
    const delayMs = next === null ? LONGEST_SLEEP_MS : next.at - clock.now();
    return Math.max(0, Math.min(delayMs, LONGEST_SLEEP_MS));
  }

  /** Part of a change: creates the runs of the schedules that are due. */
  function startDue(): void {
    const now = clock.now();
    for (const { seq, projectSeq, versionSeq, plannedAt } of findDue(app).all(now)) {
      const schedule = scheduleOf(versionSeq);
      // A time that comes while the run before is under way is left out.
      if (schedule !== null && !hasOpenRun(app, seq, true)) {
        const { segmentId } = schedule;
        insertEntryRun(app, { seq, projectSeq }, { segmentId, plannedAt });
        announce({ projectSeq, workflowSeq: seq });
      }
      setNext(seq, schedule === null ? null : nextTime(schedule, now));
    }
  }

  function scheduleOf(versionSeq: number) {
    const graph = graphOf(versionSeq);
    const trigger = graph === null ? null : triggerOf(graph);
    return trigger !== null && "cron" in trigger ? trigger : null;
  }

  function setNext(workflowSeq: number, nextEntryAt: number | null): void {
    db.update(workflows).set({ nextEntryAt }).where(eq(workflows.seq, workflowSeq)).run();
  }

  /**
   * Part of a change, after the clock was set back: the next time is the first one after the new time. If
   * it had its run before, it gets no other one.
   */
  function planAgain(): void {
    const now = clock.now();
    for (const { seq, versionSeq, plannedAt } of findScheduled(app).all()) {
      const schedule = scheduleOf(versionSeq);
      const next = schedule === null ? null : nextTime(schedule, now);
      if (next !== null && next < plannedAt) setNext(seq, next);
    }
  }

  function readRun(seq: number): EntryRunRow | null {
    const [run] = db
      .select()
      .from(workflowEntryRuns)
      .where(eq(workflowEntryRuns.seq, seq))
      .limit(1)
      .all();
    return run ?? null;
  }

  const walksOf = (projectSeq: number): number =>
    [...underWay.values()].filter((walked) => walked.projectSeq === projectSeq).length;

  /** Walks a run beside the rounds. A workflow has one run under way at a time. */
  function begin(run: EntryRunRow): void {
    const ended = walk(run)
      .catch(async (error: unknown) => {
        if (isEndOfReads(error)) return worker.pause();
        if (!(error instanceof AppError) || isStorageRefusal(error)) {
          reportError(error);
          return worker.pause();
        }
        // The segment was deleted, or its condition cannot be evaluated: a person has to act.
        const message = error.status === 404 ? "The segment was deleted." : error.message;
        log.warn("an entry run failed", { run: run.id, error: message });
        await writer.write(() => end(run, { status: "FAILED", error: message }));
      })
      .catch((error: unknown) => {
        reportError(error);
        worker.pause();
      })
      .finally(() => {
        underWay.delete(run.workflowSeq);
        worker.wake();
      });
    underWay.set(run.workflowSeq, { projectSeq: run.projectSeq, ended });
  }

  async function walk(run: EntryRunRow): Promise<void> {
    const { members } = segmentService(app).audiences;
    let requested = writer.requestedWrites();
    for await (const found of members(audienceOf(run), run.cursor)) {
      const seqs = found.filter((seq) => seq <= run.endSeq);
      for (let start = 0; start < seqs.length; start += SLICE) {
        if (writer.requestedWrites() !== requested) await Bun.sleep(REST_MS);
        if (!worker.isRunning()) return;
        const slice = seqs.slice(start, start + SLICE);
        if (!(await writer.write(() => enter(run, slice)))) return;
        requested = writer.requestedWrites();
      }
      if (seqs.length < found.length) break;
    }
    const ended = await writer.write(() => end(run, { status: "COMPLETED", error: null }));
    if (ended === null) return;
    const { id, entered, skipped } = ended;
    log.info("contacts entered a workflow", { run: id, entered, skipped });
  }

  /** Part of a change. Null if the run had ended. */
  function end(run: EntryRunRow, how: Pick<EntryRunRow, "status" | "error">): EntryRunRow | null {
    announce(run);
    return endEntryRun(app, run.seq, how);
  }

  /** Throws AppError if the segment was deleted, or its condition cannot be evaluated. */
  function audienceOf({ projectSeq, segmentId, condition, createdAt }: EntryRunRow): Audience {
    const segments = segmentService(app);
    const isStatic = segmentId !== null && condition === null;
    const audience = isStatic
      ? segments.audienceOf(projectSeq, segmentId)
      : segments.audienceOfCondition(
          projectSeq,
          condition === null ? null : parseStored(JSON.parse(condition), "condition"),
        );
    const [problem] = problemsOf(audience.tests);
    if (problem !== undefined) throw new AppError(409, "INVALID_STATE", problemSentence(problem));
    return segments.audienceAt(audience, createdAt);
  }

  /** Part of a change: a slice enters. False if the run has ended. */
  function enter(run: EntryRunRow, contactSeqs: readonly number[]): boolean {
    const { seq, workflowSeq } = run;
    const found = findStartable(app).get(workflowSeq);
    if (found === null) {
      end(run, { status: "CANCELLED", error: NOT_ENABLED });
      return false;
    }
    if (!moveCursor(seq, contactSeqs.at(-1) ?? 0)) return false;
    const workflow = { ...found, allowReentry: found.allowReentry === 1 };
    const now = clock.now();
    let entered = 0;
    for (const contact of findExisting(app).all(JSON.stringify(contactSeqs))) {
      const rest = { contactSeq: contact.seq, context: {}, now };
      if (triggers.startManually(workflow, rest) !== null) entered++;
    }
    count(seq, entered, contactSeqs.length - entered);
    writer.afterCommit(wakeExecutions);
    return true;
  }

  /** False if the run has ended, or another walk of it was further. */
  function moveCursor(seq: number, cursor: number): boolean {
    const moved = db
      .update(workflowEntryRuns)
      .set({ cursor })
      .where(
        and(
          eq(workflowEntryRuns.seq, seq),
          eq(workflowEntryRuns.status, "RUNNING"),
          lt(workflowEntryRuns.cursor, cursor),
        ),
      )
      .returning({ seq: workflowEntryRuns.seq })
      .all();
    return moved.length === 1;
  }

  function count(seq: number, entered: number, skipped: number): void {
    db.update(workflowEntryRuns)
      .set({ entered: sql`entered + ${entered}`, skipped: sql`skipped + ${skipped}` })
      .where(eq(workflowEntryRuns.seq, seq))
      .run();
  }

  const allEnded = () => Promise.all([...underWay.values()].map(({ ended }) => ended));

  function reportError(error: unknown): void {
    const fields = { error: describeError(error) };
    if (isStorageRefusal(error))
      log.warn("entry runs wait because the database refuses writes", fields);
    else log.error("contacts could not enter a workflow", fields);
  }

  return {
    wake: worker.wake,
    planAgain,

    /** Also starts runs whose time came while no process ran. */
    start: worker.start,

    /** For tests: resolves when no run is walked. */
    async idle(): Promise<void> {
      do {
        await worker.idle();
        await allEnded();
      } while (worker.isBusy() || underWay.size > 0);
    },

    async stop(): Promise<void> {
      await worker.stop();
      await allEnded();
    },
  };
}
