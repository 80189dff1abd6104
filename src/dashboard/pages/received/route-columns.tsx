/** The columns of the list of inbound routes. */

import { Button } from "@mantine/core";
import type { InboundRoute } from "../../../modules/inbound-routes/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";

/** It is null if the user may not remove routes. */
type OnRemove = ((route: InboundRoute) => void) | null;

export const routeColumns = (onRemove: OnRemove): Column<InboundRoute>[] => [
  {
    key: "address",
    title: "Address",
    width: "36%",
    render: ({ address }) => <bdi title={address}>{address}</bdi>,
  },
  {
    key: "action",
    title: "What happens",
    render: (route) => <span title={actionText(route)}>{actionText(route)}</span>,
  },
  {
    key: "created",
    title: "Added",
    width: "128px",
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
  {
    key: "remove",
    title: "",
    width: "120px",
    isFigure: true,
    render: (route) => <Remove route={route} onRemove={onRemove} />,
  },
];

/** The two lines of a row on phones. */
export const routeLines = (onRemove: OnRemove) => (route: InboundRoute) => ({
  first: <bdi className="cut">{route.address}</bdi>,
  second: (
    <span className="line">
      <span className="cut">{actionText(route)}</span>
      <Remove route={route} onRemove={onRemove} />
    </span>
  ),
});

export function actionText({ action }: Pick<InboundRoute, "action">): string {
  return "forward" in action
    ? `Listed, and forwarded to ${action.forward}`
    : "Listed, with the event email.received";
}

function Remove({ route, onRemove }: { route: InboundRoute; onRemove: OnRemove }) {
  if (onRemove === null) return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="gray"
      className="route-remove"
      aria-label={`Remove the route for ${route.address}`}
      onClick={() => onRemove(route)}
    >
      Remove
    </Button>
  );
}
