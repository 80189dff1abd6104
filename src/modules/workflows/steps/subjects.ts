/**
 * Renders the subjects of SEND_EMAIL steps. That is done in the change that runs the step, within a few
 * milliseconds. A subject that takes longer is rendered by a thread: its step is postponed, and is due
 * again as soon as the subject is there. If the subject is lost, the step is due a minute later.
 */

import type { App } from "../../../core/app.ts";
import { AppError, type FieldError } from "../../../lib/errors.ts";
import { ExpiringMap } from "../../../lib/expiring-map.ts";
import { describeError } from "../../../lib/log.ts";
import type { RequestMails } from "../../../render/request-mails.ts";
import { checkMails, checkMailsBriefly } from "../../content-work/content-work.ts";
import type { CheckedMail } from "../../content-work/tasks.ts";
import type { Postponed } from "../run/engine.ts";
import type { ExecutionRows } from "../run/execution-rows.ts";
import type { StepInput } from "./run-step.ts";

type StepSubject = { ok: true; text: string } | { ok: false; reason: string };

/** The subject of the mail with this id, and the JSON of its template and variables. */
type Known = { emailId: string; source: string; subject: StepSubject };

/** The time for which a subject is kept and a template counts as slow. */
const KEPT_MS = 60_000;
const MAX_KEPT = 1_000;
/** A single render may take long because the garbage collector runs. */
const MAX_STRIKES = 3;

const POSTPONED: Postponed = {
  outcome: "POSTPONED",
  reason: "Its subject takes long, so it is rendered by a thread.",
  until: null,
};

export type StepSubjects = ReturnType<typeof createStepSubjects>;

export function createStepSubjects(deps: {
  app: App;
  executionRows: Pick<ExecutionRows, "find" | "save">;
  /** Wakes the runner, because a step is due. */
  wake: () => void;
}) {
  const { app, executionRows, wake } = deps;
  /** Subjects that threads have rendered, by execution. */
  const known = new ExpiringMap<Known>({ maxEntries: MAX_KEPT, clock: app.clock });
  /** The number of times that a template took too long in a change. */
  const strikes = new ExpiringMap<number>({ maxEntries: MAX_KEPT, clock: app.clock });

  function renderHere(mails: RequestMails): StepSubject | null {
    const { subject } = mails.source;
    const before = strikes.get(subject) ?? 0;
    if (before >= MAX_STRIKES) return null;
    const rendered = subjectOf(() => checkMailsBriefly(app, mails));
    if (rendered === null) strikes.set(subject, before + 1, KEPT_MS);
    return rendered;
  }

  async function renderElsewhere(
    input: StepInput,
    { emailId, mails }: { emailId: string; mails: RequestMails },
  ): Promise<void> {
    const { projectSeq, executionSeq, stepStartedAt } = input;
    const checked = await checkMails(app, projectSeq, mails, { isUrgent: true }).catch(refused);
    if (checked === null) return;
    const subject = subjectOf(() => checked);
    if (subject === null) return;
    known.set(String(executionSeq), { emailId, source: JSON.stringify(mails), subject }, KEPT_MS);
    await app.writer.write(() => {
      const execution = executionRows.find(executionSeq);
      if (execution === null) return;
      const { progress } = execution;
      const isWaiting =
        progress.error === POSTPONED.reason && progress.stepStartedAt === stepStartedAt;
      if (!isWaiting || progress.dueFor !== "TIME") return;
      executionRows.save(execution, { ...progress, dueAt: app.clock.now() }, []);
    });
    wake();
  }

  return {
    /** The id of a mail for which the subject of this execution was rendered; null for a new mail. */
    emailIdOf: (executionSeq: number): string | null =>
      known.get(String(executionSeq))?.emailId ?? null,

    /** Part of a change: the subject, or the result of a step that must wait for it. */
    render(input: StepInput, emailId: string, mails: RequestMails): StepSubject | Postponed {
      const key = String(input.executionSeq);
      const kept = known.get(key);
      if (kept !== undefined && kept.source === JSON.stringify(mails)) {
        // The next step may send the same template, but not with the id of this mail.
        known.delete(key);
        return kept.subject;
      }
      const rendered = renderHere(mails);
      if (rendered !== null) return rendered;
      app.writer.afterCommit(() => {
        renderElsewhere(input, { emailId, mails }).catch((error: unknown) =>
          app.log.warn("the subject of a workflow waits", { error: describeError(error) }),
        );
      });
      return POSTPONED;
    },
  };
}

/** Null for a request that is refused because too much waits. */
function refused(error: unknown): null | CheckedMail[] {
  if (error instanceof AppError && error.errors !== undefined) return error.errors.map(faultOf);
  if (error instanceof AppError) return null;
  throw error;
}

const faultOf = (fault: FieldError): CheckedMail => ({ kind: "fault", fault });

/** The subject of the one mail; null if it was not rendered in time. */
function subjectOf(check: () => readonly CheckedMail[] | null): StepSubject | null {
  const [mail] = checkedOf(check) ?? [];
  if (mail === undefined) return null;
  if (mail.kind === "rendered") return { ok: true, text: mail.subject };
  return { ok: false, reason: `The subject ${mail.fault.message}.` };
}

function checkedOf(check: () => readonly CheckedMail[] | null): readonly CheckedMail[] | null {
  try {
    return check();
  } catch (error) {
    return refused(error);
  }
}
