/** The states that all tabs with the content of an email share: loading, refusal, removed content. */

import { Skeleton } from "@mantine/core";
import { EyeOff, FileX } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../../api.ts";
import { Note } from "../../ui/note.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";

type Loaded<T> = { data: T | undefined; error: Error | null; refetch: () => unknown };

export function Body<T>(props: { query: Loaded<T>; children: (data: T) => ReactNode }) {
  const { data, error, refetch } = props.query;
  const isSlow = useDelayed(data === undefined && error === null);
  if (data !== undefined) return props.children(data);
  if (error === null) return isSlow ? <Skeleton height={320} aria-busy="true" /> : null;
  if (error instanceof ApiError && error.status === 403) return <Refused />;
  if (error instanceof ApiError && error.code === "CONTENT_PURGED") return <Purged />;
  return <Problem error={error} onRetry={() => void refetch()} />;
}

function Refused() {
  return (
    <Note icon={<EyeOff size={20} aria-hidden />} title="You may not read this email">
      Transactional mail often contains personal data such as orders and links to sign in, so only
      editors and administrators of the project may read it. Its record, transcript and timeline are
      open to you.
    </Note>
  );
}

function Purged() {
  return (
    <Note icon={<FileX size={20} aria-hidden />} title="The content is no longer stored">
      This server removes the content of an email after the number of days in its setting{" "}
      <code>--retain-bodies</code>, and when the contact is deleted. The record, the transcript and
      the timeline remain.
    </Note>
  );
}
