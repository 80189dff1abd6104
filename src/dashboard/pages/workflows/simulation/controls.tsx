/** The contact for whom a workflow is simulated, its start, its data, and the events meanwhile. */

import { ActionIcon, Button, NumberInput, Textarea, TextInput } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { ContactSelect } from "../../../ui/contact-preview.tsx";
import { exactTime } from "../../../ui/time.tsx";
import type { DraftStep } from "../editor/draft.ts";
import { EventName } from "../editor/forms/choices.tsx";
import { stepName } from "../step-texts.ts";
import { isAnswerBody, objectIn, type PlannedAnswer, type SimulationPlan } from "./plan.ts";

type Change = (next: Partial<SimulationPlan>) => void;
type Props = {
  project: string;
  steps: readonly DraftStep[];
  plan: SimulationPlan;
  /** The time that the simulation has reached. */
  nowAt: string;
  onChange: Change;
};

const NO_OBJECT = 'Must be a JSON object, such as {"plan": "pro"}.';

export function Controls({ project, steps, plan, nowAt, onChange }: Props) {
  const trigger = steps.find(({ type }) => type === "TRIGGER")?.config["eventName"];
  const webhooks = steps.filter(({ type }) => type === "WEBHOOK");
  return (
    <section className="try-controls" aria-label="What is simulated">
      <ContactSelect
        contactId={plan.contactId === "" ? undefined : plan.contactId}
        onContact={(contactId) => onChange({ contactId, mail: null })}
        label="Contact"
        nobody="A sample: ada@example.com"
      />
      {plan.contactId === "" && (
        <JsonField
          label="Data of the sample"
          value={plan.sample}
          onChange={(sample) => onChange({ sample })}
        />
      )}
      <StartTime plan={plan} onChange={onChange} />
      <JsonField
        label={typeof trigger === "string" ? `Data of “${trigger}”` : "Data for the steps"}
        value={plan.data}
        onChange={(data) => onChange({ data })}
      />
      <AddEvent project={project} plan={plan} nowAt={nowAt} onChange={onChange} />
      {webhooks.map((step) => (
        <AnswerFields
          key={step.id}
          step={step}
          answer={plan.answers[step.id] ?? { status: 200, body: "" }}
          onChange={(answer) => onChange({ answers: { ...plan.answers, [step.id]: answer } })}
        />
      ))}
    </section>
  );
}

function JsonField(props: { label: string; value: string; onChange: (value: string) => void }) {
  const { label, value, onChange } = props;
  return (
    <Textarea
      label={label}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      classNames={{ input: "try-json" }}
      placeholder="{}"
      value={value}
      error={objectIn(value) === null ? NO_OBJECT : undefined}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** The local time of a field of the browser: "2027-03-01T09:00". */
function wallTime(iso: string): string {
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function StartTime({ plan, onChange }: { plan: SimulationPlan; onChange: Change }) {
  const [typed, setTyped] = useState(wallTime(plan.startAt));
  function choose(value: string): void {
    setTyped(value);
    const time = new Date(value);
    if (value === "" || Number.isNaN(time.getTime())) return;
    const startAt = time.toISOString();
    onChange({ startAt, until: startAt, events: [], mail: null });
  }
  return (
    <TextInput
      type="datetime-local"
      label="Starts at"
      description="If you change it, the simulation starts over."
      value={typed}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    />
  );
}

function AddEvent(props: Pick<Props, "project" | "plan" | "nowAt" | "onChange">) {
  const { project, plan, nowAt, onChange } = props;
  const [eventName, setEventName] = useState("");
  const [json, setJson] = useState("");
  const data = objectIn(json);
  function add(): void {
    if (data === null || eventName.trim() === "") return;
    const event = { at: nowAt, eventName: eventName.trim(), data };
    onChange({ events: [...plan.events, event], until: nowAt, mail: null });
    setEventName("");
    setJson("");
  }
  return (
    <fieldset className="try-events">
      <legend>Events of the contact</legend>
      {plan.events.length > 0 && (
        <ul>
          {plan.events.map((event, i) => (
            <li key={JSON.stringify([i, event])}>
              <span>
                <strong>{event.eventName}</strong>{" "}
                <span className="muted small">{exactTime(new Date(event.at))}</span>
              </span>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Remove ${event.eventName}`}
                onClick={() =>
                  onChange({ events: plan.events.filter((each) => each !== event), mail: null })
                }
              >
                <Trash2 size={14} aria-hidden />
              </ActionIcon>
            </li>
          ))}
        </ul>
      )}
      <EventName
        project={project}
        label="Event"
        description="It happens at the time of the clock."
        value={eventName}
        error={undefined}
        onChange={setEventName}
      />
      <JsonField label="Data of the event" value={json} onChange={setJson} />
      <Button
        size="xs"
        variant="default"
        disabled={eventName.trim() === "" || data === null}
        onClick={add}
      >
        Add the event
      </Button>
    </fieldset>
  );
}

function AnswerFields(props: {
  step: DraftStep;
  answer: PlannedAnswer;
  onChange: (answer: PlannedAnswer) => void;
}) {
  const { step, answer, onChange } = props;
  return (
    <fieldset className="try-events">
      <legend>Answer to “{stepName(step)}”</legend>
      <NumberInput
        label="Status"
        min={100}
        max={599}
        allowDecimal={false}
        value={answer.status}
        onChange={(status) => onChange({ ...answer, status: Number(status) || 200 })}
      />
      <Textarea
        label="JSON"
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        classNames={{ input: "try-json" }}
        value={answer.body}
        error={isAnswerBody(answer.body) ? undefined : "Must be JSON."}
        onChange={({ currentTarget }) => onChange({ ...answer, body: currentTarget.value })}
      />
    </fieldset>
  );
}
