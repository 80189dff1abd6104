/** The backtest of a segment: how many contacts its condition selected on each of the last days. */

import { Link } from "@tanstack/react-router";
import type {
  LastSegmentBacktest,
  SegmentBacktest,
} from "../../../modules/workflows/simulation/segment-model.ts";
import { api } from "../../api.ts";
import { BacktestFrame } from "../../ui/backtest/backtest-frame.tsx";
import type { BacktestRequests } from "../../ui/backtest/use-backtest.ts";
import { DayChart } from "../../ui/backtest/day-chart.tsx";
import { Time } from "../../ui/time.tsx";
import { backtestSentence } from "./backtest-sentence.ts";

const requestsOf = (id: string): BacktestRequests<SegmentBacktest> => ({
  read: (signal) => api.get<LastSegmentBacktest>(`/segments/${id}/backtest`, { signal }),
  start: (body) => api.post<SegmentBacktest>(`/segments/${id}/backtest`, body),
  cancel: () => api.post<SegmentBacktest>(`/segments/${id}/backtest/cancel`),
});

type Props = {
  project: string;
  segmentId: string;
  /** The condition as it is edited; null while it is not complete. */
  condition: unknown;
  isChanged: boolean;
};

export function SegmentBacktestView({ project, segmentId, condition, isChanged }: Props) {
  const edits = condition === null ? null : { condition };
  return (
    <BacktestFrame<SegmentBacktest>
      project={project}
      subject={segmentId}
      requests={requestsOf(segmentId)}
      draft={condition}
      changes={isChanged ? edits : {}}
      intro={
        <>
          The recorded events are replayed, and the contacts that meet the condition are counted at
          the end of each day.
          {isChanged && " Your unsaved changes are tried."} Nothing is stored.
        </>
      }
      promise="It says how many contacts were members on each day, how many entered and left, and names some of them."
      outdated="The condition has been changed since this backtest. Run it again to see the effect."
    >
      {(backtest) => (isEmpty(backtest) ? null : <Result backtest={backtest} project={project} />)}
    </BacktestFrame>
  );
}

/** No contact was replayed yet. */
const isEmpty = ({ status, progress }: SegmentBacktest): boolean =>
  status === "RUNNING" && progress.done === 0;

function Result({ backtest, project }: { backtest: SegmentBacktest; project: string }) {
  const { days, examples } = backtest.result;
  return (
    <>
      <p className="backtest-sentence">{backtestSentence(backtest)}</p>
      <DayChart
        label="Members, entries and exits by day (UTC)"
        isOneAtATime
        days={days.map(({ day }) => day)}
        series={[
          {
            key: "members",
            label: "Members",
            color: "--chart-sent",
            values: days.map(({ members }) => members),
          },
          {
            key: "entered",
            label: "Entered",
            color: "--chart-delivered",
            values: days.map(({ entered }) => entered),
          },
          {
            key: "left",
            label: "Left",
            color: "--chart-bounced",
            values: days.map(({ left }) => left),
          },
        ]}
      />
      {examples.length > 0 && <Examples examples={examples} project={project} />}
    </>
  );
}

type ExamplesProps = { examples: SegmentBacktest["result"]["examples"]; project: string };

function Examples({ examples, project }: ExamplesProps) {
  return (
    <section className="backtest-part">
      <h2>Some of those who entered</h2>
      <table className="backtest-table">
        <thead>
          <tr>
            <th scope="col">Contact</th>
            <th scope="col">Day</th>
            <th scope="col">Last event of the day</th>
          </tr>
        </thead>
        <tbody>
          {examples.map(({ contactId, contactEmail, day, event }, i) => (
            <tr key={`${day} ${contactId ?? i}`}>
              <td>
                {contactId === null ? (
                  "A deleted contact"
                ) : (
                  <Link to="/p/$project/contacts/$contact" params={{ project, contact: contactId }}>
                    {contactEmail}
                  </Link>
                )}
              </td>
              <td data-time>{day}</td>
              <td>
                {event === null ? (
                  <span className="muted">None: time or data decided</span>
                ) : (
                  <>
                    <bdi>{event.name}</bdi>, <Time at={event.at} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
