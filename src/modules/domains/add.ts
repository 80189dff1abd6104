/**
 * Adds a domain with new DKIM keys. A domain that the project has already keeps its keys; it gets
 * those that are missing, the operator's declaration, and a check. A domain that another project has
 * verified is refused; one that another project has only added is not, because it proves nothing.
 */

import { eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { DkimKeys, NewKey } from "./keys.ts";
import type { DomainRow } from "./service.ts";

/** A domain to add; `domain` is in canonical form (name.ts). */
type NewDomain = {
  projectSeq: number;
  domain: string;
  /** True if the operator declares the domain verified, regardless of the DNS. */
  isDeclaredVerified: boolean;
};

/** Generates keys and returns the change that stores the domain with them. */
type AddDomain = (input: NewDomain) => Promise<Change<{ row: DomainRow; isNew: boolean }>>;

export function createAddDomain(deps: {
  db: Db;
  clock: Clock;
  keys: DkimKeys;
  find: (projectSeq: number, domain: string) => DomainRow | null;
  isVerifiedElsewhere: (projectSeq: number, domain: string) => boolean;
}): AddDomain {
  const { db, clock, keys, find, isVerifiedElsewhere } = deps;

  function hasKeys(row: DomainRow): boolean {
    return keys.of(row.seq).length > 0;
  }

  /**
   * Adds a domain that exists already: stores missing keys and the operator's declaration, and
   * makes a check due. Leaves the rest unchanged.
   */
  function addExisting(known: DomainRow, input: NewDomain, made: readonly NewKey[]): DomainRow {
    const { isDeclaredVerified } = input;
    if (!hasKeys(known)) keys.insert(known.seq, made);
    const now = clock.now();
    const declared = {
      status: "VERIFIED",
      isDeclaredVerified: true,
      verifiedAt: known.verifiedAt ?? now,
      failingSince: null,
    } as const;
    return db
      .update(domains)
      .set({ ...(isDeclaredVerified ? declared : {}), misses: 0, nextCheckAt: now })
      .where(eq(domains.seq, known.seq))
      .returning()
      .get();
  }

  function insert(
    { projectSeq, domain, isDeclaredVerified }: NewDomain,
    made: readonly NewKey[],
  ): DomainRow {
    const now = clock.now();
    const row = db
      .insert(domains)
      .values({
        id: newId(now),
        projectSeq,
        domain,
        status: isDeclaredVerified ? "VERIFIED" : "PENDING",
        isDeclaredVerified,
        verifiedAt: isDeclaredVerified ? now : null,
        nextCheckAt: now,
        createdAt: now,
      })
      .returning()
      .get();
    keys.insert(row.seq, made);
    return row;
  }

  return async (input) => {
    const { projectSeq, domain, isDeclaredVerified } = input;
    const before = find(projectSeq, domain);
    const made = before !== null && hasKeys(before) ? null : await keys.make();
    return () => {
      const known = find(projectSeq, domain);
      const isNewClaim = known === null || isDeclaredVerified;
      if (isNewClaim && isVerifiedElsewhere(projectSeq, domain)) throw domainTaken(domain);
      if (known !== null) return { row: addExisting(known, input, made ?? []), isNew: false };
      if (made === null) throw justRemoved(domain);
      return { row: insert(input, made), isNew: true };
    };
  };
}

function domainTaken(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} is verified in another project.`, {
    suggestion: "Remove it there first: only one project can have a domain verified.",
  });
}

function justRemoved(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} was removed at the same moment.`, {
    suggestion: "Send the request again.",
  });
}
