/** The columns of suppressions in CSV. */

import type { Suppression } from "../../../modules/suppressions.ts";
import { columnsOf, type CsvColumn } from "../../ui/csv.ts";

export const SUPPRESSION_CSV: readonly CsvColumn<Suppression>[] = [
  ...columnsOf<Suppression>(["email", "reason", "createdAt", "expiresAt"]),
  { name: "causeEmailId", value: ({ cause }) => cause?.emailId },
  { name: "causeReportedAt", value: ({ cause }) => cause?.reportedAt },
  { name: "causeReason", value: ({ cause }) => cause?.reason },
];
