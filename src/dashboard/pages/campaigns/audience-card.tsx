/** Shows who gets a campaign before it is sent, and afterwards who got no mail, with the reasons. */

import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@mantine/core";
import { RefreshCw } from "lucide-react";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { countText } from "../overview/figures.ts";
import { counted, outcomesOf } from "./numbers.ts";
import { RecipientsLink } from "./recipients-link.tsx";
import { useAudience } from "./use-campaign.ts";

export function AudienceCard({ id }: { id: string }) {
  const audience = useAudience(id, true);
  const client = useQueryClient();
  const again = () => void client.invalidateQueries({ queryKey: ["campaign-audience"] });
  return (
    <section className="card" aria-labelledby="audience">
      <div className="campaign-hours-head">
        <h2 id="audience">Who would get it now</h2>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<RefreshCw size={13} aria-hidden />}
          loading={audience.isFetching}
          onClick={again}
        >
          Count again
        </Button>
      </div>
      <Loaded query={audience} height={140}>
        {({ matching, unsubscribed, suppressed, recipients }) => (
          <Funnel
            steps={[
              { key: "matching", label: "Contacts that match the audience", count: matching },
              { key: "unsubscribed", label: "Not subscribed", count: unsubscribed },
              { key: "suppressed", label: "Suppressed addresses", count: suppressed },
            ]}
            result={{ label: "Will get it", count: recipients }}
          />
        )}
      </Loaded>
    </section>
  );
}

export function OutcomesCard({ stats }: { stats: CampaignStats }) {
  const { steps, sent } = outcomesOf(stats);
  const later = stats.bouncedLater;
  return (
    <section className="card" aria-labelledby="outcomes">
      <h2 id="outcomes">Who got it</h2>
      <Funnel steps={steps} result={{ label: "Accepted by a mail server", count: sent }} />
      {later > 0 && (
        <p className="muted small">
          {counted(later, "mail")} of them bounced after that: the server accepted the mail and
          returned it later.
        </p>
      )}
    </section>
  );
}

type Step = { key: string; label: string; count: number; show?: string };

/** The first number, what is taken from it, and what remains. */
function Funnel(props: { steps: readonly Step[]; result: { label: string; count: number } }) {
  const { steps, result } = props;
  return (
    <dl className="funnel">
      {steps.map(({ key, label, count, show }, i) => (
        <div key={key}>
          <dt>{label}</dt>
          <dd>
            {i > 0 && "− "}
            {show === undefined || count === 0 ? (
              countText(count)
            ) : (
              <RecipientsLink show={show}>{countText(count)}</RecipientsLink>
            )}
          </dd>
        </div>
      ))}
      <div className="funnel-result">
        <dt>{result.label}</dt>
        <dd>= {countText(result.count)}</dd>
      </div>
    </dl>
  );
}
