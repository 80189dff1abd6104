/** One source of reports: what arrived, the steps at its provider, its key, the test of its URL. */

import { Button } from "@mantine/core";
import { Trash2 } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ReportSource } from "../../../modules/relay-reports/model.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import type { List } from "../../ui/use-list.ts";
import { withEnd } from "../../ui/sentence.ts";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { exactTime, Time } from "../../ui/time.tsx";
import { SourceStatus } from "./columns.tsx";
import { GUIDES } from "./guides.tsx";
import { SigningKey, Steps, UrlTest } from "./set-up.tsx";

const number = new Intl.NumberFormat();

export function SourceDrawer(props: {
  id: string | undefined;
  list: List<ReportSource>;
  onOpen: (id: string) => void;
  onClose: () => void;
  onDelete: (source: ReportSource) => void;
}) {
  const { id, list, onOpen, onClose, onDelete } = props;
  const index = list.rows.findIndex((row) => row.id === id);
  const found = list.rows[index];
  // It stays shown while the drawer closes.
  const last = useRef(found);
  useEffect(() => {
    if (found !== undefined) last.current = found;
  }, [found]);
  const source = id === undefined ? last.current : found;
  const next = index === -1 ? undefined : list.rows[index + 1]?.id;
  const previous = list.rows[index - 1]?.id;
  return (
    <SideDrawer
      isOpen={id !== undefined && !list.isLoading}
      onClose={onClose}
      label="Source of reports"
      size={600}
      title={<h2 className="drawer-heading">{source?.name ?? "Source of reports"}</h2>}
      onNext={next === undefined ? undefined : () => onOpen(next)}
      onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
    >
      {source === undefined ? (
        <p className="muted">
          This source does not exist. It may have been deleted, or the address is wrong.
        </p>
      ) : (
        <SourceView key={source.id} source={source} onDelete={() => onDelete(source)} />
      )}
    </SideDrawer>
  );
}

function SourceView({ source, onDelete }: { source: ReportSource; onDelete: () => void }) {
  const { provider, received, counted, unknown, lastReceivedAt, refusedAt, refusal } = source;
  return (
    <>
      <div className="section">
        <Fields>
          <Field label="State">
            <SourceStatus {...source} />
          </Field>
          <Field label="Provider">{GUIDES[provider].name}</Field>
          <Field label="Last report">
            {lastReceivedAt === null ? "Never" : <Time at={lastReceivedAt} />}
          </Field>
          <Field label="Reports">
            {number.format(received)} received, {number.format(counted)} counted,{" "}
            {number.format(unknown)} unknown
            <div className="muted small">
              Counted reports changed something here. Unknown ones are about mail that this project
              did not send.
            </div>
          </Field>
          {refusal !== null && refusedAt !== null && (
            <Field label="Refused">
              {withEnd(refusal)}
              <div className="muted small">{exactTime(new Date(refusedAt))}</div>
            </Field>
          )}
          {source.topicArn !== null && (
            <Field label="SNS topic">
              <code>{source.topicArn}</code>
            </Field>
          )}
        </Fields>
      </div>
      <div className="section">
        <Steps source={source} />
      </div>
      {GUIDES[provider].key !== null && (
        <div className="section">
          <SigningKey source={source} />
        </div>
      )}
      <div className="section">
        <UrlTest source={source} />
      </div>
      <Button variant="default" leftSection={<Trash2 size={15} aria-hidden />} onClick={onDelete}>
        Delete the source
      </Button>
    </>
  );
}
