/** The tab with the figures of a form. */

import { SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import type { Form, FormReport } from "../../../modules/forms/model.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { TimeChart } from "../../ui/time-chart.tsx";
import { readFormSearch } from "./search.ts";
import { useFormReport } from "./use-form.ts";

const route = getRouteApi("/user/p/$project/forms/$form");
const number = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

const SERIES = [
  { key: "shown", label: "Shown", color: "--chart-sent" },
  { key: "submitted", label: "Submitted", color: "--chart-opened" },
  { key: "confirmed", label: "Confirmed", color: "--chart-delivered" },
] as const;

const DAYS = ["7", "30", "90"] as const;

export function FormReportTab({ form, project }: { form: Form; project: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const days = DAYS.find((each) => each === search.days) ?? "30";
  const report = useFormReport(project, form.id, Number(days));
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: readFormSearch({ ...search, ...next }), replace: true });
  return (
    <>
      <div className="page-line">
        <SegmentedControl
          aria-label="Days of the report"
          value={days}
          onChange={(value) => change({ days: value })}
          data={DAYS.map((value) => ({ value, label: `${value} days` }))}
        />
      </div>
      <Loaded query={report} height={380}>
        {(data) => (
          <Figures
            report={data}
            isTable={search.as === "table"}
            onTableChange={(isTable) => change({ as: isTable ? "table" : undefined })}
          />
        )}
      </Loaded>
      <p className="muted small">
        Days are those of UTC. Plain HTML without the script is not counted as shown.
      </p>
    </>
  );
}

function Figures(props: {
  report: FormReport;
  isTable: boolean;
  onTableChange: (isTable: boolean) => void;
}) {
  const { report, isTable, onTableChange } = props;
  const { totals, days } = report;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  return (
    <>
      <dl className="form-figures">
        <Figure label="Shown" value={number.format(totals.shown)} />
        <Figure
          label={`Submitted${shareText(totals.submitted, totals.shown, "shown")}`}
          value={number.format(totals.submitted)}
        />
        <Figure
          label={`Confirmed${shareText(totals.confirmed, totals.submitted, "submitted")}`}
          value={number.format(totals.confirmed)}
        />
        {totals.withheld > 0 && <Figure label="Withheld" value={number.format(totals.withheld)} />}
      </dl>
      <TimeChart
        label="The form by day"
        times={days.map(({ day }) => Date.parse(`${day}T12:00:00Z`))}
        interval="DAY"
        isLastOpen
        series={SERIES.map((series) => ({
          ...series,
          values: days.map((day) => day[series.key]),
        }))}
        hidden={hidden}
        onHiddenChange={setHidden}
        isTable={isTable}
        onTableChange={onTableChange}
        onNarrow={() => undefined}
      />
      {totals.withheld > 0 && (
        <p className="muted small">
          Withheld submissions got no mail: the address is suppressed, had a mail of a form in the
          last hour, or is one of too many of the same mailbox, such as ada+news@.
        </p>
      )}
    </>
  );
}

function Figure({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** ", 42% of shown"; nothing where the share means nothing. */
const shareText = (part: number, whole: number, of: string): string =>
  whole === 0 || part > whole ? "" : `, ${percent.format(part / whole)} of ${of}`;
