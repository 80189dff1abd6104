/** The search parameters of the page of received mails: the open mail and its tab. */

import { textsOf } from "../../ui/search-texts.ts";

const KEYS = ["mail", "tab"] as const;

export type ReceivedSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readReceivedSearch = (given: Readonly<Record<string, unknown>>): ReceivedSearch =>
  textsOf(given, KEYS);
