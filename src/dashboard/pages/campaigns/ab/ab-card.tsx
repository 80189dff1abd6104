/**
 * The A/B test in the report of a campaign: its variants beside each other, and whether their
 * difference is more than chance.
 */

import "./styles.ts";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Trophy } from "lucide-react";
import type { AbReport } from "../../../../modules/campaigns/ab-tests/ab-report-model.ts";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import { api } from "../../../api.ts";
import { useMay, useProject } from "../../../state.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Loaded } from "../../../ui/loaded.tsx";
import { PlannedTime, Time } from "../../../ui/time.tsx";
import { countText } from "../../overview/figures.ts";
import { counted, percentText } from "../numbers.ts";
import { RecipientsLink } from "../recipients-link.tsx";
import { type Winner, ruleText } from "./ab-plan.ts";
import { hitsText, lengthOf, topOf } from "./ab-figures.ts";

const pathOf = (id: string) => `/campaigns/${encodeURIComponent(id)}`;

export function AbCard({ campaign }: { campaign: Campaign }) {
  const { id, abTest } = campaign;
  const project = useProject()?.id ?? null;
  const report = useQuery({
    queryKey: ["campaign", project, id, "ab-test"],
    queryFn: ({ signal }) => api.get<AbReport>(`${pathOf(id)}/ab-test`, { signal }),
    enabled: abTest !== null,
  });
  if (abTest === null) return null;
  return (
    <section className="card ab-card" aria-labelledby="ab-test">
      <h2 id="ab-test">A/B test</h2>
      <Loaded query={report} height={220}>
        {(found) => (
          <>
            <State campaign={campaign} report={found} winner={abTest.winner} />
            <Variants campaign={campaign} report={found} winner={abTest.winner} />
            <p className="ab-verdict" role="status">
              {found.verdict.text}
            </p>
            <Others report={found} />
          </>
        )}
      </Loaded>
    </section>
  );
}

type Parts = { campaign: Campaign; report: AbReport; winner: Winner };

const isOpen = ({ status }: Campaign) => status === "SENDING" || status === "PAUSED";

/** The progress of the test, in a sentence. */
function State({ campaign, report, winner }: Parts) {
  const { phase, winnerId, chosenBy, decidedAt, waitsUntil } = report.state;
  if (winnerId !== null) {
    return (
      <p className="muted">
        {winnerId} was chosen {chosenBy === "RULE" ? `by ${ruleText(winner)}` : "by a person"},{" "}
        <Time at={decidedAt} />.
      </p>
    );
  }
  if (!report.hasRest)
    return (
      <p className="muted">All contacts are in the test or held out, so no winner is chosen.</p>
    );
  if (!isOpen(campaign))
    return <p className="muted">The campaign ended before a winner was chosen.</p>;
  if (phase === "TEST") return <p className="muted">The mails of the test are being sent.</p>;
  return waitsUntil === null ? (
    <p className="muted">The rest of the audience waits until you choose the winner.</p>
  ) : (
    <p className="muted">
      The winner by {ruleText(winner)} is chosen <PlannedTime at={waitsUntil} />
      {campaign.status === "PAUSED" && ", but not while the campaign is paused"}.
    </p>
  );
}

function Variants({ campaign, report, winner }: Parts) {
  const mayChoose = useMay("EDITOR") && isOpen(campaign);
  const { winnerId } = report.state;
  const top = topOf(report.variants);
  const canChoose = mayChoose && report.hasRest && winnerId === null;
  return (
    <ul className="ab-results">
      {report.variants.map((variant) => {
        const { id, name, subject, sent, hits } = variant;
        return (
          <li key={id} data-winner={id === winnerId || undefined}>
            <header>
              <span className="ab-id" data-group={id}>
                {id}
              </span>
              <span className="cut">
                <strong>{name ?? `Variant ${id}`}</strong>
                <bdi className="muted small cut">{subject}</bdi>
              </span>
              {id === winnerId && (
                <span className="ab-badge">
                  <Trophy size={13} aria-hidden /> Winner
                </span>
              )}
            </header>
            <div className="ab-rate">
              <strong className="figures">{percentText(Math.min(hits, sent), sent)}</strong>
              <span className="muted small">{hitsText(winner, hits, sent)}</span>
            </div>
            <div className="ab-rate-bar" aria-hidden>
              <span data-group={id} style={{ width: `${lengthOf(variant, top)}%` }} />
            </div>
            <div className="ab-scale muted figures" aria-hidden>
              <span>0%</span>
              <span>{top}%</span>
            </div>
            <Counts variant={variant} />
            {canChoose && <Choose campaign={campaign} id={id} name={name} />}
          </li>
        );
      })}
    </ul>
  );
}

function Counts({ variant }: { variant: AbReport["variants"][number] }) {
  const { id, sent, opened, clicked, bounced, unsubscribed, complained } = variant;
  const figures = [
    ["Opened", opened, "opened"],
    ["Clicked", clicked, "clicked"],
    ["Bounced", bounced, "bounced"],
    ["Unsubscribed", unsubscribed, "unsubscribed"],
    ["Complained", complained, "complained"],
  ] as const;
  return (
    <dl className="ab-counts">
      {figures.map(([label, count, show]) => (
        <div key={label}>
          <dt className="muted">{label}</dt>
          <dd className="figures">
            {count === 0 ? (
              0
            ) : (
              <RecipientsLink show={show} variant={id}>
                {countText(count)}
              </RecipientsLink>
            )}{" "}
            <span className="muted">{percentText(count, sent)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Asks before the rest of the audience gets this variant, because this sends mail. */
function Choose(props: { campaign: Campaign; id: string; name: string | null }) {
  const { campaign, id, name } = props;
  const client = useQueryClient();
  const [isAsking, question] = useDisclosure(false);
  const shown = name === null ? `variant ${id}` : `${name} (${id})`;
  return (
    <>
      <Button size="compact-sm" variant="default" onClick={question.open}>
        Choose {id}
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        color="brand"
        title={`Send ${shown} to the rest?`}
        text="Everybody who is not in the test gets this variant, as soon as the mails of the test are written. The choice cannot be changed."
        action={`Choose ${id}`}
        onConfirm={async () => {
          await api.post(`${pathOf(campaign.id)}/winner`, { variantId: id });
          await client.invalidateQueries({ queryKey: ["campaign"] });
        }}
      />
    </>
  );
}

/**
 * The contacts outside of the test: some got the winner, and the contacts who are held out got
 * nothing.
 */
function Others({ report }: { report: AbReport }) {
  const { rest, holdOut, state } = report;
  return (
    <>
      {rest.recipients > 0 && (
        <p className="muted small">
          The rest got {state.winnerId}: {counted(rest.sent, "mail")} sent, {countText(rest.opened)}{" "}
          opened ({percentText(rest.opened, rest.sent)}), {countText(rest.clicked)} clicked (
          {percentText(rest.clicked, rest.sent)}).
        </p>
      )}
      {holdOut !== null && (
        <p className="muted small">
          {counted(holdOut.contacts, "contact")} got nothing. {holdOut.text}
        </p>
      )}
    </>
  );
}
