/** The inboxes of the project, which the side bar and the inbox read. */

import { useQuery } from "@tanstack/react-query";
import type { Inbox } from "../modules/inboxes/inbox-model.ts";
import { api } from "./api.ts";
import { useProject } from "./state.ts";

export function useInboxes() {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["inboxes", project],
    queryFn: ({ signal }) => api.get<Inbox[]>("/inboxes", { signal }),
    enabled: project !== null,
  });
}

/** Number of failure rules that are on, in all inboxes. */
export function useActiveRules(): number {
  const { data = [] } = useInboxes();
  return data.reduce((sum, { activeRules }) => sum + activeRules, 0);
}

/** "1 failure rule is on". */
export const activeRulesText = (count: number): string =>
  `${count} failure ${count === 1 ? "rule is" : "rules are"} on`;
