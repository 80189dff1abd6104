/** Sending domains of a project: added with keys, looked up in the DNS, used to send and to sign. */

import { and, count, desc, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type Cursors, olderThan } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { bounceHostOf } from "../../outbox/return-path.ts";
import type { DkimKeys, NewKey } from "./keys.ts";
import type { Domain, DomainQuery } from "./model.ts";
import { presentDomain } from "./present.ts";
import { type ExpectedRecord, expectedRecords, type Installation } from "./records.ts";
import { usesOf } from "./usage.ts";

export type DomainRow = typeof domains.$inferSelect;
export type Domains = ReturnType<typeof createDomains>;

export type DomainsDeps = {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  keys: DkimKeys;
  installation: Installation;
  /** What else sends from a domain, in words; templates are looked at anyway. */
  findUsers?: readonly ((projectSeq: number, domain: string) => string[])[];
};

/** `domain` is in canonical spelling (name.ts). */
export type NewDomain = {
  projectSeq: number;
  domain: string;
  /** Verified by the operator's word, whatever the DNS says. */
  isByWord: boolean;
};

export function createDomains(deps: DomainsDeps) {
  const { db, clock, cursors, keys, installation, findUsers = [] } = deps;
  // Asked for every mail, at acceptance and when it leaves.
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

  /** Changes nothing but what the operator vouches for and keys that are missing; asks for a look. */
  function addAgain(known: DomainRow, input: NewDomain, made: readonly NewKey[]): DomainRow {
    const { projectSeq, isByWord } = input;
    if (known.projectSeq !== projectSeq) throw domainTaken(known.domain);
    if (!hasKeys(known)) keys.insert(known.seq, made);
    const now = clock.now();
    const vouched = {
      status: "VERIFIED",
      isByWord: true,
      verifiedAt: known.verifiedAt ?? now,
      failingSince: null,
    } as const;
    return db
      .update(domains)
      .set({ ...(isByWord ? vouched : {}), misses: 0, nextCheckAt: now })
      .where(eq(domains.seq, known.seq))
      .returning()
      .get();
  }

  function insert({ projectSeq, domain, isByWord }: NewDomain, made: readonly NewKey[]): DomainRow {
    const now = clock.now();
    const row = db
      .insert(domains)
      .values({
        id: newId(now),
        projectSeq,
        domain,
        status: isByWord ? "VERIFIED" : "PENDING",
        isByWord,
        verifiedAt: isByWord ? now : null,
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

    /** Exactly this domain: a verified parent says nothing about it (docs/interface.md#send). */
    isVerified: (projectSeq: number, domain: string): boolean =>
      findVerified.get(domain, projectSeq) !== null,

    /** The host that bounces may go to; null: none yet. */
    bounceHostOf(projectSeq: number, domain: string): string | null {
      if (installation.mode === "relay") return null;
      const isReady = findVerified.get(domain, projectSeq)?.hasReturnPath === 1;
      return isReady ? bounceHostOf(domain) : null;
    },

    /** A domain belongs to one project of the installation: its name says which. */
    findByName: (domain: string): DomainRow | null => findByName(domain) ?? null,

    find(projectSeq: number, domain: string): DomainRow | null {
      const row = findByName(domain);
      return row?.projectSeq === projectSeq ? row : null;
    },

    /** Makes keys, and gives back the change that stores the domain with them. */
    async add(input: NewDomain): Promise<Change<{ row: DomainRow; isNew: boolean }>> {
      const before = findByName(input.domain);
      const made = before !== undefined && hasKeys(before) ? null : await keys.make();
      return () => {
        const known = findByName(input.domain);
        if (known !== undefined) return { row: addAgain(known, input, made ?? []), isNew: false };
        if (made === null) throw justRemoved(input.domain);
        return { row: insert(input, made), isNew: true };
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const { seq, domain } = get(projectSeq, id);
        const uses = [
          ...usesOf(db, projectSeq, domain),
          ...findUsers.flatMap((find) => find(projectSeq, domain)),
        ];
        if (uses.length > 0) throw domainInUse(domain, uses);
        db.delete(domains).where(eq(domains.seq, seq)).run();
      };
    },

    /** Whoever asks for a look now is waiting for a change: the next looks come soon again. */
    askForLook(projectSeq: number, id: string): Change<DomainRow> {
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

    list(projectSeq: number, query: DomainQuery): Page<Domain> {
      const scope = `${projectSeq}:domains`;
      const request = cursors.read(scope, query);
      const filter = and(
        eq(domains.projectSeq, projectSeq),
        query.status === undefined ? undefined : eq(domains.status, query.status),
      );
      const rows = db
        .select()
        .from(domains)
        .where(and(filter, olderThan(domains.seq, request)))
        .orderBy(desc(domains.seq))
        .limit(request.limit + 1)
        .all();
      const total = db.select({ total: count() }).from(domains).where(filter).all()[0]?.total ?? 0;
      return cursors.page(scope, request, rows, {
        total,
        positionOf: bySeq,
        present,
      });
    },
  };
}

function domainTaken(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} belongs to another project.`, {
    suggestion: "Remove it there first: a domain belongs to one project of the installation.",
  });
}

function domainInUse(domain: string, uses: readonly string[]): AppError {
  return new AppError(409, "CONFLICT", `${domain} is the sender of ${uses.join(", ")}.`, {
    suggestion: "Give them another sender first.",
  });
}

function justRemoved(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} was removed at the same moment.`, {
    suggestion: "Send the request again.",
  });
}
