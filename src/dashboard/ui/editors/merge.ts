/**
 * Compares two versions of an object with the one that both started from, field by field. Fields that
 * belong together, such as a body and its design, form a group: they are taken from one side.
 */

export type FieldValues = Readonly<Record<string, unknown>>;

/** Names of fields that are taken together. A field that is in no group is a group of its own. */
export type Groups = readonly (readonly string[])[];

export const isSameValue = (a: unknown, b: unknown): boolean =>
  a === b ||
  (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));

export const areSameFields = (a: FieldValues, b: FieldValues): boolean =>
  changedFields(a, b).length === 0;

/** The names of the fields whose values differ. */
export const changedFields = (a: FieldValues, b: FieldValues): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (name) => !isSameValue(a[name], b[name]),
  );

/** The members of an object with these names. */
export function pickFields<T extends FieldValues>(value: T, names: readonly string[]): Partial<T> {
  const picked: Partial<T> = {};
  for (const name of Object.keys(value)) {
    if (names.includes(name)) Object.assign(picked, { [name]: value[name] });
  }
  return picked;
}

export type Comparison = {
  /** The fields that only we changed. */
  ours: string[];
  /** The fields that only they changed. */
  theirs: string[];
  /** Groups in which both sides changed something, and not to the same values. */
  conflicts: string[][];
};

/** `base` is the version that both sides started from. */
export function compareVersions(
  versions: { base: FieldValues; ours: FieldValues; theirs: FieldValues },
  groups: Groups = [],
): Comparison {
  const { base, ours, theirs } = versions;
  const result: Comparison = { ours: [], theirs: [], conflicts: [] };
  for (const group of allGroups(Object.keys(base), groups)) {
    const differs = (a: FieldValues, b: FieldValues) =>
      group.some((name) => !isSameValue(a[name], b[name]));
    if (!differs(ours, theirs)) continue;
    if (!differs(base, theirs)) result.ours.push(...group);
    else if (!differs(base, ours)) result.theirs.push(...group);
    else result.conflicts.push(group);
  }
  return result;
}

function allGroups(names: readonly string[], groups: Groups): string[][] {
  const grouped = new Set(groups.flat());
  return [
    ...groups.map((group) => group.filter((name) => names.includes(name))),
    ...names.filter((name) => !grouped.has(name)).map((name) => [name]),
  ].filter((group) => group.length > 0);
}
