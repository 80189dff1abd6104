/**
 * Finds what uses a template, a segment or a domain, so that it is not deleted while it is used. The
 * modules that can use one register a finder; the module that owns it asks for all users.
 */

/** Returns the users in words, such as `workflow "Welcome"`. */
type FindUsers = (projectSeq: number, key: string) => string[];

/** An object that other objects refer to: a template or segment by its id, a domain by its name. */
type ReferenceKind = "template" | "segment" | "domain";

export type References = ReturnType<typeof createReferences>;

export function createReferences() {
  const finders = new Map<ReferenceKind, FindUsers[]>();
  return {
    register(kind: ReferenceKind, find: FindUsers): void {
      finders.set(kind, [...(finders.get(kind) ?? []), find]);
    },

    usersOf(kind: ReferenceKind, projectSeq: number, key: string): string[] {
      return (finders.get(kind) ?? []).flatMap((find) => find(projectSeq, key));
    },
  };
}
