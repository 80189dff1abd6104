/** Chooses the columns of the list: the keys that occur in the data of contacts, most frequent first. */

import { Button, Checkbox, Popover, TextInput } from "@mantine/core";
import type { Static } from "@sinclair/typebox";
import { useQuery } from "@tanstack/react-query";
import { Columns3 } from "lucide-react";
import { useState } from "react";
import type { FieldList } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { dataColumn, FIXED_COLUMNS, MAX_COLUMNS, toggled } from "./column-choice.ts";

const STALE_MS = 60_000;
/** Keys that are shown; the others are found by a part of their name. */
const SHOWN = 50;
const WIDTH_PX = 280;
const percent = new Intl.NumberFormat(undefined, { style: "percent" });

export function ColumnPicker(props: {
  choice: readonly string[];
  onChange: (choice: string[]) => void;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Popover
      opened={isOpen}
      onChange={setIsOpen}
      position="bottom-end"
      width={WIDTH_PX}
      trapFocus
      withRoles={false}
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Columns3 size={15} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="column-picker" role="dialog" aria-label="Columns">
        {isOpen && <Choices {...props} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function Choices(props: { choice: readonly string[]; onChange: (choice: string[]) => void }) {
  const { choice, onChange } = props;
  const project = useProject()?.id ?? null;
  const [part, setPart] = useState("");
  const newest = useQuery(fieldsQuery(project, "NEWEST"));
  const all = useQuery(fieldsQuery(project, "ALL"));
  // Counting a million contacts takes seconds, so the fields of the newest ones are shown meanwhile.
  const fields = all.data === undefined && newest.isSuccess ? newest : all;
  const isFull = choice.length >= MAX_COLUMNS;
  const box = (column: string, label: string, hint?: string) => (
    <Checkbox
      key={column}
      size="xs"
      checked={choice.includes(column)}
      disabled={isFull && !choice.includes(column)}
      onChange={() => onChange(toggled(choice, column))}
      label={
        <span className="column-choice">
          <bdi className="cut">{label}</bdi>
          {hint !== undefined && <span className="muted">{hint}</span>}
        </span>
      }
    />
  );
  return (
    <>
      <div className="column-group">{FIXED_COLUMNS.map(({ key, label }) => box(key, label))}</div>
      <Loaded query={fields} height={120}>
        {({ items }) => (
          <>
            <TextInput
              size="xs"
              aria-label="Find a field of the data"
              placeholder="Find a field of the data"
              value={part}
              onChange={({ currentTarget }) => setPart(currentTarget.value)}
            />
            <div className="column-group column-keys">
              {items
                .filter(({ key }) => key.toLowerCase().includes(part.trim().toLowerCase()))
                .slice(0, SHOWN)
                .map(({ key, coverage }) =>
                  box(dataColumn(key), key === "" ? "(no name)" : key, percent.format(coverage)),
                )}
              {items.length === 0 && <p className="muted small">Contacts have no data yet.</p>}
            </div>
          </>
        )}
      </Loaded>
      {isFull && <p className="muted small">At most {MAX_COLUMNS} columns can be shown.</p>}
    </>
  );
}

const fieldsQuery = (project: string | null, counted: "ALL" | "NEWEST") => ({
  queryKey: ["contact-fields", project, counted],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    api.get<Static<typeof FieldList>>(`/contacts/fields?counted=${counted}`, { signal }),
  staleTime: STALE_MS,
});
