/** Checks of the network as other mail servers see it: resolver, host name, addresses, port 25. */

import { isIP } from "node:net";
import type { DnsAnswer } from "../protocols/dns/answer.ts";
import { type Check, fail, type Finding, ok, warn, type World } from "./check.ts";

/** Large mail providers, to which nearly every installation sends mail. */
const PROBE_DOMAINS = ["gmail.com", "outlook.com", "yahoo.com"] as const;

/**
 * Checks that the resolver answers, and that it does not invent answers for names that do not
 * exist. A server that catches mail asks it for no receivers, so its faults are warnings there.
 */
export const checkResolver: Check = async ({ dns, config }) => {
  const what = "DNS resolver";
  const fault = config.transport === "capture" ? warn : fail;
  const label = crypto.randomUUID().replaceAll("-", "");
  const [known, unknown] = await Promise.all([
    dns.resolve(PROBE_DOMAINS[0], "MX"),
    dns.resolve(`${label}.com`, "A"),
  ]);
  if (known.kind === "failed") {
    return [fault(what, known.reason, "set --dns to a resolver that answers, preferably your own")];
  }
  if (known.kind !== "records") {
    const finding = `it reports that ${PROBE_DOMAINS[0]} receives no mail`;
    return [fault(what, finding, "set --dns to a resolver that answers correctly")];
  }
  if (unknown.kind === "records") {
    const finding = `it answers ${unknown.records[0] ?? "something"} for a name that does not exist`;
    return [fault(what, finding, "set --dns to a resolver that answers correctly")];
  }
  return [ok(what, "answers, and says so when a name does not exist")];
};

/**
 * The name in EHLO must resolve to addresses whose PTR records contain that name (RFC 5321 §4.1.4,
 * RFC 1912 §2.1).
 */
export const checkHostname: Check = async (world) => {
  const what = "hostname";
  const { hostname, transport } = world.config;
  if (transport !== "direct") return [ok(what, `${hostname}; receivers see the name of the relay`)];
  if (!hostname.includes(".") || isIP(hostname) !== 0) {
    const finding = `“${hostname}” is not a fully qualified name`;
    return [fail(what, finding, "set --hostname to a name in your DNS such as mail.example.com")];
  }
  const addresses = await addressesOfHost(world, hostname);
  if (typeof addresses === "string") return [warn(what, addresses, "run this again later")];
  if (addresses.length === 0) {
    const fix = `add an A record for ${hostname} with the public address of this server`;
    return [fail(what, `${hostname} has no address in the DNS`, fix)];
  }
  const reverse = await Promise.all(
    sendingAddresses(world, addresses).map((address) => checkReverse(world, address)),
  );
  const named = ok(what, `${hostname} is ${addresses.join(", ")}`);
  return [named, ...unnamedAddresses(world, addresses), ...reverse];
};

/** Returns the addresses that mail leaves from, as far as they are known. */
function sendingAddresses({ config }: World, ofHostname: readonly string[]): readonly string[] {
  return config.sourceAddresses.length > 0 ? config.sourceAddresses : ofHostname;
}

function unnamedAddresses(
  { ownAddresses, config }: World,
  ofHostname: readonly string[],
): Finding[] {
  const own = ownAddresses();
  const others = own.filter((address) => !ofHostname.includes(address));
  if (own.length === 0 || others.length === 0 || config.sourceAddresses.length > 0) return [];
  const finding = `this server also has ${others.join(", ")}, which ${config.hostname} does not name`;
  const fix =
    "add it to the DNS, or choose the addresses that mail leaves from with --source-address";
  return [warn("hostname", finding, fix)];
}

async function checkReverse({ dns, config }: World, address: string): Promise<Finding> {
  const what = "PTR";
  const { hostname } = config;
  const answer = await dns.reverse(address);
  if (answer.kind === "failed") return warn(what, answer.reason, "run this again later");
  const names = answer.kind === "records" ? answer.records : [];
  if (names.includes(hostname))
    return ok(what, `${address} has the name ${hostname}, which resolves to it`);
  const finding =
    names.length === 0 ? `${address} has no name` : `${address} is ${names.join(", ")}`;
  const fix = `have the owner of the address (your provider) set its PTR record to ${hostname}`;
  return fail(what, finding, fix);
}

/** The configured source addresses must be addresses of this machine. */
export const checkSources: Check = async ({ config, isOwnAddress }) => {
  if (config.transport !== "direct") return [];
  const fix = "set --source-address to addresses of this machine, or omit it";
  const findings = await Promise.all(
    config.sourceAddresses.map(async (address) =>
      (await isOwnAddress(address))
        ? []
        : [fail("source address", `${address} is not an address of this machine`, fix)],
    ),
  );
  return findings.flat();
};

/**
 * Checks that mail servers can be reached, because many hosting providers block outgoing port 25.
 */
export const checkPort: Check = async (world) => {
  const { transport, directPort } = world.config;
  const what = `port ${directPort}`;
  if (transport !== "direct" || (await checkSources(world)).length > 0) return [];
  const reasons: string[] = [];
  let hasTarget = false;
  for (const domain of PROBE_DOMAINS.slice(0, 2)) {
    const target = await mailServerOf(world, domain);
    if ("reason" in target) {
      reasons.push(target.reason);
      continue;
    }
    hasTarget = true;
    const greeting = await world.greet(target.address, directPort);
    const answer = greeting.ok ? greeting.line : greeting.reason;
    if (greeting.ok && greeting.line.startsWith("220")) {
      return [ok(what, `${target.host} answers: ${answer.slice(0, 60)}`)];
    }
    reasons.push(`${target.host} (${target.address}): ${answer}`);
  }
  const fix = hasTarget
    ? "ask your provider to open outgoing port 25 (many block it by default), " +
      "or send through a relay: --transport relay"
    : "set --dns to a resolver that answers, then run this again";
  return [fail(what, reasons.join("; "), fix)];
};

async function mailServerOf(
  world: World,
  domain: string,
): Promise<{ host: string; address: string } | { reason: string }> {
  const mx = await world.dns.resolve(domain, "MX");
  if (mx.kind !== "records") return { reason: `no mail server of ${domain} is known` };
  const [best] = [...mx.records].sort((a, b) => a.preference - b.preference);
  const host = best?.exchange ?? domain;
  const addresses = await addressesOfHost(world, host);
  const [address] = typeof addresses === "string" ? [] : addresses;
  return address === undefined ? { reason: `${host} has no address` } : { host, address };
}

/** Resolves to the addresses of a host, IPv4 first, or to the reason why the look-up failed. */
export async function addressesOfHost(
  { dns }: Pick<World, "dns">,
  host: string,
): Promise<string[] | string> {
  const answers = await Promise.all([dns.resolve(host, "A"), dns.resolve(host, "AAAA")]);
  const found = answers.flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  const failed = answers.find(isFailed);
  return found.length === 0 && failed !== undefined ? failed.reason : found;
}

function isFailed(
  answer: DnsAnswer<string>,
): answer is Extract<DnsAnswer<string>, { kind: "failed" }> {
  return answer.kind === "failed";
}

/** People behind a proxy that is not named have the proxy's address, and share the limits of one person. */
export const checkProxy: Check = async ({ refusedProxy }) => {
  const peer = await refusedProxy();
  if (peer === null) return [];
  const finding =
    `a sign-up form has refused people behind ${peer}, who share the limit of one address because ` +
    "its X-Forwarded-For is ignored";
  const fix = `if this is your proxy, start the server with --trusted-proxy ${peer}`;
  return [fail("reverse proxy", finding, fix)];
};
