/** Short texts about webhooks and their deliveries. */

import type { Delivery, DeliveryDetails } from "../../../modules/webhooks/model.ts";

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

/** "38 ms", "1.2 s"; "" if the duration is not known. */
export function tookText(durationMs: number | null): string {
  if (durationMs === null) return "";
  if (durationMs < 1_000) return `${durationMs} ms`;
  return `${(durationMs / 1_000).toFixed(durationMs < 10_000 ? 1 : 0)} s`;
}

type Try = { at: string | null; isDelivered: boolean; text: string; took: string };

/** The tries of a delivery that are known, the latest one first. */
export function triesOf(delivery: DeliveryDetails): Try[] {
  const { attempts, earlierAttempts, lastAttemptAt, ...latest } = delivery;
  if (attempts === 0) return [];
  return [...earlierAttempts, { at: lastAttemptAt, ...latest }]
    .map(({ at, responseCode, error, durationMs }) => ({
      at,
      isDelivered: responseCode !== null && responseCode >= 200 && responseCode < 300,
      text: responseCode === null ? (error ?? "No response") : `Answered ${responseCode}`,
      took: tookText(durationMs),
    }))
    .toReversed();
}
