/** Headers with which a mail program can show its own unsubscribe button (RFC 2369, RFC 8058;
 * docs/delivery.md#C6). */

import { ONE_CLICK } from "../protocols/mime/headers.ts";

export type Header = readonly [name: string, value: string];

/**
 * The headers of a marketing mail: the service's, then the caller's. A caller's header replaces the
 * service's header of the same name. If the caller sends its own List-Unsubscribe, the service adds
 * no List-Unsubscribe-Post, because only the caller knows whether its URL supports one-click.
 */
export function withListHeaders(
  callerHeaders: readonly Header[],
  list: {
    unsubscribeUrl: string;
    /** The address for programs that unsubscribe by mail; null if no server receives it. */
    unsubscribeAddress: string | null;
    /** Identifies the content, so it is the same for all recipients of one campaign. */
    feedbackId: string;
  },
): Header[] {
  const has = (name: string) =>
    callerHeaders.some(([other]) => other.toLowerCase() === name.toLowerCase());
  const headers: Header[] = [];
  if (!has(LIST_UNSUBSCRIBE)) {
    const { unsubscribeUrl, unsubscribeAddress } = list;
    // RFC 2369 §2: the first URL that a program supports is used.
    const byMail = unsubscribeAddress === null ? "" : `, <mailto:${unsubscribeAddress}>`;
    headers.push([LIST_UNSUBSCRIBE, `<${unsubscribeUrl}>${byMail}`]);
    if (!has(LIST_UNSUBSCRIBE_POST)) headers.push([LIST_UNSUBSCRIBE_POST, ONE_CLICK]);
  }
  if (!has(FEEDBACK_ID)) headers.push([FEEDBACK_ID, list.feedbackId]);
  return callerHeaders.length === 0 ? headers : [...headers, ...callerHeaders];
}

const LIST_UNSUBSCRIBE = "List-Unsubscribe";
const LIST_UNSUBSCRIBE_POST = "List-Unsubscribe-Post";
const FEEDBACK_ID = "Feedback-ID";
