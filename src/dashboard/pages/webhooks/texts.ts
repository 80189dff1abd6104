/** Short texts about webhooks and their deliveries. */

import type { Delivery } from "../../../modules/webhooks/model.ts";

/** "All events", or the patterns. */
export const eventsText = (events: readonly string[]): string =>
  events.includes("*") ? "All events" : events.join(", ");

/** The host and path without the scheme, which fits on phones. */
export const hostOf = (url: string): string => url.replace(/^https?:\/\//, "");

/** The latest answer in a few words. */
export function resultText({ responseCode, error, attempts, nextAttemptAt }: Delivery): string {
  if (responseCode !== null) return `Answered ${responseCode}`;
  if (error !== null) return error;
  if (attempts > 0) return "Is being tried again";
  return nextAttemptAt === null
    ? "Waits for an earlier event of the contact"
    : "Has not been tried yet";
}
