/**
 * Makes the calls of WEBHOOK steps. A call is leased in a change (due for its ANSWER, until the
 * lease ends), made outside of one, and written down if the lease is still that one. A crash in
 * between repeats the call with the same `webhook-id`; an answer is written once. All workflows of a
 * project share the slots that the project may use, so calls that hang delay no other project.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { createFairSlots, type FairSlots } from "../../lib/fair-slots.ts";
import type { FetchGuarded } from "../../lib/fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../../lib/fetch-guarded/refusal.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { TemplateCache } from "../../mail/template-cache.ts";
import type { Agenda, CallLane, Execution } from "./agenda.ts";
import type { Drive, HasTime } from "./drive.ts";
import type { Occurrence } from "./engine.ts";
import type { Paths } from "./paths.ts";
import {
  judgeAnswer,
  judgeRefusal,
  requestOf,
  type Situation,
  type WebhookRequest,
} from "./webhook.ts";

/** `token`: the lease, with the number of steps that the execution had completed. */
export type Call = {
  execution: Execution;
  request: WebhookRequest;
  token: { stepCount: number; dueAt: number };
};

export type Calls = ReturnType<typeof createCalls>;

/** Calls at once, of all projects. */
const MOST_AT_ONCE = 64;
/** Calls of one workflow at once, so that one slow receiver leaves slots for the others. */
const MOST_OF_A_WORKFLOW = 16;
/** Longer than any exchange may take (lib/fetch-guarded). */
const LEASE_MS = 60_000;
/** Calls that a process left behind are not repeated at once. */
const ORPHAN_DELAY_MS = 5_000;
const STORAGE_PAUSE_MS = 1_000;

export function createCalls(deps: {
  agenda: Agenda;
  drive: Drive;
  pathsOf: (versionSeq: number) => Paths | null;
  situationOf: (execution: Execution) => Situation | null;
  templateCache: TemplateCache;
  fetchGuarded: FetchGuarded;
  writer: Writer;
  clock: Clock;
  log: Log;
  random: () => number;
  /** Calls of one project at once; 0 for no limit but a fair share. */
  mostCallsOfProject: number;
  /** An execution goes on: something may be due. */
  wake: () => void;
}) {
  const { agenda, drive, writer, clock, log } = deps;
  const underWay = new Map<number, { workflowSeq: number; ended: Promise<void> }>();
  /** Owned by projects. */
  const slots = createFairSlots({
    total: MOST_AT_ONCE,
    mostOfOwner: deps.mostCallsOfProject,
  });
  let ender = new AbortController();
  let lastLane = 0;

  function capacityOf({ workflowSeq, projectSeq }: CallLane, free: FairSlots): number {
    const own = underWay.values().filter((call) => call.workflowSeq === workflowSeq);
    return Math.min(free.available(projectSeq), MOST_OF_A_WORKFLOW - [...own].length);
  }

  /** Beginning after the workflow that came last. */
  function lanesInTurn(): CallLane[] {
    const lanes = agenda.lanes();
    return [
      ...lanes.filter(({ workflowSeq }) => workflowSeq > lastLane),
      ...lanes.filter(({ workflowSeq }) => workflowSeq <= lastLane),
    ];
  }

  /** Null: there is nothing to call, and what that means for the execution is written. */
  function leaseOne(execution: Execution, now: number, hasTime: HasTime): Call | null {
    const request = prepare(execution);
    if (typeof request === "string") {
      const result = { outcome: "FAILED", error: request } as const;
      drive.proceed(execution, { occurrence: { kind: "done", result }, now, hasTime });
      return null;
    }
    const dueAt = now + LEASE_MS;
    const { progress } = execution;
    agenda.save(execution, { ...progress, dueFor: "ANSWER", dueAt }, []);
    return { execution, request, token: { stepCount: progress.stepCount, dueAt } };
  }

  function prepare(execution: Execution): WebhookRequest | string {
    const { versionSeq, progress } = execution;
    const step = deps.pathsOf(versionSeq)?.step(progress.stepId ?? "") ?? null;
    const situation = deps.situationOf(execution);
    if (step?.type !== "WEBHOOK" || situation === null) return "There is nothing to be called.";
    return requestOf(step, situation, deps.templateCache);
  }

  async function make({ execution, request, token }: Call): Promise<void> {
    const { signal } = ender;
    const { url, ...rest } = request;
    try {
      const response = await deps.fetchGuarded(url, { ...rest, signal });
      const { context } = execution.progress;
      const now = clock.now();
      await settle(
        execution,
        token,
        judgeAnswer(response, { context, now, random: deps.random() }),
      );
    } catch (error) {
      // At the end of the process the call is given back by the next one.
      if (signal.aborted) return;
      if (error instanceof FetchRefused) {
        await settle(execution, token, judgeRefusal(error, deps.random()));
        return;
      }
      const fields = { execution: execution.id, error: describeError(error) };
      log.error("a webhook of a workflow failed unexpectedly", fields);
      const reason = "An unexpected error on our side; the log has it.";
      const random = deps.random();
      await settle(execution, token, { kind: "unanswered", reason, retryAfterMs: null, random });
    }
  }

  /** What was answered must be written down, however long the storage takes to recover. */
  async function settle(
    { id, seq }: Execution,
    token: Call["token"],
    occurrence: Occurrence,
  ): Promise<void> {
    for (;;) {
      try {
        await writer.write(() => {
          const execution = agenda.find(seq);
          if (execution === null || !isLeased(execution, token)) return;
          drive.proceed(execution, { occurrence, now: clock.now(), hasTime: () => false });
        });
        return;
      } catch (error) {
        log.error("the answer to a webhook could not be stored", {
          execution: id,
          error: describeError(error),
        });
        // A fault of ours does not mend itself: the lease ends, and the call is made again.
        if (ender.signal.aborted || !isStorageRefusal(error)) return;
        await new Promise<void>((resolve) => clock.after(STORAGE_PAUSE_MS, resolve));
      }
    }
  }

  async function ended(): Promise<void> {
    await Promise.all([...underWay.values()].map((call) => call.ended));
  }

  return {
    underWay: (): number => underWay.size,
    /** Resolves when those that are under way now are not any more. */
    ended,

    /** Whether a call is due for which its workflow and its project have a slot. */
    canLease: (now: number): boolean =>
      slots.inUse() < MOST_AT_ONCE &&
      agenda
        .lanes()
        .some(
          (lane) =>
            capacityOf(lane, slots) > 0 && agenda.callsOf(lane.workflowSeq, now, 1).length > 0,
        ),

    /**
     * Part of a change: takes due calls, as many as there are slots and time for. `isCut`: there
     * may be more for which there are slots.
     */
    lease(now: number, hasTime: HasTime): { taken: Call[]; isCut: boolean } {
      const taken: Call[] = [];
      if (slots.inUse() >= MOST_AT_ONCE) return { taken, isCut: false };
      // Slots are taken when the calls are started, after the commit.
      const free = slots.copy();
      let looked = 0;
      let isCut = false;
      for (const lane of lanesInTurn()) {
        const capacity = capacityOf(lane, free);
        if (capacity <= 0) continue;
        lastLane = lane.workflowSeq;
        for (const execution of agenda.callsOf(lane.workflowSeq, now, capacity)) {
          if (looked++ > 0 && !hasTime()) return { taken, isCut: true };
          const call = leaseOne(execution, now, hasTime);
          if (call === null) isCut = true;
          else {
            free.take(lane.projectSeq);
            taken.push(call);
          }
        }
      }
      return { taken, isCut };
    },

    /** After the commit of the lease. */
    start(calls: readonly Call[]): void {
      for (const call of calls) {
        const { seq, workflowSeq, projectSeq } = call.execution;
        slots.take(projectSeq);
        const end = make(call).finally(() => {
          slots.release(projectSeq);
          underWay.delete(seq);
          deps.wake();
        });
        underWay.set(seq, { workflowSeq, ended: end });
      }
    },

    /** Part of a change: leases that ended without an answer are due again. */
    giveBackExpired: (now: number): number => agenda.giveBackCalls(now, now, [...underWay.keys()]),

    /** Executions whose calls are under way. */
    executionsUnderWay: (): number[] => [...underWay.keys()],

    /** Part of a change: those of an earlier process. */
    giveBackAll(now: number): number {
      ender = new AbortController();
      return agenda.giveBackCalls(Number.MAX_SAFE_INTEGER, now + ORPHAN_DELAY_MS, []);
    },

    /** Gives up what is under way after `graceMs`; resolves when nothing is any more. */
    async stop(graceMs: number): Promise<void> {
      const cancel = clock.after(graceMs, () => ender.abort());
      await ended();
      cancel();
    },
  };
}

function isLeased({ progress }: Execution, token: Call["token"]): boolean {
  return (
    progress.dueFor === "ANSWER" &&
    progress.stepCount === token.stepCount &&
    progress.dueAt === token.dueAt
  );
}
