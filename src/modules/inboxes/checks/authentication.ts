/**
 * Judges SPF, DKIM and DMARC as a receiver would, by the package mailauth. It is loaded at the first
 * check, because that takes about 0.1 s and 35 MB.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { DnsAnswer } from "../../../protocols/dns/answer.ts";
import type { Dns } from "../../../protocols/dns/client.ts";
import { domainOf } from "../../../protocols/mime/address.ts";
import { isPublicAddress } from "../../../lib/ip-addresses.ts";
import type { Authentication } from "./model.ts";

type ClaimedMessage = {
  raw: Uint8Array;
  /** Sender of the envelope. */
  sender: string;
  /** Address of the sending server. */
  ip: string;
  helo: string;
};

type Verdict = Authentication["spf"];
/** The part of the result of SPF that is read. */
const SpfResult = Type.Object({
  domain: Type.Optional(Type.String()),
  status: Type.Object({ result: Type.String(), comment: Type.Optional(Type.String()) }),
});
type SpfResult = Static<typeof SpfResult>;

export async function authenticateMessage(
  message: ClaimedMessage,
  dns: Dns,
  mta: string,
): Promise<Authentication> {
  const [{ dkimVerify }, { dmarc }] = await Promise.all([
    import("mailauth/lib/dkim/verify"),
    import("mailauth/lib/dmarc"),
  ]);
  const resolver = textResolver(dns);
  const { sender } = message;
  const signed = await dkimVerify(Buffer.from(message.raw), { resolver, sender });
  const spf = isPublicAddress(message.ip) ? await checkSpf(message, dns, mta) : null;
  const passed = signed.results.filter(({ status }) => status.result === "pass");
  const found = await dmarc({
    headerFrom: signed.headerFrom,
    fromFields: signed.fromFields,
    spfDomains: spf?.status.result === "pass" ? [spf.domain ?? ""] : [],
    dkimDomains: passed.map(({ signingDomain }) => ({ domain: signingDomain ?? "" })),
    resolver,
  });
  return {
    spf: spf === null ? skipped(sender) : verdict(spf.status, spf.domain),
    dkim: signed.results.map(({ status, signingDomain }) => verdict(status, signingDomain)),
    dmarc:
      found === false
        ? { result: "none", domain: null, info: "From has no single domain" }
        : { ...verdict(found.status, found.domain), info: found.p === "" ? "" : `p=${found.p}` },
  };
}

async function checkSpf(
  { sender, ip, helo }: ClaimedMessage,
  dns: Dns,
  mta: string,
): Promise<SpfResult> {
  const { spf } = await import("mailauth/lib/spf");
  const ofTexts = textResolver(dns);
  /** The package reads objects for MX, which its types do not know. */
  const resolver = async (name: string, type: string) => {
    if (type !== "MX") return ofTexts(name, type);
    const hosts = await recordsOf(dns.resolve(name, "MX"));
    return hosts.map(({ exchange, preference }) => ({ exchange, priority: preference }));
  };
  const result: unknown = await Reflect.apply(spf, undefined, [
    { sender, ip, helo, mta, resolver },
  ]);
  return Value.Parse(SpfResult, result);
}

function verdict(
  status: { result: string; comment?: string },
  domain: string | null | undefined,
): Verdict {
  const isNamed = domain !== undefined && domain !== null && domain !== "";
  return { result: status.result, domain: isNamed ? domain : null, info: status.comment ?? "" };
}

function skipped(sender: string): Verdict {
  const domain = domainOf(sender);
  return {
    result: "skipped",
    domain: domain === "" ? null : domain,
    info: "the message came from a private address; name a public one with ip=",
  };
}

class LookupError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Look-ups by our own client, in the form of the platform's `dns.resolve`. */
function textResolver(dns: Dns) {
  return async (name: string, type: string): Promise<string[] | string[][]> => {
    if (type === "TXT") return (await recordsOf(dns.resolve(name, "TXT"))).map((text) => [text]);
    if (type === "A" || type === "AAAA") return [...(await recordsOf(dns.resolve(name, type)))];
    throw new LookupError("ENODATA", `${type} records are not looked up`);
  };
}

async function recordsOf<T>(asked: Promise<DnsAnswer<T>>): Promise<readonly T[]> {
  const answer = await asked;
  if (answer.kind === "records") return answer.records;
  if (answer.kind === "nxdomain") throw new LookupError("ENOTFOUND", "the name does not exist");
  if (answer.kind === "none") throw new LookupError("ENODATA", "there is no such record");
  throw new LookupError("ETIMEOUT", answer.reason);
}
