/** The rows of a condition: "field, operator, value", joined by "all" or "any", and groups of rows. */

import "./styles.ts";
import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { type RefObject, useRef, useState } from "react";
import {
  type Draft,
  type Logic,
  newGroup,
  newRow,
  other,
  type Row,
  type RowGroup,
} from "./draft.ts";
import { RowFields } from "./row-fields.tsx";
import type { FieldChoices } from "./use-fields.ts";

type Props = { draft: Draft; fields: FieldChoices; onChange: (draft: Draft) => void };

export function Builder({ draft, fields, onChange }: Props) {
  const { logic, items } = draft;
  const change = (next: Draft["items"]) => onChange({ logic, items: next });
  const replace = (item: Row | RowGroup) =>
    change(items.map((each) => (each.id === item.id ? item : each)));
  const adding = useRef<HTMLButtonElement>(null);
  function remove(id: string): void {
    change(items.filter((each) => each.id !== id));
    adding.current?.focus();
  }
  const [added, setAdded] = useState<string | null>(null);
  function add(item: Row | RowGroup): void {
    change([...items, item]);
    setAdded(item.id);
  }
  return (
    <div className="builder">
      <Joined
        label="How the conditions are joined"
        logic={logic}
        onChange={(next) => onChange({ logic: next, items })}
      />
      <ul className="builder-rows">
        {items.map((item, i) => (
          <li key={item.id}>
            {item.kind === "row" ? (
              <RowFields
                row={item}
                label={`Condition ${i + 1}`}
                fields={fields}
                isAdded={item.id === added}
                onChange={replace}
                onRemove={items.length > 1 ? () => remove(item.id) : undefined}
              />
            ) : (
              <Group
                group={item}
                label={`Condition ${i + 1}`}
                logic={other(logic)}
                fields={fields}
                isAdded={item.id === added}
                onChange={replace}
                onRemove={() => remove(item.id)}
              />
            )}
          </li>
        ))}
      </ul>
      <div className="builder-add">
        <AddButton button={adding} onAdd={() => add(newRow())}>
          Add a condition
        </AddButton>
        <AddButton onAdd={() => add(newGroup())}>
          Add a group: {logic === "AND" ? "any of several" : "all of several"}
        </AddButton>
      </div>
    </div>
  );
}

function AddButton(props: {
  /** Gets the focus when the element that had it is removed. */
  button?: RefObject<HTMLButtonElement | null>;
  onAdd: () => void;
  children: React.ReactNode;
}) {
  const { button, onAdd, children } = props;
  return (
    <Button
      ref={button}
      size="compact-sm"
      variant="subtle"
      leftSection={<Plus size={14} aria-hidden />}
      onClick={onAdd}
    >
      {children}
    </Button>
  );
}

function Joined(props: { label: string; logic: Logic; onChange: (logic: Logic) => void }) {
  const { label, logic, onChange } = props;
  return (
    <div className="builder-logic">
      <span>Contacts that meet</span>
      <SegmentedControl
        size="xs"
        aria-label={label}
        value={logic}
        data={[
          { value: "AND", label: "all" },
          { value: "OR", label: "any" },
        ]}
        onChange={(value) => onChange(value === "OR" ? "OR" : "AND")}
      />
      <span>of these conditions</span>
    </div>
  );
}

function Group(props: {
  group: RowGroup;
  label: string;
  logic: Logic;
  fields: FieldChoices;
  isAdded: boolean;
  onChange: (group: RowGroup) => void;
  onRemove: () => void;
}) {
  const { group, label, logic, fields, isAdded, onChange, onRemove } = props;
  const { rows } = group;
  const change = (next: readonly Row[]) => onChange({ ...group, rows: next });
  const [added, setAdded] = useState(isAdded ? rows[0]?.id : undefined);
  const adding = useRef<HTMLButtonElement>(null);
  function add(row: Row): void {
    change([...rows, row]);
    setAdded(row.id);
  }
  function remove(id: string): void {
    change(rows.filter((row) => row.id !== id));
    adding.current?.focus();
  }
  return (
    <fieldset className="builder-group">
      <legend>{logic === "OR" ? "Any of these" : "All of these"}</legend>
      {rows.map((row, i) => (
        <RowFields
          key={row.id}
          row={row}
          label={`${label}, part ${i + 1}`}
          fields={fields}
          isAdded={row.id === added}
          onChange={(next) => change(rows.map((each) => (each.id === next.id ? next : each)))}
          onRemove={rows.length > 1 ? () => remove(row.id) : undefined}
        />
      ))}
      <div className="builder-add">
        <AddButton button={adding} onAdd={() => add(newRow())}>
          Add to the group
        </AddButton>
        <ActionIcon aria-label={`Remove the group of ${label}`} onClick={onRemove}>
          <Trash2 size={15} aria-hidden />
        </ActionIcon>
      </div>
    </fieldset>
  );
}
