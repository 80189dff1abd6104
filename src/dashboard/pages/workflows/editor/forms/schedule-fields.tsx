/** A schedule in words or as a cron expression, with the next three times. */

import { Checkbox, Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { serverNow } from "../../../../server-clock.ts";
import { zonedText } from "../../../campaigns/editor/zone-time.ts";
import { nextTimes } from "../next-times.ts";
import { clockText, cronOf, DAY_NAMES, FIRST_PLAN, minuteOf, type Plan, planOf } from "../cron.ts";

const CHOICES = [
  { value: "HOUR", label: "Every hour" },
  { value: "DAY", label: "Every day" },
  { value: "WEEKDAY", label: "Every weekday" },
  { value: "WEEK", label: "Every week" },
  { value: "MONTH", label: "Every month" },
  { value: "CUSTOM", label: "Another schedule (cron)" },
] as const;

/** Monday first. */
const DAYS = [1, 2, 3, 4, 5, 6, 0];

export function ScheduleFields(props: {
  cron: string;
  timeZone: string;
  error: string | undefined;
  onChange: (cron: string) => void;
}) {
  const { cron, timeZone, error, onChange } = props;
  const plan = planOf(cron);
  const [isCustom, setIsCustom] = useState(plan === null);
  const change = (next: Partial<Plan>) => onChange(cronOf({ ...(plan ?? FIRST_PLAN), ...next }));

  function choose(value: string | null): void {
    setIsCustom(value === "CUSTOM");
    const every = CHOICES.find((each) => each.value === value)?.value;
    if (every !== undefined && every !== "CUSTOM") change({ every });
  }

  return (
    <>
      <Select
        label="When"
        data={CHOICES.map(({ value, label }) => ({ value, label }))}
        value={isCustom || plan === null ? "CUSTOM" : plan.every}
        allowDeselect={false}
        error={isCustom || plan === null ? undefined : error}
        onChange={choose}
      />
      {isCustom || plan === null ? (
        <TextInput
          label="Cron expression"
          description="Minute, hour, day of the month, month, day of the week: 30 8 * * 1 is Monday at 8:30."
          spellCheck={false}
          value={cron}
          error={error}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <PlanFields plan={plan} onChange={change} />
      )}
      <NextTimes cron={cron} timeZone={timeZone} />
    </>
  );
}

function PlanFields({ plan, onChange }: { plan: Plan; onChange: (next: Partial<Plan>) => void }) {
  const { every, minute, days, day } = plan;
  return (
    <>
      {every === "WEEK" && (
        <Checkbox.Group
          label="On"
          value={days.map(String)}
          onChange={(chosen) => chosen.length > 0 && onChange({ days: chosen.map(Number) })}
        >
          <Group gap="sm" mt={4}>
            {DAYS.map((each) => (
              <Checkbox key={each} value={String(each)} label={DAY_NAMES[each]} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {every === "MONTH" && (
        <NumberInput
          label="Day of the month"
          description="A month without this day is left out."
          min={1}
          max={31}
          allowDecimal={false}
          value={day}
          onChange={(value) => typeof value === "number" && onChange({ day: value })}
        />
      )}
      {every === "HOUR" ? (
        <NumberInput
          label="At minute"
          min={0}
          max={59}
          allowDecimal={false}
          value={minute % 60}
          onChange={(value) => typeof value === "number" && onChange({ minute: value })}
        />
      ) : (
        <TextInput
          type="time"
          label="At"
          value={clockText(minute)}
          onChange={({ currentTarget }) => {
            const next = minuteOf(currentTarget.value);
            if (next !== null) onChange({ minute: next });
          }}
        />
      )}
    </>
  );
}

function NextTimes({ cron, timeZone }: { cron: string; timeZone: string }) {
  const times = nextTimes(cron, timeZone, serverNow());
  if (times === null) return null;
  return (
    <div className="muted small" aria-live="polite">
      Next:
      <ul className="next-times">
        {times.map((at) => (
          <li key={at}>{zonedText(at, timeZone)}</li>
        ))}
      </ul>
    </div>
  );
}
