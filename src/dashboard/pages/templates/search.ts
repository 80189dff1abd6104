/** The search parameters of the list of templates and of the page of one template. */

import type { Query } from "../../api.ts";
import { textsOf } from "../../ui/search-texts.ts";

const LIST_KEYS = ["q"] as const;
export type TemplatesSearch = { [Key in (typeof LIST_KEYS)[number]]?: string };

export const readTemplatesSearch = (given: Readonly<Record<string, unknown>>): TemplatesSearch =>
  textsOf(given, LIST_KEYS);

/** Templates have bodies, so that the pages of this list are smaller than those of others. */
const PAGE_SIZE = 25;

/** The parameters of GET /templates. */
export const templatesQuery = ({ q }: TemplatesSearch): Query => ({ name: q, limit: PAGE_SIZE });

/** `as` is the id of the contact for which the template is rendered. */
const KEYS = ["tab", "as"] as const;
export type TemplateSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readTemplateSearch = (given: Readonly<Record<string, unknown>>): TemplateSearch =>
  textsOf(given, KEYS);

export const TEMPLATE_TABS = [
  { key: "preview", label: "Preview" },
  { key: "variables", label: "Variables" },
  { key: "source", label: "Source" },
  { key: "uses", label: "Where it is used" },
] as const;

export const templateTabOf = ({ tab }: TemplateSearch): (typeof TEMPLATE_TABS)[number]["key"] =>
  TEMPLATE_TABS.find(({ key }) => key === tab)?.key ?? "preview";
