/** The settings of a workflow as a whole: its description, entering again, and its exits. */

import { ActionIcon, Button, Select, Switch, Textarea } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import type { Exit } from "./editor/draft.ts";
import { EventName, SegmentSelect } from "./editor/forms/choices.tsx";
import { faultAt } from "./editor/faults.ts";
import type { WorkflowTabProps } from "./workflow-tabs.tsx";

const MOST_EXITS = 10;
const EXITS = [
  { value: "EVENT", label: "when an event happens" },
  { value: "UNSUBSCRIBED", label: "when the contact unsubscribes" },
  { value: "SEGMENT_LEFT", label: "when the contact leaves a segment" },
];

export function WorkflowSettings({ editor, project }: WorkflowTabProps) {
  const { value, change, mayEdit } = editor;
  const { description, allowReentry, exits } = value;
  const own = editor.faults.filter(({ step }) => step === null);
  const set = (next: readonly Exit[]) => change({ exits: next }, "exits");
  return (
    <fieldset className="workflow-settings" disabled={!mayEdit}>
      <legend className="visually-hidden">Settings of the workflow</legend>
      <Textarea
        label="Description"
        description="A note for your colleagues."
        autosize
        minRows={2}
        maxRows={6}
        maxLength={1000}
        value={description}
        error={faultAt(own, "description")}
        onChange={({ currentTarget }) =>
          change({ description: currentTarget.value }, "description")
        }
      />
      <Switch
        label="A contact may enter again"
        description="After the earlier execution has ended. Otherwise each contact enters once, ever."
        checked={allowReentry}
        onChange={({ currentTarget }) => change({ allowReentry: currentTarget.checked })}
      />
      <fieldset className="split-form">
        <legend>A contact leaves early</legend>
        <p className="muted small">
          Wherever it is in the workflow, and also while a step waits. Only events after its entry
          count.
        </p>
        {exits.map((exit, i) => (
          <div key={i} className="exit-row" role="group" aria-label={`Exit ${i + 1}`}>
            <Select
              aria-label={`Reason of exit ${i + 1}`}
              data={EXITS}
              value={exit.on}
              allowDeselect={false}
              onChange={(on) => set(exits.map((each, k) => (k === i ? exitOf(on) : each)))}
            />
            {exit.on === "EVENT" && (
              <EventName
                project={project}
                label="Event"
                value={exit.eventName}
                error={faultAt(own, `exits.${i}`)}
                onChange={(eventName) =>
                  set(exits.map((each, k) => (k === i ? { on: "EVENT", eventName } : each)))
                }
              />
            )}
            {exit.on === "SEGMENT_LEFT" && (
              <SegmentSelect
                project={project}
                label="Segment"
                value={exit.segmentId === "" ? null : exit.segmentId}
                error={faultAt(own, `exits.${i}`)}
                onChange={(id) =>
                  set(
                    exits.map((each, k) =>
                      k === i ? { on: "SEGMENT_LEFT", segmentId: id ?? "" } : each,
                    ),
                  )
                }
              />
            )}
            <ActionIcon
              aria-label={`Remove exit ${i + 1}`}
              onClick={() => set(exits.filter((_, k) => k !== i))}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </div>
        ))}
        {mayEdit && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<Plus size={14} aria-hidden />}
            disabled={exits.length >= MOST_EXITS}
            onClick={() => set([...exits, { on: "UNSUBSCRIBED" }])}
          >
            Add an exit
          </Button>
        )}
      </fieldset>
    </fieldset>
  );
}

function exitOf(on: string | null): Exit {
  if (on === "EVENT") return { on, eventName: "" };
  return on === "SEGMENT_LEFT" ? { on, segmentId: "" } : { on: "UNSUBSCRIBED" };
}
