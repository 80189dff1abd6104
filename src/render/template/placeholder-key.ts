/**
 * Keys as placeholders: `{{ First Name }}`, or `{{ a.b }}` where `a.b` is one key of the data.
 *
 * The keys that exist are known when a mail is rendered, not when its template is stored. A
 * template may therefore use each text that could be a key, and a key that does not exist renders
 * as nothing.
 */

import { type Context, Drop } from "liquidjs";
import { trimInvisible } from "../../lib/trim.ts";

/** Longest key, in UTF-16 units; longer text is read as Liquid. */
const MAX_KEY_LENGTH = 255;

/**
 * The possible spellings of a key, the exact one first; null if the text is empty or too long. Each
 * other text can be a key, because keys come from imported files and requests.
 */
export function keyNames(text: string): readonly [string, ...string[]] | null {
  const exact = trimInvisible(text);
  if (exact.length === 0 || exact.length > MAX_KEY_LENGTH) return null;
  // An HTML editor may wrap a line inside of a key, and write no-break spaces for spaces.
  const plain = exact.split(/\s+/).join(" ");
  return exact === plain ? [exact] : [exact, plain];
}

/**
 * The value of a key; undefined if there is none. At each level, a key that equals the whole rest
 * of the name wins over one that equals its part up to the first dot. Variables that the template
 * assigned hide the data.
 */
export function keyValue(context: Context, name: string): unknown {
  const whole = readVariable(context, name);
  const dot = name.indexOf(".");
  if (dot === -1) return whole;
  const head = name.slice(0, dot);
  const inner = readVariable(context, head);
  const isData = inner === ownValue(context.globals, head);
  return isData && whole !== undefined ? whole : innerValue(inner, name.slice(dot + 1));
}

/** Does what `getSync` of Liquid does for a single name, without its two generators. */
export function readVariable(context: Context, name: string): unknown {
  return context.readProperty(context["findScope"](name), name);
}

function innerValue(value: unknown, name: string): unknown {
  let scope = value;
  let rest = name;
  for (;;) {
    const whole = ownValue(scope, rest);
    const dot = rest.indexOf(".");
    if (whole !== undefined || dot === -1) return whole;
    scope = ownValue(scope, rest.slice(0, dot));
    rest = rest.slice(dot + 1);
  }
}

/** An own property of a plain object; undefined for arrays, strings and the library's objects. */
function ownValue(scope: unknown, name: string): unknown {
  if (typeof scope !== "object" || scope === null) return undefined;
  if (Array.isArray(scope) || scope instanceof Drop) return undefined;
  return Object.hasOwn(scope, name) ? Reflect.get(scope, name) : undefined;
}
