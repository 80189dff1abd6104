/** The search parameters of the list of forms and of the page of one form. */

import type { Query } from "../../api.ts";
import { textsOf } from "../../ui/search-texts.ts";

const LIST_KEYS = ["q"] as const;
export type FormsSearch = { [Key in (typeof LIST_KEYS)[number]]?: string };

export const readFormsSearch = (given: Readonly<Record<string, unknown>>): FormsSearch =>
  textsOf(given, LIST_KEYS);

/** The parameters of GET /forms. */
export const formsQuery = ({ q }: FormsSearch): Query => ({ name: q, limit: 50 });

/** `days` is the number of days of the report, and `as` is "table" for its numbers. */
const KEYS = ["tab", "days", "as"] as const;
export type FormSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readFormSearch = (given: Readonly<Record<string, unknown>>): FormSearch =>
  textsOf(given, KEYS);
