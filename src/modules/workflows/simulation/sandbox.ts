/**
 * A sandbox: the engine of workflows in a database in memory (sandbox-app.ts) with the rows that one
 * workflow needs, and with a clock that is moved. Simulations and backtests run in it, in a thread, so
 * nothing that happens here is stored or sent.
 *
 * 1. `rows.ts` reads the rows in the server. `createSandboxApp` inserts them into a new database.
 * 2. `moveTo` moves the clock and advances the executions that become due, at their exact times.
 * 3. `record` appends an event to the log of the sandbox, and the engine handles it.
 *
 * It is the code that runs live workflows. Only three things differ: subjects are rendered at once,
 * webhooks are answered by `answerCall`, and no mail leaves.
 */

import type { Database } from "bun:sqlite";
import type { App } from "../../../core/app.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { compileSource, renderMails } from "../../../render/request-mails.ts";
import { compiledTemplates } from "../../../render/template/cache.ts";
import type { WorkflowPatch } from "../model.ts";
import type { Occurrence } from "../run/engine.ts";
import { createExecutionRows, type Execution } from "../run/execution-rows.ts";
import { createEngineParts } from "../run/parts.ts";
import { createSlice } from "../run/slice.ts";
import type { RunStep } from "../steps/run-step.ts";
import type { StepSubjects } from "../steps/subjects.ts";
import { workflowService } from "../service.ts";
import { createSandboxApp, type SandboxAppInput } from "./sandbox-app.ts";

export type SandboxInput = SandboxAppInput & {
  workflowId: string;
  /** Changes of the stored workflow that are tried. */
  patch: WorkflowPatch;
};

type SandboxHooks = {
  /** The result of the call of a WEBHOOK step. */
  answerCall: (execution: Execution) => Occurrence;
  around?: (runStep: RunStep) => RunStep;
};

export type Sandbox = ReturnType<typeof createSandbox>;

const NEXT_DUE = "SELECT min(due_at) AS at FROM workflow_executions WHERE due_at IS NOT NULL";
const DUE_CALLS = `
  SELECT seq FROM workflow_executions WHERE due_for = 'CALL' AND due_at <= +? ORDER BY due_at, seq`;

export function createSandbox(input: SandboxInput, hooks: SandboxHooks) {
  const { projectSeq, workflowId } = input;
  const base = createSandboxApp(input);
  const { app, clock } = base;
  const { sqlite } = app.db;
  const suppressions = createLaterSuppressions(sqlite, input.startAt);
  const workflows = workflowService(app);
  const executionRows = createExecutionRows(app.db);
  const subjects = createSubjects(app);
  const { around } = hooks;
  const parts = createEngineParts({
    app,
    executionRows,
    workflows,
    subjects,
    ...(around === undefined ? {} : { around }),
  });
  let position = 0;
  const runSlice = createSlice(parts, {
    current: () => position,
    advance(seq) {
      position = seq;
    },
  });
  const dueCalls = sqlite.prepare<{ seq: number }, [number]>(DUE_CALLS);
  const findNextDue = sqlite.prepare<{ at: number | null }, []>(NEXT_DUE);

  const nextDueAt = (): number | null => findNextDue.get()?.at ?? null;

  /** Runs everything that is due now. */
  function settle(): void {
    for (;;) {
      while (runSlice(true)) continue;
      const due = dueCalls.all(clock.now());
      if (due.length === 0) return;
      for (const { seq } of due) {
        const execution = executionRows.find(seq);
        if (execution === null) continue;
        const occurrence = hooks.answerCall(execution);
        const hasTime = () => true;
        parts.advancer.advance(execution, { occurrence, now: clock.now(), hasTime });
      }
    }
  }

  return {
    ...base,
    parts,
    workflows,
    nextDueAt,
    settle,

    /** Part of a change: stores the changes of the workflow, and whether it may start. */
    setWorkflow: (enabled: boolean) =>
      workflows.patch(projectSeq, workflowId, { ...input.patch, enabled })(),

    /**
     * Part of a change: moves the clock to `at`. Steps that become due before it run at their own
     * times. `isEnough` is called before each of these times, and ends the move early.
     */
    moveTo(at: number, isEnough: () => boolean = () => false): void {
      for (let due = nextDueAt(); due !== null && due <= at && !isEnough(); due = nextDueAt()) {
        clock.set(Math.max(due, clock.now()));
        suppressions.addUntil(clock.now());
        settle();
      }
      if (isEnough()) return;
      clock.set(Math.max(at, clock.now()));
      suppressions.addUntil(clock.now());
    },

    /** Part of a change: the events that were recorded until now concern no execution. */
    skipEvents(): void {
      position = sqlite.query<{ seq: number | null }, []>(NEWEST_EVENT).get()?.seq ?? 0;
    },
  };
}

const NEWEST_EVENT = "SELECT max(seq) AS seq FROM events";

/** Suppressions that were added while the workflow runs; those of earlier times are there already. */
function createLaterSuppressions(sqlite: Database, startAt: number) {
  sqlite.run("CREATE TEMP TABLE later AS SELECT * FROM suppressions WHERE created_at > ?", [
    startAt,
  ]);
  sqlite.run("DELETE FROM suppressions WHERE created_at > ?", [startAt]);
  const times = sqlite
    .query<{ at: number }, []>("SELECT created_at AS at FROM later ORDER BY created_at")
    .all()
    .map(({ at }) => at);
  return {
    addUntil(now: number): void {
      const [next = Infinity] = times;
      if (next > now) return;
      sqlite.run("INSERT OR IGNORE INTO suppressions SELECT * FROM later WHERE created_at <= ?", [
        now,
      ]);
      while ((times[0] ?? Infinity) <= now) times.shift();
    },
  };
}

/** A subject is rendered in the change that runs its step, with the whole time limit of a mail. */
function createSubjects(app: App): StepSubjects {
  return {
    emailIdOf: () => null,
    render(_, __, mails) {
      const source = compileSource(compiledTemplates(app), mails);
      if (!source.ok) return { ok: false, reason: faultOf(source.errors[0]) };
      const [mail] = [...renderMails(source.compiled, mails)];
      if (mail?.kind === "rendered") return { ok: true, text: mail.subject };
      return { ok: false, reason: faultOf(mail?.fault) };
    },
  };
}

const faultOf = (fault: FieldError | undefined): string =>
  `The subject ${fault?.message ?? "cannot be rendered"}.`;
