/**
 * Sending domains of a project. In order: a domain is added with DKIM keys (add.ts, keys.ts);
 * its DNS records are checked, first every few minutes and later daily (check-worker.ts,
 * dns-check.ts); the records found are compared with those expected (records.ts, findings.ts); the
 * result verifies the domain, or fails it after 72 hours without its key (schedule.ts); mail from a
 * verified domain is accepted and signed with its keys. Several projects may add a domain. The first one
 * whose key is found has it, until it loses or removes it.
 */

import { and, asc, desc, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, listPage as listPageOf, newestRows } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { perApp } from "../../lib/per-app.ts";
import type { References } from "../../lib/references.ts";
import { bounceHostOf } from "../../outbox/return-path.ts";
import { isSignedByRelay } from "../../outbox/transports/create-transport.ts";
import type { Signer } from "../../protocols/dkim/sign.ts";
import { createAddDomain } from "./add.ts";
import { type DkimKeys, dkimKeysOf } from "./keys.ts";
import type { Domain, DomainQuery } from "./model.ts";
import { loadPresentDomain } from "./present.ts";
import {
  type ExpectedRecord,
  expectedRecords,
  installationOf,
  keepsReturnPath,
  type Installation,
} from "./records.ts";
import { usesOf } from "./usage.ts";

export type DomainRow = typeof domains.$inferSelect;
export type Domains = ReturnType<typeof createDomains>;

type SenderDomainRow = Pick<DomainRow, "status" | "verifiedAt"> & { hasReturnPath: number };

type DomainsDeps = {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  keys: DkimKeys;
  installation: Installation;
  /** Whether this server receives mail (`--inbound`). */
  isReceiving: boolean;
  references: Pick<References, "usersOf">;
};

export const domainService = perApp((app: App) =>
  createDomains({
    ...app,
    listPage: listPageOf(app),
    keys: dkimKeysOf(app),
    installation: installationOf(app.config),
    isReceiving: app.config.inbound !== null,
  }),
);

/** Whether the project may send from the domain. */
export function isSenderVerified(app: App, projectSeq: number, domain: string): boolean {
  return (
    !app.config.requireVerifiedDomain || domainService(app).isVerified(projectSeq, domain)
  );
}

/** The keys that sign the mail of a domain; null if it leaves unsigned, or if the relay signs it. */
export function signerOf(app: App, projectSeq: number, domain: string): Signer | null {
  return isSignedByRelay(app.config) ? null : domainService(app).signerOf(projectSeq, domain);
}

export function createDomains(deps: DomainsDeps) {
  const { db, clock, listPage, keys, installation, isReceiving, references } = deps;
  // Without it, a bounce that a relay sends back still finds the mailbox of the sender.
  const hasBounceHosts =
    installation.mode === "direct" || (isReceiving && keepsReturnPath(installation));
  const findOwner = db.sqlite.prepare<{ projectSeq: number; domain: string }, [string]>(
    "SELECT project_seq AS projectSeq, domain FROM domains WHERE domain = ? AND status = 'VERIFIED'",
  );
  const senderDomain = createSenderDomains(db);

  function find(projectSeq: number, domain: string): DomainRow | null {
    const match = and(eq(domains.domain, domain), eq(domains.projectSeq, projectSeq));
    return db.select().from(domains).where(match).limit(1).get() ?? null;
  }

  /** The domain in all projects that have added it; the project that has verified it comes first. */
  function findAll(domain: string): DomainRow[] {
    return db
      .select()
      .from(domains)
      .where(eq(domains.domain, domain))
      .orderBy(desc(eq(domains.status, "VERIFIED")), asc(domains.seq))
      .all();
  }

  function isVerifiedElsewhere(projectSeq: number, domain: string): boolean {
    const owner = findOwner.get(domain);
    return owner !== null && owner.projectSeq !== projectSeq;
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

  /** Returns the function that shows a domain as the API does. */
  async function presenter(): Promise<(row: DomainRow) => Domain> {
    const present = await loadPresentDomain();
    return (row) =>
      present(row, {
        records: recordsOf(row),
        isTaken: isVerifiedElsewhere(row.projectSeq, row.domain),
      });
  }

  return {
    get,
    find,
    findAll,
    isVerifiedElsewhere,
    recordsOf,
    presenter,
    signerOf: keys.signerOf,
    add: createAddDomain({ db, clock, keys, find, isVerifiedElsewhere }),

    /**
     * True if exactly this domain is verified; its parent does not count (docs/interface.md#send).
     */
    isVerified: (projectSeq: number, domain: string): boolean =>
      senderDomain(projectSeq, domain).isVerified,

    /** True if exactly this domain was verified and is not any more, because its key left the DNS. */
    hasLostVerification: (projectSeq: number, domain: string): boolean =>
      senderDomain(projectSeq, domain).isLost,

    /** The host that receives bounces; null if its records are not in the DNS yet. */
    bounceHostOf(projectSeq: number, domain: string): string | null {
      if (!hasBounceHosts) return null;
      return senderDomain(projectSeq, domain).hasReturnPath ? bounceHostOf(domain) : null;
    },

    /** The nearest verified domain of any project: this one, or one above it; null without one. */
    ownerOf(domain: string): { projectSeq: number; domain: string } | null {
      for (const name of withParents(domain)) {
        const owner = findOwner.get(name);
        if (owner !== null) return owner;
      }
      return null;
    },

    /** Whether the bounces of a verified domain of any project go to this host. */
    isBounceHost(host: string): boolean {
      const domain = host.slice(host.indexOf(".") + 1);
      return bounceHostOf(domain) === host && findOwner.get(domain) !== null;
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
        checkOthers(db, { domain, now: clock.now() });
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
        async (rows) => rows.map(await presenter()),
      ),
  };
}

/** Part of a change: makes checks due, because a domain that another project had may be verified now. */
export function checkOthers(db: Db, { domain, now }: { domain: string; now: number }): void {
  db.update(domains).set({ nextCheckAt: now }).where(eq(domains.domain, domain)).run();
}

/** Returns the function that finds a domain of a project by its name, as the domain of a sender. */
function createSenderDomains({ sqlite }: Db) {
  // Runs twice for every mail: when it is accepted and when it leaves.
  const findSender = sqlite.prepare<SenderDomainRow, [string, number]>(`
    SELECT status, verified_at AS verifiedAt, has_return_path AS hasReturnPath FROM domains
    WHERE domain = +? AND project_seq = +?`);
  const findInProject = cachePerIteration((key) => {
    const [projectSeq = "", domain = ""] = key.split(" ", 2);
    const row = findSender.get(domain, Number(projectSeq));
    const isVerified = row?.status === "VERIFIED";
    return {
      isVerified,
      isLost: row !== null && !isVerified && row.verifiedAt !== null,
      hasReturnPath: isVerified && row.hasReturnPath === 1,
    };
  });
  return (projectSeq: number, domain: string) => findInProject(`${projectSeq} ${domain}`);
}

/** The domain and all domains above it but the last label. */
function withParents(domain: string): string[] {
  const labels = domain.toLowerCase().split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}

function domainInUse(domain: string, uses: readonly string[]): AppError {
  return new AppError(409, "CONFLICT", `${domain} is the sender of ${uses.join(", ")}.`, {
    suggestion: "Change their sender first.",
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

/** Why a mail waits while the domain of its sender is not verified any more, and what to do. */
export function senderVerificationLost(domain: string): string {
  return (
    `The sender's domain ${domain} is not verified any more. Publish its DNS records again; ` +
    `\`mailstead domain verify ${domain}\` lists those that are missing.`
  );
}
