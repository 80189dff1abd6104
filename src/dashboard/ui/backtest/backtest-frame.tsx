/** Runs a backtest of a workflow or a segment, and shows its progress and what it does not know. */

import "./styles.ts";
import { Button, Progress, Select } from "@mantine/core";
import { History, Square } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useMay } from "../../state.ts";
import { Loaded } from "../loaded.tsx";
import { Note } from "../note.tsx";
import { Problem } from "../problem.tsx";
import { type AnyBacktest, type BacktestRequests, useBacktest } from "./use-backtest.ts";

const DAYS = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
];
const number = new Intl.NumberFormat();
/** The subjects that were tested since the page was loaded, as JSON, by the ids of the backtests. */
const testedDrafts = new Map<string, string>();

type Props<B> = {
  project: string;
  /** Id of the workflow or the segment. */
  subject: string;
  requests: BacktestRequests<B>;
  /** The subject of the test, as it is edited now. */
  draft: unknown;
  /** The edits that are not stored, as the request has them; null if they cannot be tested. */
  changes: object | null;
  intro: ReactNode;
  /** A sentence about the results of a backtest, for a page that has none yet. */
  promise: string;
  /** Says that the shown backtest is one of another draft. */
  outdated: string;
  children: (backtest: B) => ReactNode;
};

export function BacktestFrame<B extends AnyBacktest>(props: Props<B>) {
  const { project, subject, requests, draft, changes, intro, promise, outdated, children } = props;
  const mayRun = useMay("EDITOR");
  const [days, setDays] = useState("30");
  const { last, start, cancel, error } = useBacktest<B>(project, subject, requests);
  const backtest = last.data?.backtest ?? null;
  const tested = testedDrafts.get(backtest?.id ?? "");
  const isOutdated = tested !== undefined && tested !== JSON.stringify(draft);
  async function run(): Promise<void> {
    const started = await start({ days: Number(days), ...changes });
    if (started !== null) testedDrafts.set(started.id, JSON.stringify(draft));
  }
  return (
    <>
      <p className="muted backtest-note">{intro}</p>
      {mayRun && (
        <div className="backtest-bar">
          <Select
            label="Events of the last"
            allowDeselect={false}
            data={DAYS}
            value={days}
            onChange={(value) => value !== null && setDays(value)}
          />
          {backtest?.status === "RUNNING" ? (
            <Button
              variant="default"
              leftSection={<Square size={14} aria-hidden />}
              onClick={() => void cancel()}
            >
              Stop the backtest
            </Button>
          ) : (
            <Button disabled={changes === null} onClick={() => void run()}>
              Run the backtest
            </Button>
          )}
        </div>
      )}
      {error !== null && <Problem error={error} />}
      <Loaded query={last} height={320}>
        {() =>
          backtest === null ? (
            <Note icon={<History size={28} aria-hidden />} title="No backtest yet">
              {promise}
            </Note>
          ) : (
            <>
              {isOutdated && <p role="status">{outdated}</p>}
              <BacktestState backtest={backtest} />
              {children(backtest)}
              <Approximations texts={backtest.approximations} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function BacktestState({ backtest }: { backtest: AnyBacktest }) {
  const { status, progress, error } = backtest;
  const { done, total } = progress;
  if (status === "RUNNING") {
    const text = `${number.format(done)} of ${number.format(total)} contacts`;
    return (
      <div className="backtest-part" role="status">
        <p className="small muted">{total === 0 ? "Looking for contacts" : text}</p>
        <Progress value={total === 0 ? 0 : (100 * done) / total} aria-label="Progress" />
      </div>
    );
  }
  if (status === "FAILED") return <p className="backtest-fault">{error}</p>;
  if (status === "CANCELLED") {
    return <p className="muted">Stopped. The numbers are those of the contacts until then.</p>;
  }
  return null;
}

function Approximations({ texts }: { texts: readonly string[] }) {
  return (
    <section className="backtest-part">
      <h2>What the recorded events do not say</h2>
      <ul>
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
