import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useAppState, useProject } from "../../state.ts";
import { useDomains } from "../domains/use-domains.ts";
import { attentionItems } from "./attention-items.ts";
import { useCampaigns, useSystem, useWebhooks } from "./use-overview.ts";

/** Items that are shown at first, so that the numbers stay in sight. */
const FIRST_ITEMS = 2;

/** Shows the problems that an operator has to solve, and is empty if there are none. */
export function Attention() {
  const project = useProject()?.id ?? "";
  const { transport, dev } = useAppState();
  const isCapturing = transport === "capture";
  const domains = useDomains(project).data ?? [];
  const items = attentionItems({
    isCapturing,
    system: useSystem(),
    // `mailstead dev` accepts mail of all domains.
    domains: isCapturing && dev ? [] : domains,
    webhooks: useWebhooks(),
    pausedCampaigns: useCampaigns("PAUSED"),
  });
  const [isWhole, setIsWhole] = useState(false);
  if (items.length === 0) return null;
  const rest = items.length - FIRST_ITEMS;
  return (
    <section className="attention" aria-label="Needs attention">
      <ul>
        {items
          .slice(0, isWhole ? undefined : FIRST_ITEMS)
          .map(({ key, title, text, campaign, domain, webhook }) => (
            <li key={key}>
              <TriangleAlert size={16} aria-hidden />
              <div>
                <strong>{title}</strong>
                <p>{text}</p>
              </div>
              {domain !== undefined && (
                <Link to="/p/$project/domains/$domain" params={{ project, domain }}>
                  Open the domain
                </Link>
              )}
              {webhook !== undefined && (
                <Link to="/p/$project/webhooks/$webhook" params={{ project, webhook }}>
                  Open the webhook
                </Link>
              )}
              {campaign !== undefined && (
                <Link to="/p/$project/campaigns/$campaign" params={{ project, campaign }}>
                  Open the report
                </Link>
              )}
            </li>
          ))}
      </ul>
      {rest > 0 && (
        <button
          type="button"
          className="attention-more"
          aria-expanded={isWhole}
          onClick={() => setIsWhole(!isWhole)}
        >
          {isWhole ? "Show less" : `Show ${rest} more`}
        </button>
      )}
    </section>
  );
}
