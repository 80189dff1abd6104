/** The email of a campaign as a contact gets it, its sender and its audience. */

import { SegmentedControl } from "@mantine/core";
import type { Campaign } from "../../../modules/campaigns/model.ts";
import { ContactPreview } from "../../ui/contact-preview.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { audienceText } from "./audience-text.ts";
import type { CampaignSearch } from "./search.ts";
import { useSegmentName } from "./use-segment-name.ts";

export function EmailTab(props: {
  campaign: Campaign;
  search: CampaignSearch;
  onChange: (next: CampaignSearch) => void;
}) {
  const { campaign, search, onChange } = props;
  const { from, fromName, replyTo, rate, audienceType, segmentId, imported } = campaign;
  const segmentName = useSegmentName(segmentId);
  const variants = campaign.abTest?.variants ?? [];
  const shown = variants.find(({ id }) => id === search.variant)?.id ?? "A";
  return (
    <div className="campaign">
      <section className="card campaign-facts">
        <Fields>
          <Field label="From">{fromName === null ? from || "–" : `${fromName} <${from}>`}</Field>
          <Field label="Replies go to">{replyTo ?? (from || "–")}</Field>
          {imported === null && (
            <Field label="Audience">{audienceText({ audienceType, segmentName })}</Field>
          )}
          {rate !== null && <Field label="Speed">{rateText(rate)}</Field>}
        </Fields>
      </section>
      {imported !== null && campaign.body === "" ? (
        <p className="muted">{imported.source} did not give the body of this campaign.</p>
      ) : (
        <>
          {campaign.abTest !== null && (
            <SegmentedControl
              aria-label="Variant"
              value={shown}
              onChange={(variant) => onChange({ variant: variant === "A" ? "" : variant })}
              data={campaign.abTest.variants.map(({ id, name }) => ({
                value: id,
                label: name === null ? `Variant ${id}` : `${id}: ${name}`,
              }))}
            />
          )}
          <ContactPreview
            {...(shown === "A" ? {} : { variantId: shown })}
            path={`/campaigns/${encodeURIComponent(campaign.id)}/preview`}
            noun="campaign"
            version={campaign.updatedAt}
            contactId={search.as}
            onContact={(as) => onChange({ as })}
          />
        </>
      )}
    </div>
  );
}

const number = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A rate in mails per second, in the unit that gives a number of at least one. */
function rateText(rate: number): string {
  return rate < 1
    ? `At most ${number.format(rate * 60)} mails a minute`
    : `At most ${number.format(rate)} mails a second`;
}
