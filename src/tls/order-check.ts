/**
 * Makes the checks of the CA before a certificate is ordered: the address of each name, the
 * CAA records, and whether port 80 of the name leads to this server. A try that must fail is not made,
 * because a CA allows few of them. A finding that may differ from outside, as behind a router, does not
 * prevent a try: it is told if the CA refuses.
 */

import type { App } from "../core/app.ts";
import { randomBase62 } from "../lib/crypto.ts";
import type { CaaRecord } from "../protocols/dns/answer.ts";
import type { Publish } from "../protocols/acme/client.ts";
import { FetchRefused } from "../protocols/fetch-guarded/refusal.ts";

const TOKEN_CHARACTERS = 32;
const MAX_LABELS = 20;
/** The challenge that is used here (RFC 8657 §4). */
const METHOD = "http-01";
/** Tags that are known, so that they may be critical (RFC 8659 §4.1). */
const KNOWN_TAGS: readonly string[] = ["issue", "issuewild", "iodef", "issuemail", "issuevmc"];

type Names = {
  names: readonly string[];
  /** The names of the CA in CAA records; empty if they are not known. */
  caaIdentities: readonly string[];
};

/** The reason why the CA must refuse the names; null if nothing is known that speaks against them. */
export async function reasonAgainstOrder(
  { dns }: Pick<App, "dns">,
  { names, caaIdentities }: Names,
): Promise<string | null> {
  for (const name of names) {
    const reason =
      (await whyUnreachable(dns, name)) ?? (await whyForbidden(dns, name, caaIdentities));
    if (reason !== null) return reason;
  }
  return null;
}

async function whyUnreachable(dns: App["dns"], name: string): Promise<string | null> {
  const answers = await Promise.all([dns.resolve(name, "A"), dns.resolve(name, "AAAA")]);
  if (answers.some(({ kind }) => kind === "records" || kind === "failed")) return null;
  return `${name} has no address in the DNS: add an A record with the public address of this server`;
}

async function whyForbidden(
  dns: App["dns"],
  name: string,
  identities: readonly string[],
): Promise<string | null> {
  const found = await findCaa(dns, name);
  // If the look-up failed, the CA asks itself, and may get an answer.
  if (found === "none" || found === "failed" || identities.length === 0) return null;
  if (identities.some((identity) => mayIssue(found.records, identity))) return null;
  const [identity = ""] = identities;
  return (
    `the CAA records of ${found.owner} do not allow this CA to give ${name} a certificate ` +
    `(${describeCaa(found.records)}): add the record “0 issue "${identity}"”`
  );
}

type FoundCaa = { owner: string; records: readonly CaaRecord[] };

/** The records of the name, or of the nearest name above it that has any (RFC 8659 §3). */
export async function findCaa(
  dns: Pick<App["dns"], "resolve">,
  name: string,
): Promise<FoundCaa | "none" | "failed"> {
  const labels = name.split(".").slice(-MAX_LABELS);
  for (const at of labels.keys()) {
    const owner = labels.slice(at).join(".");
    const answer = await dns.resolve(owner, "CAA");
    if (answer.kind === "records") return { owner, records: answer.records };
    if (answer.kind === "failed") return "failed";
  }
  return "none";
}

/** True if the records let the CA issue a certificate for a name that is no wildcard. */
export function mayIssue(records: readonly CaaRecord[], identity: string): boolean {
  if (records.some(({ isCritical, tag }) => isCritical && !KNOWN_TAGS.includes(tag))) return false;
  const issuers = records.filter(({ tag }) => tag === "issue");
  if (issuers.length === 0) return true;
  return issuers.some(({ value }) => {
    const [issuer = "", ...parameters] = value.split(";").map((part) => part.trim());
    const methods = parameters.find((part) => /^validationmethods\s*=/i.test(part));
    const allowed = methods?.slice(methods.indexOf("=") + 1).split(",") ?? [METHOD];
    return (
      issuer.toLowerCase() === identity.toLowerCase() &&
      allowed.some((method) => method.trim() === METHOD)
    );
  });
}

export function describeCaa(records: readonly CaaRecord[]): string {
  return records
    .map(({ tag, value }) => `${tag} "${value}"`)
    .join(", ")
    .slice(0, 200);
}

/**
 * Asks port 80 of each name for a token of ours. Returns a sentence about a name that another server
 * answers for or that cannot be reached from here; null if each name leads here.
 */
export async function whatAnswersElsewhere(
  { fetchGuarded }: Pick<App, "fetchGuarded">,
  names: readonly string[],
  publish: Publish,
): Promise<string | null> {
  const [token, answer] = [randomBase62(TOKEN_CHARACTERS), randomBase62(TOKEN_CHARACTERS)];
  const withdraw = publish(token, answer);
  try {
    const found = await Promise.all(names.map((name) => ask(name)));
    return found.find((reason) => reason !== null) ?? null;
  } finally {
    withdraw();
  }

  async function ask(name: string): Promise<string | null> {
    const url = `http://${name}/.well-known/acme-challenge/${token}`;
    try {
      const { status, body } = await fetchGuarded(url, { method: "GET" });
      if (status === 200 && Buffer.from(body).toString("latin1").trim() === answer) return null;
      return `from here, another server answers port 80 of ${name} (status ${status})`;
    } catch (error) {
      if (!(error instanceof FetchRefused)) throw error;
      return `from here, port 80 of ${name} cannot be reached (${error.message})`;
    }
  }
}
