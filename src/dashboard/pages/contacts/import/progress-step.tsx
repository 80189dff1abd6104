/** An import that runs or has ended. It goes on without this page. */

import { Button, Progress } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";
import { amount, hasEnded, resultLines } from "./counts.ts";
import { FaultsLink } from "./faults-link.tsx";

const number = new Intl.NumberFormat();

export function ProgressStep(props: {
  job: ImportProgress;
  project: string;
  onRestart: () => void;
}) {
  const { job, project, onRestart } = props;
  const { status, processed, total } = job;
  const isOver = hasEnded(job);
  return (
    <section className="card import-result" aria-labelledby="import-progress">
      <h2 id="import-progress">{titleOf(job)}</h2>
      {!isOver && (
        <>
          <Progress
            value={total === null || total === 0 ? 0 : (100 * processed) / total}
            aria-label="Progress of the import"
          />
          <p className="muted small" role="status">
            {total === null
              ? "Reading the file…"
              : `${number.format(processed)} of ${amount(total, "row")}`}
          </p>
          <p className="muted">The import goes on if you close this page.</p>
        </>
      )}
      {status === "FAILED" && <p role="alert">{job.errors.at(0)?.message}</p>}
      {isOver && (
        <ul className="import-counts">
          {resultLines(job).map(({ key, text, tone }) => (
            <li key={key} data-tone={tone}>
              {text}.{key === "failed" && <FaultsLink job={job} />}
            </li>
          ))}
          {job.keptUnsubscribed > 0 && (
            <li>
              {amount(job.keptUnsubscribed, "person", "people")} who left stayed unsubscribed.
            </li>
          )}
          {job.resubscribed > 0 && (
            <li>{amount(job.resubscribed, "person", "people")} were subscribed again.</li>
          )}
        </ul>
      )}
      <div className="import-start">
        <Button component={Link} to={`/p/${project}/contacts`}>
          Show the contacts
        </Button>
        {isOver && (
          <Button variant="default" onClick={onRestart}>
            Import another file
          </Button>
        )}
      </div>
    </section>
  );
}

function titleOf({ status }: ImportProgress): string {
  if (status === "COMPLETED") return "The import is complete";
  if (status === "FAILED") return "The import stopped";
  return status === "QUEUED" ? "The import begins soon" : "The contacts are being imported";
}
