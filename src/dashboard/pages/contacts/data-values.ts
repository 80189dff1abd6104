/** Values of the data of contacts as text, and changes of them. */

export type ContactData = Readonly<Record<string, unknown>>;

/** Types of values in the editor. Lists and objects are edited as JSON. */
export const VALUE_TYPES = [
  { value: "text", label: "Text" },
  { value: "number", label: "Number" },
  { value: "flag", label: "Yes or no" },
  { value: "json", label: "JSON" },
] as const;
export type ValueType = (typeof VALUE_TYPES)[number]["value"];

export const isValueType = (text: string | null): text is ValueType =>
  VALUE_TYPES.some(({ value }) => value === text);

/** A row of the editor. `text` is what was typed; a flag is "true" or "false". */
export type ValueDraft = { id: string; key: string; type: ValueType; text: string; isNew: boolean };

/** A longer text is cut in tables, whose cells show only its beginning. */
const SHOWN_CHARACTERS = 300;

/** A value in a cell of a table: one line. */
export function valueText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

export function typeOfValue(value: unknown): ValueType {
  if (typeof value === "string") return "text";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "flag" : "json";
}

const JSON_INDENT = 2;

/** The text of a value in the field of its type. */
export const textOfValue = (value: unknown): string =>
  typeof value === "string"
    ? value
    : JSON.stringify(value, null, typeOfValue(value) === "json" ? JSON_INDENT : 0);

export const draftsOf = (data: ContactData): ValueDraft[] =>
  Object.entries(data).map(([key, value]) => ({
    id: `field ${key}`,
    key,
    type: typeOfValue(value),
    text: textOfValue(value),
    isNew: false,
  }));

/** The text when another type is chosen; texts that make no sense in it are kept, to be corrected. */
export function textForType(text: string, type: ValueType): string {
  if (type === "flag") return text === "true" || text === "Yes" ? "true" : "false";
  if (type !== "json") return text;
  return parseJson(text) === undefined ? JSON.stringify(text) : text;
}

/** Keys that the service sets itself in templates: it ignores a caller's values for them. */
const RESERVED = ["id", "email", "unsubscribeUrl", "subscribeUrl", "manageUrl", "__proto__"];

type Faults = { key?: string; value?: string };

export type Edit =
  | { ok: true; patch: Record<string, unknown>; inverse: Record<string, unknown> }
  /** The faults by the id of their row. */
  | { ok: false; faults: ReadonlyMap<string, Faults> };

/**
 * Compares the rows with the stored data. `patch` has the changed keys, and null for removed ones;
 * `inverse` undoes it.
 */
export function editOf(data: ContactData, drafts: readonly ValueDraft[]): Edit {
  const faults = new Map<string, Faults>();
  const values = new Map<string, unknown>();
  for (const given of drafts) {
    const draft = given.isNew ? { ...given, key: given.key.trim() } : given;
    const parsed = parseDraft(draft);
    const keyFault = values.has(draft.key)
      ? "Another field has this name."
      : draft.isNew
        ? keyFaultOf(draft.key)
        : null;
    if (keyFault !== null || !parsed.ok) {
      faults.set(draft.id, {
        ...(keyFault === null ? {} : { key: keyFault }),
        ...(parsed.ok ? {} : { value: parsed.fault }),
      });
    }
    if (parsed.ok) values.set(draft.key, parsed.value);
  }
  if (faults.size > 0) return { ok: false, faults };
  const before = new Map(Object.entries(data));
  const isSame = (key: string) =>
    values.has(key) && JSON.stringify(values.get(key)) === JSON.stringify(before.get(key));
  const changed = [...new Set([...before.keys(), ...values.keys()])].filter((key) => !isSame(key));
  return {
    ok: true,
    patch: Object.fromEntries(changed.map((key) => [key, values.get(key) ?? null])),
    inverse: Object.fromEntries(changed.map((key) => [key, before.get(key) ?? null])),
  };
}

function keyFaultOf(key: string): string | null {
  if (key === "") return "Give the field a name.";
  return RESERVED.includes(key) ? "Mailstead sets this name itself. Choose another one." : null;
}

type Parsed = { ok: true; value: unknown } | { ok: false; fault: string };

function parseDraft({ type, text }: ValueDraft): Parsed {
  switch (type) {
    case "text":
      return { ok: true, value: text };
    case "flag":
      return { ok: true, value: text === "true" };
    case "number": {
      const value = Number(text);
      return text.trim() === "" || !Number.isFinite(value)
        ? { ok: false, fault: "Write a number, such as 12.5." }
        : { ok: true, value };
    }
    case "json": {
      const value = parseJson(text);
      if (value === undefined) {
        return { ok: false, fault: 'Write JSON, such as ["a", "b"] or {"city": "Bath"}.' };
      }
      return value === null
        ? { ok: false, fault: "A field cannot be null. Remove it instead." }
        : { ok: true, value };
    }
  }
}

/** Undefined for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
