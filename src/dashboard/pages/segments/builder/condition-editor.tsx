/** A condition while it is edited: as rows, or as JSON. */

import "./styles.ts";
import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { Builder } from "./builder.tsx";
import { type Draft, newRow, toCondition, toDraft } from "./draft.ts";
import type { FieldChoices } from "./use-fields.ts";

type Mode = "ROWS" | "JSON";

const EMPTY: Draft = { logic: "AND", items: [] };

/** The condition as rows or as JSON, whichever the user edits. */
export function useCondition(initial: unknown) {
  const [start] = useState(() => {
    if (initial === null) return { ...EMPTY, items: [newRow()] };
    return toDraft(initial);
  });
  const [draft, setDraft] = useState(start);
  const [mode, setMode] = useState<Mode>(start === null ? "JSON" : "ROWS");
  const [text, setText] = useState(() => jsonText(initial));
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
    isChanged: mode === "JSON" ? text !== jsonText(initial) : draft !== start && condition !== null,
    setDraft,
    setText,
    /** Shows another condition in place of this one. */
    load(next: unknown): void {
      const rows = next === null ? { ...EMPTY, items: [newRow()] } : toDraft(next);
      setDraft(rows);
      setText(jsonText(next));
      setMode(rows === null ? "JSON" : "ROWS");
    },
    show(next: Mode): void {
      if (next === "JSON") setText(jsonText(condition));
      else setDraft(toDraft(parsed) ?? { ...EMPTY, items: [newRow()] });
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
