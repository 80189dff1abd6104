/** The rules that workflows, their versions and their executions obey. */

import type { Invariant } from "../../db/invariant.ts";

const ACTIVE = "('RUNNING', 'WAITING')";

/** SQL condition that is true until the first executions or their steps are removed. */
const IS_EVERY_STEP_STORED = `
  (SELECT count(*) FROM workflow_executions)
    = (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'workflow_executions')
  AND (SELECT sum(step_count) FROM workflow_executions)
    = (SELECT count(*) FROM workflow_execution_steps)`;

export const WORKFLOW_INVARIANTS: readonly Invariant[] = [
  {
    name: "workflow-versions",
    rule: "Each workflow, and each execution under way, has its graph.",
    violations: `
      SELECT kind || ' ' || needed.id AS id, 'version ' || version_seq || ' is missing' AS finding
      FROM (SELECT 'workflow' AS kind, id, seq AS workflow_seq, version_seq FROM workflows
            UNION ALL
            SELECT 'execution', id, workflow_seq, version_seq FROM workflow_executions
            WHERE status IN ${ACTIVE}) AS needed
      LEFT JOIN workflow_versions AS versions ON versions.seq = needed.version_seq
      WHERE versions.workflow_seq IS NOT needed.workflow_seq`,
  },
  {
    name: "execution-states",
    rule: "An execution under way is due or awaits an event; one that has ended does neither.",
    violations: `
      SELECT 'execution ' || id AS id,
             format('%s, due for %s at %s, awaits %s, completed %s', status,
                    coalesce(due_for, 'nothing'), coalesce(due_at, 'never'),
                    coalesce(awaited_event, 'nothing'), coalesce(completed_at, 'never')) AS finding
      FROM workflow_executions
      WHERE (due_at IS NULL) <> (due_for IS NULL)
         OR (status = 'RUNNING' AND due_for IS NULL)
         OR (status = 'WAITING' AND due_for IS NULL AND awaited_event IS NULL)
         OR (status NOT IN ${ACTIVE} AND (due_for IS NOT NULL OR awaited_event IS NOT NULL))
         OR (status IN ${ACTIVE}) <> (completed_at IS NULL)`,
  },
  {
    name: "entry-runs",
    rule: "An entry run ends once, and looks at no contact twice.",
    violations: `
      SELECT 'entry run ' || id AS id,
             format('%s, completed %s, %d of %d contacts at most', status,
                    coalesce(completed_at, 'never'), entered + skipped, cursor) AS finding
      FROM workflow_entry_runs
      WHERE (status = 'RUNNING') <> (completed_at IS NULL) OR entered + skipped > cursor`,
  },
  {
    name: "execution-steps",
    rule: "The steps of an execution are numbered without a gap and are as many as it counted.",
    violations: `
      SELECT 'execution ' || executions.id AS id,
             format('counted %d, but there are %d, up to number %d', executions.step_count,
                    coalesce(found.rows, 0), coalesce(found.last, 0)) AS finding
      FROM workflow_executions AS executions
      LEFT JOIN (SELECT execution_seq, count(*) AS rows, max(number) AS last
                 FROM workflow_execution_steps GROUP BY execution_seq) AS found
        ON found.execution_seq = executions.seq
      WHERE (found.rows IS NOT NULL OR executions.status IN ${ACTIVE})
        AND (coalesce(found.rows, 0) <> executions.step_count
             OR coalesce(found.last, 0) <> executions.step_count)`,
  },
  {
    name: "workflow-step-counts",
    rule: "The counters of the steps of a workflow equal the steps that its executions completed.",
    violations: `
      WITH found AS (
        SELECT executions.workflow_seq, steps.step_id, sum(outcome = 'COMPLETED') AS completed,
               sum(outcome = 'SKIPPED') AS skipped, sum(outcome = 'FAILED') AS failed
        FROM workflow_execution_steps AS steps
        JOIN workflow_executions AS executions ON executions.seq = steps.execution_seq
        GROUP BY 1, 2)
      SELECT 'workflow ' || workflows.id AS id,
             format('%s: counted %d, %d and %d, but %d, %d and %d steps were completed, skipped and failed',
                    step_id, coalesce(counts.completed, 0), coalesce(counts.skipped, 0),
                    coalesce(counts.failed, 0), coalesce(found.completed, 0),
                    coalesce(found.skipped, 0), coalesce(found.failed, 0)) AS finding
      FROM found FULL JOIN workflow_step_counts AS counts USING (workflow_seq, step_id)
      JOIN workflows ON workflows.seq = workflow_seq
      WHERE coalesce(found.completed, 0) > coalesce(counts.completed, 0)
         OR coalesce(found.skipped, 0) > coalesce(counts.skipped, 0)
         OR coalesce(found.failed, 0) > coalesce(counts.failed, 0)
         OR (${IS_EVERY_STEP_STORED}
             AND (found.completed IS NOT counts.completed OR found.skipped IS NOT counts.skipped
                  OR found.failed IS NOT counts.failed))`,
  },
  {
    name: "execution-contacts",
    rule: "An execution under way has a contact, of the project of its workflow.",
    violations: `
      SELECT 'execution ' || executions.id AS id,
             iif(contacts.seq IS NULL, 'has no contact', 'belongs to several projects') AS finding
      FROM workflow_executions AS executions
      JOIN workflows ON workflows.seq = executions.workflow_seq
      LEFT JOIN contacts ON contacts.seq = executions.contact_seq
      WHERE executions.status IN ${ACTIVE}
        AND (contacts.project_seq IS NOT executions.project_seq
             OR workflows.project_seq <> executions.project_seq)`,
  },
];
