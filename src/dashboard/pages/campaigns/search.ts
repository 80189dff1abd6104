/** The search parameters of the list of campaigns and of the page of one campaign. */

import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { RecipientQuery } from "../../../modules/campaigns/results-model.ts";
import type { Query } from "../../api.ts";
import { textsOf } from "../../ui/search-texts.ts";

const LIST_KEYS = ["q", "status"] as const;
export type CampaignsSearch = { [Key in (typeof LIST_KEYS)[number]]?: string };

export const readCampaignsSearch = (given: Readonly<Record<string, unknown>>): CampaignsSearch =>
  textsOf(given, LIST_KEYS);

/** The parameters of GET /campaigns/summaries. */
export const summariesQuery = ({ q, status }: CampaignsSearch): Query => ({
  name: q,
  status: status?.toUpperCase(),
});

/**
 * `range` is a name of RANGES, `since` and `until` are times. `hide` has the keys of the series that
 * are switched off, and `view` is "table" or absent. `show` and `link` filter the recipients, and
 * `as` is the id of the contact for which the email is rendered, on the `device` and `dark` or not.
 * `variant` is the variant of the A/B test whose email or recipients are shown.
 * `mode` is "code" for the source of a body of the visual editor.
 * `who` names the contacts of the audience of a draft that are listed.
 */
const KEYS = [
  "tab",
  "range",
  "since",
  "until",
  "hide",
  "view",
  "show",
  "link",
  "as",
  "device",
  "dark",
  "mode",
  "variant",
  "who",
] as const;
export type CampaignSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readCampaignSearch = (given: Readonly<Record<string, unknown>>): CampaignSearch =>
  textsOf(given, KEYS);

const TABS = [
  { key: "report", label: "Report" },
  { key: "recipients", label: "Recipients" },
  { key: "email", label: "Email" },
] as const;
type TabItem = (typeof TABS)[number];
export type Tab = TabItem["key"];

/** A campaign of another product has no recipients here. */
export const campaignTabs = ({ imported }: Pick<Campaign, "imported">): readonly TabItem[] =>
  TABS.filter(({ key }) => imported === null || key !== "recipients");

export const campaignTabOf = ({ tab }: CampaignSearch, tabs: readonly TabItem[]): Tab =>
  tabs.find(({ key }) => key === tab)?.key ?? "report";

type Filter = Pick<RecipientQuery, "action" | "status">;

/** The choices of recipients: their value of `show`, and the filter that they mean. */
const SHOWN: Readonly<Record<string, Filter>> = {
  opened: { action: "OPENED" },
  clicked: { action: "CLICKED" },
  "not-opened": { action: "NOT_OPENED" },
  bounced: { action: "BOUNCED" },
  complained: { action: "COMPLAINED" },
  unsubscribed: { action: "UNSUBSCRIBED" },
  waiting: { status: "QUEUED" },
  failed: { status: "FAILED" },
  suppressed: { status: "SUPPRESSED" },
  cancelled: { status: "CANCELLED" },
};

/** The parameters of GET /campaigns/{id}/recipients. */
export function recipientsQuery({ show, link, variant }: CampaignSearch): Query {
  const filter = show !== undefined && Object.hasOwn(SHOWN, show) ? SHOWN[show] : {};
  return { ...filter, link, variantId: variant };
}
