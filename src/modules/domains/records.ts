/**
 * The DNS records that a sending domain should have at this installation (docs/interface.md#domains).
 * Pure: what is in the DNS is compared with them in `findings.ts`.
 */

import type { DkimAlgorithm } from "../../protocols/dkim/sign.ts";
import { dkimRecord } from "../../protocols/dkim/keys.ts";
import { bounceHostOf } from "../../outbox/return-path.ts";
import { relayMechanism } from "./relays.ts";
import { addressMechanism, mergeSpf } from "./spf.ts";

/** How mail leaves here, as far as DNS records depend on it. */
export type Installation = {
  mode: "relay" | "direct";
  /** Our name in EHLO, and where bounces are received. */
  hostname: string;
  /** Public addresses that mail leaves from; empty if they are not known. */
  addresses: readonly string[];
  relayHost: string | null;
};

export const PURPOSES = ["DKIM", "RETURN_PATH", "SPF", "DMARC"] as const;

/** What must be found. */
export type Expectation =
  | { kind: "key"; algorithm: DkimAlgorithm; publicKey: string }
  | { kind: "mx"; host: string }
  /** `mechanisms` empty: any SPF record will do, since we cannot know more. */
  | { kind: "spf"; mechanisms: readonly string[] }
  | { kind: "dmarc" };

export type ExpectedRecord = {
  purpose: (typeof PURPOSES)[number];
  type: "TXT" | "MX";
  name: string;
  /** What to put there if there is nothing yet; one string, however long. */
  value: string;
  required: boolean;
  /** What it is good for, or what we cannot know. */
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
    ...keys.map((key) => dkim(domain, key)),
    spf(domain, installation),
    dmarc(domain),
    ...(installation.mode === "direct" ? returnPath(domain, installation) : []),
  ];
}

function dkim(domain: string, { algorithm, selector, publicKey }: PublicKey): ExpectedRecord {
  const isRsa = algorithm === "rsa-sha256";
  return {
    purpose: "DKIM",
    type: "TXT",
    name: `${selector}._domainkey.${domain}`,
    value: dkimRecord(algorithm, publicKey),
    required: isRsa,
    note: isRsa
      ? "The key that receivers check our signatures with; it also proves that the domain is yours."
      : "A second, shorter signature (RFC 8463) for receivers that know it.",
    expectation: { kind: "key", algorithm, publicKey },
  };
}

function spf(domain: string, installation: Installation): ExpectedRecord {
  const { mechanisms, note } = sendersOf(installation);
  const shown = mechanisms.length > 0 ? mechanisms : [`a:${installation.relayHost ?? ""}`];
  return {
    purpose: "SPF",
    type: "TXT",
    name: domain,
    value: mergeSpf([], shown),
    required: false,
    note,
    expectation: { kind: "spf", mechanisms },
  };
}

function sendersOf(installation: Installation): { mechanisms: string[]; note: string } {
  const { mode, hostname, addresses, relayHost } = installation;
  if (mode === "direct") {
    const mechanisms = addresses.length > 0 ? addresses.map(addressMechanism) : [`a:${hostname}`];
    return { mechanisms, note: "Allows this server to send for the domain; one record a name." };
  }
  const mechanism = relayMechanism(relayHost ?? "");
  if (mechanism !== null) {
    return { mechanisms: [mechanism], note: "Allows the relay to send for the domain." };
  }
  const note =
    "Allows the relay to send for the domain. What to include is known to its operator: " +
    "look for “SPF” in its documentation and put that in place of the a: shown here.";
  return { mechanisms: [], note };
}

function dmarc(domain: string): ExpectedRecord {
  return {
    purpose: "DMARC",
    type: "TXT",
    name: `_dmarc.${domain}`,
    value: "v=DMARC1; p=none",
    required: false,
    note:
      "Gmail and Yahoo ask bulk senders for one. Begin with p=none; " +
      "go to p=quarantine once SPF and DKIM pass for all your mail.",
    expectation: { kind: "dmarc" },
  };
}

/** Both or neither: bounces go there once the host is ours and SPF covers it. */
function returnPath(domain: string, installation: Installation): ExpectedRecord[] {
  const { mechanisms } = sendersOf(installation);
  const { hostname } = installation;
  const name = bounceHostOf(domain);
  const common = { purpose: "RETURN_PATH", name, required: false } as const;
  return [
    {
      ...common,
      type: "MX",
      value: `10 ${hostname}`,
      note: "Bounces come back to this server; until it is there they go to the sender's address.",
      expectation: { kind: "mx", host: hostname },
    },
    {
      ...common,
      type: "TXT",
      value: `v=spf1 ${mechanisms.join(" ")} -all`,
      note: "SPF of the address that bounces go to.",
      expectation: { kind: "spf", mechanisms },
    },
  ];
}
