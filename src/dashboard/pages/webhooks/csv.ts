/** The columns of webhooks and of their deliveries in CSV. */

import type { Delivery, Webhook } from "../../../modules/webhooks/model.ts";
import { columnsOf, type CsvColumn } from "../../ui/csv.ts";

export const WEBHOOK_CSV: readonly CsvColumn<Webhook>[] = columnsOf<Webhook>([
  "id",
  "url",
  "events",
  "description",
  "enabled",
  "disabledReason",
  "failingSince",
  "createdAt",
  "updatedAt",
]);

export const DELIVERY_CSV: readonly CsvColumn<Delivery>[] = columnsOf<Delivery>([
  "id",
  "eventId",
  "eventName",
  "status",
  "attempts",
  "responseCode",
  "responseExcerpt",
  "error",
  "durationMs",
  "lastAttemptAt",
  "nextAttemptAt",
  "createdAt",
]);
