/** Times and sizes as the texts of alerts have them. */

import { isoTime } from "../../lib/clock.ts";

/** Such as `2027-01-30 08:00 UTC`. */
export const utcText = (at: number): string => `${isoTime(at).slice(0, 16).replace("T", " ")} UTC`;

/** Such as `4.9 GB` or `12 MB`. */
export function bytesText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.round(bytes / 1e6)} MB`;
}
