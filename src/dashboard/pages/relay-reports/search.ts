/** The search parameters of the pages of relay reports: the open source or mailbox. */

import { textsOf } from "../../ui/search-texts.ts";

const KEYS = ["source", "mailbox"] as const;

export type ReportSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readReportSearch = (given: Readonly<Record<string, unknown>>): ReportSearch =>
  textsOf(given, KEYS);
