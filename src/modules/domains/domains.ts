/**
 * Sending domains of a project. In order: a domain is added with DKIM keys (keys.ts); its DNS records are
 * checked, first every few minutes and later daily (checks.ts, dns-check.ts); the records found are
 * compared with those expected (records.ts, findings.ts); the result verifies the domain, or fails it
 * after 72 hours without its key (schedule.ts); mail from a verified domain is accepted and signed with
 * its keys. A domain that moves from another product may keep its key (own-key.ts). Several projects may add a domain. The first one whose key is found has it, until it loses or
 * removes it. operations.ts has the operations of the API.
 */

import { and, asc, desc, eq, like } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { domains } from "../../db/schema/domains.ts";
import { projects } from "../../db/schema/projects.ts";
import { templates } from "../../db/schema/templates.ts";
import { statement } from "../../db/statement.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { perApp } from "../../lib/per-app.ts";
import { bounceHostOf } from "../../outbox/return-path.ts";
import { findProjectRelay, storedRelays } from "../../outbox/transports/stored-relays.ts";
import { keepsMailFrom } from "../../protocols/smtp/known-relays.ts";
import { insertKeys, makeKeys, type NewKey, readPublicKeys, replaceKeys } from "./keys.ts";
import type { Domain } from "./model.ts";
import type { OwnKey } from "./own-key.ts";
import { loadPresentDomain } from "./present.ts";
import {
  type ExpectedRecord,
  expectedRecords,
  type Installation,
  installationOf,
  keepsReturnPath,
  withRelay,
} from "./records.ts";

export type DomainRow = typeof domains.$inferSelect;

/** The dependencies of the functions of domains; a command has them without an App (cli/store.ts). */
export type DomainStore = Pick<
  App,
  "config" | "db" | "clock" | "secret" | "makeDkimKeys" | "references"
> & {
  /** The stored settings that the records depend on; by default those of `config`. */
  installation?: Installation;
};

type Stored = Pick<DomainStore, "db">;

export function findDomain({ db }: Stored, projectSeq: number, domain: string): DomainRow | null {
  const match = and(eq(domains.domain, domain), eq(domains.projectSeq, projectSeq));
  return db.select().from(domains).where(match).limit(1).get() ?? null;
}

/** The domain in all projects that have added it; the project that has verified it comes first. */
export function findInAllProjects({ db }: Stored, domain: string): DomainRow[] {
  return db
    .select()
    .from(domains)
    .where(eq(domains.domain, domain))
    .orderBy(desc(eq(domains.status, "VERIFIED")), asc(domains.seq))
    .all();
}

/** Throws 404 if the project has no domain of this id. */
export function getDomain({ db }: Stored, projectSeq: number, id: string): DomainRow {
  const match = and(eq(domains.projectSeq, projectSeq), eq(domains.id, id));
  const row = db.select().from(domains).where(match).limit(1).get();
  if (row === undefined) throw notFound("DOMAIN");
  return row;
}

/** All domains of a project, newest first. */
export function domainsOfProject({ db }: Stored, projectSeq: number): DomainRow[] {
  const inProject = eq(domains.projectSeq, projectSeq);
  return db.select().from(domains).where(inProject).orderBy(desc(domains.seq)).all();
}

export function recordsOfDomain(
  store: DomainStore,
  { domain, seq, projectSeq }: DomainRow,
): ExpectedRecord[] {
  const { installation = installationOf(store.config) } = store;
  const relay = findProjectRelay(store, projectSeq);
  const isOwn = relay !== null && relay !== "unreadable";
  const facts = isOwn ? withRelay(installation, relay.host) : installation;
  return expectedRecords(domain, readPublicKeys(store, seq), facts);
}

/** Returns the function that shows a domain as the API does. */
export async function domainPresenter(store: DomainStore): Promise<(row: DomainRow) => Domain> {
  const present = await loadPresentDomain();
  return (row) =>
    present(row, {
      records: recordsOfDomain(store, row),
      isTaken: isVerifiedElsewhere(store, row.projectSeq, row.domain),
    });
}

/** The canonical form of a domain that a caller names. Throws 422. */
export async function parseDomain(text: string): Promise<string> {
  // Loaded with the first domain: the list of public suffixes takes 4 ms and 6 MiB.
  const { parseSendingDomain } = await import("./name.ts");
  const parsed = parseSendingDomain(text);
  if (!parsed.ok) throw fieldError("domain", "invalid_format", parsed.reason);
  return parsed.domain;
}

/** A domain to add; `domain` is in canonical form (name.ts). */
type NewDomain = {
  projectSeq: number;
  domain: string;
  /** True if the operator declares the domain verified, regardless of the DNS. */
  isDeclaredVerified: boolean;
  /** The key that is published already, with which its mail is to be signed. */
  ownKey?: OwnKey | undefined;
};

/**
 * Generates DKIM keys, unless the domain has one of its own, and returns the function that stores the domain with them, inside a change. A
 * domain that the project has already keeps its keys; it gets those that are missing, the operator's
 * declaration, and a check. A domain that another project has verified is refused; one that another
 * project has only added is not, because it proves nothing.
 */
export async function prepareDomain(store: DomainStore, input: NewDomain) {
  const { projectSeq, domain, isDeclaredVerified, ownKey } = input;
  const made = await newKeys(store, input);
  return (): { row: DomainRow; isNew: boolean } => {
    const known = findDomain(store, projectSeq, domain);
    const isNewClaim = known === null || isDeclaredVerified;
    if (isNewClaim && isVerifiedElsewhere(store, projectSeq, domain)) throw domainTaken(domain);
    if (known !== null) {
      if (ownKey !== undefined) takeOwnKey(store, known, ownKey);
      return { row: addExisting(store, known, { isDeclaredVerified, made }), isNew: false };
    }
    if (made === null) throw justRemoved(domain);
    return { row: insertDomain(store, input, made), isNew: true };
  };
}

/** Null if the project has the domain with its keys already. */
async function newKeys(
  store: DomainStore,
  { projectSeq, domain, ownKey }: NewDomain,
): Promise<readonly NewKey[] | null> {
  if (ownKey !== undefined) return [ownKey.key];
  const before = findDomain(store, projectSeq, domain);
  return before !== null && hasKeys(store, before) ? null : await makeKeys(store);
}

/** Part of a change: replaces the keys of a domain, whose mail would fail DKIM with an unpublished key. */
function takeOwnKey(
  store: DomainStore,
  { seq, domain }: DomainRow,
  { key, isInDns }: OwnKey,
): void {
  const [first, ...others] = readPublicKeys(store, seq);
  const isSame = first?.selector === key.selector && first.publicKey === key.publicKey;
  if (isSame && others.length === 0) return;
  if (first !== undefined && !isInDns) throw unprovenKey(domain);
  replaceKeys(store, seq, key);
}

function hasKeys(store: Stored, { seq }: DomainRow): boolean {
  return readPublicKeys(store, seq).length > 0;
}

/** Stores missing keys and the operator's declaration, and makes a check due. The rest stays. */
function addExisting(
  store: DomainStore,
  known: DomainRow,
  { isDeclaredVerified, made }: { isDeclaredVerified: boolean; made: readonly NewKey[] | null },
): DomainRow {
  if (!hasKeys(store, known)) insertKeys(store, known.seq, made ?? []);
  const now = store.clock.now();
  const declared = {
    status: "VERIFIED",
    isDeclaredVerified: true,
    verifiedAt: known.verifiedAt ?? now,
    failingSince: null,
  } as const;
  return store.db
    .update(domains)
    .set({ ...(isDeclaredVerified ? declared : {}), misses: 0, nextCheckAt: now })
    .where(eq(domains.seq, known.seq))
    .returning()
    .get();
}

function insertDomain(
  store: DomainStore,
  { projectSeq, domain, isDeclaredVerified }: NewDomain,
  made: readonly NewKey[],
): DomainRow {
  const now = store.clock.now();
  const row = store.db
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
  insertKeys(store, row.seq, made);
  return row;
}

/** Part of a change. Throws 409 while something sends from the domain. */
export function removeDomain(store: DomainStore, projectSeq: number, id: string): void {
  const { seq, domain } = getDomain(store, projectSeq, id);
  const uses = [
    ...usesOf(store, projectSeq, domain),
    ...store.references.usersOf("domain", projectSeq, domain),
  ];
  if (uses.length > 0) throw domainInUse(domain, uses);
  store.db.delete(domains).where(eq(domains.seq, seq)).run();
  checkOthers(store, { domain, now: store.clock.now() });
}

/** Part of a change: makes checks due, because a domain that another project had may be verified now. */
export function checkOthers(
  { db }: Stored,
  { domain, now }: { domain: string; now: number },
): void {
  db.update(domains).set({ nextCheckAt: now }).where(eq(domains.domain, domain)).run();
}

/**
 * Part of a change: restarts the short delays between checks, because the user waits for a change in the
 * DNS.
 */
export function requestCheck(store: Stored, projectSeq: number, id: string): DomainRow {
  const { seq } = getDomain(store, projectSeq, id);
  return store.db.update(domains).set({ misses: 0 }).where(eq(domains.seq, seq)).returning().get();
}

const MAX_NAMED = 5;
const DEFAULT_SENDER = "the default sender of the project (mailstead project set --no-from)";

/** Descriptions of the users of a domain: templates and the default sender of the project. */
function usesOf({ db }: Stored, projectSeq: number, domain: string): string[] {
  const isOfDomain = `%@${domain}`; // A domain contains no wildcard of LIKE.
  const sender = db
    .select({ seq: projects.seq })
    .from(projects)
    .where(and(eq(projects.seq, projectSeq), like(projects.fromAddress, isOfDomain)))
    .all();
  const named = db
    .select({ name: templates.name })
    .from(templates)
    .where(and(eq(templates.projectSeq, projectSeq), like(templates.from, isOfDomain)))
    .limit(MAX_NAMED)
    .all();
  return [
    ...(sender.length > 0 ? [DEFAULT_SENDER] : []),
    ...named.map(({ name }) => `the template “${name}”`),
  ];
}

type SenderDomainRow = Pick<DomainRow, "status" | "verifiedAt"> & { hasReturnPath: number };

// Runs twice for every mail: when it is accepted and when it leaves.
const findSender = statement<SenderDomainRow, [string, number]>(`
  SELECT status, verified_at AS verifiedAt, has_return_path AS hasReturnPath FROM domains
  WHERE domain = +? AND project_seq = +?`);

const senderDomains = perApp((app: App) =>
  cachePerIteration((key) => {
    const [projectSeq = "", domain = ""] = key.split(" ", 2);
    const row = findSender(app).get(domain, Number(projectSeq));
    const isVerified = row?.status === "VERIFIED";
    return {
      isVerified,
      isLost: row !== null && !isVerified && row.verifiedAt !== null,
      hasReturnPath: isVerified && row.hasReturnPath === 1,
    };
  }),
);

/** The domain of a sender. */
function senderDomain(app: App, projectSeq: number, domain: string) {
  return senderDomains(app)(`${projectSeq} ${domain}`);
}

/** True if exactly this domain is verified; its parent does not count (docs/interface.md#send). */
export function isDomainVerified(app: App, projectSeq: number, domain: string): boolean {
  return senderDomain(app, projectSeq, domain).isVerified;
}

/** Whether the project may send from the domain. */
export function isSenderVerified(app: App, projectSeq: number, domain: string): boolean {
  return !app.config.requireVerifiedDomain || isDomainVerified(app, projectSeq, domain);
}

/** True if exactly this domain was verified and is not any more, because its key left the DNS. */
export function hasLostVerification(app: App, projectSeq: number, domain: string): boolean {
  return senderDomain(app, projectSeq, domain).isLost;
}

/** The host that receives bounces; null if its records are not in the DNS yet. */
export function returnPathHost(app: App, projectSeq: number, domain: string): string | null {
  if (!hasBounceHosts(app, projectSeq)) return null;
  return senderDomain(app, projectSeq, domain).hasReturnPath ? bounceHostOf(domain) : null;
}

function hasBounceHosts(app: App, projectSeq: number): boolean {
  const relay = storedRelays(app).find(projectSeq);
  if (relay === null || relay === "unreadable") return hasCommonBounceHosts(app);
  return app.config.inbound !== null && keepsMailFrom(relay.host);
}

/** By the settings, which may change while the server runs. */
const bounceHostsBy = new WeakMap<App["config"], boolean>();

/** Without it, a bounce that a relay sends back still finds the mailbox of the sender. */
function hasCommonBounceHosts({ config }: App): boolean {
  const known = bounceHostsBy.get(config);
  if (known !== undefined) return known;
  const installation = installationOf(config);
  const isReceiving = config.inbound !== null;
  const has = installation.mode === "direct" || (isReceiving && keepsReturnPath(installation));
  bounceHostsBy.set(config, has);
  return has;
}

type DomainOwner = { projectSeq: number; domain: string };

const findOwner = statement<DomainOwner, [string]>(
  "SELECT project_seq AS projectSeq, domain FROM domains WHERE domain = +? AND status = 'VERIFIED'",
);

function isVerifiedElsewhere(store: Stored, projectSeq: number, domain: string): boolean {
  const owner = findOwner(store).get(domain);
  return owner !== null && owner.projectSeq !== projectSeq;
}

/** The nearest verified domain of any project: this one, or one above it; null without one. */
export function findDomainOwner(app: App, domain: string): DomainOwner | null {
  for (const name of withParents(domain)) {
    const owner = findOwner(app).get(name);
    if (owner !== null) return owner;
  }
  return null;
}

/** Whether the bounces of a verified domain of any project go to this host. */
export function isBounceHost(app: App, host: string): boolean {
  const domain = host.slice(host.indexOf(".") + 1);
  return bounceHostOf(domain) === host && findOwner(app).get(domain) !== null;
}

/** The domain and all domains above it but the last label. */
function withParents(domain: string): string[] {
  const labels = domain.toLowerCase().split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}

function unprovenKey(domain: string): AppError {
  const message = `The project has ${domain} with other keys, and the DNS was not asked for this one.`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Leave out dkim.record, so that the key is looked up in the DNS.",
  });
}

function domainInUse(domain: string, uses: readonly string[]): AppError {
  return new AppError(409, "CONFLICT", `${domain} is the sender of ${uses.join(", ")}.`, {
    suggestion: "Change their sender first.",
  });
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

/** The error for a sender whose domain is not verified. */
export function senderNotVerified(domain: string): AppError {
  const message = `The sender's domain ${domain} is not a verified domain of this project.`;
  return new AppError(403, "DOMAIN_NOT_VERIFIED", message, {
    suggestion:
      `Add it with: mailstead domain add ${domain} — or, if it was added already, list its ` +
      `missing DNS records: mailstead domain verify ${domain}`,
  });
}

/**
 * The reason why a mail waits while the domain of its sender is not verified any more, and its
 * remedy.
 */
export function senderVerificationLost(domain: string): string {
  return (
    `The sender's domain ${domain} is not verified any more. Publish its DNS records again; ` +
    `\`mailstead domain verify ${domain}\` lists those that are missing.`
  );
}
