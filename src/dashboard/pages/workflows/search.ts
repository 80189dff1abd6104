/** The search parameters of the pages of workflows. */

import { textsOf } from "../../ui/search-texts.ts";

const LIST_KEYS = ["enabled"] as const;
const KEYS = ["tab", "step", "execution", "status", "version"] as const;

export type WorkflowListSearch = { [Key in (typeof LIST_KEYS)[number]]?: string };
export type WorkflowSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readWorkflowListSearch = (given: Readonly<Record<string, unknown>>) =>
  textsOf(given, LIST_KEYS);

export const readWorkflowSearch = (given: Readonly<Record<string, unknown>>): WorkflowSearch =>
  textsOf(given, KEYS);
