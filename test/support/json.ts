/** Reads values from JSON of unknown shape. */

/** Returns the value at a dotted path such as `data.items.0.id`; undefined if there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return path === "" ? value : path.split(".").reduce<unknown>(member, value);
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns the string at a dotted path; throws if it is not a string. */
export function stringAt(value: unknown, path: string): string {
  const found = valueAt(value, path);
  if (typeof found === "string") return found;
  throw new Error(`no string at "${path}" of ${JSON.stringify(value)}`);
}

/** Returns the list at a dotted path; throws if it is not a list. */
export function listAt(value: unknown, path: string): unknown[] {
  const found = valueAt(value, path);
  if (Array.isArray(found)) return found;
  throw new Error(`no list at "${path}" of ${JSON.stringify(value)}`);
}
