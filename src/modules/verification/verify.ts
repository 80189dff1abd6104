/**
 * Verifies an address in this order: syntax, DNS, lists (docs/interface.md#verify). A temporary
 * failure is reported in `reasons`, but does not make an address invalid.
 */

import type { Dns } from "../../protocols/dns/client.ts";
import { parseAddress } from "../../protocols/mime/address.ts";
import type { Verification } from "./model.ts";

export type Verify = (email: string) => Promise<Verification>;

/** The DNS records of a domain; `unknown` if DNS did not respond in time. */
type Reachability = {
  existence: "exists" | "missing" | "unknown";
  hasAddress: boolean;
  mx: "records" | "null" | "none" | "unknown";
};

/** Timeout of all DNS look-ups for one address together (docs/interface.md#verify). */
const LOOKUP_TIMEOUT_MS = 5000;

export function createVerify({ dns }: { dns: Dns }): Verify {
  return async function verify(email) {
    const parsed = parseAddress(email);
    if (!parsed.ok) return invalidSyntax(email, parsed.reason);
    const reachability = await withTimeout(lookUpDomain(parsed.domain));
    return assess(parsed, reachability);
  };

  async function lookUpDomain(domain: string): Promise<Reachability> {
    const [mx, v4, v6] = await Promise.all([
      dns.resolve(domain, "MX"),
      dns.resolve(domain, "A"),
      dns.resolve(domain, "AAAA"),
    ]);
    const answers = [mx, v4, v6];
    const isMissing = answers.some((answer) => answer.kind === "nxdomain");
    const isKnown = answers.some((answer) => answer.kind !== "failed");
    return {
      existence: isMissing ? "missing" : isKnown ? "exists" : "unknown",
      hasAddress: v4.kind === "records" || v6.kind === "records",
      mx: mx.kind === "records" ? mxKind(mx.records) : mx.kind === "failed" ? "unknown" : "none",
    };
  }
}

/** A single record with an empty name means that the domain accepts no mail (RFC 7505 §3). */
function mxKind(records: readonly { exchange: string }[]): "records" | "null" {
  const [first] = records;
  const isNull = records.length === 1 && (first?.exchange === "" || first?.exchange === ".");
  return isNull ? "null" : "records";
}

async function withTimeout(work: Promise<Reachability>): Promise<Reachability> {
  const { promise, resolve } = Promise.withResolvers<Reachability>();
  const timer = setTimeout(
    () => resolve({ existence: "unknown", hasAddress: false, mx: "unknown" }),
    LOOKUP_TIMEOUT_MS,
  );
  work.then(resolve, () => resolve({ existence: "unknown", hasAddress: false, mx: "unknown" }));
  return promise.finally(() => clearTimeout(timer));
}

async function assess(
  { address: email, local, domain }: { address: string; local: string; domain: string },
  { existence, hasAddress, mx }: Reachability,
): Promise<Verification> {
  // Loaded at the first verification: the lists take 6 ms and 4 MiB.
  const { correctedDomain, isAliasDomain, isDisposableDomain, isPersonalDomain, LISTS_DATE } =
    await import("./lists.ts");
  const corrected = correctedDomain(domain);
  const flags = {
    isDisposable: isDisposableDomain(domain),
    isAlias: isAliasDomain(domain),
    isTypo: corrected !== null,
    isPlusAddressed: local.includes("+"),
    isPersonalEmail: isPersonalDomain(domain),
  };
  const canReceive = mx === "records" || mx === "unknown" || (mx === "none" && hasAddress);
  return {
    email,
    valid: existence !== "missing" && (canReceive || existence === "unknown"),
    ...flags,
    domainExists: existence !== "missing",
    hasWebsite: hasAddress,
    hasMxRecords: mx === "records",
    suggestedEmail: corrected === null ? null : `${local}@${corrected}`,
    reasons: [
      ...(existence === "missing" ? [`The domain ${domain} does not exist.`] : []),
      ...(mx === "null"
        ? [`The domain ${domain} declares that it accepts no mail (null MX).`]
        : []),
      ...(existence === "exists" && mx === "none" && !hasAddress
        ? [`The domain ${domain} has neither MX records nor an A or AAAA record.`]
        : []),
      ...(existence === "exists" && mx === "none" && hasAddress
        ? [`The domain ${domain} has no MX records; mail is sent to its A or AAAA record.`]
        : []),
      ...(mx === "unknown" ? ["DNS did not answer. The result may be different later."] : []),
      ...(corrected === null ? [] : [`Did you mean ${corrected}?`]),
      ...(flags.isDisposable
        ? [`The domain is a disposable-address service (list of ${LISTS_DATE}).`]
        : []),
      ...(flags.isAlias ? ["The address is an alias of a forwarding service."] : []),
      ...(flags.isPlusAddressed ? ["The local part has a +tag."] : []),
      ...(flags.isPersonalEmail
        ? [`The domain is a personal mail provider (list of ${LISTS_DATE}).`]
        : []),
    ],
  };
}

function invalidSyntax(email: string, reason: string): Verification {
  return {
    email,
    valid: false,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: false,
    hasWebsite: false,
    hasMxRecords: false,
    suggestedEmail: null,
    reasons: [`This is not an email address: ${reason}`],
  };
}
