import { Progress } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import { useProject } from "../../state.ts";
import { countText, shareText } from "./figures.ts";
import { useCampaigns } from "./use-overview.ts";

/** The campaigns that are being sent; nothing if there are none. */
export function RunningCampaigns() {
  const running = useCampaigns("SENDING");
  if (running.length === 0) return null;
  return (
    <section className="card" aria-labelledby="running">
      <h2 id="running">Running campaigns</h2>
      <ul className="running">
        {running.map((campaign) => (
          <RunningItem key={campaign.id} campaign={campaign} />
        ))}
      </ul>
    </section>
  );
}

function RunningItem({ campaign }: { campaign: CampaignSummary }) {
  const project = useProject()?.id ?? "";
  const { totalRecipients, queued } = campaign;
  const done = Math.max(0, totalRecipients - queued);
  const share = shareText(done, totalRecipients) ?? "0%";
  return (
    <li>
      <div className="running-line">
        <Link to="/p/$project/campaigns/$campaign" params={{ project, campaign: campaign.id }}>
          {campaign.name}
        </Link>
        <span className="muted figures">
          {countText(done)} of {countText(totalRecipients)} ({share})
        </span>
      </div>
      <Progress
        size="sm"
        value={totalRecipients === 0 ? 0 : (done / totalRecipients) * 100}
        aria-label={`Progress of ${campaign.name}`}
      />
    </li>
  );
}
