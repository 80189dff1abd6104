/** Both versions of the fields that two people changed at the same time, and a choice for each. */

import { Button, Group, Radio, Stack } from "@mantine/core";
import { useEffect, useState } from "react";
import { Dialog } from "../dialog.tsx";
import type { Conflict, Side } from "./autosave.ts";
import { DiffView } from "./diff-view.tsx";
import { type FieldValues, isSameValue } from "./merge.ts";

export function ConflictDialog<T extends FieldValues>(props: {
  /** Null closes the dialog. */
  conflict: Conflict<T> | null;
  mine: T;
  /** The noun of the object, such as "template". */
  noun: string;
  /** The words for the fields. */
  labels: Readonly<Record<string, string>>;
  onResolve: (choices: Readonly<Record<string, Side>>) => void;
  /** Called when the user leaves the decision for later. */
  onClose: () => void;
}) {
  const { conflict, mine, noun, labels, onResolve, onClose } = props;
  const [choices, setChoices] = useState<Readonly<Record<string, Side>>>({});
  useEffect(() => setChoices({}), [conflict]);
  if (conflict === null) return null;
  const { theirs, groups } = conflict;
  const chooseAll = (side: Side) =>
    onResolve(Object.fromEntries(groups.flat().map((name) => [name, side])));
  return (
    <Dialog
      opened
      onClose={onClose}
      size={960}
      title={`Somebody else changed this ${noun}`}
      className="conflict"
    >
      <Stack gap="lg">
        <p className="muted">
          They saved while you were writing. Choose a version of each part that you both changed.
          All other changes, yours and theirs, are kept.
        </p>
        {groups.map((group, i) => (
          <Part
            key={group.join()}
            isFirst={i === 0}
            group={group}
            mine={mine}
            theirs={theirs.value}
            labels={labels}
            choice={sideOf(choices, group)}
            onChoose={(side) =>
              setChoices({ ...choices, ...Object.fromEntries(group.map((name) => [name, side])) })
            }
          />
        ))}
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Button variant="default" onClick={() => chooseAll("MINE")}>
              Keep all of mine
            </Button>
            <Button variant="default" onClick={() => chooseAll("THEIRS")}>
              Take all of theirs
            </Button>
          </Group>
          <Group gap="xs">
            <Button variant="default" onClick={onClose}>
              Decide later
            </Button>
            <Button
              disabled={groups.some((group) => sideOf(choices, group) === null)}
              onClick={() => onResolve(choices)}
            >
              Save this choice
            </Button>
          </Group>
        </Group>
      </Stack>
    </Dialog>
  );
}

const sideOf = (
  choices: Readonly<Record<string, Side>>,
  [first = ""]: readonly string[],
): Side | null => choices[first] ?? null;

function Part(props: {
  /** Its choice has the focus when the dialog opens. */
  isFirst: boolean;
  group: readonly string[];
  mine: FieldValues;
  theirs: FieldValues;
  labels: Readonly<Record<string, string>>;
  choice: Side | null;
  onChoose: (side: Side) => void;
}) {
  const { isFirst, group, mine, theirs, labels, choice, onChoose } = props;
  // A field without a word is not for people, such as the design of a body.
  const shown = group.filter(
    (name) => labels[name] !== undefined && !isSameValue(mine[name], theirs[name]),
  );
  const title = shown.map((name) => labels[name]).join(", ");
  return (
    <section aria-label={title}>
      <Radio.Group
        label={title}
        value={choice ?? ""}
        onChange={(side) => onChoose(side === "THEIRS" ? "THEIRS" : "MINE")}
      >
        <Group gap="lg" className="conflict-choice">
          <Radio value="MINE" label="Keep mine" data-autofocus={isFirst || undefined} />
          <Radio value="THEIRS" label="Take theirs" />
        </Group>
      </Radio.Group>
      {shown.map((name) => (
        <DiffView
          key={name}
          before={textOf(theirs[name])}
          after={textOf(mine[name])}
          titles={["Theirs", "Mine"]}
        />
      ))}
    </section>
  );
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : value === null ? "" : JSON.stringify(value, null, 2);
