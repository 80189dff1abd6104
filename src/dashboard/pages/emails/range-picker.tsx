/** The time range of a list: ranges that end now, or days. */

import { Button, Popover } from "@mantine/core";
import { CalendarDays, Check, ChevronDown } from "lucide-react";
import { useState } from "react";
import { type EmailSearch, rangeLabel, RANGES } from "./search.ts";

type Range = Pick<EmailSearch, "range" | "since" | "until">;
const NO_RANGE: Range = {};

export function RangePicker(props: { value: EmailSearch; onChange: (range: Range) => void }) {
  const { value, onChange } = props;
  const [isOpen, setIsOpen] = useState(false);
  const label = rangeLabel(value);
  function choose(range: Range): void {
    onChange(range);
    setIsOpen(false);
  }
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" trapFocus withRoles={false}>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<CalendarDays size={15} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
        >
          {label ?? "All time"}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className="range" role="dialog" aria-label="Time range">
        <ul className="range-list">
          <RangeChoice
            label="All time"
            isChosen={label === null}
            onChoose={() => choose(NO_RANGE)}
          />
          {Object.entries(RANGES).map(([range, { label }]) => (
            <RangeChoice
              key={range}
              label={label}
              isChosen={value.range === range}
              onChoose={() => choose({ range })}
            />
          ))}
        </ul>
        <Days value={value} onApply={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

function RangeChoice(props: { label: string; isChosen: boolean; onChoose: () => void }) {
  const { label, isChosen, onChoose } = props;
  return (
    <li>
      <button type="button" className="range-choice" aria-pressed={isChosen} onClick={onChoose}>
        {label}
        {isChosen && <Check size={14} aria-hidden />}
      </button>
    </li>
  );
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The first and the last day of a range; either may be empty. */
function Days({ value, onApply }: { value: EmailSearch; onApply: (range: Range) => void }) {
  const [since, setSince] = useState(value.since?.slice(0, 10) ?? "");
  const [until, setUntil] = useState(value.until?.slice(0, 10) ?? "");
  return (
    <form
      className="range-days"
      onSubmit={(event) => {
        event.preventDefault();
        onApply({ ...(since === "" ? {} : { since }), ...(until === "" ? {} : { until }) });
      }}
    >
      <label>
        From
        <input
          type="date"
          value={since}
          max={until}
          onChange={({ currentTarget }) => setSince(currentTarget.value)}
        />
      </label>
      <label>
        To
        <input
          type="date"
          value={until}
          min={since}
          onChange={({ currentTarget }) => setUntil(currentTarget.value)}
        />
      </label>
      <Button type="submit" size="xs" disabled={since === "" && until === ""}>
        Apply
      </Button>
      <p className="muted small">Days of your time zone, {zone}.</p>
    </form>
  );
}
