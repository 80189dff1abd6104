/** The domains of a project, the one that its mail comes from, and the check of their DNS records. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Domain } from "../../../modules/domains/model.ts";
import { api, type ListPage } from "../../api.ts";

const MAX_DOMAINS = 100;

export const domainKey = (project: string, id: string) => ["domains", project, id];

/** The domains, newest first. */
export function useDomains(project: string) {
  return useQuery({
    queryKey: ["domains", project, "newest"],
    queryFn: ({ signal }) =>
      api.get<ListPage<Domain>>("/domains", { query: { limit: MAX_DOMAINS }, project, signal }),
    select: ({ items }) => items,
  });
}

/** The newest verified domain, or else the newest one; null without domains. */
export const senderDomain = <D extends Pick<Domain, "status">>(domains: readonly D[]): D | null =>
  domains.find(({ status }) => status === "VERIFIED") ?? domains[0] ?? null;

/** The records without which mail from the domain is refused, and that were not found yet. */
export const neededRecords = ({ records }: Pick<Domain, "records">) =>
  records.filter(({ required, status }) => required && status !== "OK");

/** Asks the DNS for the records of a domain. */
export function useDomainCheck(project: string, id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      api.post<Domain>(`/domains/${encodeURIComponent(id)}/verify`, undefined, { project }),
    onSuccess: async (checked) => {
      client.setQueryData(domainKey(project, id), checked);
      await client.invalidateQueries({
        queryKey: ["domains", project],
        predicate: ({ queryKey }) => queryKey[2] !== id,
      });
    },
  });
}
