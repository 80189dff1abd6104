/** Steps that wait: for a time, for a time of day, or for an event. */

import { Checkbox, Group, NumberInput, Select, Switch, TextInput } from "@mantine/core";
import { EventName, ZoneSelect } from "./choices.tsx";
import { type FormProps, numberAt, textAt, withMember } from "./form-props.ts";

const UNITS = [
  { value: "minutes", label: "minutes" },
  { value: "hours", label: "hours" },
  { value: "days", label: "days" },
];

export function DelayForm({ step, fault, onChange }: FormProps) {
  const { config } = step;
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <NumberInput
        label="Wait for"
        min={1}
        allowDecimal={false}
        className="grow"
        value={numberAt(config, "amount")}
        error={fault("config.amount")}
        onChange={(amount) => onChange({ ...config, amount: amount === "" ? null : amount })}
      />
      <Select
        label="Unit"
        data={UNITS}
        value={textAt(config, "unit")}
        allowDeselect={false}
        error={fault("config.unit")}
        onChange={(unit) => unit !== null && onChange({ ...config, unit })}
      />
    </Group>
  );
}

const SECONDS = { minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof SECONDS;
const isUnit = (text: string | null): text is Unit => text !== null && text in SECONDS;
const FIRST_TIMEOUT = 2 * SECONDS.days;

/** The largest unit in which seconds are a whole number. */
const unitOf = (seconds: number): Unit =>
  seconds % SECONDS.days === 0 ? "days" : seconds % SECONDS.hours === 0 ? "hours" : "minutes";

export function WaitForEventForm({ step, project, fault, onChange }: FormProps) {
  const { config } = step;
  const timeout = config["timeout"] ?? null;
  const seconds = typeof timeout === "number" ? timeout : 0;
  const unit = unitOf(seconds);
  const set = (amount: number | string, of: Unit) =>
    onChange({ ...config, timeout: typeof amount === "number" ? amount * SECONDS[of] : 0 });
  return (
    <>
      <EventName
        project={project}
        description="The contact goes on when it happens. Events before this step do not count."
        value={textAt(config, "eventName")}
        error={fault("config.eventName")}
        onChange={(eventName) => onChange({ ...config, eventName })}
      />
      <Switch
        label="Not longer than"
        description="The contact then goes on with “Not in time”. Otherwise the wait has no end."
        checked={timeout !== null}
        onChange={({ currentTarget }) =>
          onChange(withMember(config, "timeout", currentTarget.checked ? FIRST_TIMEOUT : undefined))
        }
      />
      {timeout !== null && (
        <Group gap="xs" align="flex-start" wrap="nowrap">
          <NumberInput
            label="Longest wait"
            min={1}
            className="grow"
            value={seconds === 0 ? "" : seconds / SECONDS[unit]}
            error={fault("config.timeout")}
            onChange={(amount) => set(amount, unit)}
          />
          <Select
            label="Unit"
            data={UNITS}
            value={unit}
            allowDeselect={false}
            onChange={(next) => isUnit(next) && set(seconds / SECONDS[unit], next)}
          />
        </Group>
      )}
    </>
  );
}

const DAYS = [
  { value: "MON", label: "Mon" },
  { value: "TUE", label: "Tue" },
  { value: "WED", label: "Wed" },
  { value: "THU", label: "Thu" },
  { value: "FRI", label: "Fri" },
  { value: "SAT", label: "Sat" },
  { value: "SUN", label: "Sun" },
];

export function TimeWindowForm({ step, fault, onChange }: FormProps) {
  const { config } = step;
  const given: unknown = config["days"];
  const days = Array.isArray(given) ? given.map(String) : [];
  const zone = textAt(config, "timeZone");
  const isOfContact = zone === "CONTACT";
  return (
    <>
      <Checkbox.Group
        label="The contact goes on only on"
        value={days}
        error={fault("config.days")}
        onChange={(chosen) =>
          onChange({
            ...config,
            days: DAYS.map(({ value }) => value).filter((day) => chosen.includes(day)),
          })
        }
      >
        <Group gap="sm" mt={4}>
          {DAYS.map(({ value, label }) => (
            <Checkbox key={value} value={value} label={label} />
          ))}
        </Group>
      </Checkbox.Group>
      <Group gap="xs" align="flex-start" wrap="nowrap" grow>
        <ClockField label="From" name="from" config={config} fault={fault} onChange={onChange} />
        <ClockField label="To" name="to" config={config} fault={fault} onChange={onChange} />
      </Group>
      {textAt(config, "from") > textAt(config, "to") && (
        <p className="muted small">This window is open over midnight.</p>
      )}
      <ZoneSelect
        label="On the clock of"
        others={[{ value: "CONTACT", label: "Each contact" }]}
        value={zone}
        error={fault("config.timeZone")}
        onChange={(timeZone) => {
          const next = { ...config, timeZone };
          onChange(timeZone === "CONTACT" ? next : withMember(next, "fallbackTimeZone", undefined));
        }}
      />
      {isOfContact && (
        <ZoneSelect
          label="Zone of contacts without one"
          value={textAt(config, "fallbackTimeZone") || "UTC"}
          error={fault("config.fallbackTimeZone")}
          onChange={(fallbackTimeZone) => onChange({ ...config, fallbackTimeZone })}
        />
      )}
    </>
  );
}

function ClockField(props: {
  label: string;
  name: "from" | "to";
  config: FormProps["step"]["config"];
  fault: FormProps["fault"];
  onChange: FormProps["onChange"];
}) {
  const { label, name, config, fault, onChange } = props;
  return (
    <TextInput
      type="time"
      label={label}
      value={textAt(config, name)}
      error={fault(`config.${name}`)}
      onChange={({ currentTarget }) => onChange({ ...config, [name]: currentTarget.value })}
    />
  );
}
