/** The parts that the send calls of all providers share: their types, refusals and fields. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { ValueErrorType } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import { createJsonBounds } from "../../../http/json-checks.ts";
import { fieldErrors } from "../../../http/validation.ts";
import { contentTypeOf } from "../../../protocols/mime/file-types.ts";
import { parseMailbox } from "../../../protocols/mime/mailbox.ts";
import type { Attachment } from "../../../protocols/mime/parts.ts";
import type { SentMailbox } from "../mailpit/compose.ts";
import type { CaughtMail } from "./compose-mail.ts";

export type ProviderRequest = {
  request: Request;
  params: Readonly<Record<string, string>>;
  body: Buffer;
  /** Unix milliseconds. */
  now: number;
  hostname: string;
};

export type Provider = {
  /** The key of the call; null if there is none. */
  readKey(request: Request): string | null;
  /** The refusal of a call without a key. */
  missingKey: string;
  /** `response` is sent after the messages were stored. */
  receive(call: ProviderRequest): Promise<{ mails: readonly CaughtMail[]; response: Response }>;
  refuse(fault: ProviderFault, now: number): Response;
};

/** The refusal of a call. `field` is a dotted path; empty for the whole call. */
export class ProviderFault extends Error {
  readonly status: number;
  readonly field: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    field: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.field = field;
    this.headers = headers;
  }
}

/** The refusal of one field; its name is a part of the message. */
export function invalidField(field: string, message: string): ProviderFault {
  return new ProviderFault(400, field, field === "" ? message : `${field}: ${message}`);
}

export const NO_OTHER_FIELDS = { additionalProperties: false } as const;

/** SDKs send null for what was not given. */
export const nullable = <T extends TSchema>(type: T) =>
  Type.Optional(Type.Union([type, Type.Null()]));

/** Greatest number of characters that the replacement of words may give to a text. */
export const MAX_SUBSTITUTED_CHARACTERS = 36 * 1024 * 1024;

/** Greatest number of values in the JSON of a body. */
const MAX_VALUES = 200_000;

/** The JSON of a body. Throws for a text that is no JSON, is nested too deeply or has too many values. */
export function readJson(body: Buffer): unknown {
  createJsonBounds(MAX_VALUES).add(body);
  return parseJsonText(body.toString(), "");
}

export function parseJsonText(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidField(field, `is not JSON: ${error.message}`);
  }
}

/** A value of the schema. Throws a refusal that names the first field that is not valid. */
export function checkValue<T extends TSchema>(schema: T, value: unknown): Static<T> {
  if (Value.Check(schema, value)) return value;
  for (const { type, path } of Value.Errors(schema, value)) {
    if (type !== ValueErrorType.ObjectAdditionalProperties) continue;
    throw invalidField(path.slice(1).replaceAll("/", ".").slice(0, 200), "is not a known field");
  }
  const [first] = fieldErrors(schema, value);
  throw invalidField(first?.field.slice(0, 200) ?? "", first?.message ?? "is not valid");
}

/** A list of mailboxes with commas between them, in the form of a header (RFC 5322 §3.4). */
export function readMailboxes(field: string, text: string): SentMailbox[] {
  return splitList(text).map((item) => readMailbox(field, item));
}

export function readMailbox(field: string, text: string): SentMailbox {
  const parsed = parseMailbox(text, { mayHaveCommas: true });
  if (!parsed.ok) throw invalidField(field, `is not a valid address: ${parsed.reason}`);
  return { name: parsed.mailbox.name ?? "", address: parsed.mailbox.address };
}

/** Splits at the commas outside of quotes and angle brackets; empty items are left out. */
function splitList(text: string): string[] {
  const items: string[] = [];
  let from = 0;
  let isQuoted = false;
  let isInBrackets = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isQuoted && char === "\\") at++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (char === "<" || char === ">")) isInBrackets = char === "<";
    else if (!isQuoted && !isInBrackets && char === ",") {
      items.push(text.slice(from, at));
      from = at + 1;
    }
  }
  items.push(text.slice(from));
  return items.filter((item) => item.trim() !== "");
}

export function readBase64(field: string, text: string): Buffer {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text.replace(/\s+/g, "")))
    throw invalidField(field, "is not base64");
  return Buffer.from(text, "base64");
}

/** An attachment; an empty type is found by the name of the file. */
export function attachmentOf(given: {
  filename: string;
  content: Uint8Array;
  type: string | null | undefined;
  contentId: string | null | undefined;
  isInline: boolean;
}): Attachment {
  const { filename, content, contentId, isInline } = given;
  const type = given.type ?? "";
  return {
    filename,
    content,
    contentType: type === "" ? contentTypeOf(filename) : type,
    contentId: contentId === "" ? null : (contentId ?? null),
    disposition: isInline ? "inline" : "attachment",
  };
}

/** Headers that show fields which do not change a caught message: `send_at` as `X-SendGrid-Send-At`. */
export function shownHeaders(
  prefix: string,
  fields: Readonly<Record<string, unknown>>,
): [name: string, value: string][] {
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    const words = name.split(/[_-]|(?<=[a-z])(?=[A-Z])/).map(capitalised);
    return [[`${prefix}${words.join("-")}`, shownText(value)]];
  });
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A text with line breaks is shown as a JSON string, because a header has one line. */
function shownText(value: unknown): string {
  return typeof value === "string" && !/[\r\n]/.test(value) ? value : JSON.stringify(value);
}

/** The message that stands for one whose template only the provider has. */
export function templatePlaceholder(
  provider: string,
  template: string,
  data: unknown,
): { subject: string; text: string } {
  const shown = JSON.stringify(data ?? {}, null, 2);
  return {
    subject: `Template ${template} of ${provider}`,
    text:
      `${provider} makes this message from the template ${template}, which is stored there. ` +
      `Here are the data that the program sent for it:\n\n${shown}\n`,
  };
}
