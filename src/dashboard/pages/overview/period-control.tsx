/** The range of the overview: ranges that end now, or days. */

import { Button, Popover, SegmentedControl } from "@mantine/core";
import { CalendarDays } from "lucide-react";
import { useState } from "react";
import { dayText, overviewPeriod, RANGE_CHOICES, rangeNameOf } from "./period.ts";
import type { OverviewSearch } from "./search.ts";
import { timeZone } from "./use-overview.ts";

type Props = { search: OverviewSearch; onChange: (search: OverviewSearch) => void };

export function PeriodControl({ search, onChange }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const range = rangeNameOf(search);
  return (
    <>
      <SegmentedControl
        aria-label="Range"
        // Nothing is chosen while days are.
        value={range ?? ""}
        data={RANGE_CHOICES}
        onChange={(value) => onChange({ range: value, since: "", until: "" })}
      />
      <Popover
        opened={isOpen}
        onChange={setIsOpen}
        position="bottom-end"
        trapFocus
        withRoles={false}
      >
        <Popover.Target>
          <Button
            className="overview-custom"
            size="xs"
            variant={range === null ? "light" : "default"}
            leftSection={<CalendarDays size={14} aria-hidden />}
            aria-expanded={isOpen}
            onClick={() => setIsOpen(!isOpen)}
          >
            Custom
          </Button>
        </Popover.Target>
        <Popover.Dropdown className="range" role="dialog" aria-label="Custom range">
          <DayFields
            search={search}
            onApply={(days) => {
              setIsOpen(false);
              onChange({ range: "", ...days });
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </>
  );
}

type Days = { since: string; until: string };

/** The first and the last day, which at the beginning are those of the period that is shown. */
function DayFields(props: { search: OverviewSearch; onApply: (days: Days) => void }) {
  const today = dayText(Date.now());
  const { fromMs, toMs } = overviewPeriod(props.search, Date.now());
  const [since, setSince] = useState(dayText(fromMs));
  const [until, setUntil] = useState(dayText(toMs - 1));
  return (
    <form
      className="range-days overview-days"
      onSubmit={(event) => {
        event.preventDefault();
        props.onApply({ since, until });
      }}
    >
      <label>
        From
        <input
          type="date"
          required
          value={since}
          max={until}
          onChange={({ currentTarget }) => setSince(currentTarget.value)}
        />
      </label>
      <label>
        To
        <input
          type="date"
          required
          value={until}
          min={since}
          max={today}
          onChange={({ currentTarget }) => setUntil(currentTarget.value)}
        />
      </label>
      <Button type="submit" size="xs">
        Apply
      </Button>
      <p className="muted small">Days of your time zone, {timeZone}.</p>
    </form>
  );
}
