/** The search parameters of the page: the text that is searched for, and which settings are shown. */

import { textsOf } from "../../ui/search-texts.ts";

const KEYS = ["q", "show"] as const;

export type ServerSettingsSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readServerSettingsSearch = (
  given: Readonly<Record<string, unknown>>,
): ServerSettingsSearch => textsOf(given, KEYS);
