/** What can be done with the selected contacts, or with all that match the search. */

import { Button, Progress } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { BulkAction, BulkProgress } from "../../../modules/contacts/bulk/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { showDone } from "../../ui/undo.tsx";
import { BULK_WORDS, contactsText } from "./bulk-words.ts";
import { type ContactSearch, conditionOf } from "./search.ts";

type Props = {
  ids: readonly string[];
  search: ContactSearch;
  /** All that match the search; null while it is not known. */
  total: number | null;
  /** Nothing is selected any more. */
  onDone: () => void;
  /** The contacts of the list were changed or removed. */
  onChanged: () => void;
};

/** Jobs send no live messages. */
const LOOK_AGAIN_MS = 500;
const ACTIONS = ["subscribe", "unsubscribe", "delete"] as const satisfies BulkAction[];
const number = new Intl.NumberFormat();

export function BulkBar({ ids, search, total, onDone, onChanged }: Props) {
  const [isAll, setIsAll] = useState(false);
  const [asked, setAsked] = useState<BulkAction | null>(null);
  const [jobId, setJobId] = useState<string | null>(null);
  const count = isAll ? (total ?? 0) : ids.length;

  async function start(action: BulkAction): Promise<void> {
    const target = isAll ? { filter: conditionOf(search) } : { ids };
    const { jobId: started } = await api.post<{ jobId: string }>("/contacts/bulk", {
      action,
      ...target,
    });
    setJobId(started);
  }

  if (jobId !== null) return <RunningAction id={jobId} onDone={onDone} onChanged={onChanged} />;
  return (
    <div className="selection" role="region" aria-label="Selected contacts">
      <span>{number.format(count)} selected</span>
      {!isAll && total !== null && total > ids.length && (
        <Button size="compact-sm" variant="subtle" onClick={() => setIsAll(true)}>
          Select all {number.format(total)}
        </Button>
      )}
      {ACTIONS.map((action) => (
        <Button key={action} size="compact-sm" variant="default" onClick={() => setAsked(action)}>
          {BULK_WORDS[action].verb}
        </Button>
      ))}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onDone}>
        Clear
      </Button>
      {asked !== null && (
        <Confirm
          isOpen
          onClose={() => setAsked(null)}
          title={`${BULK_WORDS[asked].verb} ${contactsText(count)}?`}
          text={BULK_WORDS[asked].meaning}
          action={`${BULK_WORDS[asked].verb} ${contactsText(count)}`}
          color={asked === "delete" ? "red" : "brand"}
          onConfirm={() => start(asked)}
        />
      )}
    </div>
  );
}

/** The progress of an action, which goes on without the page. */
function RunningAction(props: { id: string; onDone: () => void; onChanged: () => void }) {
  const { id, onDone, onChanged } = props;
  const client = useQueryClient();
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["bulk", project, id],
    queryFn: ({ signal }) => api.get<BulkProgress>(`/contacts/bulk/${id}`, { signal }),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : LOOK_AGAIN_MS),
  });
  const isEnded = isOver(data);
  useEffect(() => {
    if (data === undefined || !isEnded) return;
    const { action, updated, status, errors } = data;
    const failure = status === "FAILED" ? errors.at(-1)?.message : undefined;
    showDone(failure ?? `${contactsText(updated)} ${BULK_WORDS[action].done}.`);
    void client.invalidateQueries({ queryKey: ["contacts"] });
    onChanged();
    onDone();
  }, [isEnded]);
  const { processed = 0, total = null } = data ?? {};
  return (
    <div className="selection" role="status">
      <span>
        {number.format(processed)}
        {total === null ? "" : ` of ${number.format(total)}`}
      </span>
      <Progress
        w={160}
        value={total === null || total === 0 ? 0 : (100 * processed) / total}
        aria-label="Progress"
      />
    </div>
  );
}

const isOver = (job: BulkProgress | undefined): boolean =>
  job?.status === "COMPLETED" || job?.status === "FAILED";
