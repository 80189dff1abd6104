/** Counts the executions, steps and mails of a replay, and adds the counts of several replays. */

import type { Database } from "bun:sqlite";
import type { ExecutionStatus } from "../../../db/schema/workflows.ts";

export type StepOutcome = "COMPLETED" | "SKIPPED" | "FAILED";

export type StepCount = {
  stepId: string;
  /** Null for executions that are at the step at the end. */
  outcome: StepOutcome | null;
  branch: string | null;
  count: number;
};
/** `day` is a date in UTC. */
type MailCount = { day: string; templateId: string; isSuppressed: boolean; count: number };
type EndingCount = { status: ExecutionStatus; reason: string | null; count: number };

type ExampleStep = {
  stepId: string;
  outcome: StepOutcome;
  branch: string | null;
  startedAt: number;
  completedAt: number;
};
type Example = {
  contactSeq: number;
  status: ExecutionStatus;
  /** The step at which it is or failed. */
  stepId: string | null;
  reason: string | null;
  startedAt: number;
  completedAt: number | null;
  steps: ExampleStep[];
};

export type ReplayCounts = {
  started: { day: string; count: number }[];
  endings: EndingCount[];
  steps: StepCount[];
  mails: MailCount[];
  examples: Example[];
};

const MAX_EXAMPLES = 10;
/** Steps of an example; a loop may have thousands. */
const MAX_STEPS_SHOWN = 100;
/** Executions among which examples are looked for. */
const CANDIDATES = 1_000;
/** Distinct reasons; those of failures may name addresses. */
const MAX_REASONS = 50;
const OTHER_REASONS = "Other reasons";

export const NOTHING_REPLAYED: ReplayCounts = {
  started: [],
  endings: [],
  steps: [],
  mails: [],
  examples: [],
};

const STARTED = `
  SELECT date(started_at / 1000, 'unixepoch') AS day, count(*) AS count
  FROM workflow_executions GROUP BY 1`;
const ENDINGS = `
  SELECT status, coalesce(error, exit_reason) AS reason, count(*) AS count
  FROM workflow_executions GROUP BY 1, 2`;
const STEPS = `
  SELECT step_id AS stepId, outcome, branch, count(*) AS count
  FROM workflow_execution_steps GROUP BY 1, 2, 3
  UNION ALL
  SELECT current_step_id, NULL, NULL, count(*) FROM workflow_executions
  WHERE status IN ('RUNNING', 'WAITING') GROUP BY 1`;
/** The mails that steps of the sandbox made; mails that were copied belong to other executions. */
const MAILS = `
  SELECT date(created_at / 1000, 'unixepoch') AS day, template_id AS templateId,
         status = 'SUPPRESSED' AS isSuppressed, count(*) AS count
  FROM emails WHERE execution_seq IS NOT NULL
  GROUP BY 1, 2, 3`;
const PATHS = `
  SELECT e.seq, e.status || ' ' || coalesce(e.current_step_id, '') || ' ' || coalesce((
           SELECT group_concat(s.step_id || ':' || coalesce(s.branch, ''), '>' ORDER BY s.number)
           FROM workflow_execution_steps s
           WHERE s.execution_seq = e.seq AND s.number <= ${MAX_STEPS_SHOWN}), '') AS path
  FROM workflow_executions e ORDER BY e.seq LIMIT ${CANDIDATES}`;
const EXECUTION = `
  SELECT contact_seq AS contactSeq, status, current_step_id AS stepId,
         coalesce(error, exit_reason) AS reason, started_at AS startedAt,
         completed_at AS completedAt
  FROM workflow_executions WHERE seq = ?`;
const EXECUTION_STEPS = `
  SELECT step_id AS stepId, outcome, branch, started_at AS startedAt, completed_at AS completedAt
  FROM workflow_execution_steps WHERE execution_seq = ? ORDER BY number LIMIT ${MAX_STEPS_SHOWN}`;

export function countReplay(sqlite: Database): ReplayCounts {
  const mails = sqlite
    .query<Omit<MailCount, "isSuppressed"> & { isSuppressed: number }, []>(MAILS)
    .all();
  return {
    started: sqlite.query<{ day: string; count: number }, []>(STARTED).all(),
    endings: sqlite.query<EndingCount, []>(ENDINGS).all(),
    steps: sqlite.query<StepCount, []>(STEPS).all(),
    mails: mails.map((mail) => ({ ...mail, isSuppressed: mail.isSuppressed === 1 })),
    examples: examplesIn(sqlite),
  };
}

/** One execution of each path first, then others. */
function examplesIn(sqlite: Database): Example[] {
  const paths = sqlite.query<{ seq: number; path: string }, []>(PATHS).all();
  const find = sqlite.query<Omit<Example, "steps">, [number]>(EXECUTION);
  const findSteps = sqlite.query<ExampleStep, [number]>(EXECUTION_STEPS);
  return distinctFirst(paths, ({ path }) => path).flatMap(({ seq }) => {
    const execution = find.get(seq);
    return execution === null ? [] : [{ ...execution, steps: findSteps.all(seq) }];
  });
}

/** The sum of the counts of two groups of contacts. */
export function addCounts(one: ReplayCounts, other: ReplayCounts): ReplayCounts {
  return {
    started: sumBy([...one.started, ...other.started], ({ day }) => day),
    endings: withFewReasons(
      sumBy([...one.endings, ...other.endings], ({ status, reason }) =>
        JSON.stringify([status, reason]),
      ),
    ),
    steps: sumBy([...one.steps, ...other.steps], ({ stepId, outcome, branch }) =>
      JSON.stringify([stepId, outcome, branch]),
    ),
    mails: sumBy([...one.mails, ...other.mails], ({ day, templateId, isSuppressed }) =>
      JSON.stringify([day, templateId, isSuppressed]),
    ),
    examples: distinctFirst([...one.examples, ...other.examples], pathOf),
  };
}

/** The rarest reasons are counted together. */
function withFewReasons(endings: readonly EndingCount[]): EndingCount[] {
  const sorted = endings.toSorted((a, b) => b.count - a.count);
  const rare = sorted.slice(MAX_REASONS).map((ending) => ({ ...ending, reason: OTHER_REASONS }));
  return sumBy([...sorted.slice(0, MAX_REASONS), ...rare], ({ status, reason }) =>
    JSON.stringify([status, reason]),
  );
}

const pathOf = ({ status, stepId, steps }: Example): string =>
  JSON.stringify([status, stepId, steps.map((step) => [step.stepId, step.branch])]);

function sumBy<T extends { count: number }>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const sums = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    const known = sums.get(key);
    sums.set(key, known === undefined ? item : { ...known, count: known.count + item.count });
  }
  return [...sums.values()];
}

/** At most MAX_EXAMPLES items: the first of each key, then others in their order. */
export function distinctFirst<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const keys = new Set<string>();
  const first: T[] = [];
  const rest: T[] = [];
  for (const item of items) {
    const key = keyOf(item);
    (keys.has(key) ? rest : first).push(item);
    keys.add(key);
  }
  return [...first, ...rest].slice(0, MAX_EXAMPLES);
}
