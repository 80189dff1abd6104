/** The bar of actions on the selected contacts, or on all that match the search. */

import { Button, Menu, Progress } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { useEffect, useState } from "react";
import type { BulkAction, BulkProgress } from "../../../modules/contacts/bulk/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import type { Export } from "../../ui/export-button.tsx";
import { showDone } from "../../ui/undo.tsx";
import { SegmentDialog, TopicChoice, ValueDialog } from "./bulk-dialogs.tsx";
import { BULK_WORDS, contactsText, doneText } from "./bulk-words.ts";
import { bulkQuery, type ContactSearch } from "./search.ts";
import { useContactExport } from "./use-contact-export.ts";

type Props = {
  ids: readonly string[];
  search: ContactSearch;
  /** All that match the search; null while it is not known. */
  total: number | null;
  /** The export of all that match. */
  run: Export;
  /** Nothing is selected any more. */
  onDone: () => void;
  /** The contacts of the list were changed or removed. */
  onChanged: () => void;
};

/** Jobs send no live messages. */
const LOOK_AGAIN_MS = 500;
/** The interface takes so many ids in a URL. */
const MAX_EXPORTED = 200;
const SHOWN = ["subscribe", "unsubscribe", "delete"] as const satisfies BulkAction[];
const MORE = [
  "addToSegment",
  "removeFromSegment",
  "joinTopic",
  "leaveTopic",
  "set",
] as const satisfies BulkAction[];
const number = new Intl.NumberFormat();

export function BulkBar({ ids, search, total, run, onDone, onChanged }: Props) {
  const [isAll, setIsAll] = useState(false);
  const [asked, setAsked] = useState<BulkAction | null>(null);
  const [jobId, setJobId] = useState<string | null>(null);
  const selected = useContactExport({ ids: ids.join(",") }, ids.length);
  const count = isAll ? (total ?? 0) : ids.length;
  const close = () => setAsked(null);

  async function start(action: BulkAction, values: object = {}): Promise<void> {
    const target = isAll ? { query: bulkQuery(search) } : { ids };
    const { jobId: started } = await api.post<{ jobId: string }>("/contacts/bulk", {
      action,
      ...target,
      ...values,
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
      {SHOWN.map((action) => (
        <Button key={action} size="compact-sm" variant="default" onClick={() => setAsked(action)}>
          {BULK_WORDS[action].verb}
        </Button>
      ))}
      <Menu position="top-start">
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            rightSection={<ChevronDown size={13} aria-hidden />}
          >
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {MORE.map((action) => (
            <Menu.Item key={action} onClick={() => setAsked(action)}>
              {BULK_WORDS[action].verb}…
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item
            disabled={!isAll && ids.length > MAX_EXPORTED}
            onClick={() => void (isAll ? run : selected).start()}
          >
            {!isAll && ids.length > MAX_EXPORTED
              ? `Export (at most ${MAX_EXPORTED}, or all)`
              : "Export as CSV"}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onDone}>
        Clear
      </Button>
      {asked === "set" && (
        <ValueDialog count={count} onClose={close} onSubmit={(data) => start("set", { data })} />
      )}
      {(asked === "addToSegment" || asked === "removeFromSegment") && (
        <SegmentDialog
          action={asked}
          count={count}
          onClose={close}
          onSubmit={(segmentId) => start(asked, { segmentId })}
        />
      )}
      {(asked === "joinTopic" || asked === "leaveTopic") && (
        <TopicChoice
          action={asked}
          count={count}
          onClose={close}
          onSubmit={(topicId) => start(asked, { topicId })}
        />
      )}
      {(asked === "subscribe" || asked === "unsubscribe" || asked === "delete") && (
        <Confirm
          isOpen
          onClose={close}
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
    showDone(doneText(data));
    void client.invalidateQueries({ queryKey: ["contacts"] });
    void client.invalidateQueries({ queryKey: ["segments"] });
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
