/** The dialog that adds a step at a place of the graph, or continues it at an existing step. */

import { Select } from "@mantine/core";
import { useEffect, useState } from "react";
import { Dialog } from "../../../ui/dialog.tsx";
import { StepIcon } from "../step-icon.tsx";
import { stepName, TYPE_WORDS, wayWord } from "../step-texts.ts";
import type { StepKind } from "./draft.ts";
import { connect, freeStepId, insertStep, type WayOut, stepOf, wayAt } from "./graph-edits.ts";
import { firstConfig, STEP_KINDS } from "./kinds.ts";
import { numbersOf } from "./outline.ts";
import type { WorkflowEditing } from "./use-editor.ts";

export function AddStep(props: {
  /** Null closes the dialog. */
  place: WayOut | null;
  editor: WorkflowEditing;
  onClose: () => void;
  /** Called with the id of the new step. */
  onAdded: (id: string) => void;
}) {
  const { place, editor, onClose, onAdded } = props;
  // The content stays while the dialog closes.
  const [shown, setShown] = useState(place);
  useEffect(() => {
    if (place !== null) setShown(place);
  }, [place]);
  const { value } = editor;
  const from = shown === null ? undefined : stepOf(value, shown.from);
  if (shown === null || from === undefined) return null;
  const word = wayWord(from, shown.branch);
  const isEnd = wayAt(value, shown) === undefined;

  function add(type: StepKind): void {
    if (shown === null) return;
    const id = freeStepId(value, type);
    const step = { id, type, name: "", position: { x: 0, y: 0 }, config: firstConfig(type) };
    editor.edit(insertStep(value, shown, step));
    onAdded(id);
  }

  return (
    <Dialog
      opened={place !== null}
      onClose={onClose}
      size={680}
      title={`Add a step after ${stepName(from)}${word === null ? "" : `, at “${word}”`}`}
    >
      <ul className="kinds" aria-label="Kinds of steps">
        {STEP_KINDS.filter(({ type }) => isEnd || type !== "EXIT").map(({ type, text }, i) => (
          <li key={type}>
            <button
              type="button"
              className="kind"
              data-autofocus={i === 0 || undefined}
              onClick={() => add(type)}
            >
              <StepIcon type={type} />
              <span>
                <strong>{TYPE_WORDS[type]}</strong>
                <span className="muted small">{text}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {isEnd && value.steps.length > 1 && (
        <ContinueAt
          editor={editor}
          onChoose={(to) => {
            editor.edit(connect(value, shown, to));
            onClose();
          }}
        />
      )}
    </Dialog>
  );
}

/** The choices of a step to continue at, with their numbers in the list. */
export function stepChoices({ value }: WorkflowEditing): { value: string; label: string }[] {
  const numbers = numbersOf(value);
  return value.steps
    .filter(({ type }) => type !== "TRIGGER")
    .map((step) => ({
      value: step.id,
      number: numbers.get(step.id) ?? 0,
      label: `${numbers.get(step.id) ?? ""}. ${stepName(step)}`,
    }))
    .toSorted((a, b) => a.number - b.number)
    .map(({ value: id, label }) => ({ value: id, label }));
}

function ContinueAt(props: { editor: WorkflowEditing; onChoose: (id: string) => void }) {
  const { editor, onChoose } = props;
  return (
    <Select
      className="continue-at"
      label="Or continue at an existing step"
      description="The branches meet there. An earlier step makes a loop, which needs a step that waits."
      placeholder="Choose a step"
      searchable
      data={stepChoices(editor)}
      value={null}
      onChange={(id) => id !== null && onChoose(id)}
    />
  );
}
