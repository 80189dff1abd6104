/** Finds the header fields of the returned message that tell which mail a report is about. */

import { type ReadField, linesOf, readFields, valueOf } from "../mime/read-fields.ts";
import { leavesOf, type MessagePart, headAndBody, textOfPart } from "../mime/read-parts.ts";

/** The identifiers of the mail that a report is about. */
export type OriginalMail = {
  /** Values of Message-ID, first the one of the returned message; at most ten. */
  messageIds: readonly string[];
  /** Value of the header `X-Mailstead-ID`; null if it is absent. */
  ownId: string | null;
  /** Value of List-Unsubscribe, whose link contains a signed token; null if it is absent. */
  listUnsubscribe: string | null;
  /** Value of the header To; null if it is absent. */
  to: string | null;
};

const MESSAGE_TYPES: ReadonlySet<string> = new Set([
  "message/rfc822",
  "message/global",
  "text/rfc822-headers",
  "message/rfc822-headers",
  "message/global-headers",
]);
const MAX_IDS = 10;
const MAX_LINES = 3_000;

/** The header of the returned message: a part of its own, or quoted in the text. */
export function originalOf(message: MessagePart): OriginalMail {
  const leaves = leavesOf(message);
  const part = leaves.find(({ type }) => MESSAGE_TYPES.has(type));
  const returned = part === undefined ? quotedFields(leaves) : fieldsOf(part);
  const ids = [
    ...idsIn(valueOf(returned, "message-id")),
    ...idsIn(valueOf(message.fields, "in-reply-to")),
    ...idsIn(valueOf(message.fields, "references")).toReversed(),
  ];
  return {
    messageIds: [...new Set(ids)].slice(0, MAX_IDS),
    ownId: valueOf(returned, "x-mailstead-id"),
    listUnsubscribe: valueOf(returned, "list-unsubscribe"),
    to: valueOf(returned, "to"),
  };
}

function fieldsOf(part: MessagePart): ReadField[] {
  const text = textOfPart(part);
  const { head } = headAndBody(text.replace(/^\s+/, ""));
  return readFields(head);
}

const QUOTED = /^[ \t>|]{0,10}(message-id|list-unsubscribe|x-mailstead-id|to):[ \t]*(.{1,1000})$/i;

/** The fields that the text of a report quotes, each the first time. */
function quotedFields(leaves: readonly MessagePart[]): ReadField[] {
  const fields = new Map<string, ReadField>();
  for (const leaf of leaves.filter(({ type }) => type.startsWith("text/"))) {
    let pending: string | null = null;
    for (const line of linesOf(textOfPart(leaf), MAX_LINES)) {
      const [, found, value = ""] = QUOTED.exec(line.slice(0, 1_100)) ?? [];
      const folded = pending !== null && /^[ \t>|]*</.test(line.slice(0, 200)) ? line : null;
      const name = found?.toLowerCase() ?? (folded === null ? null : pending);
      pending = /^[ \t>|]{0,10}(?:message-id|list-unsubscribe):[ \t]*$/i.test(line.slice(0, 100))
        ? line.replace(/[^a-z-]/gi, "").toLowerCase()
        : null;
      if (name === null || name === undefined || fields.has(name)) continue;
      fields.set(name, { name, value: (folded ?? value).replace(/^[ \t>|]+(?=<)/, "").trim() });
    }
  }
  return [...fields.values()];
}

/** The ids in a value: `<left@right>`. */
function idsIn(value: string | null): string[] {
  if (value === null) return [];
  return [...value.matchAll(/<[^<>\s]{1,400}>/g)].map(([id]) => id).slice(0, MAX_IDS);
}
