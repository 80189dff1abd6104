/** The lists that have saved views: where each is, and which search parameters a view keeps. */

import type { SavedView } from "../../../modules/views/model.ts";
import type { Role } from "../../state.ts";

/** The name of a list. */
export type ViewPage = SavedView["page"];

type ViewList = {
  /** The name of the page. */
  label: string;
  /** Its path below the project. */
  path: string;
  /** The parameters that filter the list, as the server knows them (modules/views/pages.ts). */
  parameters: readonly string[];
};

const RANGE = ["range", "since", "until"];

export const VIEW_LISTS: Readonly<Record<ViewPage, ViewList>> = {
  emails: {
    label: "Emails",
    path: "emails",
    parameters: ["to", "from", "subject", "status", "source", "campaign", "template", ...RANGE],
  },
  inbox: { label: "Inbox", path: "inboxes", parameters: ["q"] },
  contacts: {
    label: "Contacts",
    path: "contacts",
    parameters: ["q", "subscribed", "data", "sort"],
  },
  campaigns: { label: "Campaigns", path: "campaigns", parameters: ["q", "status"] },
  workflows: { label: "Workflows", path: "workflows", parameters: ["enabled"] },
  templates: { label: "Templates", path: "templates", parameters: ["q"] },
  events: { label: "Events", path: "events", parameters: ["name", "contact", ...RANGE] },
  suppressions: { label: "Suppressions", path: "suppressions", parameters: ["q", "reason"] },
  audit: {
    label: "Audit log",
    path: "settings/audit",
    parameters: ["actor", "by", "action", "type", "object", ...RANGE],
  },
};

/** The path of a view below /app. */
export const pathOfView = (project: string, { page, query }: { page: ViewPage; query: string }) =>
  `/p/${project}/${VIEW_LISTS[page].path}?${query}`;

/** The filters of a list as a query string; empty without filters. */
export function queryOfSearch(
  page: ViewPage,
  search: Readonly<Record<string, string | undefined>>,
): string {
  const given = VIEW_LISTS[page].parameters.flatMap((name) => {
    const value = search[name] ?? "";
    return value === "" ? [] : [[name, value]];
  });
  return new URLSearchParams(given).toString();
}

/** The search parameters of a view. */
export const searchOfQuery = (query: string): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(query));

/** Whether two query strings have the same parameters, in any order. */
export const isSameQuery = (a: string, b: string): boolean => sorted(a) === sorted(b);

function sorted(query: string): string {
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return parameters.toString();
}

/** `status: bounced, range: 7d`; words without a field are in quotation marks. */
export const wordsOfQuery = (query: string): string =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => (name === "q" ? `"${value}"` : `${name}: ${value}`))
    .join(", ");

/** The actions that a member may do with a view, as the server decides (modules/views/views.ts). */
export function rightsOf(view: { isOwn: boolean; isShared: boolean }, role: Role | null) {
  const isEditor = role !== null && role !== "VIEWER";
  const isAdmin = role === "ADMIN" || role === "OWNER";
  const isChangeable = view.isShared ? isEditor && (view.isOwn || isAdmin) : view.isOwn;
  return { mayChange: isChangeable, mayShare: view.isOwn && isEditor };
}
