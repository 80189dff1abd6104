/** The state of a webhook: a word, and a banner that says what is wrong and what to do. */

import { Button } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Webhook } from "../../../modules/webhooks/model.ts";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

type State = Pick<Webhook, "enabled" | "disabledReason" | "failingSince">;

export function WebhookStatus({ enabled, disabledReason, failingSince }: State) {
  if (!enabled) {
    return disabledReason === null ? (
      <Status value="DISABLED" />
    ) : (
      <Status tone="failed">Disabled after failures</Status>
    );
  }
  return failingSince === null ? <Status value="ENABLED" /> : <Status tone="held">Failing</Status>;
}

/** Nothing for a webhook that works. `onEnable` is absent for those who may not enable it. */
export function WebhookBanner(props: {
  webhook: State;
  /** The result of the latest try that failed; null if it is not known. */
  fault: string | null;
  isBusy: boolean;
  onEnable: (() => void) | undefined;
}) {
  const { webhook, fault, isBusy, onEnable } = props;
  const { enabled, disabledReason, failingSince } = webhook;
  if (enabled && failingSince === null) return null;
  return (
    <div
      className="webhook-banner"
      data-tone={disabledReason === null ? "held" : "failed"}
      role="status"
    >
      <TriangleAlert size={18} aria-hidden />
      <div>
        {enabled ? <Failing since={failingSince} /> : reasonText(webhook)}
        {fault !== null && <p>The latest try: {fault}</p>}
      </div>
      {!enabled && onEnable !== undefined && (
        <Button size="xs" variant="default" loading={isBusy} onClick={onEnable}>
          Enable again
        </Button>
      )}
    </div>
  );
}

function Failing({ since }: { since: string | null }) {
  return (
    <>
      <strong>Deliveries are failing.</strong>
      <p>
        The first failure was <Time at={since} />. Each delivery is tried eight times within a day.
        After five days without a success the webhook is disabled. Open a delivery below to see the
        whole answer.
      </p>
    </>
  );
}

function reasonText({ disabledReason, failingSince }: State): ReactNode {
  if (disabledReason === "GONE") {
    return (
      <>
        <strong>The receiver answered 410, which asks for no more events.</strong>
        <p>
          If that was a mistake, correct the receiver or the address under Settings, then enable the
          webhook again.
        </p>
      </>
    );
  }
  if (disabledReason === "FAILING") {
    return (
      <>
        <strong>The webhook was disabled after five days without a success.</strong>
        <p>
          The first failure was <Time at={failingSince} />. Repair the receiver, check it with “Send
          a test”, then enable the webhook again. Pending deliveries are then sent; failed ones can
          be tried again.
        </p>
      </>
    );
  }
  return (
    <>
      <strong>The webhook is disabled, so no events are sent.</strong>
      <p>Events that happen meanwhile are not sent later.</p>
    </>
  );
}
