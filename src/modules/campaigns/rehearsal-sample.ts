/**
 * Chooses contacts that show how differently a campaign may turn out: the oldest and the newest one,
 * and then again and again the contact that has the most that none before it has: a variable without a
 * value, another choice such as a plan, a very long text, or characters that HTML or other scripts
 * need. Pure.
 */

import { splitPath } from "../../lib/key-path.ts";
import { isRecord } from "../../http/validation.ts";

type SampledContact = { seq: number; data: Readonly<Record<string, unknown>> };
export type Chosen<C> = { contact: C; reasons: string[] };

/** Values that are longer are no choice, such as a plan, but a text. */
const LONGEST_CHOICE = 20;
const LONG_TEXT = 60;
/** Variables that are compared; more would hold the event loop. */
const MAX_NAMES = 60;
/** Most reasons that are named for one contact. */
const MAX_REASONS = 5;

/** `candidates`: the oldest one first, the newest one last. `names`: the variables of the campaign. */
export function chooseSample<C extends SampledContact>(
  candidates: readonly C[],
  names: readonly string[],
  size: number,
): Chosen<C>[] {
  const seen = new Set<string>();
  const chosen: Chosen<C>[] = [];
  const left: Left<C>[] = candidates.map((contact) => {
    const features = featuresOf(contact.data, names);
    return { contact, features };
  });

  function take({ contact, features }: Left<C>, reason: string | null): void {
    const fresh = features.filter((feature) => !seen.has(feature));
    for (const feature of fresh) seen.add(feature);
    const reasons = [...(reason === null ? [] : [reason]), ...fresh].slice(0, MAX_REASONS);
    chosen.push({ contact, reasons });
  }

  const oldest = left.shift();
  if (oldest !== undefined) take(oldest, "oldest contact");
  const newest = size > 1 ? left.pop() : undefined;
  if (newest !== undefined) take(newest, "newest contact");
  while (chosen.length < size && left.length > 0) take(takeBest(left, seen), null);
  return chosen;
}

/** A contact, and its features that none before it had when they were compared last. */
type Left<C> = { contact: C; features: string[] };

/**
 * Removes the contact with the most features that are not seen. Their number can only decrease for a
 * contact, so contacts with fewer features than the best one are not compared again.
 */
function takeBest<C>(left: Left<C>[], seen: ReadonlySet<string>): Left<C> {
  left.sort((a, b) => b.features.length - a.features.length);
  let best = 0;
  for (const [at, each] of left.entries()) {
    const most = at === 0 ? -1 : (left[best]?.features.length ?? 0);
    if (each.features.length <= most) break;
    each.features = each.features.filter((feature) => !seen.has(feature));
    if (each.features.length > most) best = at;
  }
  const [taken] = left.splice(best, 1);
  if (taken === undefined) throw new Error("no contact is left");
  return taken;
}

function featuresOf(data: SampledContact["data"], names: readonly string[]): string[] {
  return names.slice(0, MAX_NAMES).flatMap((name) => featuresOfValue(name, valueAt(data, name)));
}

function featuresOfValue(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [`${name} is missing`];
  if (value === "" || (Array.isArray(value) && value.length === 0)) return [`${name} is empty`];
  if (Array.isArray(value)) return [`${name} is a list`];
  if (typeof value === "object") return [`${name} is an object`];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return [
    ...(typeof value === "string" ? [] : [`${name} is a ${typeof value}`]),
    ...(text.length > LONG_TEXT ? [`${name} is long`] : []),
    ...(/[<>&"]/.test(text) ? [`${name} has characters of HTML`] : []),
    ...(/[\u0250-\u{10ffff}]/u.test(text) ? [`${name} has other scripts or symbols`] : []),
    ...(text.length <= LONGEST_CHOICE ? [`${name} is ${JSON.stringify(value)}`] : []),
  ];
}

/** The value of a variable, which may be written with `data.` before it. */
function valueAt(data: SampledContact["data"], name: string): unknown {
  const key = name.startsWith("data.") ? name.slice("data.".length) : name;
  if (Object.hasOwn(data, key)) return data[key];
  let value: unknown = data;
  for (const part of splitPath(key)) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}
