/** The domains of a project, the one that its mail comes from, and the check of their DNS records. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
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

/** Time between two checks while a record is missing. */
const PAUSE_MS = 5_000;
/** Checks after one click: they end after ten minutes, and the server goes on at its own pace. */
const MAX_CHECKS = 120;

/**
 * Asks the DNS at once when `start` is called, and then again every few seconds until all records
 * are found: people press the button while they wait for a record that they have just added.
 */
export function useDomainWatch(project: string, id: string, domain: Domain | undefined) {
  const { mutate, error, isPending } = useDomainCheck(project, id);
  const [left, setLeft] = useState(0);
  const isWaiting = domain?.records.some(({ status }) => status !== "OK") === true;
  const isWatching = left > 0 && isWaiting && error === null;
  useEffect(() => {
    if (!isWatching || isPending) return undefined;
    const timer = window.setInterval(() => {
      if (document.hidden) return;
      setLeft((checks) => checks - 1);
      mutate();
    }, PAUSE_MS);
    return () => window.clearInterval(timer);
  }, [isWatching, isPending, mutate]);
  return {
    error,
    /** True while it asks for the first time. */
    isStarting: isPending && left === MAX_CHECKS,
    isWatching,
    start(): void {
      setLeft(MAX_CHECKS);
      mutate();
    },
    stop: () => setLeft(0),
  };
}
