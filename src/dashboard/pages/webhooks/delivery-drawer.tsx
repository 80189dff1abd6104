/** One delivery: its request, the answer of the receiver, and the time of the next attempt. */

import { Button } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Delivery, DeliveryDetails, Webhook } from "../../../modules/webhooks/model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { exactTime, Time } from "../../ui/time.tsx";
import { Timeline } from "../../ui/timeline.tsx";
import type { LiveList } from "../../ui/use-live-list.ts";
import { DeliveryStatus } from "./delivery-status.tsx";
import { tookText, triesOf } from "./texts.ts";
import { requestText } from "./request-text.ts";
import { webhookPath } from "./use-webhook.ts";

export function DeliveryDrawer(props: {
  webhook: Webhook;
  id: string | undefined;
  list: LiveList<Delivery>;
  onOpen: (id: string) => void;
  onClose: () => void;
}) {
  const { webhook, id, list, onOpen, onClose } = props;
  // It stays shown while the drawer closes.
  const last = useRef(id);
  useEffect(() => {
    if (id !== undefined) last.current = id;
  }, [id]);
  const shown = id ?? last.current;
  const index = list.rows.findIndex((row) => row.id === shown);
  const next = index === -1 ? undefined : list.rows[index + 1]?.id;
  const previous = list.rows[index - 1]?.id;
  return (
    <SideDrawer
      isOpen={id !== undefined}
      onClose={onClose}
      label="Delivery"
      title={<h2 className="drawer-heading">{list.rows[index]?.eventName ?? "Delivery"}</h2>}
      onNext={next === undefined ? undefined : () => onOpen(next)}
      onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
    >
      {shown !== undefined && (
        <DeliveryView key={shown} webhook={webhook} id={shown} onChange={list.renew} />
      )}
    </SideDrawer>
  );
}

function DeliveryView(props: {
  webhook: Webhook;
  id: string;
  onChange: (delivery: Delivery) => void;
}) {
  const { webhook, id, onChange } = props;
  const path = `${webhookPath(webhook.id)}/deliveries/${encodeURIComponent(id)}`;
  const query = useQuery({
    queryKey: ["webhooks", webhook.id, "delivery", id],
    queryFn: ({ signal }) => api.get<DeliveryDetails>(path, { signal }),
  });
  const retry = useMutation({
    mutationFn: () => api.post<Delivery>(`${path}/retry`),
    onSuccess: () => query.refetch(),
  });
  const { data } = query;
  const show = useRef(onChange);
  useEffect(() => {
    show.current = onChange;
  });
  useEffect(() => {
    if (data !== undefined) show.current(data);
  }, [data]);
  const mayManage = useMay("ADMIN");
  const prefix = webhook.shape === "RESEND" ? "svix" : "webhook";
  return (
    <Loaded query={query} height={320}>
      {(delivery) => (
        <>
          <div className="delivery-head">
            <DeliveryStatus {...delivery} />
            {mayManage && webhook.enabled && (
              <Button
                size="xs"
                variant="default"
                loading={retry.isPending}
                leftSection={<RotateCcw size={14} aria-hidden />}
                onClick={() => retry.mutate()}
              >
                {delivery.status === "PENDING" ? "Try now" : "Send again"}
              </Button>
            )}
          </div>
          {retry.error !== null && <Problem error={retry.error} />}
          {mayManage && !webhook.enabled && (
            <p className="muted small delivery-note">
              Enable the webhook to send this delivery again.
            </p>
          )}
          <Times delivery={delivery} prefix={prefix} />
          <Answer delivery={delivery} />
          {delivery.attempts > 1 && <Tries delivery={delivery} />}
          <section className="section">
            <h3>Request</h3>
            <p className="muted small delivery-note">
              As the next try sends it. Each try also has a time and a signature in the headers
              {prefix}-timestamp and {prefix}-signature.
            </p>
            <Code label="Request" samples={requestText(delivery.request)} />
          </section>
        </>
      )}
    </Loaded>
  );
}

function Times({ delivery, prefix }: { delivery: DeliveryDetails; prefix: string }) {
  const { attempts, createdAt, lastAttemptAt, nextAttemptAt, status } = delivery;
  return (
    <section className="section">
      <Fields>
        <Field label="Event happened">{exactTime(new Date(createdAt))}</Field>
        <Field label="Tries">
          {attempts === 0 ? "None yet" : `${attempts}, the last one `}
          {lastAttemptAt !== null && <Time at={lastAttemptAt} />}
        </Field>
        {status === "PENDING" && (
          <Field label="Next try">
            {nextAttemptAt === null ? (
              "After an earlier event of the same contact"
            ) : (
              <Time at={nextAttemptAt} as="due" />
            )}
          </Field>
        )}
        <Field label={`${prefix}-id`}>
          <CopyText value={delivery.id} label={`Copy the ${prefix}-id`} />
        </Field>
      </Fields>
    </section>
  );
}

function Answer({ delivery }: { delivery: DeliveryDetails }) {
  const { responseCode, responseExcerpt, error, attempts, durationMs } = delivery;
  return (
    <section className="section">
      <h3>Response</h3>
      {attempts === 0 && <p className="muted">The receiver was not asked yet.</p>}
      {responseCode !== null && (
        <p>
          Status <strong className="figures">{responseCode}</strong>
          {durationMs !== null && <span className="muted"> after {tookText(durationMs)}</span>}
        </p>
      )}
      {error !== null && responseCode === null && (
        <p className="delivery-error">
          {error}
          {durationMs !== null && <span className="muted"> After {tookText(durationMs)}.</span>}
        </p>
      )}
      {responseExcerpt !== null && (
        <pre className="excerpt" tabIndex={0} role="region" aria-label="Beginning of the response">
          {responseExcerpt}
        </pre>
      )}
      {responseCode !== null && responseExcerpt === null && (
        <p className="muted">The response had no body.</p>
      )}
    </section>
  );
}

/** The result of each try. The server keeps the last ten tries. */
function Tries({ delivery }: { delivery: DeliveryDetails }) {
  const tries = triesOf(delivery);
  const more = delivery.attempts - tries.length;
  return (
    <section className="section">
      <h3>Tries</h3>
      <Timeline
        label="Tries, the latest one first"
        items={tries.map(({ at, isDelivered, text, took }, i) => ({
          key: `${delivery.attempts - i}`,
          tone: isDelivered ? "good" : "failed",
          title: `${delivery.attempts - i}. ${text}`,
          at,
          ...(took !== "" && { detail: <span className="muted small">Took {took}</span> }),
        }))}
      />
      {more > 0 && (
        <p className="muted small">
          {more === 1 ? "One earlier try is" : `${more} earlier tries are`} not stored.
        </p>
      )}
    </section>
  );
}
