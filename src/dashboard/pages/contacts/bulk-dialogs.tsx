/** The dialogs of actions on many contacts that need a segment or a value. */

import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Segment } from "../../../modules/segments/model.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { DialogForm } from "../../ui/dialog-form.tsx";
import { useApiForm } from "../../ui/use-api-form.ts";
import { useTopics } from "../topics/use-topics.ts";
import { BULK_WORDS, contactsText } from "./bulk-words.ts";
import { DraftRow } from "./data-editor.tsx";
import { editOf, type ValueDraft } from "./data-values.ts";
import { useDataKeys } from "./use-data-keys.ts";

type Props<Value> = {
  count: number;
  onClose: () => void;
  onSubmit: (value: Value) => Promise<void>;
};

/** Segments that the choice offers. */
const OFFERED = 100;
const NEW = "new";

export function SegmentDialog(
  props: Props<string> & { action: "addToSegment" | "removeFromSegment" },
) {
  const { action, count, onClose, onSubmit } = props;
  const project = useProject()?.id ?? null;
  const isAdded = action === "addToSegment";
  const { data } = useQuery({
    queryKey: ["segment-choices", project],
    queryFn: ({ signal }) =>
      api.get<ListPage<Segment>>("/segments", { query: { limit: OFFERED }, signal }),
  });
  const lists = (data?.items ?? []).filter(({ type }) => type === "STATIC");
  const form = useApiForm({
    initial: { segmentId: "", name: "" },
    async submit({ segmentId, name }, idempotencyKey) {
      if (segmentId !== NEW) return onSubmit(segmentId);
      const created = await api.post<Segment>(
        "/segments",
        { name: name.trim(), type: "STATIC" },
        { idempotencyKey },
      );
      await onSubmit(created.id);
    },
    onDone: onClose,
  });
  const { segmentId, name } = form.values;
  return (
    <Dialog
      opened
      onClose={onClose}
      title={`${BULK_WORDS[action].verb}: ${contactsText(count)}`}
      size="sm"
    >
      <DialogForm
        form={form}
        action={isAdded ? `Add ${contactsText(count)}` : `Remove ${contactsText(count)}`}
        isIncomplete={segmentId === "" || (segmentId === NEW && name.trim() === "")}
        onCancel={onClose}
      >
        <p className="muted">{BULK_WORDS[action].meaning}</p>
        <Select
          label="Segment"
          placeholder={data === undefined ? "Loading…" : "Choose a list"}
          searchable
          allowDeselect={false}
          data-autofocus
          nothingFoundMessage="No list has this name."
          data={[
            ...lists.map(({ id, name: text }) => ({ value: id, label: text })),
            ...(isAdded ? [{ value: NEW, label: "A new segment…" }] : []),
          ]}
          {...form.field("segmentId")}
        />
        {segmentId === NEW && (
          <TextInput label="Name of the new segment" autoFocus {...form.field("name")} />
        )}
      </DialogForm>
    </Dialog>
  );
}

export function TopicChoice(props: Props<string> & { action: "joinTopic" | "leaveTopic" }) {
  const { action, count, onClose, onSubmit } = props;
  const { data } = useTopics(useProject()?.id ?? "");
  const form = useApiForm({
    initial: { topicId: "" },
    submit: ({ topicId }) => onSubmit(topicId),
    onDone: onClose,
  });
  return (
    <Dialog
      opened
      onClose={onClose}
      title={`${BULK_WORDS[action].verb}: ${contactsText(count)}`}
      size="sm"
    >
      <DialogForm
        form={form}
        action={`${action === "joinTopic" ? "Add" : "Remove"} ${contactsText(count)}`}
        isIncomplete={form.values.topicId === ""}
        onCancel={onClose}
      >
        <p className="muted">{BULK_WORDS[action].meaning}</p>
        <Select
          label="Topic"
          placeholder={data === undefined ? "Loading…" : "Choose a topic"}
          searchable
          allowDeselect={false}
          data-autofocus
          nothingFoundMessage="No topic has this name."
          data={(data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.field("topicId")}
        />
      </DialogForm>
    </Dialog>
  );
}

const EMPTY: ValueDraft = { id: "value", key: "", type: "text", text: "", isNew: true };

export function ValueDialog({ count, onClose, onSubmit }: Props<Record<string, unknown>>) {
  const [draft, setDraft] = useState(EMPTY);
  const known = useDataKeys(useProject()?.id ?? "", true);
  const edit = editOf({}, [draft]);
  const [isTried, setIsTried] = useState(false);
  const form = useApiForm({
    initial: {},
    async submit() {
      setIsTried(true);
      if (!edit.ok) return false;
      await onSubmit(edit.patch);
      return true;
    },
    onDone: (isDone) => {
      if (isDone) onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} title={`Set a value of ${contactsText(count)}`} size="sm">
      <DialogForm
        form={form}
        action={`Change ${contactsText(count)}`}
        isIncomplete={draft.key.trim() === ""}
        onCancel={onClose}
      >
        <p className="muted">{BULK_WORDS.set.meaning}</p>
        <DraftRow
          draft={draft}
          known={known}
          fault={isTried && !edit.ok ? edit.faults.get(draft.id) : undefined}
          onChange={setDraft}
        />
      </DialogForm>
    </Dialog>
  );
}
