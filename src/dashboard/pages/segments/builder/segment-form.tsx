/** Creates or changes a segment: its name, its condition with the contacts it selects now, or a list. */

import "./styles.ts";
import { Button, Checkbox, SegmentedControl, Textarea, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { flushSync } from "react-dom";
import type { Segment } from "../../../../modules/segments/model.ts";
import { api } from "../../../api.ts";
import { Problem } from "../../../ui/problem.tsx";
import { useApiForm } from "../../../ui/use-api-form.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import type { KeptDraft } from "../../../ui/editors/drafts.ts";
import { areSameFields } from "../../../ui/editors/merge.ts";
import { Time } from "../../../ui/time.tsx";
import { useUnsaved } from "../../../ui/unsaved.tsx";
import { BacktestButton } from "./backtest-button.tsx";
import { ConditionEditor, entryOfCondition, useCondition } from "./condition-editor.tsx";
import { PreviewCard } from "./preview-card.tsx";
import { useFields } from "./use-fields.ts";
import { useKeeping, useKeptForm } from "./use-kept-form.ts";
import { usePreview } from "./use-preview.ts";

type Props = {
  project: string;
  /** Undefined for a new segment. */
  segment?: Segment;
  onSaved: (segment: Segment) => void | Promise<void>;
  onCancel: () => void;
};

export function SegmentForm({ project, segment, onSaved, onCancel }: Props) {
  const isNew = segment === undefined;
  const { kept, drafts } = useKeptForm(`segments:${project}:${segment?.id ?? "new"}`);
  const [before, setBefore] = useState(() => fieldsOf(segment));
  const [isRestored, setIsRestored] = useState(kept !== null);
  const entered = enteredFields(kept, before);
  const editor = useCondition(segment?.condition ?? null, kept?.now["condition"]);
  const [type, setType] = useState<Segment["type"]>(entered.type);
  const isDynamic = type === "DYNAMIC";
  const [isEnded, setIsEnded] = useState(false);
  const [isAsking, asking] = useDisclosure(false);
  const preview = usePreview(project, isDynamic ? editor.condition : null);
  const fields = useFields(project, segment?.id);
  const form = useApiForm({
    initial: entered.texts,
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
      flushSync(() => setIsEnded(true));
      await onSaved(saved);
    },
  });
  const now = { ...form.values, type, condition: isDynamic ? editor.entry : before.condition };
  const isChanged = !areSameFields(before, now);
  const isKept = useKeeping(drafts, { before, now, isEnded });
  const unsaved = useUnsaved(isChanged && !isKept && !isEnded);
  const isIncomplete = form.values.name.trim() === "" || (isDynamic && editor.condition === null);

  function startOver(): void {
    const fresh = fieldsOf(segment);
    setBefore(fresh);
    const { name, description, trackMembership } = fresh;
    form.form.setValues({ name, description, trackMembership });
    setType(fresh.type);
    editor.load(segment?.condition ?? null);
    setIsRestored(false);
  }

  function leave(): void {
    flushSync(() => setIsEnded(true));
    onCancel();
  }

  return (
    <form onSubmit={form.onSubmit} className="segment-form">
      {unsaved}
      <Confirm
        isOpen={isAsking}
        onClose={asking.close}
        title="Discard the changes?"
        text="What you entered here is not saved yet."
        action="Discard"
        onConfirm={async () => leave()}
      />
      <div className="segment-form-main">
        {isRestored && kept !== null && (
          <div className="segment-kept" role="status">
            <span>
              These changes were kept in this browser{" "}
              <Time at={new Date(kept.atMs).toISOString()} /> and are not saved.
              {!areSameFields(kept.before, before) && " The segment has been changed since then."}
            </span>
            <Button size="compact-sm" variant="default" onClick={startOver}>
              Start over
            </Button>
          </div>
        )}
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
          <Button
            variant="default"
            disabled={form.isBusy}
            onClick={isChanged ? asking.open : leave}
          >
            Cancel
          </Button>
        </div>
      </div>
      {isDynamic && (
        <PreviewCard project={project} preview={preview} isComplete={editor.condition !== null}>
          {segment !== undefined && (
            <BacktestButton project={project} segment={segment} condition={editor.condition} />
          )}
        </PreviewCard>
      )}
    </form>
  );
}

/** The fields of the form as the server has them. */
const fieldsOf = (segment: Segment | undefined) => ({
  name: segment?.name ?? "",
  description: segment?.description ?? "",
  trackMembership: segment?.trackMembership ?? false,
  type: segment?.type ?? ("DYNAMIC" as const),
  condition: entryOfCondition(segment?.condition ?? null),
});

/** The fields as they were kept; those that cannot be read are those of the server. */
function enteredFields(kept: KeptDraft | null, before: ReturnType<typeof fieldsOf>) {
  const { name, description, trackMembership, type } = kept?.now ?? {};
  return {
    texts: {
      name: typeof name === "string" ? name : before.name,
      description: typeof description === "string" ? description : before.description,
      trackMembership:
        typeof trackMembership === "boolean" ? trackMembership : before.trackMembership,
    },
    type: type === "STATIC" || type === "DYNAMIC" ? type : before.type,
  };
}
