import { Button } from "@mantine/core";
import { useState } from "react";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import { commonHost, linkLabel } from "./link-labels.ts";
import { countText } from "../overview/figures.ts";
import { percentText } from "./numbers.ts";
import { RecipientsLink } from "./recipients-link.tsx";

/** The number of links that are shown at first. */
const FIRST = 8;

/** The links by their clicks; each leads to the recipients who clicked it. */
export function LinksCard({ stats }: { stats: CampaignStats }) {
  const [isWhole, setIsWhole] = useState(false);
  const { links, sent } = stats;
  const host = commonHost(links.map(({ url }) => url));
  const shown = isWhole ? links : links.slice(0, FIRST);
  return (
    <section className="card" aria-labelledby="links">
      <h2 id="links">Links</h2>
      {links.length === 0 ? (
        <p className="muted small">Nobody has clicked a link yet.</p>
      ) : (
        <div
          className="campaign-table"
          tabIndex={0}
          role="region"
          aria-label="Links with their clicks"
        >
          <table>
            <thead>
              <tr>
                <th scope="col">{host === null ? "Link" : `Link at ${host}`}</th>
                <th scope="col">Recipients</th>
                <th scope="col">Of sent</th>
                <th scope="col">Clicks</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ url, clicks, uniqueClicks }) => (
                <tr key={url}>
                  <th scope="row" title={url}>
                    <RecipientsLink show="clicked" link={url}>
                      {linkLabel(url, host)}
                    </RecipientsLink>
                  </th>
                  <td>{countText(uniqueClicks)}</td>
                  <td>{percentText(uniqueClicks, sent)}</td>
                  <td>{countText(clicks)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {links.length > FIRST && (
        <Button size="compact-xs" variant="default" onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? "Show fewer" : `Show all ${countText(links.length)}`}
        </Button>
      )}
    </section>
  );
}
