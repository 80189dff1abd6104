/**
 * Finds what uses a template, a segment or a domain, so that it is not deleted while it is used. The
 * modules that can use one register a finder; the module that owns it asks for all users.
 */

/** An object that uses another one. */
export type Use = { kind: "workflow" | "campaign"; id: string; name: string };

type FindUses = (projectSeq: number, key: string) => Use[];

/** An object that other objects refer to: a template or segment by its id, a domain by its name. */
type ReferenceKind = "template" | "segment" | "domain";

export type References = ReturnType<typeof createReferences>;

export function createReferences() {
  const finders = new Map<ReferenceKind, FindUses[]>();

  function usesOf(kind: ReferenceKind, projectSeq: number, key: string): Use[] {
    return (finders.get(kind) ?? []).flatMap((find) => find(projectSeq, key));
  }

  return {
    register(kind: ReferenceKind, find: FindUses): void {
      finders.set(kind, [...(finders.get(kind) ?? []), find]);
    },

    usesOf,

    /** The users in words, such as `workflow "Welcome"`. */
    usersOf: (kind: ReferenceKind, projectSeq: number, key: string): string[] =>
      usesOf(kind, projectSeq, key).map((use) => `${use.kind} "${use.name}"`),
  };
}
