/** The groups of an A/B test as a bar with their numbers. */

import type { AbTest } from "../../../../modules/campaigns/ab-tests/ab-model.ts";
import { countText } from "../../overview/figures.ts";
import { audienceGroups, heldOutOf } from "./ab-plan.ts";

export function GroupsBar(props: { test: AbTest; recipients: number | undefined }) {
  const { test, recipients } = props;
  const groups = audienceGroups(test, recipients);
  return (
    <div className="ab-groups" role="group" aria-label="Who gets which variant">
      <div className="ab-bar" aria-hidden>
        {groups.map(({ key, percent }) => (
          <span key={key} data-group={key} style={{ flexGrow: percent }} />
        ))}
      </div>
      <ul>
        {groups.map(({ key, label, percent, count }) => (
          <li key={key}>
            <span className="ab-dot" data-group={key} aria-hidden />
            <span>{label}</span>
            <span className="muted figures">
              {count === null ? `${percentOf(percent)} %` : `about ${countText(count)}`}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The line of the funnel for the recipients who get nothing because of the test. */
export function HeldOut(props: { test: AbTest | null; recipients: number }) {
  const { test, recipients } = props;
  const heldOut = heldOutOf(recipients, test);
  if (heldOut === 0) return null;
  return (
    <div>
      <dt>Held out</dt>
      <dd>− about {countText(heldOut)}</dd>
    </div>
  );
}

const percentOf = (percent: number): string => String(Math.round(percent * 10) / 10);
