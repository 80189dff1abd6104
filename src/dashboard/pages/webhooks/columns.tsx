/** The columns of the list of webhooks. */

import type { Webhook } from "../../../modules/webhooks/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";
import { eventsText, hostOf } from "./texts.ts";
import { WebhookStatus } from "./webhook-state.tsx";

export const WEBHOOK_COLUMNS: readonly Column<Webhook>[] = [
  {
    key: "url",
    title: "Address",
    width: "30%",
    render: ({ url }) => <span title={url}>{hostOf(url)}</span>,
  },
  {
    key: "events",
    title: "Events",
    width: "220px",
    render: ({ events }) => (
      <span className="muted" title={events.join(", ")}>
        {eventsText(events)}
      </span>
    ),
  },
  {
    key: "description",
    title: "Note",
    width: "22%",
    render: ({ description }) => (
      <span className="muted" title={description ?? ""}>
        {description ?? "–"}
      </span>
    ),
  },
  {
    key: "state",
    title: "State",
    width: "168px",
    render: (webhook) => <WebhookStatus {...webhook} />,
  },
  {
    key: "created",
    title: "Created",
    width: "136px",
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
];

/** The two lines of a row on phones. */
export const webhookLines = (webhook: Webhook) => ({
  first: (
    <span className="line">
      <span className="cut">{hostOf(webhook.url)}</span>
      <WebhookStatus {...webhook} />
    </span>
  ),
  second: `${eventsText(webhook.events)}${webhook.description === null ? "" : ` · ${webhook.description}`}`,
});
