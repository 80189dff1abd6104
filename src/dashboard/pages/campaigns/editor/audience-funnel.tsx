/** Shows how the number of recipients comes about: who matches, who is left out, and why. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type {
  AudienceBreakdown,
  ExclusionReason,
} from "../../../../modules/campaigns/audience-model.ts";
import { Problem } from "../../../ui/problem.tsx";
import { countText } from "../../overview/figures.ts";
import { HeldOut } from "../ab/ab-groups-bar.tsx";
import { heldOutOf } from "../ab/ab-plan.ts";
import type { CampaignEditing } from "./campaign-source.ts";
import type { SectionState } from "./sections.ts";
import type { AudienceCount } from "./use-audience.ts";

/** The value of the search parameter `who` that lists the recipients. */
export const RECIPIENTS = "recipients";

export const REASON_LABELS: Readonly<Record<ExclusionReason, string>> = {
  UNSUBSCRIBED: "Not subscribed",
  TOPIC: "Not in the topic",
  PAUSED: "Paused their mail",
  HARD_BOUNCE: "Address does not exist",
  SOFT_BOUNCE: "Mail failed often",
  COMPLAINT: "Reported mail as spam",
  MANUAL: "Suppressed by hand",
};

export function AudienceFunnel(props: {
  project: string;
  editor: CampaignEditing;
  count: AudienceCount;
  state: SectionState;
}) {
  const { project, editor, count, state } = props;
  const { data, error, isStale } = count;
  return (
    <div className="draft-aside" role="group" aria-label="Who would get it now">
      <h3>Who would get it now</h3>
      {error !== null && <Problem error={error} onRetry={() => void count.refetch()} />}
      {data === undefined && error === null && <p className="muted">{state.text}.</p>}
      {data !== undefined && (
        <dl className="funnel" aria-busy={isStale} data-stale={isStale || undefined}>
          <div>
            <dt>Match the audience</dt>
            <dd>
              <MatchedLink project={project} editor={editor}>
                {countText(data.matched)}
              </MatchedLink>
            </dd>
          </div>
          {data.excluded.map(({ reason, count: excluded }) => (
            <div key={reason}>
              <dt>{REASON_LABELS[reason]}</dt>
              <dd>
                −{" "}
                <WhoLink editor={editor} who={reason} label={REASON_LABELS[reason]}>
                  {countText(excluded)}
                </WhoLink>
              </dd>
            </div>
          ))}
          <Result editor={editor} data={data} />
        </dl>
      )}
    </div>
  );
}

/**
 * The list has all contacts who may get the mail: the contacts who are held out are chosen at random
 * when sending starts.
 */
function Result({ editor, data }: { editor: CampaignEditing; data: AudienceBreakdown }) {
  const { recipients, isExact } = data;
  const { abTest } = editor.value;
  const mailed = recipients - heldOutOf(recipients, abTest);
  const isAll = mailed === recipients;
  const label = isAll ? "Will get it" : "May get it";
  return (
    <>
      <div className={isAll ? "funnel-result" : undefined}>
        <dt>{label}</dt>
        <dd>
          = {isExact ? "" : "about "}
          <WhoLink editor={editor} who={RECIPIENTS} label={label}>
            {countText(recipients)}
          </WhoLink>
        </dd>
      </div>
      <HeldOut test={abTest} recipients={recipients} />
      {!isAll && (
        <div className="funnel-result">
          <dt>Will get it</dt>
          <dd>= about {countText(mailed)}</dd>
        </div>
      )}
    </>
  );
}

type LinkProps = { editor: CampaignEditing; children: ReactNode };

/**
 * Opens the list of these contacts, after the typed values are saved: the server lists the stored
 * audience.
 */
function WhoLink(props: LinkProps & { who: string; label: string }) {
  const { editor, who, label, children } = props;
  return (
    <Link
      to="."
      aria-description={label}
      search={(before: object) => ({ ...before, who })}
      activeProps={{}}
      onClick={() => void editor.saveNow()}
    >
      {children}
    </Link>
  );
}

function MatchedLink({ project, editor, children }: LinkProps & { project: string }) {
  const { audienceType, segmentId } = editor.value;
  if (audienceType === "SEGMENT" && segmentId !== null) {
    return (
      <Link
        to="/p/$project/segments/$segment"
        params={{ project, segment: segmentId }}
        search={{ tab: "members" }}
      >
        {children}
      </Link>
    );
  }
  if (audienceType !== "ALL") return children;
  return (
    <Link to="/p/$project/contacts" params={{ project }}>
      {children}
    </Link>
  );
}
