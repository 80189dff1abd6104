/** The report of a campaign that another product has sent: its totals, as that product has counted them. */

import { Import } from "lucide-react";
import type { ImportedCampaign } from "../../../modules/campaigns/imported-model.ts";
import { countText } from "../overview/figures.ts";
import { Time } from "../../ui/time.tsx";
import { toldCounts } from "./imported.ts";

export function ImportedCard({ imported }: { imported: ImportedCampaign }) {
  const { source, importedAt, counts } = imported;
  const told = toldCounts(counts);
  return (
    <div className="campaign">
      <section className="campaign-reason" data-tone="plain" aria-label="Origin of the campaign">
        <Import size={16} aria-hidden />
        <div>
          <strong>
            Imported from {source} <Time at={importedAt} />
          </strong>
          <p>
            This server did not send it. The numbers are those of {source}, and they are in no
            statistics of the project.
          </p>
        </div>
      </section>
      <section className="card" aria-label={`Numbers of ${source}`}>
        {told.length === 0 ? (
          <p className="muted small">{source} gave no numbers for this campaign.</p>
        ) : (
          <dl className="campaign-figures campaign-told">
            {told.map(({ label, count }) => (
              <div key={label} className="figure">
                <dt>{label}</dt>
                <dd className="figure-count">{countText(count)}</dd>
              </div>
            ))}
          </dl>
        )}
      </section>
    </div>
  );
}
