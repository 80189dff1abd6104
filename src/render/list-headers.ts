/**
 * Headers with which a mail program can show its own unsubscribe button (RFC 2369, RFC 8058) and group
 * the mail of a topic (RFC 2919); docs/delivery.md#C6.
 */

import { domainOf } from "../protocols/mime/address.ts";
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
    /** Identifies the topic; null for a mail without one. */
    listId: string | null;
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
  if (list.listId !== null && !has(LIST_ID)) headers.push([LIST_ID, `<${list.listId}>`]);
  if (!has(FEEDBACK_ID)) headers.push([FEEDBACK_ID, list.feedbackId]);
  return callerHeaders.length === 0 ? headers : [...headers, ...callerHeaders];
}

const LIST_UNSUBSCRIBE = "List-Unsubscribe";
const LIST_UNSUBSCRIBE_POST = "List-Unsubscribe-Post";
const LIST_ID = "List-Id";
const FEEDBACK_ID = "Feedback-ID";

/** RFC 2919 §2. */
const LONGEST_LIST_ID = 255;

/** The part of a List-Id that names a topic: its key, or its id if the key is not ASCII. */
export function listLabel({ id, key }: { id: string; key: string }): string {
  return /^[a-z0-9-]+$/.test(key) ? key : id;
}

/**
 * The identifier of a topic in the domain of its sender, such as `product-news.example.com`. It stays the
 * same when the topic is renamed. Null if the domain is too long.
 */
export function makeListId(label: string, sender: string): string | null {
  const listId = `${label}.${domainOf(sender)}`;
  return listId.length <= LONGEST_LIST_ID ? listId : null;
}
