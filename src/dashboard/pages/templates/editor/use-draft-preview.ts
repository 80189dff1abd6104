/**
 * The mail that the template in the editor makes, and its faults, a moment after the last change.
 */

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { TemplateDraftPreview } from "../../../../modules/template-editor/draft-model.ts";
import { api } from "../../../api.ts";
import type { TemplateSource } from "./template-source.ts";

const SETTLED_MS = 350;
/** The server keeps the document of a preview for ten minutes, and only the latest ones. */
const RENEWED_MS = 8 * 60_000;

export type DraftFault = TemplateDraftPreview["errors"][number];

/** The members of a draft that the server renders. */
export type DraftSource = Pick<
  TemplateSource,
  "subject" | "preheader" | "body" | "layoutId" | "type"
>;
export type TemplateDraft = DraftSource & { contactId?: string };

export function draftOf(source: DraftSource, contactId: string | undefined): TemplateDraft {
  const { subject, preheader, body, layoutId, type } = source;
  const draft = { subject, preheader, body, layoutId, type };
  return contactId === undefined ? draft : { ...draft, contactId };
}

const numbers = new WeakMap<object, number>();
let drafts = 0;

/**
 * Numbers the drafts: the key of a query becomes a text at each drawing, which takes long with a
 * body in it.
 */
function numberOf(draft: object): number {
  const known = numbers.get(draft);
  if (known !== undefined) return known;
  numbers.set(draft, ++drafts);
  return drafts;
}

export function useDraftPreview(
  project: string,
  source: DraftSource,
  contactId: string | undefined,
) {
  const { subject, preheader, body, layoutId, type } = source;
  const draft = useMemo(
    () => draftOf(source, contactId),
    [subject, preheader, body, layoutId, type, contactId],
  );
  const [settled] = useDebouncedValue(draft, SETTLED_MS);
  const query = useQuery({
    queryKey: ["template-draft", project, numberOf(settled)],
    queryFn: ({ signal }) =>
      api.post<TemplateDraftPreview>("/templates/preview", settled, { signal }),
    placeholderData: keepPreviousData,
    gcTime: 0,
    refetchInterval: RENEWED_MS,
  });
  return { ...query, settled, isStale: query.isPlaceholderData || settled !== draft };
}
