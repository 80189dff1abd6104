/** The start of a workflow: an event, a schedule, or a person. */

import { Radio, Stack } from "@mantine/core";
import { ownZone } from "../../../campaigns/editor/zone-time.ts";
import { cronOf, FIRST_PLAN } from "../cron.ts";
import { EventName, SegmentSelect, ZoneSelect } from "./choices.tsx";
import { type FormProps, textAt } from "./form-props.ts";
import { ScheduleFields } from "./schedule-fields.tsx";

const KINDS = [
  { value: "EVENT", label: "An event of a contact", text: "Such as signed_up or email.clicked." },
  { value: "SCHEDULE", label: "A schedule", text: "For the contacts of a segment, or for all." },
  { value: "MANUAL", label: "By hand", text: "You start it for a contact or a segment." },
] as const;

export function TriggerForm(props: FormProps) {
  const { step, onChange } = props;
  const { config } = step;
  const kind = textAt(config, "type") || "EVENT";

  function choose(next: string): void {
    if (next === kind) return;
    if (next === "SCHEDULE") {
      const cron = cronOf(FIRST_PLAN);
      onChange({ type: next, cron, timeZone: ownZone(), segmentId: null });
    } else onChange(next === "MANUAL" ? { type: next } : { eventName: "" });
  }

  return (
    <>
      <Radio.Group label="The workflow starts with" value={kind} onChange={choose}>
        <Stack gap="xs" mt={6}>
          {KINDS.map(({ value, label, text }) => (
            <Radio key={value} value={value} label={label} description={text} />
          ))}
        </Stack>
      </Radio.Group>
      <TriggerFields {...props} kind={kind} />
    </>
  );
}

function TriggerFields({ step, project, fault, onChange, kind }: FormProps & { kind: string }) {
  const { config } = step;
  if (kind === "MANUAL") return null;
  if (kind === "SCHEDULE") {
    const segmentId = textAt(config, "segmentId");
    return (
      <>
        <ScheduleFields
          cron={textAt(config, "cron")}
          timeZone={textAt(config, "timeZone")}
          error={fault("config.cron")}
          onChange={(cron) => onChange({ ...config, cron })}
        />
        <ZoneSelect
          label="Time zone"
          value={textAt(config, "timeZone")}
          error={fault("config.timeZone")}
          onChange={(timeZone) => onChange({ ...config, timeZone })}
        />
        <SegmentSelect
          project={project}
          label="Who enters"
          none="All contacts"
          value={segmentId === "" ? null : segmentId}
          error={fault("config.segmentId")}
          onChange={(id) => onChange({ ...config, segmentId: id })}
        />
      </>
    );
  }
  return (
    <EventName
      project={project}
      description="Each contact of this event enters."
      value={textAt(config, "eventName")}
      error={fault("config.eventName")}
      onChange={(eventName) => onChange({ ...config, eventName })}
    />
  );
}
