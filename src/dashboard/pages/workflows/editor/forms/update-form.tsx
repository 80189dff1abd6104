/** Changes of the contact: fields of its data, and whether it is subscribed. */

import { Button, Select } from "@mantine/core";
import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import { isRecord } from "../../../../ui/is-record.ts";
import { DraftRow } from "../../../contacts/data-editor.tsx";
import { draftsOf, editOf, type ValueDraft } from "../../../contacts/data-values.ts";
import { useDataKeys } from "../../../contacts/use-data-keys.ts";
import { type FormProps, textAt, withMember } from "./form-props.ts";

const SUBSCRIPTIONS = [
  { value: "", label: "Stays as it is" },
  { value: "subscribe", label: "Subscribe the contact" },
  { value: "unsubscribe", label: "Unsubscribe the contact" },
];

export function UpdateForm({ step, project, fault, onChange }: FormProps) {
  const { config } = step;
  const known = useDataKeys(project, true);
  const updates = isRecord(config["updates"]) ? config["updates"] : {};
  const removed = Object.keys(updates).filter((key) => updates[key] === null);
  const [drafts, setDrafts] = useState<readonly ValueDraft[]>(() =>
    draftsOf(Object.fromEntries(Object.entries(updates).filter(([, value]) => value !== null))),
  );
  const made = useRef(0);
  // Rows with a fault are not in the settings until they are right.
  const edit = editOf({}, drafts);
  const faults = edit.ok ? null : edit.faults;

  function change(next: readonly ValueDraft[]): void {
    setDrafts(next);
    const result = editOf({}, next);
    const right = result.ok
      ? result
      : editOf(
          {},
          next.filter(({ id }) => !result.faults.has(id)),
        );
    if (!right.ok) return;
    const values = {
      ...Object.fromEntries(removed.map((key) => [key, null])),
      ...right.patch,
    };
    const isEmpty = Object.keys(values).length === 0;
    onChange(withMember(config, "updates", isEmpty ? undefined : values));
  }

  return (
    <>
      <fieldset className="split-form">
        <legend>Data</legend>
        {drafts.map((draft) => (
          <DraftRow
            key={draft.id}
            draft={draft}
            known={known.filter((key) => !drafts.some((each) => each.key === key))}
            fault={draft.key === "" ? undefined : faults?.get(draft.id)}
            onChange={(next) => change(drafts.map((each) => (each.id === next.id ? next : each)))}
            onRemove={() => change(drafts.filter((each) => each.id !== draft.id))}
          />
        ))}
        {removed.length > 0 && (
          <p className="muted small">It also removes these fields: {removed.join(", ")}.</p>
        )}
        {fault("config.updates") !== undefined && (
          <p className="field-fault" role="alert">
            {fault("config.updates")}
          </p>
        )}
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() =>
            setDrafts([
              ...drafts,
              { id: `new ${made.current++}`, key: "", type: "text", text: "", isNew: true },
            ])
          }
        >
          Set a field
        </Button>
      </fieldset>
      <Select
        label="Subscription"
        data={SUBSCRIPTIONS}
        value={textAt(config, "subscriptionAction")}
        allowDeselect={false}
        error={fault("config.subscriptionAction")}
        onChange={(action) =>
          onChange(
            withMember(
              config,
              "subscriptionAction",
              action === "" ? undefined : (action ?? undefined),
            ),
          )
        }
      />
    </>
  );
}
