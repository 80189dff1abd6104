/** The search parameters of the list of templates and of the page of one template. */

import type { Query } from "../../api.ts";
import { textsOf } from "../../ui/search-texts.ts";

const LIST_KEYS = ["q"] as const;
export type TemplatesSearch = { [Key in (typeof LIST_KEYS)[number]]?: string };

export const readTemplatesSearch = (given: Readonly<Record<string, unknown>>): TemplatesSearch =>
  textsOf(given, LIST_KEYS);

/** The rows in a page of the list: fewer than in other lists, because templates have bodies. */
const PAGE_SIZE = 25;

/** The parameters of GET /templates. */
export const templatesQuery = ({ q }: TemplatesSearch): Query => ({ name: q, limit: PAGE_SIZE });

/**
 * `as` is the id of the contact for which the template is rendered, `device` and `dark` say how it is
 * shown, `mode` is "code" for the source of a template of the visual editor, and `version` is the
 * revision that is compared.
 */
const KEYS = ["tab", "as", "device", "dark", "mode", "version"] as const;
export type TemplateSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readTemplateSearch = (given: Readonly<Record<string, unknown>>): TemplateSearch =>
  textsOf(given, KEYS);

type Tab = { key: string; label: string };

/** The tabs of people who may change the template. */
export const EDITOR_TABS: readonly Tab[] = [
  { key: "edit", label: "Edit" },
  { key: "settings", label: "Settings" },
  { key: "checks", label: "Checks" },
  { key: "variables", label: "Variables" },
  { key: "versions", label: "Versions" },
  { key: "uses", label: "Where it is used" },
];

export const VIEWER_TABS: readonly Tab[] = [
  { key: "preview", label: "Preview" },
  { key: "variables", label: "Variables" },
  { key: "source", label: "Source" },
  { key: "uses", label: "Where it is used" },
];

/** The tab of the address, or the first one. */
export const currentTab = (tabs: readonly Tab[], { tab }: TemplateSearch): string =>
  tabs.find(({ key }) => key === tab)?.key ?? tabs[0]?.key ?? "";
