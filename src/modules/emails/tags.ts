/**
 * Tags of a mail: names and values that the caller chose, such as the number of an order. They are on its
 * record and in the events of the mail, and never in its message.
 */

import { Type } from "@sinclair/typebox";
import { isRecord } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { isHeaderText } from "../../protocols/mime/headers.ts";

const MAX_TAGS = 10;
const LONGEST = 256;
const NAME = /^[A-Za-z0-9_-]{1,256}$/;

type EmailTags = Record<string, string>;

/** `tagErrors` checks the names and their number. */
export const Tags = Type.Record(
  Type.String(),
  Type.String({ format: "header-text", minLength: 1, maxLength: LONGEST }),
);

/** A tag in a filter: its name, or its name and value with a colon between them. */
export const TagFilter = Type.String({ format: "tag-filter", maxLength: 2 * LONGEST + 1 });

/** The errors that the schema does not find. The value may have any content. */
export function tagErrors(tags: unknown): FieldError[] {
  if (!isRecord(tags)) return [];
  const names = Object.keys(tags);
  if (names.length > MAX_TAGS) {
    return [{ field: "tags", message: `must have at most ${MAX_TAGS} tags`, code: "too_big" }];
  }
  const message = "must have a name of 1 to 256 letters, digits, underscores and hyphens";
  return names
    .filter((name) => !NAME.test(name))
    .map((name) => ({
      field: `tags.${name.slice(0, LONGEST)}`,
      message,
      code: "invalid_format" as const,
    }));
}

/** Reads `name=value; name=value`, as in a header field; null if it is not of this form. */
export function parseTagList(text: string): EmailTags | null {
  const tags: EmailTags = {};
  for (const pair of text.split(";").map((each) => each.trim())) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const [name, value] = [
      pair.slice(0, Math.max(0, equals)).trim(),
      pair.slice(equals + 1).trim(),
    ];
    const isGood = NAME.test(name) && value !== "" && value.length <= LONGEST;
    if (!isGood || !isHeaderText(value) || Object.hasOwn(tags, name)) return null;
    Object.defineProperty(tags, name, { value, enumerable: true });
  }
  return Object.keys(tags).length > MAX_TAGS ? null : tags;
}

/** The stored form; null for no tags. */
export function writeTags(tags: EmailTags | undefined): string | null {
  return tags === undefined || Object.keys(tags).length === 0 ? null : JSON.stringify(tags);
}

/** SQL that is true for the mails `e` with a tag, and the values that are bound to it. */
export function hasTag(filter: string): { sql: string; values: string[] } {
  const colon = filter.indexOf(":");
  const name = colon === -1 ? filter : filter.slice(0, colon);
  const found = `e.tags IS NOT NULL AND json_extract(e.tags, ?)`;
  // The name has no character with a meaning in a path.
  const path = `$."${name}"`;
  if (colon === -1) return { sql: `${found} IS NOT NULL`, values: [path] };
  return { sql: `${found} = ?`, values: [path, filter.slice(colon + 1)] };
}
