/** Creates or changes a segment: its name, its condition with the contacts it selects now, or a list. */

import "./styles.ts";
import { Button, Checkbox, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { flushSync } from "react-dom";
import type { Segment } from "../../../../modules/segments/model.ts";
import { api } from "../../../api.ts";
import { Problem } from "../../../ui/problem.tsx";
import { useApiForm } from "../../../ui/use-api-form.ts";
import { useUnsaved } from "../../../ui/unsaved.tsx";
import { ConditionEditor, useCondition } from "./condition-editor.tsx";
import { PreviewCard } from "./preview-card.tsx";
import { useFields } from "./use-fields.ts";
import { usePreview } from "./use-preview.ts";

type Props = {
  project: string;
  /** Undefined for a new segment. */
  segment?: Segment;
  onSaved: (segment: Segment) => void | Promise<void>;
  onCancel: () => void;
};

export function SegmentForm({ project, segment, onSaved, onCancel }: Props) {
  const editor = useCondition(segment?.condition ?? null);
  const isNew = segment === undefined;
  const [type, setType] = useState<Segment["type"]>(segment?.type ?? "DYNAMIC");
  const isDynamic = type === "DYNAMIC";
  const [isSaved, setIsSaved] = useState(false);
  const preview = usePreview(project, isDynamic ? editor.condition : null);
  const fields = useFields(project, segment?.id);
  const form = useApiForm({
    initial: {
      name: segment?.name ?? "",
      description: segment?.description ?? "",
      trackMembership: segment?.trackMembership ?? false,
    },
    submit({ name, description, trackMembership }, idempotencyKey) {
      const note = description.trim() === "" ? null : description.trim();
      const condition = isDynamic ? { condition: editor.condition } : {};
      const body = { name: name.trim(), description: note, trackMembership, ...condition };
      return isNew
        ? api.post<Segment>("/segments", { ...body, type }, { idempotencyKey })
        : api.patch<Segment>(`/segments/${segment.id}`, body);
    },
    async onDone(saved) {
      // The page may be left before it is drawn again.
      flushSync(() => setIsSaved(true));
      await onSaved(saved);
    },
  });
  const isChanged = form.form.isDirty() || editor.isChanged;
  const unsaved = useUnsaved(isChanged && !isSaved);
  const isIncomplete = form.values.name.trim() === "" || (isDynamic && editor.condition === null);

  return (
    <form onSubmit={form.onSubmit} className="segment-form">
      {unsaved}
      <div className="segment-form-main">
        <TextInput
          label="Name"
          required
          withAsterisk={false}
          maxLength={255}
          autoFocus={isNew}
          {...form.field("name")}
        />
        {isNew && (
          <SegmentedControl
            aria-label="Members"
            value={type}
            data={[
              { value: "DYNAMIC", label: "Members by a condition" },
              { value: "STATIC", label: "A list that you fill" },
            ]}
            onChange={(value) => setType(value === "STATIC" ? "STATIC" : "DYNAMIC")}
          />
        )}
        {isDynamic ? (
          <ConditionEditor editor={editor} fields={fields} />
        ) : (
          <p className="muted">
            Contacts are added on the page of the list: pasted, or by your programs.
          </p>
        )}
        <Textarea
          label="Note"
          autosize
          minRows={1}
          maxRows={6}
          maxLength={1000}
          {...form.field("description")}
        />
        <Checkbox
          label="Record when contacts enter and leave, as events that can start workflows"
          {...form.form.getInputProps("trackMembership", { type: "checkbox" })}
        />
        {form.error !== null && <Problem error={form.error} />}
        <div className="segment-form-actions">
          <Button type="submit" loading={form.isBusy} disabled={isIncomplete}>
            {isNew ? "Create the segment" : "Save"}
          </Button>
          <Button variant="default" disabled={form.isBusy} onClick={onCancel}>
            Cancel
          </Button>
        </div>
      </div>
      {isDynamic && (
        <PreviewCard project={project} preview={preview} isComplete={editor.condition !== null} />
      )}
    </form>
  );
}
