/**
 * Sending domains of a project. In order: a domain is added with DKIM keys (service.ts, keys.ts);
 * its DNS records are checked, first every few minutes and later daily (check-worker.ts,
 * dns-check.ts); the records found are compared with those expected (records.ts, findings.ts); the
 * result verifies the domain, or fails it after 72 hours without its key (schedule.ts); mail from a
 * verified domain is accepted and signed with its keys.
 */

import { and, desc, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import type { References } from "../../lib/references.ts";
import { newId } from "../../lib/id.ts";
import { bounceHostOf } from "../../outbox/return-path.ts";
import type { DkimKeys, NewKey } from "./keys.ts";
import type { Domain, DomainQuery } from "./model.ts";
import { presentDomain } from "./present.ts";
import { type ExpectedRecord, expectedRecords, type Installation } from "./records.ts";
import { usesOf } from "./usage.ts";

export type DomainRow = typeof domains.$inferSelect;
export type Domains = ReturnType<typeof createDomains>;

type DomainsDeps = {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  keys: DkimKeys;
  installation: Installation;
  references: Pick<References, "usersOf">;
};

/** A domain to add; `domain` is in canonical form (name.ts). */
type NewDomain = {
  projectSeq: number;
  domain: string;
  /** True if the operator declares the domain verified, regardless of the DNS. */
  isDeclaredVerified: boolean;
};

export function createDomains(deps: DomainsDeps) {
  const { db, clock, listPage, keys, installation, references } = deps;
  // Runs twice for every mail: when it is accepted and when it leaves.
  const findVerified = db.sqlite.prepare<{ hasReturnPath: number }, [string, number]>(`
    SELECT has_return_path AS hasReturnPath FROM domains
    WHERE domain = +? AND project_seq = +? AND status = 'VERIFIED'`);

  function findByName(domain: string): DomainRow | undefined {
    return db.select().from(domains).where(eq(domains.domain, domain)).limit(1).get();
  }

  function get(projectSeq: number, id: string): DomainRow {
    const match = and(eq(domains.projectSeq, projectSeq), eq(domains.id, id));
    const row = db.select().from(domains).where(match).limit(1).get();
    if (row === undefined) throw notFound("DOMAIN");
    return row;
  }

  function recordsOf(row: DomainRow): ExpectedRecord[] {
    return expectedRecords(row.domain, keys.of(row.seq), installation);
  }

  const present = (row: DomainRow): Domain => presentDomain(row, recordsOf(row));

  function hasKeys(row: DomainRow): boolean {
    return keys.of(row.seq).length > 0;
  }

  /**
   * Adds a domain that exists already: stores missing keys and the operator's declaration, and
   * makes a check due. Leaves the rest unchanged.
   */
  function addExisting(known: DomainRow, input: NewDomain, made: readonly NewKey[]): DomainRow {
    const { projectSeq, isDeclaredVerified } = input;
    if (known.projectSeq !== projectSeq) throw domainTaken(known.domain);
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

  return {
    get,
    recordsOf,
    present,
    signerOf: keys.signerOf,

    /**
     * True if exactly this domain is verified; its parent does not count (docs/interface.md#send).
     */
    isVerified: (projectSeq: number, domain: string): boolean =>
      findVerified.get(domain, projectSeq) !== null,

    /** The host that receives bounces; null if its records are not in the DNS yet. */
    bounceHostOf(projectSeq: number, domain: string): string | null {
      if (installation.mode === "relay") return null;
      const isReady = findVerified.get(domain, projectSeq)?.hasReturnPath === 1;
      return isReady ? bounceHostOf(domain) : null;
    },

    /** Finds a domain in any project, since each domain belongs to only one. */
    findByName: (domain: string): DomainRow | null => findByName(domain) ?? null,

    find(projectSeq: number, domain: string): DomainRow | null {
      const row = findByName(domain);
      return row?.projectSeq === projectSeq ? row : null;
    },

    /** Generates keys and returns the change that stores the domain with them. */
    async add(input: NewDomain): Promise<Change<{ row: DomainRow; isNew: boolean }>> {
      const before = findByName(input.domain);
      const made = before !== undefined && hasKeys(before) ? null : await keys.make();
      return () => {
        const known = findByName(input.domain);
        if (known !== undefined)
          return { row: addExisting(known, input, made ?? []), isNew: false };
        if (made === null) throw justRemoved(input.domain);
        return { row: insert(input, made), isNew: true };
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const { seq, domain } = get(projectSeq, id);
        const uses = [
          ...usesOf(db, projectSeq, domain),
          ...references.usersOf("domain", projectSeq, domain),
        ];
        if (uses.length > 0) throw domainInUse(domain, uses);
        db.delete(domains).where(eq(domains.seq, seq)).run();
      };
    },

    /** Restarts the short delays between checks, because the user waits for a change in the DNS. */
    requestCheck(projectSeq: number, id: string): Change<DomainRow> {
      return () => {
        const { seq } = get(projectSeq, id);
        return db.update(domains).set({ misses: 0 }).where(eq(domains.seq, seq)).returning().get();
      };
    },

    all: (projectSeq: number): DomainRow[] =>
      db
        .select()
        .from(domains)
        .where(eq(domains.projectSeq, projectSeq))
        .orderBy(desc(domains.seq))
        .all(),

    list: (projectSeq: number, query: DomainQuery): Promise<Page<Domain>> =>
      listPage(
        { scope: `${projectSeq}:domains`, query },
        newestRows(db, {
          table: domains,
          filter: and(
            eq(domains.projectSeq, projectSeq),
            query.status === undefined ? undefined : eq(domains.status, query.status),
          ),
          select: db.select().from(domains),
        }),
        (rows) => rows.map(present),
      ),
  };
}

function domainTaken(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} belongs to another project.`, {
    suggestion: "Remove it there first: a domain can belong to only one project.",
  });
}

function domainInUse(domain: string, uses: readonly string[]): AppError {
  return new AppError(409, "CONFLICT", `${domain} is the sender of ${uses.join(", ")}.`, {
    suggestion: "Change their sender first.",
  });
}

function justRemoved(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} was removed at the same moment.`, {
    suggestion: "Send the request again.",
  });
}

/** The error for a sender whose domain is not verified. */
export function senderNotVerified(domain: string): AppError {
  const message = `The sender's domain ${domain} is not a verified domain of this project.`;
  return new AppError(403, "DOMAIN_NOT_VERIFIED", message, {
    suggestion:
      `Add it with: mailstead domain add ${domain} — or, if it was added already, list its ` +
      `missing DNS records: mailstead domain verify ${domain}`,
  });
}
