/** The search parameters of the import: the job that it shows. */

import { textsOf } from "../../../ui/search-texts.ts";

const KEYS = ["job"] as const;

export type ImportSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readImportSearch = (given: Readonly<Record<string, unknown>>): ImportSearch =>
  textsOf(given, KEYS);
