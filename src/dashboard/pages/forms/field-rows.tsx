/** The fields of a form beside the email address: each is a row that is changed, moved and removed. */

import { ActionIcon, Button, Checkbox, Select, Textarea, TextInput, Tooltip } from "@mantine/core";
import { ArrowDown, ArrowUp, Plus, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { type FormFieldValues, moved, nameOfLabel, newField } from "./form-values.ts";

const KINDS: readonly { value: FormFieldValues["kind"]; label: string }[] = [
  { value: "TEXT", label: "Text" },
  { value: "NUMBER", label: "Number" },
  { value: "DATE", label: "Date" },
  { value: "CHOICE", label: "Choice" },
  { value: "CHECKBOX", label: "Checkbox" },
];

const kindIn = (text: string | null): FormFieldValues["kind"] =>
  KINDS.find(({ value }) => value === text)?.value ?? "TEXT";

const MAX_FIELDS = 20;

export function FieldRows(props: {
  fields: FormFieldValues[];
  /** The fault of a part of a field, such as `0.name`. */
  faultOf: (path: string) => string | undefined;
  isReadOnly: boolean;
  onChange: (fields: FormFieldValues[]) => void;
}) {
  const { fields, faultOf, isReadOnly, onChange } = props;
  const change = (at: number, next: Partial<FormFieldValues>) =>
    onChange(fields.map((field, i) => (i === at ? { ...field, ...next } : field)));
  return (
    <>
      <ol className="form-rows" aria-label="Fields">
        {fields.map((field, i) => (
          <li key={field.key} className="form-row">
            <FieldRow
              field={field}
              faultOf={(part) => faultOf(`${i}.${part}`)}
              isReadOnly={isReadOnly}
              onChange={(next) => change(i, next)}
            />
            {!isReadOnly && (
              <RowTools
                label={field.label === "" ? `field ${i + 1}` : field.label}
                onUp={i === 0 ? null : () => onChange(moved(fields, i, -1))}
                onDown={i === fields.length - 1 ? null : () => onChange(moved(fields, i, 1))}
                onRemove={() => onChange(fields.filter((_, at) => at !== i))}
              >
                <Checkbox
                  label="Required"
                  checked={field.isRequired}
                  onChange={({ currentTarget }) => change(i, { isRequired: currentTarget.checked })}
                />
              </RowTools>
            )}
          </li>
        ))}
      </ol>
      {!isReadOnly && fields.length < MAX_FIELDS && (
        <Button
          variant="default"
          leftSection={<Plus size={15} aria-hidden />}
          onClick={() => onChange([...fields, newField(fields)])}
        >
          Add a field
        </Button>
      )}
    </>
  );
}

function FieldRow(props: {
  field: FormFieldValues;
  faultOf: (part: string) => string | undefined;
  isReadOnly: boolean;
  onChange: (next: Partial<FormFieldValues>) => void;
}) {
  const { field, faultOf, isReadOnly, onChange } = props;
  /** The name follows the label until it is typed. */
  const changeLabel = (label: string) =>
    onChange(
      field.name === nameOfLabel(field.label) ? { label, name: nameOfLabel(label) } : { label },
    );
  return (
    <>
      <TextInput
        label="Label"
        value={field.label}
        readOnly={isReadOnly}
        error={faultOf("label")}
        onChange={({ currentTarget }) => changeLabel(currentTarget.value)}
      />
      <TextInput
        label="Stored as"
        value={field.name}
        readOnly={isReadOnly}
        spellCheck={false}
        error={faultOf("name")}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <Select
        label="Kind"
        data={[...KINDS]}
        value={field.kind}
        readOnly={isReadOnly}
        allowDeselect={false}
        onChange={(kind) => onChange({ kind: kindIn(kind) })}
      />
      {field.kind === "CHOICE" && (
        <Textarea
          className="form-row-wide"
          label="Options"
          description="One in each line"
          autosize
          minRows={2}
          maxRows={10}
          value={field.options}
          readOnly={isReadOnly}
          error={faultOf("options")}
          onChange={({ currentTarget }) => onChange({ options: currentTarget.value })}
        />
      )}
    </>
  );
}

function RowTools(props: {
  label: string;
  onUp: (() => void) | null;
  onDown: (() => void) | null;
  onRemove: () => void;
  children: ReactNode;
}) {
  const { label, onUp, onDown, onRemove, children } = props;
  return (
    <div className="form-row-tools">
      {children}
      <Tool label={`Move ${label} up`} onPress={onUp}>
        <ArrowUp size={15} />
      </Tool>
      <Tool label={`Move ${label} down`} onPress={onDown}>
        <ArrowDown size={15} />
      </Tool>
      <Tool label={`Remove ${label}`} onPress={onRemove}>
        <Trash2 size={15} />
      </Tool>
    </div>
  );
}

function Tool(props: { label: string; onPress: (() => void) | null; children: ReactNode }) {
  const { label, onPress, children } = props;
  return (
    <Tooltip label={label}>
      <ActionIcon
        aria-label={label}
        aria-disabled={onPress === null}
        {...(onPress === null && { "data-disabled": true })}
        onClick={() => onPress?.()}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
