/** A condition while it is edited: as rows, or as JSON. */

import "./styles.ts";
import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { Builder } from "./builder.tsx";
import { type Draft, newRow, readDraft, toCondition, toDraft, withoutIds } from "./draft.ts";
import { isRecord } from "../../../ui/is-record.ts";
import type { FieldChoices } from "./use-fields.ts";

type Mode = "ROWS" | "JSON";

const EMPTY: Draft = { logic: "AND", items: [] };

/** The content of the editor in a form that can be kept: rows that may be incomplete, or a text. */
type Entry = { mode: Mode; rows: Draft | null; text: string };

/** An entry that was kept; null if it cannot be read. */
function readEntry(given: unknown): Entry | null {
  if (!isRecord(given)) return null;
  const { mode, text } = given;
  const rows = readDraft(given["rows"]);
  if (mode === "JSON" && typeof text === "string") return { mode, rows: null, text };
  return mode === "ROWS" && rows !== null ? { mode, rows, text: "" } : null;
}

const startOf = (condition: unknown): Draft | null =>
  condition === null ? { ...EMPTY, items: [newRow()] } : toDraft(condition);

const entryOf = (mode: Mode, draft: Draft | null, text: string): Entry =>
  mode === "ROWS" && draft !== null
    ? { mode, rows: withoutIds(draft), text: "" }
    : { mode: "JSON", rows: null, text };

/** The entry of a condition without changes. */
export function entryOfCondition(condition: unknown): Entry {
  const draft = startOf(condition);
  return entryOf(draft === null ? "JSON" : "ROWS", draft, jsonText(condition));
}

/**
 * The condition in the form that the user edits: rows or JSON. `kept` is an entry of this condition
 * that the browser kept.
 */
export function useCondition(initial: unknown, kept?: unknown) {
  const [entered] = useState(() => readEntry(kept));
  const [start] = useState(() => startOf(initial));
  const [draft, setDraft] = useState(entered?.rows ?? start);
  const [mode, setMode] = useState<Mode>(entered?.mode ?? (start === null ? "JSON" : "ROWS"));
  const [text, setText] = useState(() => entered?.text ?? jsonText(initial));
  const parsed = parseJson(text);
  const condition = mode === "JSON" || draft === null ? parsed : toCondition(draft);
  return {
    mode,
    draft,
    text,
    condition,
    /** The JSON is none. */
    isFaulty: mode === "JSON" && parsed === null && text.trim() !== "",
    /** The rows cannot show the JSON. */
    isBeyondRows: mode === "JSON" && parsed !== null && toDraft(parsed) === null,
    entry: entryOf(mode, draft, text),
    isChanged: mode === "JSON" ? text !== jsonText(initial) : draft !== start && condition !== null,
    setDraft,
    setText,
    /** Shows another condition in place of this one. */
    load(next: unknown): void {
      const rows = startOf(next);
      setDraft(rows);
      setText(jsonText(next));
      setMode(rows === null ? "JSON" : "ROWS");
    },
    show(next: Mode): void {
      if (next === "JSON") setText(jsonText(condition));
      else setDraft(toDraft(parsed) ?? startOf(null));
      setMode(next);
    },
  };
}

const jsonText = (condition: unknown): string =>
  condition === null ? "" : JSON.stringify(condition, null, 2);

function parseJson(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function ConditionEditor(props: {
  editor: ReturnType<typeof useCondition>;
  fields: FieldChoices;
}) {
  const { editor, fields } = props;
  const { mode, draft, text } = editor;
  return (
    <section className="card builder-card" aria-label="Condition">
      {mode === "ROWS" && draft !== null ? (
        <Builder draft={draft} fields={fields} onChange={editor.setDraft} />
      ) : (
        <Textarea
          label="Condition as JSON"
          description={
            editor.isBeyondRows
              ? "This condition has more levels than the rows can show. It stays as it is."
              : undefined
          }
          className="builder-json"
          autosize
          minRows={10}
          maxRows={30}
          spellCheck={false}
          value={text}
          error={editor.isFaulty ? "This is no JSON object." : undefined}
          onChange={({ currentTarget }) => editor.setText(currentTarget.value)}
        />
      )}
      <Button
        size="compact-sm"
        variant="subtle"
        className="builder-switch"
        disabled={mode === "JSON" && (editor.isFaulty || editor.isBeyondRows)}
        onClick={() => editor.show(mode === "ROWS" ? "JSON" : "ROWS")}
      >
        {mode === "ROWS" ? "Edit as JSON" : "Edit as rows"}
      </Button>
    </section>
  );
}
