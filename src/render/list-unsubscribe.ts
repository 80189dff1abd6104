/** Headers that let a mail program offer "unsubscribe" by itself (RFC 2369, RFC 8058;
 * docs/delivery.md#C6). */

import { ONE_CLICK } from "../protocols/mime/headers.ts";

export type Header = readonly [name: string, value: string];

/**
 * The headers of a marketing mail: ours, then those that the caller brought. What a caller brings
 * takes the place of ours; with a List-Unsubscribe of its own, one-click is the caller's to offer.
 */
export function withListHeaders(
  own: readonly Header[],
  list: {
    unsubscribeUrl: string;
    /** Tells mails of one content from others, the same for all its recipients. */
    feedbackId: string;
  },
): Header[] {
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  const has = (name: string) => names.has(name.toLowerCase());
  const ours: Header[] = [];
  if (!has(LIST_UNSUBSCRIBE)) {
    ours.push([LIST_UNSUBSCRIBE, `<${list.unsubscribeUrl}>`]);
    if (!has(LIST_UNSUBSCRIBE_POST)) ours.push([LIST_UNSUBSCRIBE_POST, ONE_CLICK]);
  }
  if (!has(FEEDBACK_ID)) ours.push([FEEDBACK_ID, list.feedbackId]);
  return [...ours, ...own];
}

const LIST_UNSUBSCRIBE = "List-Unsubscribe";
const LIST_UNSUBSCRIBE_POST = "List-Unsubscribe-Post";
const FEEDBACK_ID = "Feedback-ID";
