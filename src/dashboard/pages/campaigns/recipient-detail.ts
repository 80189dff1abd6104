import type { Recipient } from "../../../modules/campaigns/results-model.ts";
import { explainReply } from "../../ui/message/explain.ts";

/** A reply of a mail server, such as "550 5.1.1 unknown user". */
const REPLY = /^(\d{3})(?: (\d\.\d{1,3}\.\d{1,3}))?/;
const NOT_DELIVERED = ["BOUNCED", "FAILED", "SUPPRESSED", "CANCELLED", "QUEUED"];

/**
 * The links that a recipient clicked, or why the mail was not delivered; "" if there is neither.
 */
export function recipientDetail({ status, links, lastError, bouncedAt }: Recipient): string {
  if (bouncedAt !== null || NOT_DELIVERED.includes(status)) {
    return lastError === null ? "" : reasonText(lastError);
  }
  return links.map((url) => url.replace(/^https?:\/\//, "")).join(", ");
}

/** Puts the meaning of the reply first, because the words of servers are long. */
function reasonText(error: string): string {
  const [, code, enhanced = null] = REPLY.exec(error) ?? [];
  if (code === undefined) return error;
  const [, meaning = ""] = explainReply({ code: Number(code), enhanced }).split(": ");
  const text = meaning.charAt(0).toUpperCase() + meaning.slice(1);
  return text === "" ? error : `${text} ${error}`;
}

/** The time of the latest event of the mail; null if it was not sent. */
export function latestOf(row: Recipient): string | null {
  const { sentAt, openedAt, clickedAt, bouncedAt, complainedAt } = row;
  const times = [sentAt, openedAt, clickedAt, bouncedAt, complainedAt].filter((at) => at !== null);
  return times.toSorted().at(-1) ?? null;
}
