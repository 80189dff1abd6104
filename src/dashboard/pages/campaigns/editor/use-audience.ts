/** The audience of a draft: the choice while it is made, and its live numbers. */

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { AudienceBreakdown } from "../../../../modules/campaigns/audience-model.ts";
import { api } from "../../../api.ts";
import { useCondition } from "../../segments/builder/condition-editor.tsx";
import { useRenewed } from "../use-renewed.ts";
import { dependsOnMails } from "./sections.ts";
import type { CampaignEditing, CampaignSource } from "./campaign-source.ts";

const SETTLED_MS = 400;

export type AudienceType = CampaignSource["audienceType"];
export type AudienceFields = Pick<
  CampaignSource,
  "audienceType" | "segmentId" | "audienceFilter" | "category" | "topicId"
>;

/**
 * The audience that is being chosen. A segment that is not named yet, and conditions with a gap, are
 * no audience: they stay here until they are complete, and the draft keeps its audience.
 */
export function useAudienceChoice(editor: Pick<CampaignEditing, "value" | "change">) {
  const { value, change } = editor;
  const stored = JSON.stringify(value.audienceFilter);
  /** The stored filter that the rows show, so that rows of another person are read again. */
  const [shown, setShown] = useState(stored);
  const condition = useCondition(value.audienceFilter);
  const [chosen, setChosen] = useState<AudienceType | null>(null);
  const type = chosen ?? value.audienceType;
  /** A new draft has no segment, and the user has not chosen that. */
  const isUnset = chosen === null && value.audienceType === "SEGMENT" && value.segmentId === null;
  const before = useRef(value.segmentId);
  if (value.segmentId !== null) before.current = value.segmentId;

  const settle = (
    fields: Pick<CampaignSource, "audienceType" | "segmentId" | "audienceFilter">,
  ) => {
    setChosen(null);
    change(fields);
  };
  const setSegment = (segmentId: string) =>
    settle({ audienceType: "SEGMENT", segmentId, audienceFilter: null });
  function setFilter(filter: unknown): void {
    setShown(JSON.stringify(filter));
    settle({ audienceType: "FILTERED", segmentId: null, audienceFilter: filter });
  }

  /** Follows the rows: called after each change of the condition. */
  function takeCondition(filter: unknown): void {
    if (type !== "FILTERED" || filter === null) return;
    if (JSON.stringify(filter) !== stored || value.audienceType !== "FILTERED") setFilter(filter);
  }

  function setType(next: AudienceType): void {
    if (next === "ALL") settle({ audienceType: "ALL", segmentId: null, audienceFilter: null });
    else if (next === "SEGMENT" && before.current !== null) setSegment(before.current);
    else if (next === "FILTERED" && condition.condition !== null) setFilter(condition.condition);
    else setChosen(next);
  }

  const isOutside = value.audienceType === "FILTERED" && stored !== shown;
  return {
    type,
    isUnset,
    condition,
    setType,
    setSegment,
    takeCondition,
    /** True if the stored conditions differ from the rows, because another person changed them. */
    isOutside,
    showStored(): void {
      setShown(stored);
      condition.load(value.audienceFilter);
    },
    incomplete: incompleteText(type, value, condition.condition),
  };
}
export type AudienceChoice = ReturnType<typeof useAudienceChoice>;

function incompleteText(
  type: AudienceType,
  { audienceType, segmentId }: AudienceFields,
  condition: unknown,
): string | null {
  if (type === "SEGMENT" && (audienceType !== "SEGMENT" || segmentId === null)) {
    return "Choose who gets it";
  }
  return type === "FILTERED" && condition === null ? "Complete the conditions" : null;
}

/**
 * Counts the contacts who would get a mail with this audience now, and the contacts who would not,
 * by reason.
 */
export function useAudienceCount(project: string, fields: AudienceFields, isComplete: boolean) {
  const { audienceType, segmentId, audienceFilter, category, topicId } = fields;
  const whole = { audienceType, segmentId, audienceFilter, category, topicId };
  const asked = isComplete ? JSON.stringify(whole) : "";
  const [settled] = useDebouncedValue(asked, SETTLED_MS);
  const ask = (counted: "RECENT" | "EXACT") => (context: { signal: AbortSignal }) => {
    const input: unknown = JSON.parse(settled);
    const options = { query: { counted }, signal: context.signal };
    return api.post<AudienceBreakdown>("/campaigns/audience", input, options);
  };
  const isAsked = isComplete && settled !== "";
  useRenewed("campaign-audience", isAsked && dependsOnMails(fields));
  const key = ["campaign-audience", project, "draft", settled];
  const quick = useQuery({
    queryKey: key,
    queryFn: ask("RECENT"),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  const exact = useQuery({
    queryKey: [...key, "exact"],
    queryFn: ask("EXACT"),
    enabled: isAsked && quick.data?.isExact === false && !quick.isPlaceholderData,
  });
  return {
    data: isComplete ? (exact.data ?? quick.data) : undefined,
    error: isComplete ? (quick.error ?? exact.error) : null,
    isStale: quick.isPlaceholderData || settled !== asked,
    refetch: () => (quick.data?.isExact === false ? exact.refetch() : quick.refetch()),
  };
}
export type AudienceCount = ReturnType<typeof useAudienceCount>;
