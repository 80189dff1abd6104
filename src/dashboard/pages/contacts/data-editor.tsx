/** Edits the data of a contact: each field with its type. Only changed fields are sent. */

import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  SegmentedControl,
  Select,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { useUnsaved } from "../../ui/unsaved.tsx";
import {
  draftsOf,
  type Edit,
  editOf,
  isValueType,
  textForType,
  VALUE_TYPES,
  type ValueDraft,
  valueText,
} from "./data-values.ts";
import { useContactRefresh } from "./use-contact.ts";
import { useDataKeys } from "./use-data-keys.ts";

type Faults = Extract<Edit, { ok: false }>["faults"];
const NO_FAULTS: Faults = new Map();
/** Names of fields that are shown at once. */
const SUGGESTED = 20;
const TYPES = VALUE_TYPES.map(({ value, label }) => ({ value, label }));

export function DataEditor({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const known = useDataKeys(useProject()?.id ?? "", true);
  const { id, data } = contact;
  const refresh = useContactRefresh(id);
  // Changes of others meanwhile do not move what is being typed.
  const before = useRef(data);
  const [initial] = useState(() => draftsOf(data));
  const [drafts, setDrafts] = useState(initial);
  const unsaved = useUnsaved(JSON.stringify(drafts) !== JSON.stringify(initial));
  const [faults, setFaults] = useState(NO_FAULTS);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const added = useRef(0);

  const change = (draft: ValueDraft) =>
    setDrafts(drafts.map((each) => (each.id === draft.id ? draft : each)));
  const add = () =>
    setDrafts([
      ...drafts,
      { id: `new ${added.current++}`, key: "", type: "text", text: "", isNew: true },
    ]);

  async function patch(values: object): Promise<void> {
    await api.patch(`/contacts/${id}`, { data: values });
    await refresh();
  }

  async function save(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget;
    const edit = editOf(before.current, drafts);
    setFaults(edit.ok ? NO_FAULTS : edit.faults);
    if (!edit.ok) {
      requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    if (Object.keys(edit.patch).length === 0) return onClose();
    setIsBusy(true);
    try {
      await patch(edit.patch);
      onClose();
      const { inverse } = edit;
      showUndo({
        text: "The data was saved.",
        onUndo: () =>
          void patch(inverse).catch((caught: unknown) => showFailure("It was not undone", caught)),
      });
    } catch (caught) {
      setError(caught);
      setIsBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void save(event)} noValidate>
      {unsaved}
      <Stack gap="sm">
        {drafts.map((draft) => (
          <DraftRow
            key={draft.id}
            draft={draft}
            known={known.filter((key) => !drafts.some((each) => each.key === key))}
            fault={faults.get(draft.id)}
            onChange={change}
            onRemove={() => setDrafts(drafts.filter((each) => each.id !== draft.id))}
          />
        ))}
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<Plus size={14} aria-hidden />}
          className="contact-add-field"
          onClick={add}
        >
          Add a field
        </Button>
        {error !== null && <Problem error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button size="xs" variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button size="xs" type="submit" loading={isBusy}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function DraftRow(props: {
  draft: ValueDraft;
  /** Names of fields to choose from. */
  known: readonly string[];
  fault: { key?: string; value?: string } | undefined;
  onChange: (draft: ValueDraft) => void;
  /** Without it, the row cannot be removed. */
  onRemove?: () => void;
}) {
  const { draft, known, fault, onChange, onRemove } = props;
  const { key, type, isNew } = draft;
  const shownKey = key === "" ? "the new field" : valueText(key);
  return (
    <div className="contact-draft" role="group" aria-label={shownKey}>
      <div className="contact-draft-head">
        {isNew ? (
          <Autocomplete
            size="xs"
            className="grow"
            aria-label="Name of the field"
            placeholder="Name"
            data={[...known]}
            limit={SUGGESTED}
            value={key}
            error={fault?.key}
            autoFocus
            onChange={(typed) => onChange({ ...draft, key: typed })}
          />
        ) : (
          <bdi className="cut contact-draft-key" title={valueText(key)}>
            {key === "" ? "(no name)" : valueText(key)}
          </bdi>
        )}
        <Select
          size="xs"
          className="contact-draft-type"
          aria-label={`Type of ${shownKey}`}
          data={TYPES}
          value={type}
          allowDeselect={false}
          onChange={(chosen) => {
            if (isValueType(chosen)) {
              onChange({ ...draft, type: chosen, text: textForType(draft.text, chosen) });
            }
          }}
        />
        {onRemove !== undefined && (
          <ActionIcon aria-label={`Remove ${shownKey}`} onClick={onRemove}>
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        )}
      </div>
      <ValueField
        draft={draft}
        label={`Value of ${shownKey}`}
        error={fault?.value}
        onChange={onChange}
      />
    </div>
  );
}

function ValueField(props: {
  draft: ValueDraft;
  label: string;
  error: string | undefined;
  onChange: (draft: ValueDraft) => void;
}) {
  const { draft, label, error, onChange } = props;
  const { type, text } = draft;
  if (type === "flag") {
    return (
      <SegmentedControl
        size="xs"
        aria-label={label}
        value={text === "true" ? "true" : "false"}
        data={[
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ]}
        onChange={(value) => onChange({ ...draft, text: value })}
      />
    );
  }
  const rest = {
    size: "xs",
    "aria-label": label,
    placeholder: "Value",
    value: text,
    error,
  } as const;
  if (type === "number") {
    return (
      <TextInput
        {...rest}
        inputMode="decimal"
        onChange={({ currentTarget }) => onChange({ ...draft, text: currentTarget.value })}
      />
    );
  }
  return (
    <Textarea
      {...rest}
      autosize
      minRows={1}
      maxRows={8}
      dir="auto"
      className={type === "json" ? "contact-json" : undefined}
      onChange={({ currentTarget }) => onChange({ ...draft, text: currentTarget.value })}
    />
  );
}
