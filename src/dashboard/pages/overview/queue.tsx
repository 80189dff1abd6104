import { Field, Fields } from "../../ui/fields.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { countText } from "./figures.ts";
import { useSystem } from "./use-overview.ts";

/** Paused sites that are named. */
const MAX_SITES = 5;

/** The mails of all projects that have not left. Only owners see it. */
export function Queue() {
  const system = useSystem();
  if (system === undefined) return null;
  const { queue, pausedSites } = system;
  return (
    <section className="card" aria-labelledby="queue">
      <h2 id="queue">Queue of all projects</h2>
      <Fields>
        <Field label="Waiting">
          <span className="figures">{countText(queue.waiting)}</span>
        </Field>
        <Field label="Being sent">
          <span className="figures">{countText(queue.inProgress)}</span>
        </Field>
        {queue.oldestDueAt !== null && (
          <Field label="Next mail due">
            <Time at={queue.oldestDueAt} />
          </Field>
        )}
        {pausedSites.length > 0 && (
          <Field label="Paused sites">
            <ul className="overview-sites">
              {pausedSites.slice(0, MAX_SITES).map(({ name, until }) => (
                <li key={name}>
                  <Status tone="held">{name}</Status> <Time at={until} as="due" />
                </li>
              ))}
            </ul>
            {pausedSites.length > MAX_SITES && (
              <span className="muted">and {countText(pausedSites.length - MAX_SITES)} more</span>
            )}
          </Field>
        )}
      </Fields>
    </section>
  );
}
