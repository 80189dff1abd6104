/** The deliveries of a webhook, newest first. A delivery opens in a drawer; the URL has its id. */

import { Button, SegmentedControl } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { RotateCcw, Send } from "lucide-react";
import { useState } from "react";
import type { Delivery, Webhook } from "../../../modules/webhooks/model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { NewPill } from "../../ui/new-pill.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { useLiveList } from "../../ui/use-live-list.ts";
import { DELIVERY_CSV } from "./csv.ts";
import { DeliveryStatus } from "./delivery-status.tsx";
import { DeliveryDrawer } from "./delivery-drawer.tsx";
import type { WebhookSearch } from "./search.ts";
import { resultText, tookText } from "./texts.ts";
import { webhookPath } from "./use-webhook.ts";

const STATES = [
  { value: "", label: "All" },
  { value: "pending", label: "Pending" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
];

const number = new Intl.NumberFormat();

export function Deliveries(props: {
  webhook: Webhook;
  search: WebhookSearch;
  onChange: (search: WebhookSearch, isReplaced?: boolean) => void;
}) {
  const { webhook, search, onChange } = props;
  const status = STATES.find(({ value }) => value === search.status)?.value ?? "";
  const path = `${webhookPath(webhook.id)}/deliveries`;
  const query = status === "" ? {} : { status: status.toUpperCase() };
  const run = useExport({ path, query, columns: DELIVERY_CSV, noun: "deliveries" });
  const list = useLiveList<Delivery>({
    path,
    query,
    isAbout: ({ type, id }) =>
      type === "reload" || (type === "webhook.delivery" && id === webhook.id),
  });
  const { delivery: open, ...rest } = search;
  return (
    <>
      <div className="filter-bar">
        <SegmentedControl
          size="xs"
          aria-label="State of the deliveries"
          data={STATES}
          value={status}
          onChange={(value) => onChange({ ...rest, status: value }, true)}
        />
        <div className="filter-rest">
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "delivery" : "deliveries"}
            </span>
          )}
          <ExportButton run={run} isDisabled={list.rows.length === 0} />
          {webhook.enabled && status === "failed" && list.rows.length > 0 && (
            <RetryFailed webhook={webhook} onDone={list.retry} />
          )}
        </div>
      </div>
      <ExportProgress run={run} />
      <div className="live-table">
        <NewPill count={list.newCount} onShow={list.showNew} />
        <DataTable
          label="Deliveries"
          list={list}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          onOpen={({ id }) => onChange({ ...rest, delivery: id })}
          openKey={open}
          phone={deliveryLines}
          empty={
            <Empty
              icon={Send}
              title="No deliveries yet"
              text="The next event that matches is sent and listed here, for 30 days."
            />
          }
          isFiltered={status !== ""}
          onClearFilters={() => onChange({ ...rest, status: "" }, true)}
        />
      </div>
      <DeliveryDrawer
        webhook={webhook}
        id={open}
        list={list}
        onOpen={(id) => onChange({ ...rest, delivery: id }, true)}
        onClose={() => onChange(rest)}
      />
    </>
  );
}

function RetryFailed({ webhook, onDone }: { webhook: Webhook; onDone: () => void }) {
  const client = useQueryClient();
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const mayManage = useMay("ADMIN");
  async function retry(): Promise<void> {
    setIsBusy(true);
    setError(null);
    try {
      await api.post(`${webhookPath(webhook.id)}/deliveries/retry`);
      await client.invalidateQueries({ queryKey: ["webhooks"] });
      onDone();
    } catch (caught) {
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  }
  if (!mayManage) return null;
  return (
    <>
      {error !== null && <Problem error={error} />}
      <Button
        size="xs"
        variant="default"
        loading={isBusy}
        leftSection={<RotateCcw size={14} aria-hidden />}
        onClick={() => void retry()}
      >
        Retry all failed
      </Button>
    </>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  {
    key: "event",
    title: "Event",
    render: ({ eventName }) => <span title={eventName}>{eventName}</span>,
  },
  {
    key: "status",
    title: "State",
    width: "130px",
    render: (delivery) => <DeliveryStatus {...delivery} />,
  },
  { key: "result", title: "Result", width: "30%", render: (delivery) => <Result {...delivery} /> },
  {
    key: "tries",
    title: "Tries",
    width: "76px",
    isFigure: true,
    render: ({ attempts }) => attempts,
  },
  {
    key: "took",
    title: "Took",
    width: "84px",
    isFigure: true,
    render: ({ durationMs }) => tookText(durationMs),
  },
  {
    key: "next",
    title: "Next try",
    width: "116px",
    render: ({ nextAttemptAt }) => <Time at={nextAttemptAt} isPlain as="due" />,
  },
  {
    key: "created",
    title: "Created",
    width: "136px",
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
];

function Result(delivery: Delivery) {
  const text = resultText(delivery);
  return (
    <span className="muted" title={text}>
      {text}
    </span>
  );
}

const deliveryLines = (delivery: Delivery) => ({
  first: (
    <span className="line">
      <span className="cut">{delivery.eventName}</span>
      <DeliveryStatus {...delivery} />
    </span>
  ),
  second: (
    <>
      <Time at={delivery.createdAt} isPlain /> · {resultText(delivery)}
    </>
  ),
});
