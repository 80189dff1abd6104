/** The columns of emails in CSV. */

import type { Email } from "../../../modules/emails/record-model.ts";
import { columnsOf } from "../../ui/csv.ts";

export const EMAIL_CSV = columnsOf<Email>([
  "id",
  "to",
  "from",
  "subject",
  "status",
  "source",
  "campaignId",
  "templateId",
  "createdAt",
  "sentAt",
  "deliveredAt",
  "openedAt",
  "clickedAt",
  "bouncedAt",
  "lastError",
]);
