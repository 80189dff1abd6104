/**
 * The DNS records that a sending domain should have at this installation
 * (docs/interface.md#domains). Pure; `findings.ts` compares them with the records in the DNS.
 */

import type { Config } from "../../config/settings.ts";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import type { DkimAlgorithm } from "../../protocols/dkim/sign.ts";
import { dkimRecord } from "../../protocols/dkim/keys.ts";
import { bounceHostOf } from "../../outbox/return-path.ts";
import {
  findKnownRelay,
  keepsMailFrom,
  relayMechanism,
  whyUnsigned,
} from "../../protocols/smtp/known-relays.ts";
import { addressMechanism, mergeSpf } from "./spf.ts";

/** The settings of this installation that DNS records depend on. */
export type Installation = {
  mode: "relay" | "direct";
  /** The host name used in EHLO, which also receives bounces. */
  hostname: string;
  /** Public addresses that mail leaves from; empty if they are unknown. */
  addresses: readonly string[];
  relayHost: string | null;
  /** The host of the relay that is used while the first one is away. */
  fallbackHost?: string | null;
};

/**
 * The facts on which the DNS records of sending domains depend. The source addresses go into the
 * records only if all are public. Behind network address translation the public addresses are
 * unknown, so the records name the host instead.
 */
export function installationOf(
  config: Pick<
    Config,
    "transport" | "relayUrl" | "fallbackRelayUrl" | "hostname" | "sourceAddresses"
  >,
): Installation {
  const { transport, relayUrl, fallbackRelayUrl, hostname, sourceAddresses } = config;
  const isAllPublic = sourceAddresses.every(isPublicAddress);
  return {
    mode: transport === "relay" ? "relay" : "direct",
    hostname,
    addresses: isAllPublic ? sourceAddresses : [],
    relayHost: relayUrl?.host ?? null,
    ...(fallbackRelayUrl !== null && { fallbackHost: fallbackRelayUrl.host }),
  };
}

/** The facts for a project whose mail leaves by a relay of its own. */
export function withRelay({ hostname }: Installation, relayHost: string): Installation {
  return { mode: "relay", hostname, addresses: [], relayHost };
}

export const PURPOSES = ["DKIM", "RETURN_PATH", "SPF", "DMARC"] as const;

/** The condition on the records in the DNS. */
export type Expectation =
  | { kind: "key"; algorithm: DkimAlgorithm; publicKey: string }
  | { kind: "mx"; host: string }
  /** Empty `mechanisms` accept any SPF record, if the senders of the relay are unknown. */
  | { kind: "spf"; mechanisms: readonly string[] }
  | { kind: "dmarc" };

export type ExpectedRecord = {
  purpose: (typeof PURPOSES)[number];
  type: "TXT" | "MX";
  name: string;
  /**
   * The record to publish if there is none yet, as one string of any length; empty if it is not
   * known, and then the note says who knows it.
   */
  value: string;
  required: boolean;
  /** The purpose of the record, for the user. */
  note: string;
  expectation: Expectation;
};

export type PublicKey = { algorithm: DkimAlgorithm; selector: string; publicKey: string };

/** The records of one domain, the required one first. */
export function expectedRecords(
  domain: string,
  keys: readonly PublicKey[],
  installation: Installation,
): ExpectedRecord[] {
  return [
    ...keys.map((key) =>
      dkim(domain, key, { isRequired: isRequired(key, keys), relay: relayNote(installation) }),
    ),
    ...(needsSpf(installation) ? [spf(domain, installation)] : []),
    dmarc(domain),
    ...(keepsReturnPath(installation) ? returnPath(domain, installation) : []),
  ];
}

/** The RSA key, which all receivers support; the only key of a domain with a key of its own. */
function isRequired({ algorithm }: PublicKey, keys: readonly PublicKey[]): boolean {
  return algorithm === "rsa-sha256" || keys.every((key) => key.algorithm !== "rsa-sha256");
}

/** Whether bounces come to the host of our return path, or may come there. */
export function keepsReturnPath({ mode, relayHost }: Installation): boolean {
  return mode === "direct" || (relayHost !== null && keepsMailFrom(relayHost));
}

/** Returns the advice for a known relay that signs in our place; empty for other relays. */
function relayNote({ mode, relayHost }: Installation): string {
  const known = mode === "relay" ? findKnownRelay(relayHost ?? "") : null;
  const why = known === null ? null : whyUnsigned(known);
  if (known === null || why === null) return "";
  return (
    ` ${known.name} ${why}, so it signs the mail itself: set up ${known.signing} there and ` +
    "publish its records as well."
  );
}

function dkim(
  domain: string,
  { algorithm, selector, publicKey }: PublicKey,
  { isRequired, relay }: { isRequired: boolean; relay: string },
): ExpectedRecord {
  return {
    purpose: "DKIM",
    type: "TXT",
    name: `${selector}._domainkey.${domain}`,
    value: dkimRecord(algorithm, publicKey),
    required: isRequired,
    note: isRequired
      ? "Needed to send: the key with which receivers verify signatures, and the proof that the " +
        `domain is yours.${relay}`
      : "The key of a second, shorter signature (RFC 8463) for receivers that support it.",
    expectation: { kind: "key", algorithm, publicKey },
  };
}

/** A known relay without a mechanism sends with a MAIL FROM of its own, whose SPF record counts. */
function needsSpf({ mode, relayHost, fallbackHost = null }: Installation): boolean {
  if (mode === "direct" || findKnownRelay(relayHost ?? "")?.spf !== null) return true;
  return fallbackHost !== null && findKnownRelay(fallbackHost)?.spf !== null;
}

function spf(domain: string, installation: Installation): ExpectedRecord {
  const { mechanisms, note } = sendersOf(installation);
  return {
    purpose: "SPF",
    type: "TXT",
    name: domain,
    // A guess, such as the host that takes our mail, would disallow the hosts that pass it on.
    value: mechanisms.length > 0 ? mergeSpf([], mechanisms) : "",
    required: false,
    note,
    expectation: { kind: "spf", mechanisms },
  };
}

/** For records that name this server, if receivers cannot find it by that name. */
const nameWarning = (hostname: string): string =>
  hostname.includes(".")
    ? ""
    : ` But “${hostname}” is no public host name: set --hostname of this server first.`;

function sendersOf(installation: Installation): { mechanisms: string[]; note: string } {
  const { mode, hostname, addresses, relayHost, fallbackHost = null } = installation;
  if (mode === "direct") {
    const note = "Allows this server to send for the domain. A name must have only one SPF record.";
    return addresses.length > 0
      ? { mechanisms: addresses.map(addressMechanism), note }
      : { mechanisms: [`a:${hostname}`], note: note + nameWarning(hostname) };
  }
  const known = [relayHost, fallbackHost].flatMap((host) => relayMechanism(host ?? "") ?? []);
  const mechanisms = [...new Set(known)];
  const isFirstKnown = findKnownRelay(relayHost ?? "") !== null;
  if (isFirstKnown && mechanisms.length > 0) {
    const relays = mechanisms.length > 1 ? "the relay and the fallback relay" : "the relay";
    return { mechanisms, note: `Allows ${relays} to send for the domain.` };
  }
  const note =
    `Allows the relay${relayHost === null ? "" : ` ${relayHost}`} to send for the domain. The value ` +
    "is known to its operator: look for “SPF” in its documentation, and publish what it says.";
  return { mechanisms: [], note };
}

function dmarc(domain: string): ExpectedRecord {
  return {
    purpose: "DMARC",
    type: "TXT",
    name: `_dmarc.${domain}`,
    value: "v=DMARC1; p=none",
    required: false,
    note: "Begin with p=none; change to p=quarantine once SPF and DKIM pass for all your mail.",
    expectation: { kind: "dmarc" },
  };
}

/** The MX record of a domain whose mail this server receives. */
export function mxRecord(domain: string, hostname: string): ExpectedRecord {
  return {
    purpose: "RETURN_PATH",
    type: "MX",
    name: domain,
    value: `10 ${hostname}`,
    required: false,
    note: "Brings the mail of the domain to this server." + nameWarning(hostname),
    expectation: { kind: "mx", host: hostname },
  };
}

/** Both records are needed: bounces are only sent to a host that is ours and has an SPF record. */
function returnPath(domain: string, installation: Installation): ExpectedRecord[] {
  const { mechanisms, note } = sendersOf(installation);
  const { hostname, mode } = installation;
  const isRelayed = mode === "relay";
  const name = bounceHostOf(domain);
  const common = { purpose: "RETURN_PATH", name, required: false } as const;
  return [
    {
      ...common,
      type: "MX",
      value: `10 ${hostname}`,
      note:
        "Returns bounces to this server" +
        (isRelayed ? ", once it receives mail (--inbound)" : "") +
        ". Without it, bounces go to the sender's address." +
        nameWarning(hostname),
      expectation: { kind: "mx", host: hostname },
    },
    {
      ...common,
      type: "TXT",
      value: mechanisms.length > 0 ? `v=spf1 ${mechanisms.join(" ")} -all` : "",
      note: "SPF record of the address that receives bounces." + (isRelayed ? ` ${note}` : ""),
      expectation: { kind: "spf", mechanisms },
    },
  ];
}
