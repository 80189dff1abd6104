/** Reads whom a condition selects, half a second after its last change. */

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ConditionPreview } from "../../../../modules/segments/model.ts";
import { api } from "../../../api.ts";

const SETTLED_MS = 400;

/** `condition` is null while it is not complete. */
export function usePreview(project: string, condition: unknown) {
  const [settled] = useDebouncedValue(JSON.stringify(condition), SETTLED_MS);
  const ask = (counted: "RECENT" | "EXACT") => (context: { signal: AbortSignal }) => {
    const given: unknown = JSON.parse(settled);
    const options = { query: { counted }, signal: context.signal };
    return api.post<ConditionPreview>("/segments/preview", { condition: given }, options);
  };
  const isAsked = settled !== "null";
  const quick = useQuery({
    queryKey: ["condition-preview", project, settled],
    queryFn: ask("RECENT"),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  const exact = useQuery({
    queryKey: ["condition-preview", project, settled, "exact"],
    queryFn: ask("EXACT"),
    enabled: isAsked && quick.data?.isExact === false && !quick.isPlaceholderData,
  });
  return {
    ...quick,
    data: isAsked ? (exact.data ?? quick.data) : undefined,
    error: isAsked ? (quick.error ?? exact.error) : null,
    isStale: quick.isPlaceholderData || settled !== JSON.stringify(condition),
  };
}
