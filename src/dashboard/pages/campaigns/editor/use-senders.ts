/** The addresses that a campaign may come from. */

import type { Domain } from "../../../../modules/domains/model.ts";
import { useAppState } from "../../../state.ts";
import { useDomains } from "../../domains/use-domains.ts";
import { useProjectDetails } from "../../settings/use-project-details.ts";
import { suggestions, unverifiedDomain } from "./senders.ts";

export function useSenders(project: string) {
  const { requiresVerifiedDomain } = useAppState();
  const { data } = useDomains(project);
  const details = useProjectDetails().data;
  const verified = (data ?? []).filter(isVerified).map(({ domain }) => domain);
  const sender = details?.sender ?? null;
  const own = sender === null ? [] : [sender.address];
  return {
    project: sender,
    isVerificationNeeded: requiresVerifiedDomain,
    suggestionsFor: (typed: string): string[] => [
      ...new Set([
        ...own.filter((address) => address.startsWith(typed.trim())),
        ...suggestions(typed, verified),
      ]),
    ],
    /** Null while the domains are not known. */
    unverifiedIn: (address: string): string | null =>
      unverifiedDomain(address, requiresVerifiedDomain && data !== undefined ? verified : null),
  };
}
export type Senders = ReturnType<typeof useSenders>;

const isVerified = ({ status }: Domain): boolean => status === "VERIFIED";
