/** The columns of the file, with some of their values and their meaning. */

import { Button, Select, TextInput } from "@mantine/core";
import { memo, useEffect, useMemo, useState } from "react";
import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";
import { useProject } from "../../../state.ts";
import { useTopics } from "../../topics/use-topics.ts";
import {
  DATA_TYPES,
  guessedType,
  guessText,
  type ImportedColumn,
  isDataType,
  isTargetKind,
  type Target,
  TARGETS,
  targetOf,
  writeTarget,
} from "./column-targets.ts";
import { PageSection } from "../../../ui/page-section.tsx";

type TopicChoice = { value: string; label: string };
type MappingTexts = Readonly<Record<string, string | null>>;

const SHOWN_VALUES = 3;
/** Time after the last letter of a name until it counts. */
const TYPED_MS = 400;

export function Mapping(props: {
  job: ImportProgress;
  mapping: MappingTexts;
  onChange: (mapping: Record<string, string | null>) => void;
}) {
  const { job, mapping, onChange } = props;
  const { columns, preview } = job;
  const { data: known } = useTopics(useProject()?.id ?? "");
  const topics = useMemo(
    () => (known ?? []).map(({ key, name }): TopicChoice => ({ value: key, label: name })),
    [known],
  );
  if (columns.length === 0) return null;
  return (
    <PageSection id="import-columns" title="Columns">
      <div className="import-columns" role="list">
        {columns.map((column, i) => (
          <ColumnRow
            // Two columns may have the same name.
            key={`${i} ${column.name}`}
            column={column}
            values={valuesOf(preview, i)}
            topics={topics}
            target={targetOf(column, mapping)}
            onChange={(target) => onChange({ ...mapping, [column.name]: writeTarget(target) })}
          />
        ))}
      </div>
    </PageSection>
  );
}

/** The first values of a column that differ. */
function valuesOf(preview: ImportProgress["preview"], column: number): string[] {
  const values = preview.flatMap(({ cells }) => cells[column] ?? []);
  return [...new Set(values.filter((value) => value.trim() !== ""))].slice(0, SHOWN_VALUES);
}

const ColumnRow = memo(function ColumnRow(props: {
  column: ImportedColumn;
  values: readonly string[];
  topics: readonly TopicChoice[];
  target: Target;
  onChange: (target: Target) => void;
}) {
  const { column, values, topics, target, onChange } = props;
  const name = column.name === "" ? "(no name)" : column.name;
  const guess = guessText(column);
  const suggested = guessedType(column);
  const isAsIs = target.kind === "key" && target.type === "AUTO";
  return (
    <div className="import-column" role="listitem" aria-label={name}>
      <div className="import-column-name">
        <bdi className="cut" title={name}>
          {name}
        </bdi>
        <span className="cut muted small" title={values.join(", ")}>
          <bdi>{values.length === 0 ? "no values in the first rows" : values.join(", ")}</bdi>
        </span>
      </div>
      <Select
        aria-label={`What ${name} means`}
        data={TARGETS.filter(({ value }) => value !== "topic" || topics.length > 0)}
        value={target.kind}
        allowDeselect={false}
        onChange={(kind) => {
          if (!isTargetKind(kind)) return;
          if (kind === "key") onChange({ kind, key: column.name, type: "AUTO" });
          else if (kind === "topic") onChange({ kind, key: topics[0]?.value ?? "" });
          else onChange({ kind });
        }}
      />
      {target.kind === "topic" && (
        <Select
          aria-label={`Topic of ${name}`}
          placeholder="Choose a topic"
          data={topics}
          value={topics.some(({ value }) => value === target.key) ? target.key : null}
          error={topics.some(({ value }) => value === target.key) ? undefined : "Choose a topic."}
          allowDeselect={false}
          onChange={(key) => key !== null && onChange({ kind: "topic", key })}
        />
      )}
      {target.kind === "key" && (
        <>
          <KeyField
            label={`Name of the field for ${name}`}
            value={target.key}
            onChange={(key) => onChange({ ...target, key })}
          />
          <Select
            aria-label={`Type of ${name}`}
            data={DATA_TYPES}
            value={target.type}
            allowDeselect={false}
            onChange={(type) => isDataType(type) && onChange({ ...target, type })}
          />
        </>
      )}
      {isAsIs && guess !== null && (
        <p className="import-guess small">
          {guess}
          {suggested !== null && (
            <Button
              size="compact-xs"
              variant="light"
              onClick={() => onChange({ ...target, type: suggested })}
            >
              Store as {suggested}s
            </Button>
          )}
        </p>
      )}
    </div>
  );
});

/** A name that counts when no letter was typed for a while. An empty name does not count. */
function KeyField(props: { label: string; value: string; onChange: (value: string) => void }) {
  const { label, value, onChange } = props;
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    const name = typed.trim();
    if (name === value || name === "") return undefined;
    const timer = setTimeout(() => onChange(name), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <TextInput
      aria-label={label}
      value={typed}
      error={typed.trim() === "" ? "Enter a name." : undefined}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  );
}
