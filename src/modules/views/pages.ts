/** The lists of the dashboard that have saved views, and the check of a view against their filters. */

import type { Role } from "../../http/roles.ts";
import type { FieldError } from "../../lib/errors.ts";

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
  audit: { role: "ADMIN", parameters: ["actor", "by", "action", "type", "object", ...RANGE] },
};

/** Longest query string, as it is given and as it is stored. */
export const MAX_QUERY = 2_000;

/** Longest part of a parameter's name that a message repeats. */
const MAX_NAME_SHOWN = 40;

type CheckedQuery = { ok: true; query: string } | { ok: false; error: FieldError };

/**
 * Returns the query string in the form in which it is stored: without `?`, with its characters
 * encoded. Each parameter must belong to the page, occur once and have a value.
 */
export function checkQuery(page: ViewPage, text: string): CheckedQuery {
  const parameters = new URLSearchParams(text);
  const seen = new Set<string>();
  for (const [name, value] of parameters) {
    const shown = `the parameter "${name.slice(0, MAX_NAME_SHOWN).toWellFormed()}"`;
    if (!PAGE_RULES[page].parameters.includes(name)) {
      return refused("invalid_value", `has ${shown}, which the page ${page} does not have`);
    }
    if (seen.has(name)) return refused("invalid_value", `has ${shown} more than once`);
    if (value === "") return refused("invalid_value", `has no value for ${shown}`);
    seen.add(name);
  }
  if (seen.size === 0) return refused("too_small", "must have at least one parameter");
  const query = parameters.toString();
  if (query.length <= MAX_QUERY) return { ok: true, query };
  return refused("too_big", `must have at most ${MAX_QUERY} characters after they are encoded`);
}

const refused = (code: FieldError["code"], message: string): CheckedQuery => ({
  ok: false,
  error: { field: "query", code, message },
});
