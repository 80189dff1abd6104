/** The lists of the dashboard that have saved views. */

import type { Role } from "../../http/roles.ts";

/** Names of the pages with a list. */
export const VIEW_PAGES = [
  "emails",
  "inbox",
  "contacts",
  "campaigns",
  "workflows",
  "templates",
  "events",
  "suppressions",
  "audit",
] as const;
export type ViewPage = (typeof VIEW_PAGES)[number];

type PageRule = {
  /** The least role that may open the page. */
  role: Role;
  /** The parameters of the page's URL that filter its list. */
  parameters: readonly string[];
};

const RANGE = ["range", "since", "until"];

export const PAGE_RULES: Readonly<Record<ViewPage, PageRule>> = {
  emails: {
    role: "VIEWER",
    parameters: ["to", "from", "subject", "status", "source", "campaign", "template", ...RANGE],
  },
  inbox: { role: "EDITOR", parameters: ["q"] },
  contacts: { role: "VIEWER", parameters: ["q", "subscribed", "data", "sort"] },
  campaigns: { role: "VIEWER", parameters: ["q", "status"] },
  workflows: { role: "VIEWER", parameters: ["enabled"] },
  templates: { role: "VIEWER", parameters: ["q"] },
  events: { role: "VIEWER", parameters: ["name", "contact", ...RANGE] },
  suppressions: { role: "VIEWER", parameters: ["q", "reason"] },
  audit: { role: "ADMIN", parameters: ["actor", "action", "object"] },
};
