/**
 * Evaluates SPF, DKIM, DMARC and ARC of a message, by the package mailauth. It is loaded at the first
 * check, because that takes about 0.1 s and 35 MB. The number of DNS look-ups is bounded.
 *
 * 1. `readClaims` reads the message once, piece by piece, and hashes what its signatures cover.
 * 2. The function that it returns awaits the look-ups. The message is not in memory any more then.
 */

import { Readable } from "node:stream";
import { type Static, Type } from "@sinclair/typebox";
import type { ARCResult } from "mailauth";
import type { dkimVerify } from "mailauth/lib/dkim/verify";
import { Value } from "@sinclair/typebox/value";
import {
  type DmarcPolicy,
  type DmarcResult,
  evaluateDmarc,
  headerOf,
  remembering,
} from "./author.ts";
import type { DnsAnswer } from "../protocols/dns/answer.ts";
import type { Dns } from "../protocols/dns/client.ts";
import { domainOf } from "../protocols/mime/address.ts";
import type { Author } from "../protocols/mime/from-field.ts";
import { isPublicAddress } from "../lib/ip-addresses.ts";
import { nextIteration } from "../lib/yield.ts";

/**
 * Longest header section whose signatures are verified. The time of the package grows with the
 * square of the number of folded lines.
 */
const MAX_HEADER_BYTES = 64 * 1024;
/** Most signatures that are verified: each one costs DNS look-ups and a pass over the body. */
const MAX_SIGNATURES = 10;
/** Sets of ARC fields that are verified: each one costs a DNS look-up and a signature. */
const MAX_ARC_SETS = 10;
/** DNS look-ups for one message; further ones fail, so that the result is temperror. */
const MAX_LOOK_UPS = 50;
/** The same for the policy of DMARC of each domain; a Tree Walk takes eight (RFC 9989 §4.10). */
const MAX_DMARC_LOOK_UPS = 10;
/** Bytes that are hashed before other work of the event loop runs. */
const SLICE_BYTES = 16 * 1024;

type ClaimedMessage = {
  /** The beginning of the message, with at least its first MAX_HEADER_BYTES. */
  head: Uint8Array;
  /** All of the message. */
  pieces: Iterable<Uint8Array>;
  /** The author as its header names it; null if its fields From are too long. */
  author: Author | null;
  /** Sender of the envelope. */
  sender: string;
  /** Address of the sending server. */
  ip: string;
  helo: string;
};

/** `result` is a word of RFC 8601 §2.7, or `skipped`; `info` the reason in one line. */
type AuthVerdict = { result: string; domain: string | null; info: string };

export type Authentication = {
  spf: AuthVerdict;
  /** One entry for each signature. */
  dkim: AuthVerdict[];
  dmarc: AuthVerdict;
  arc: AuthVerdict;
  /** The strictest policy of the domains in From for which neither SPF nor a signature passed. */
  policy: DmarcPolicy;
};

/** The part of the result of SPF that is read. */
const SpfResult = Type.Object({
  domain: Type.Optional(Type.String()),
  status: Type.Object({ result: Type.String(), comment: Type.Optional(Type.String()) }),
});
type SpfResult = Static<typeof SpfResult>;

type ClaimOptions = {
  /** Name of this server. */
  mta: string;
  /** Ends the look-ups: those under way and later ones fail. */
  signal: AbortSignal;
  /** Told that the package failed, as it does for some messages that are not well formed. */
  onFailure: (error: unknown) => void;
};

type Signed = Awaited<ReturnType<typeof dkimVerify>>;

/**
 * Resolves when the whole message was read, to the function that resolves to the results. Look-ups
 * that fail make a result temperror.
 */
export async function readClaims(
  message: ClaimedMessage,
  anyDns: Pick<Dns, "resolve">,
  { mta, signal, onFailure }: ClaimOptions,
): Promise<() => Promise<Authentication>> {
  const { head, pieces, author, sender, ip, helo } = message;
  const dns = boundedDns(anyDns, signal, MAX_LOOK_UPS);
  const header = headerOf(head);
  const domains = author?.domains ?? [];
  const dmarcLimit = MAX_DMARC_LOOK_UPS * domains.length;
  const ofDmarc = remembering(textResolver(boundedDns(anyDns, signal, dmarcLimit)));
  const refusal = refusalOf(header);
  const signed = refusal === null ? await readSignatures(pieces, sender, dns) : null;

  async function verify(): Promise<Verified> {
    const spf = isPublicAddress(ip) ? await checkSpf({ sender, ip, helo }, dns, mta) : null;
    const spfDomain = spf?.status.result === "pass" ? (spf.domain ?? "") : null;
    const spfVerdict = spf === null ? skipped(sender) : verdict(spf.status, spf.domain);
    const results = await signed?.results;
    const dkim = results?.results ?? [];
    const passed = dkim.filter(({ status }) => status.result === "pass");
    const dkimDomains = passed.map(({ signingDomain }) => signingDomain ?? "");
    const found = await evaluateDmarc(domains, { spfDomain, dkimDomains }, ofDmarc);
    const policy = found?.policy ?? "none";
    if (results === undefined) {
      const unverified = { result: "permerror", domain: null, info: refusal ?? "" };
      const dmarc = { ...unverified, domain: found?.domain ?? null };
      return { ...all(unverified), spf: spfVerdict, dmarc, policy };
    }
    return {
      spf: spfVerdict,
      dkim: dkim.map(({ status, signingDomain }) => verdict(status, signingDomain)),
      dmarc: dmarcVerdict(found, author),
      arc: await checkArc(results, dns),
      policy,
    };
  }

  return async () => {
    // At the same time as the others, so that slow look-ups of the sender cannot prevent it.
    const nothing = { spfDomain: null, dkimDomains: [] };
    const [found, { policy, ...verdicts }] = await Promise.all([
      evaluateDmarc(domains, nothing, ofDmarc),
      verify().catch((error: unknown) => {
        onFailure(error);
        return BROKEN;
      }),
    ]);
    return { ...verdicts, policy: policy ?? found?.policy ?? "none" };
  };
}

/** `policy` is null if it is not known what passed. */
type Verified = Omit<Authentication, "policy"> & { policy: DmarcPolicy | null };

function all(result: AuthVerdict): Verified {
  return { spf: result, dkim: [result], dmarc: result, arc: result, policy: null };
}
const BROKEN = all({ result: "permerror", domain: null, info: "the message cannot be verified" });

/** Resolves when the message is read, while the keys of its signatures are still looked up. */
async function readSignatures(
  pieces: Iterable<Uint8Array>,
  sender: string,
  dns: Pick<Dns, "resolve">,
): Promise<{ results: Promise<Signed> }> {
  const { dkimVerify } = await import("mailauth/lib/dkim/verify");
  const end = Promise.withResolvers<void>();
  const input = Readable.from(slicesOf(pieces, end.resolve));
  const results = dkimVerify(input, { resolver: textResolver(dns), sender });
  // A failure matters to the caller who awaits the results.
  await Promise.race([end.promise, results.catch(() => {})]);
  return { results };
}

async function checkArc({ arc: sealed }: Signed, dns: Pick<Dns, "resolve">): Promise<AuthVerdict> {
  if (sealed === undefined) return { result: "none", domain: null, info: "" };
  const { arc } = await import("mailauth/lib/arc");
  const sets = sealed.chain === false ? [] : sealed.chain;
  const chain = await arc({ ...sealed, chain: sets }, { resolver: textResolver(dns) });
  return verdict(chain.status, domainOfChain(chain));
}

function dmarcVerdict(found: DmarcResult | null, author: Author | null): AuthVerdict {
  if (author === null) {
    return { result: "permerror", domain: null, info: "From is too long, or has too many domains" };
  }
  if (found === null) return { result: "none", domain: null, info: "From has no domain" };
  const { result, domain, info } = found;
  return { result, domain, info };
}

/** The domain that signed the message last. */
function domainOfChain({ signature }: ARCResult): string | null {
  return typeof signature === "object" ? (signature.signingDomain ?? null) : null;
}

/** The reason why the signatures are not verified; null if they are. */
function refusalOf(header: string): string | null {
  if (header.length > MAX_HEADER_BYTES) {
    return `the headers take more than ${MAX_HEADER_BYTES / 1024} KiB, so signatures are not verified`;
  }
  const signatures = header.match(/^dkim-signature[ \t]{0,100}:/gim) ?? [];
  const sets = header.match(/^arc-(?:seal|message-signature)[ \t]{0,100}:/gim) ?? [];
  if (signatures.length <= MAX_SIGNATURES && sets.length <= 2 * MAX_ARC_SETS) return null;
  return `the message has more than ${MAX_SIGNATURES} signatures, so they are not verified`;
}

/** Calls `onEnd` after the last slice was taken. */
async function* slicesOf(pieces: Iterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    for (let at = 0; at < piece.byteLength; at += SLICE_BYTES) {
      yield Buffer.from(piece.subarray(at, at + SLICE_BYTES));
      await nextIteration();
    }
  }
  onEnd();
}

/** Whether the SPF record of a domain, as it is in the DNS, allows the address (RFC 7208 §4). */
export async function isAllowedBySpf(
  { domain, ip, hostname }: { domain: string; ip: string; hostname: string },
  dns: Pick<Dns, "resolve">,
): Promise<boolean> {
  const client = { sender: `postmaster@${domain}`, ip, helo: hostname };
  return (await checkSpf(client, dns, hostname)).status.result === "pass";
}

async function checkSpf(
  { sender, ip, helo }: Pick<ClaimedMessage, "sender" | "ip" | "helo">,
  dns: Pick<Dns, "resolve">,
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
): AuthVerdict {
  const isNamed = domain !== undefined && domain !== null && domain !== "";
  return { result: status.result, domain: isNamed ? domain : null, info: status.comment ?? "" };
}

function skipped(sender: string): AuthVerdict {
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

/** Fails all look-ups beyond the limit, and those that have no answer when the signal aborts. */
function boundedDns(
  dns: Pick<Dns, "resolve">,
  signal: AbortSignal,
  max: number,
): Pick<Dns, "resolve"> {
  let lookUps = 0;
  const tooSlow = { kind: "failed", reason: "the look-ups took too long" } as const;
  const ended = new Promise<typeof tooSlow>((resolve) => {
    signal.addEventListener("abort", () => resolve(tooSlow), { once: true });
  });
  return {
    resolve(name, type, options) {
      if (signal.aborted) return Promise.resolve(tooSlow);
      return ++lookUps > max
        ? Promise.resolve({ kind: "failed", reason: "the message needs too many look-ups" })
        : Promise.race([dns.resolve(name, type, options), ended]);
    },
  };
}

/** Look-ups by our own client, in the form of the platform's `dns.resolve`. */
function textResolver(dns: Pick<Dns, "resolve">) {
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
