/** The queries of segments. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { Segment, SegmentUsage } from "../../../modules/segments/model.ts";
import { api, ApiError, type ListPage } from "../../api.ts";
import { type LiveMessage, useLiveMessages } from "../../live.ts";
import { useProject } from "../../state.ts";
import { type List, useList } from "../../ui/use-list.ts";

const NOT_FOUND = 404;
/** Segments whose names are known for conditions. */
const NAMED = 100;
/** The server counts the members for each answer, so it is asked at most so often. */
const REFRESH_MS = 15_000;

export function useSegmentList(): List<Segment> {
  useSlowRefresh();
  return useList<Segment>("segments", "/segments");
}

/** The data is null for a segment that does not exist. */
export function useSegment(id: string) {
  const project = useProject()?.id ?? null;
  useSlowRefresh();
  return useQuery({
    queryKey: ["segments", project, id],
    queryFn: async ({ signal }): Promise<Segment | null> => {
      try {
        return await api.get<Segment>(`/segments/${encodeURIComponent(id)}`, { signal });
      } catch (error) {
        if (error instanceof ApiError && error.status === NOT_FOUND) return null;
        throw error;
      }
    },
  });
}

export function useSegmentUsage(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["segments", project, id, "usage"],
    queryFn: ({ signal }) =>
      api.get<SegmentUsage>(`/segments/${encodeURIComponent(id)}/usage`, { signal }),
  });
}

/** The names of the newest segments, by their ids. */
export function useSegmentNames(isNeeded: boolean): ReadonlyMap<string, string> {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["segment-names", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<Segment>>("/segments", { query: { limit: NAMED }, signal }),
    enabled: isNeeded,
    staleTime: 60_000,
  });
  return new Map((data?.items ?? []).map(({ id, name }) => [id, name]));
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
