/** The numbers of a backtest, and the paths of its examples. */

import { Button } from "@mantine/core";
import { useState } from "react";
import type { Backtest } from "../../../../modules/workflows/simulation/backtest-model.ts";
import { DayChart } from "../../../ui/backtest/day-chart.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { LazyCanvas } from "../canvas/lazy-canvas.tsx";
import type { DraftStep, Graph } from "../editor/draft.ts";
import { pathOf } from "../execution-path.ts";
import { branchWord, stepName } from "../step-texts.ts";
import { useTemplateNames } from "../use-template-names.ts";
import { daysOfBacktest, resultSentence, stepRows } from "./backtest-numbers.ts";

const number = new Intl.NumberFormat();

type Props = { backtest: Backtest; graph: Graph; project: string };

export function BacktestResult({ backtest, graph, project }: Props) {
  const { result } = backtest;
  return (
    <>
      <p className="backtest-sentence">{resultSentence(backtest)}</p>
      {result.started > 0 && (
        <>
          <Days backtest={backtest} />
          <Mails mails={result.mails} />
          <Steps result={result} steps={graph.steps} />
          <Endings endings={result.endings} />
          <Examples examples={result.examples} graph={graph} project={project} />
        </>
      )}
    </>
  );
}

function Days({ backtest }: { backtest: Backtest }) {
  const days = daysOfBacktest(backtest);
  return (
    <DayChart
      label="Started executions and mails by day (UTC)"
      days={days.map(({ day }) => day)}
      series={[
        {
          key: "started",
          label: "Started",
          color: "--chart-opened",
          values: days.map(({ started }) => started),
        },
        {
          key: "mails",
          label: "Mails",
          color: "--chart-sent",
          values: days.map(({ mails }) => mails),
        },
      ]}
    />
  );
}

type Result = Backtest["result"];

function Mails({ mails }: Pick<Result, "mails">) {
  if (mails.length === 0) return null;
  return (
    <section className="backtest-part">
      <h2>Mails by template</h2>
      <table className="backtest-table">
        <thead>
          <tr>
            <th scope="col">Template</th>
            <th scope="col" data-number>
              Mails
            </th>
            <th scope="col" data-number>
              Suppressed
            </th>
            <th scope="col" data-number>
              Most on a day
            </th>
          </tr>
        </thead>
        <tbody>
          {mails.map(({ templateId, templateName, total, suppressed, days }) => (
            <tr key={templateId}>
              <td>{templateName ?? templateId}</td>
              <td data-number>{number.format(total)}</td>
              <td data-number>{number.format(suppressed)}</td>
              <td data-number>{number.format(Math.max(...days.map(({ count }) => count)))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Steps({ result, steps }: { result: Result; steps: readonly DraftStep[] }) {
  return (
    <section className="backtest-part">
      <h2>Steps</h2>
      <table className="backtest-table">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" data-number>
              Entered
            </th>
            <th scope="col" data-number>
              Skipped
            </th>
            <th scope="col" data-number>
              Failed
            </th>
            <th scope="col" data-number>
              Here now
            </th>
          </tr>
        </thead>
        <tbody>
          {stepRows(result, steps).map(({ step, counts }) => (
            <tr key={step.id}>
              <td>
                {stepName(step)}
                {counts.branches.length > 0 && (
                  <span className="muted small">
                    {" "}
                    {counts.branches
                      .map(({ branch, count }) => `${branchWord(branch)}: ${number.format(count)}`)
                      .join(", ")}
                  </span>
                )}
              </td>
              <td data-number>{number.format(counts.entered)}</td>
              <td data-number>{number.format(counts.skipped)}</td>
              <td data-number>{number.format(counts.failed)}</td>
              <td data-number>{number.format(counts.active)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Endings({ endings }: Pick<Result, "endings">) {
  return (
    <section className="backtest-part">
      <h2>How executions end</h2>
      <table className="backtest-table">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Reason</th>
            <th scope="col" data-number>
              Executions
            </th>
          </tr>
        </thead>
        <tbody>
          {endings.map(({ status, reason, count }) => (
            <tr key={JSON.stringify([status, reason])}>
              <td>
                <Status value={status} />
              </td>
              <td>{reason ?? "–"}</td>
              <td data-number>{number.format(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Example = Result["examples"][number];

function Examples(props: { examples: readonly Example[]; graph: Graph; project: string }) {
  const { examples, graph, project } = props;
  const [chosen, setChosen] = useState<Example | null>(null);
  const shown = chosen !== null && examples.includes(chosen) ? chosen : null;
  return (
    <section className="backtest-part">
      <h2>Examples</h2>
      <table className="backtest-table">
        <thead>
          <tr>
            <th scope="col">Contact</th>
            <th scope="col">Started</th>
            <th scope="col">State</th>
            <th scope="col">Path</th>
          </tr>
        </thead>
        <tbody>
          {examples.map((example) => (
            <tr key={JSON.stringify([example.contactId, example.startedAt])}>
              <td>{example.contactEmail ?? "A deleted contact"}</td>
              <td data-time>
                <Time at={example.startedAt} />
              </td>
              <td>
                <Status value={example.status} />
              </td>
              <td>
                <Button
                  size="compact-xs"
                  variant={example === shown ? "filled" : "default"}
                  aria-pressed={example === shown}
                  aria-label={`Show the path of ${example.contactEmail ?? "a deleted contact"}`}
                  onClick={() => setChosen(example === shown ? null : example)}
                >
                  {example.steps.length} {example.steps.length === 1 ? "step" : "steps"}
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown !== null && <ExamplePath example={shown} graph={graph} project={project} />}
    </section>
  );
}

function ExamplePath(props: { example: Example; graph: Graph; project: string }) {
  const { example, graph, project } = props;
  const names = useTemplateNames(project);
  const steps = example.steps.map((step, i) => ({
    ...step,
    id: String(i),
    type: "",
    name: null,
    detail: null,
  }));
  const { startedAt } = example;
  const currentStepId = example.completedAt === null ? example.currentStepId : null;
  return (
    <div className="try-canvas try-examples">
      <LazyCanvas
        graph={graph}
        counts={undefined}
        path={pathOf({ steps, startedAt, currentStepId }, graph)}
        open={undefined}
        faults={[]}
        isInPage
        names={names}
        onOpen={ignore}
        onAdd={null}
      />
    </div>
  );
}

/** The table above has the numbers of a step. */
function ignore(): void {}
