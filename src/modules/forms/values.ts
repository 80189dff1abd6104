/** Reads the values that a person filled in. Pure. */

import type { FormField } from "../../db/schema/forms.ts";
import { oneLine } from "../../lib/one-line.ts";
import { parseAddress } from "../../protocols/mime/address.ts";
import type { FormTexts } from "../../render/form-texts.ts";
import { fillPlaceholders } from "../../render/language.ts";

/** The parts of a form that its values must fit. */
type Fillable = {
  fields: readonly FormField[];
  topicIds: readonly string[];
  hasConsentBox: boolean;
};

/** The posted fields: the first value of a name, and all its values. */
export type Filled = { get(name: string): string | null; getAll(name: string): string[] };

type Value = string | number | boolean;

export type FormValues = {
  /** Normalized. */
  email: string;
  data: Readonly<Record<string, Value>>;
  topicIds: string[];
};

/** The text of the fault of each faulty field, by its name, in the order of the form. */
export type Faults = ReadonlyMap<string, string>;

const DEFAULT_MAX_LENGTH = 200;

export function readValues(
  { fields, topicIds, hasConsentBox }: Fillable,
  filled: Filled,
  texts: FormTexts["errors"],
): { ok: true; values: FormValues } | { ok: false; faults: Faults } {
  const faults = new Map<string, string>();
  const data: [string, Value][] = [];
  const given = filled.get("email") ?? "";
  const address = parseAddress(given);
  if (!address.ok) faults.set("email", given.trim() === "" ? texts.required : texts.email);
  for (const field of fields) {
    const result = readValue(field, filled.get(field.name), texts);
    if ("fault" in result) faults.set(field.name, result.fault);
    else if (result.value !== null) data.push([field.name, result.value]);
  }
  if (hasConsentBox && !isTicked(filled.get("consent"))) faults.set("consent", texts.consent);
  if (faults.size > 0 || !address.ok) return { ok: false, faults };
  const chosen = new Set(filled.getAll("topics"));
  // A topic that the form does not offer any more is left out.
  const offered = topicIds.filter((id) => chosen.has(id));
  const values = { email: address.address, data: Object.fromEntries(data), topicIds: offered };
  return { ok: true, values };
}

function readValue(
  { kind, isRequired = false, options = [], maxLength = DEFAULT_MAX_LENGTH }: FormField,
  given: string | null,
  texts: FormTexts["errors"],
): { value: Value | null } | { fault: string } {
  if (kind === "CHECKBOX") {
    const value = isTicked(given);
    return isRequired && !value ? { fault: texts.checkbox } : { value };
  }
  const text = oneLine(given ?? "").trim();
  if (text === "") return isRequired ? { fault: texts.required } : { value: null };
  switch (kind) {
    case "TEXT": {
      if (text.length <= maxLength) return { value: text.toWellFormed() };
      return { fault: fillPlaceholders(texts.tooLong, { max: String(maxLength) }) };
    }
    case "NUMBER":
      return NUMBER.test(text)
        ? { value: Number(text.replace(",", ".")) }
        : { fault: texts.number };
    case "DATE":
      return isDay(text) ? { value: text } : { fault: texts.date };
    case "CHOICE":
      return options.includes(text) ? { value: text } : { fault: texts.choice };
  }
}

/** A browser sends the value of a ticked box, and nothing for one that is not. */
const isTicked = (given: string | null): boolean =>
  given !== null && !/^(?:0|false|off|no)?$/i.test(given);

const NUMBER = /^[+-]?\d{1,15}(?:[.,]\d{1,10})?$/;

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
