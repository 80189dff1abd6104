/**
 * The reports that the webhooks of relay providers make about mails. Each provider has a file with the
 * function that reads one of its events, and `providers.ts` lists them. An event is untrusted input:
 * values of the wrong type are read as absent, and texts are cut. classify-reported.ts finds the class
 * of a bounce, signatures.ts and sns.ts check who sent the event.
 */

import type { ReplyClass } from "../smtp/reply-classes.ts";

/** The class of a bounce by the type that the provider gave. */
export type BounceClass = {
  class: ReplyClass;
  /** True if the words do not count, because the provider did not try to deliver. */
  isCertain: boolean;
};

/** The fact that an event reports. An event that is none of these has the kind `other`. */
type Fact =
  | (BounceClass & {
      kind: "bounce";
      /** Enhanced status code; null if the provider names none. */
      status: string | null;
      /** The reply of the recipient's server, or the reason in words of the provider; may be empty. */
      words: string;
    })
  | { kind: "complaint"; feedbackType: string }
  | {
      kind: "open" | "click";
      /** Target of the link; null for an open. */
      url: string | null;
      /** When it happened, in milliseconds; null if it is not known. */
      at: number | null;
      userAgent: string | null;
      /** The provider says that no person did it. */
      isMachine: boolean;
    }
  | { kind: "delivery" | "unsubscribe" | "delay" | "other" };

/** The values by which the mail of a report is found. */
export type MailClues = {
  /** The id that our header field gave to the provider (outbox/id-field.ts). */
  emailId: string | null;
  /** With its angle brackets. */
  messageId: string | null;
  recipient: string | null;
};

export type RelayReport = MailClues & Fact;

/** Reads one event. An event of SES may be about several recipients. */
export type ReadEvent = (event: unknown) => RelayReport[];

/** Longest text that is read, in UTF-16 units. */
const LONGEST_TEXT = 2_000;

/** The value at a path of members and positions; undefined if there is none. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

/** The entry of an untrusted name; undefined if the table has none, also for `constructor`. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The text at a path, as it can be stored; null if it is empty or no text. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path);
  if (typeof found !== "string") return null;
  const text = found.slice(0, LONGEST_TEXT).replaceAll("\0", "").toWellFormed().trim();
  return text === "" ? null : text;
}

/** The elements of the array at a path; none if it is no array. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The seconds at a path as milliseconds: the end of that second, or null. */
export function secondsAt(value: unknown, ...path: readonly (string | number)[]): number | null {
  const found = valueAt(value, ...path);
  if (typeof found !== "number" || !Number.isFinite(found)) return null;
  return Number.isInteger(found) ? found * 1_000 + 999 : Math.floor(found * 1_000);
}

/** The time in ISO 8601 at a path in milliseconds; null if there is none. */
export function timeAt(value: unknown, ...path: readonly (string | number)[]): number | null {
  const time = Date.parse(textAt(value, ...path) ?? "");
  return Number.isNaN(time) ? null : time;
}

/** A Message-ID with its angle brackets, which some providers leave out. */
export function bracketed(messageId: string | null): string | null {
  if (messageId === null) return null;
  return messageId.startsWith("<") ? messageId : `<${messageId}>`;
}

/** The value of a header field in a list of names and values; null if it is absent. */
export function headerAt(fields: readonly unknown[], name: string): string | null {
  const found = fields.find((field) => textAt(field, "name")?.toLowerCase() === name);
  return textAt(found, "value");
}

/** The address in `Ada <ada@example.com>`, or the text itself. */
export function addressIn(text: string | null): string | null {
  if (text === null || !text.endsWith(">")) return text;
  return text.slice(text.lastIndexOf("<") + 1, -1);
}

/** The parts that are known, with a space between them. */
export function joinKnown(...parts: readonly (string | number | null)[]): string {
  return parts.filter((part) => part !== null).join(" ");
}

const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}$/;

/** An enhanced status code; null if the text is none. */
export function statusIn(text: string | null): string | null {
  return text !== null && ENHANCED.test(text) ? text : null;
}
