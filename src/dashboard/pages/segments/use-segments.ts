/** The queries of segments. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { Segment, SegmentUsage } from "../../../modules/segments/model.ts";
import { api, type ListPage } from "../../api.ts";
import { type LiveMessage, useLiveMessages } from "../../live.ts";
import { serverNow } from "../../server-clock.ts";
import { useProject } from "../../state.ts";
import { type List, useList } from "../../ui/use-list.ts";

/** Objects of each kind whose names are known for conditions. */
const NAMED = 100;
/** The server counts the members for each answer, so it is asked at most so often. */
const REFRESH_MS = 15_000;
/** An older number of members is counted again. */
const OLD_MS = 5_000;

export function useSegmentList(): List<Segment> {
  useSlowRefresh();
  return useList<Segment>("segments", "/segments");
}

/**
 * If counting the members of a segment takes long, it is shown with the last known number until the
 * new one is there.
 */
export function useSegment(id: string) {
  const project = useProject()?.id ?? null;
  useSlowRefresh();
  const path = `/segments/${encodeURIComponent(id)}`;
  const recent = useQuery({
    queryKey: ["segments", project, id],
    queryFn: ({ signal }) => api.get<Segment>(path, { query: { counted: "RECENT" }, signal }),
  });
  const { data } = recent;
  const counted = useQuery({
    queryKey: ["segment-count", project, id, data?.memberCountedAt],
    queryFn: ({ signal }) => api.get<Segment>(path, { signal }),
    enabled: data !== undefined && isOld(data),
  }).data;
  if (data === undefined || counted === undefined) return recent;
  const { memberCount, memberCountedAt } = counted;
  return { ...recent, data: { ...data, memberCount, memberCountedAt } };
}

/** The server had no time to count the members for this answer. */
const isOld = ({ memberCountedAt }: Segment): boolean =>
  serverNow() - Date.parse(memberCountedAt) > OLD_MS;

export function useSegmentUsage(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["segments", project, id, "usage"],
    queryFn: ({ signal }) =>
      api.get<SegmentUsage>(`/segments/${encodeURIComponent(id)}/usage`, { signal }),
  });
}

/** The names of the newest segments, campaigns and templates, by their ids. */
export function useReferredNames(isNeeded: boolean): ReadonlyMap<string, string> {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["referred-names", project],
    queryFn: async ({ signal }) => {
      const query = { limit: NAMED };
      const lists = await Promise.all(
        [
          { path: "/segments" },
          { path: "/campaigns/summaries", filter: { imported: false } },
          { path: "/templates" },
        ].map(({ path, filter = {} }) =>
          api.get<ListPage<{ id: string; name: string }>>(path, {
            query: { ...query, ...filter },
            signal,
          }),
        ),
      );
      return lists.flatMap(({ items }) => items.map(({ id, name }) => [id, name] as const));
    },
    enabled: isNeeded,
    staleTime: 60_000,
  });
  return new Map(data ?? []);
}

export function useSegmentRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries({ queryKey: ["segments"] }), [client]);
}

/** Reads the segments again after changes of contacts and members, but not for each of them. */
function useSlowRefresh(): void {
  const refresh = useSegmentRefresh();
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const onMessages = useCallback(
    (messages: readonly LiveMessage[]) => {
      if (!messages.some(({ type }) => /^(?:contact|segment)\./.test(type))) return;
      timer.current ??= window.setTimeout(() => {
        timer.current = undefined;
        void refresh();
      }, REFRESH_MS);
    },
    [refresh],
  );
  useLiveMessages(onMessages);
}
