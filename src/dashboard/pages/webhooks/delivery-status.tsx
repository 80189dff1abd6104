import type { Delivery } from "../../../modules/webhooks/model.ts";
import { Status } from "../../ui/status.tsx";

/** A pending delivery that failed before differs from one that was not tried yet. */
export function DeliveryStatus({ status, attempts }: Pick<Delivery, "status" | "attempts">) {
  if (status === "PENDING" && attempts > 0) return <Status tone="held">Retrying</Status>;
  return <Status value={status} />;
}
