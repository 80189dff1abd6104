/** Emails as CSV (RFC 4180). */

import type { Email } from "../../../modules/emails/record-model.ts";

const COLUMNS = [
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
] as const satisfies (keyof Email)[];

export const CSV_HEADER = `${COLUMNS.join(",")}\r\n`;

export const csvRow = (email: Email): string =>
  `${COLUMNS.map((column) => cellOf(email[column])).join(",")}\r\n`;

/** A spreadsheet runs a cell that begins with one of these as a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

function cellOf(value: string | null): string {
  if (value === null) return "";
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
