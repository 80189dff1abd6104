/** Looks into JSON of unknown shape. */

/** What stands at a dotted path such as `data.items.0.id`; undefined where there is nothing. */
export function at(value: unknown, path: string): unknown {
  return path === "" ? value : path.split(".").reduce<unknown>(member, value);
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** The same where it has to be text. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  if (typeof found === "string") return found;
  throw new Error(`no text at "${path}" of ${JSON.stringify(value)}`);
}

/** The same where it has to be a list. */
export function listAt(value: unknown, path: string): unknown[] {
  const found = at(value, path);
  if (Array.isArray(found)) return found;
  throw new Error(`no list at "${path}" of ${JSON.stringify(value)}`);
}
