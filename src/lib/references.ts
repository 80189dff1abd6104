/**
 * Finds the objects that use a template, a segment, a domain or an event, so that none of these is
 * deleted while it is used, or changed so that a user of it becomes invalid. The modules that can
 * use one register functions that find and check its users; the module that owns it asks for all
 * users.
 */

import type { FieldError } from "./errors.ts";

/** An object that uses another one. */
export type Use = { kind: "workflow" | "campaign" | "form"; id: string; name: string };

/** A user that was checked, and its errors: none if it is valid. */
export type CheckedUse = Use & { errors: readonly FieldError[] };

type FindUses = (projectSeq: number, key: string) => Use[];

/** Part of a change: checks the objects that use one of `keys`, as the change has stored them. */
type CheckUses = (projectSeq: number, keys: ReadonlySet<string>) => CheckedUse[];

/**
 * An object that other objects refer to: a template, layout, segment or topic by its id, a domain or an
 * event by its name.
 */
type ReferenceKind = "template" | "layout" | "segment" | "topic" | "domain" | "event";

export type References = ReturnType<typeof createReferences>;

export function createReferences() {
  const registered: { kind: ReferenceKind; find: FindUses; check: CheckUses }[] = [];
  const using = (kind: ReferenceKind) => registered.filter((each) => each.kind === kind);

  function usesOf(kind: ReferenceKind, projectSeq: number, key: string): Use[] {
    return using(kind).flatMap(({ find }) => find(projectSeq, key));
  }

  return {
    /** `check` is for users that a change of the object can make invalid. */
    register(kind: ReferenceKind, find: FindUses, check: CheckUses = () => []): void {
      registered.push({ kind, find, check });
    },

    usesOf,

    /** The users in words, such as `workflow "Welcome"`. */
    usersOf: (kind: ReferenceKind, projectSeq: number, key: string): string[] =>
      usesOf(kind, projectSeq, key).map((use) => `${use.kind} "${use.name}"`),

    /** Part of a change: checks all users of `keys`. */
    checkUses: (kind: ReferenceKind, projectSeq: number, keys: ReadonlySet<string>): CheckedUse[] =>
      using(kind).flatMap(({ check }) => check(projectSeq, keys)),
  };
}
