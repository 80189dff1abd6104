/** The form of a tool: its texts, the schema of its arguments, and the function that answers. */

import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { fieldErrors, isRecord } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { type ApiClient, ToolRefusal } from "./api-client.ts";
import type { Confirmations } from "./confirmations.ts";

type ToolContext = { api: ApiClient; confirmations: Confirmations };

export type Tool = {
  name: string;
  description: string;
  input: TObject;
  /** False for a tool that only uses inboxes, which need no key in `mailstead dev`. */
  needsKey: boolean;
  isChange: boolean;
  /** Returns the answer, which is shown as JSON. Throws a ToolRefusal with the reason otherwise. */
  run: (context: ToolContext, given: unknown) => Promise<unknown>;
};

type ToolTexts<Input extends TObject> = { name: string; description: string; input: Input };

/** The schema of the arguments of a tool, which has no others. */
export function toolInput<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false });
}

export function readTool<Input extends TObject>(
  { needsKey = true, ...texts }: ToolTexts<Input> & { needsKey?: boolean },
  run: (api: ApiClient, given: Static<Input>) => Promise<unknown>,
): Tool {
  const { input } = texts;
  return {
    ...texts,
    needsKey,
    isChange: false,
    run: ({ api }, given) => run(api, argumentsOf(input, given)),
  };
}

/** The arguments, if they fit the schema. */
export function argumentsOf<Input extends TObject>(input: Input, given: unknown): Static<Input> {
  if (Value.Check(input, given)) return given;
  const faults = argumentFaults(input, given).map(({ field, message }) => `${field}: ${message}`);
  throw new ToolRefusal(`The arguments are not valid: ${faults.join(", ")}.`);
}

const MAX_FAULTS = 20;

/** Every fault of the arguments, also each name that the tool does not have. */
export function argumentFaults(input: TObject, given: unknown): FieldError[] {
  const known = Object.keys(input.properties);
  const unknown = isRecord(given) ? Object.keys(given).filter((name) => !known.includes(name)) : [];
  const code = "unknown_field" as const;
  const message = `is not an argument; the arguments are ${known.join(", ") || "none"}`;
  const others = fieldErrors(input, given).filter(({ field }) => !unknown.includes(field));
  return [...unknown.map((field) => ({ field, message, code })), ...others].slice(0, MAX_FAULTS);
}

/** The members of a value that a tool shows. */
export function pickMembers(
  value: unknown,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new Error("the server answered in another form than expected");
  return Object.fromEntries(names.map((name) => [name, value[name]]));
}

/** The items of a list in an answer. */
export function listItems(list: unknown): readonly unknown[] {
  const items = isRecord(list) ? list["items"] : list;
  if (!Array.isArray(items)) throw new Error("the server answered in another form than expected");
  return items;
}

/** A text of at most this length, with a note if something was cut off. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const shown = text.slice(0, maxCharacters).toWellFormed();
  return `${shown}… [${text.length - maxCharacters} more characters are left out]`;
}

/** A member of an answer in a sentence. */
export function inWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
