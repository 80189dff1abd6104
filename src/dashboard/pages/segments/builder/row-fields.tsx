/** One row of a condition: its field, its operator and its value. */

import { ActionIcon, NumberInput, Select, TagsInput, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useAfterPress } from "../../../ui/use-after-press.ts";
import { faultOf, type Row, takesOf } from "./draft.ts";
import {
  DATA_KINDS,
  type DataKind,
  isDataField,
  kindOf,
  OPERATORS_OF,
  UNITS,
  WITH_PROPERTY,
} from "./operators.ts";
import { choicesFor, type FieldChoices } from "./use-fields.ts";

/** The properties of an input that is missing or wrong; none otherwise. */
type Marks = { error?: string };
type Props = {
  row: Row;
  label: string;
  fields: FieldChoices;
  /** The user has just added this row, so it gets the focus. */
  isAdded: boolean;
  onChange: (row: Row) => void;
  onRemove: (() => void) | undefined;
};

export function RowFields({ row, label, fields, isAdded, onChange, onRemove }: Props) {
  const { field, dataKind, operator } = row;
  const kind = kindOf(field, dataKind);
  const operators = kind === null ? [] : OPERATORS_OF[kind];
  const isData = isDataField(field);
  // A row is not faulty before its user turns to something else.
  const [isLeft, setIsLeft] = useState(false);
  const afterPress = useAfterPress();
  const fault = isLeft ? faultOf(row) : null;
  const marks = (part: string) => (fault?.part === part ? { error: fault.text } : {});

  /** Keeps the operator if the new field has it, and otherwise takes the first one. */
  function change(next: Partial<Row>): void {
    const changed = { ...row, ...next };
    const newKind = kindOf(changed.field, changed.dataKind);
    const known = newKind === null ? [] : OPERATORS_OF[newKind];
    const isKnown = known.some(({ value }) => value === changed.operator);
    if (next.field !== undefined || next.operator !== undefined) setIsLeft(false);
    onChange({ ...changed, operator: isKnown ? changed.operator : (known[0]?.value ?? "") });
  }

  return (
    <div
      className="builder-row"
      role="group"
      aria-label={label}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) afterPress(() => setIsLeft(true));
      }}
    >
      <div className="builder-cells">
        <FieldSelect
          label={`Field of ${label}`}
          value={field}
          fields={fields}
          marks={marks("field")}
          isAdded={isAdded}
          onChange={(chosen) => {
            const kindOfField = fields.dataKinds.get(chosen);
            change({ field: chosen, text: "", list: [], dataKind: kindOfField ?? "text" });
          }}
        />
        {isData && (
          <KindSelect
            label={label}
            value={dataKind}
            onChange={(kindOfData) => change({ dataKind: kindOfData, text: "", list: [] })}
          />
        )}
        <Select
          size="sm"
          className="builder-operator"
          aria-label={`Operator of ${label}`}
          data={operators.map(({ value, label: text }) => ({ value, label: text }))}
          value={operator === "" ? null : operator}
          placeholder="…"
          disabled={kind === null}
          allowDeselect={false}
          onChange={(value) =>
            value !== null &&
            change({
              operator: value,
              ...(value === WITH_PROPERTY ? { test: firstTest(dataKind) } : {}),
            })
          }
        />
        {operator === WITH_PROPERTY && (
          <PropertyFields
            row={row}
            label={label}
            marks={marks("property")}
            onChange={(next) => onChange({ ...row, ...next })}
          />
        )}
        <ValueFields row={row} label={label} marks={marks("value")} onChange={change} />
      </div>
      {onRemove !== undefined && (
        <ActionIcon aria-label={`Remove ${label}`} onClick={onRemove}>
          <Trash2 size={15} aria-hidden />
        </ActionIcon>
      )}
    </div>
  );
}

const firstTest = (kind: DataKind): string => OPERATORS_OF[kind][0]?.value ?? "";

/** The key of the data of an event, its type, and the operator for its value. */
function PropertyFields(props: {
  row: Row;
  label: string;
  marks: Marks;
  onChange: (next: Partial<Row>) => void;
}) {
  const { row, label, marks, onChange } = props;
  const tests = OPERATORS_OF[row.dataKind];
  return (
    <>
      <TextInput
        size="sm"
        className="builder-property"
        aria-label={`Property of ${label}`}
        placeholder="such as plan"
        value={row.property}
        {...marks}
        onChange={({ currentTarget }) => onChange({ property: currentTarget.value })}
      />
      <KindSelect
        label={label}
        value={row.dataKind}
        onChange={(dataKind) =>
          onChange({ dataKind, test: firstTest(dataKind), text: "", list: [] })
        }
      />
      <Select
        size="sm"
        className="builder-operator"
        aria-label={`Test of ${label}`}
        data={tests.map(({ value, label: text }) => ({ value, label: text }))}
        value={row.test === "" ? null : row.test}
        placeholder="…"
        allowDeselect={false}
        onChange={(value) => value !== null && onChange({ test: value })}
      />
    </>
  );
}

export function KindSelect(props: {
  label: string;
  value: DataKind;
  onChange: (kind: DataKind) => void;
}) {
  const { label, value, onChange } = props;
  return (
    <Select
      size="sm"
      className="builder-kind"
      aria-label={`Type of ${label}`}
      data={DATA_KINDS}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => {
        const found = DATA_KINDS.find((one) => one.value === chosen);
        if (found !== undefined) onChange(found.value);
      }}
    />
  );
}

/** All fields that are known; another one can be typed. */
export function FieldSelect(props: {
  label: string;
  value: string;
  fields: FieldChoices;
  marks: Marks;
  isAdded: boolean;
  onChange: (field: string) => void;
}) {
  const { label, value, fields, marks, isAdded, onChange } = props;
  const [search, setSearch] = useState("");
  return (
    <Select
      size="sm"
      className="builder-field"
      aria-label={label}
      placeholder="Choose a field"
      autoFocus={isAdded}
      searchable
      data={choicesFor(fields, search, value)}
      value={value === "" ? null : value}
      {...marks}
      allowDeselect={false}
      maxDropdownHeight={320}
      onSearchChange={setSearch}
      onChange={(chosen) => chosen !== null && onChange(chosen)}
      nothingFoundMessage="Type the name of a field or an event"
    />
  );
}

export function ValueFields(props: {
  row: Row;
  label: string;
  marks: Marks;
  onChange: (next: Partial<Row>) => void;
}) {
  const { row, label, marks, onChange } = props;
  const { text, list, unit } = row;
  const name = `Value of ${label}`;
  switch (takesOf(row)) {
    case "text":
      return (
        <TextInput
          size="sm"
          className="builder-value"
          aria-label={name}
          {...marks}
          value={text}
          onChange={({ currentTarget }) => onChange({ text: currentTarget.value })}
        />
      );
    case "number":
    case "count":
      return (
        <NumberInput
          size="sm"
          className="builder-value"
          aria-label={name}
          {...marks}
          value={text}
          onChange={(value) => onChange({ text: String(value) })}
        />
      );
    case "date":
      return (
        <TextInput
          size="sm"
          type="date"
          className="builder-value"
          aria-label={name}
          {...marks}
          value={text}
          onChange={({ currentTarget }) => onChange({ text: currentTarget.value })}
        />
      );
    case "flag":
      return (
        <Select
          size="sm"
          className="builder-value"
          aria-label={name}
          {...marks}
          data={[
            { value: "true", label: "yes" },
            { value: "false", label: "no" },
          ]}
          value={text === "" ? null : text}
          placeholder="Choose"
          allowDeselect={false}
          onChange={(value) => value !== null && onChange({ text: value })}
        />
      );
    case "list":
      return (
        <TagsInput
          size="sm"
          className="builder-value"
          aria-label={name}
          {...marks}
          value={[...list]}
          placeholder={list.length === 0 ? "Values, each with Enter" : ""}
          onChange={(next) => onChange({ list: next })}
        />
      );
    case "span":
      return (
        <>
          <NumberInput
            size="sm"
            className="builder-amount"
            aria-label={name}
            {...marks}
            min={1}
            allowDecimal={false}
            value={text}
            onChange={(value) => onChange({ text: String(value) })}
          />
          <Select
            size="sm"
            className="builder-unit"
            aria-label={`Unit of ${label}`}
            data={UNITS}
            value={unit}
            allowDeselect={false}
            onChange={(value) => value !== null && onChange({ unit: value })}
          />
        </>
      );
    default:
      return null;
  }
}
