/** Checks of the mail that other servers send here: MX records, port 25, and the certificate. */

import { X509Certificate } from "node:crypto";
import { isoTime } from "../lib/clock.ts";
import { certificateNames } from "../tls/acme.ts";
import type { AcmeState } from "../tls/acme-state.ts";
import { describeCaa, findCaa, mayIssue } from "../tls/order-check.ts";
import type { Domain } from "../modules/domains/model.ts";
import { type Check, fail, type Finding, ok, warn, type World } from "./check.ts";
import { addressesOfHost } from "./network.ts";

/** Other servers always connect to this port (RFC 5321 §4.5.4.2). */
const MX_PORT = 25;
const DAY_MS = 24 * 60 * 60_000;
/** Certificates are usually renewed 30 days before their end. */
const SOON_DAYS = 14;

/** Whether the bounces of a domain come to this server, and it listens for them. */
export function findingsOfBounceHost({ domain, records }: Domain, isListening: boolean): Finding[] {
  const ours = records.filter(({ purpose }) => purpose === "RETURN_PATH");
  const mx = ours.find(({ type }) => type === "MX");
  if (mx === undefined) return [];
  const what = `bounces of ${domain}`;
  const isPublished = ours.every(({ status }) => status === "OK");
  if (isPublished && !isListening) {
    const finding = `the MX record of ${mx.name} leads to this server, which does not listen`;
    return [warn(what, finding, "serve with --inbound 0.0.0.0:25")];
  }
  if (!isListening) return [];
  if (isPublished) return [ok(what, `they are sent to ${mx.name}, and its mail to this server`)];
  const missing = ours.filter(({ status }) => status !== "OK");
  const finding = `they go to the sender's address: ${missing
    .map(({ type, status }) => `${type} ${status}`)
    .join(", ")} at ${mx.name}`;
  const values = missing
    .map(({ name, type, value }) => `${name} ${type} ${value || "(the SPF record of the relay)"}`)
    .join("; ");
  return [warn(what, finding, `publish ${values}`)];
}

/**
 * Checks that port 25 of the host name is answered by this server. Only another machine can tell
 * whether it is reachable from outside, so the finding has a command for the operator.
 */
export const checkInbound: Check = async (world) => {
  const { inbound, hostname } = world.config;
  if (inbound === null) return [];
  const what = "inbound port 25";
  const command = `on another machine, “nc -w 5 ${hostname} ${MX_PORT}” prints “220 ${hostname} …”`;
  const addresses = await addressesOfHost(world, hostname);
  if (typeof addresses === "string") return [warn(what, addresses, "run this again later")];
  const [address] = addresses;
  if (address === undefined) {
    return [fail(what, `${hostname} has no address in the DNS`, `add an A record for ${hostname}`)];
  }
  const greeting = await world.greet(address, MX_PORT);
  if (!greeting.ok) {
    const fix = `serve with --inbound 0.0.0.0:25, open the port, and check that ${command}`;
    return [warn(what, `${address}: ${greeting.reason}`, fix)];
  }
  if (!greeting.line.startsWith(`220 ${hostname} `)) {
    const finding = `another program answers at ${address}: ${greeting.line.slice(0, 60)}`;
    return [fail(what, finding, "give port 25 to --inbound, or let that program pass on the mail")];
  }
  return [ok(what, `answers here; it is reachable if ${command}`)];
};

/** Checks the certificate of the SMTP listeners. */
export const checkSmtpCertificate: Check = async (world) => {
  const { inbound, submission, submissions, hostname } = world.config;
  if (inbound === null && submission === null && submissions === null) return [];
  const what = "SMTP certificate";
  const file = world.config.smtpTlsCert ?? world.config.tlsCert;
  // The check of HTTPS reports this one, whose names include the host name.
  if (file === null && world.config.tls === "acme") return [];
  if (file === null) {
    const isForClients = submission !== null || submissions !== null;
    const finding = "none is set; other servers take the self-signed one";
    const fix = "set --smtp-tls-cert and --smtp-tls-key, since clients of submission verify it";
    return [isForClients ? warn(what, finding, fix) : ok(what, finding)];
  }
  return [findingOfCertificate(world, { what, file, hostname })];
};

/** Checks the certificate of HTTPS. */
export const checkHttpsCertificate: Check = async (world) => {
  const { tls, tlsCert: file, url } = world.config;
  if (tls === "off" || url === null) return [];
  const what = "HTTPS certificate";
  if (tls === "acme") {
    return [findingOfAcme(world.folder === null ? null : await world.acme(), world.now())];
  }
  const { hostname } = new URL(url);
  return file === null ? [] : [findingOfCertificate(world, { what, file, hostname })];
};

/** The name of Let's Encrypt in CAA records. */
const LETS_ENCRYPT_CAA = "letsencrypt.org";

/** Says which authorities the CAA records of the names allow (RFC 8659). */
export const checkCaa: Check = async ({ config, dns }) => {
  if (config.tls !== "acme") return [];
  const findings = await Promise.all(
    certificateNames(config).map(async (name) => ({ name, caa: await findCaa(dns, name) })),
  );
  return findings.map(({ name, caa }) => {
    const what = `CAA of ${name}`;
    if (caa === "none") return ok(what, "no record, so every CA may give a certificate");
    if (caa === "failed") return warn(what, "the look-up failed", "run this again later");
    const finding = `${caa.owner} has ${describeCaa(caa.records)}`;
    const isAllowed = config.acmeDirectory !== null || mayIssue(caa.records, LETS_ENCRYPT_CAA);
    const fix = `add the record “0 issue "${LETS_ENCRYPT_CAA}"” to ${caa.owner}`;
    return isAllowed
      ? ok(what, finding)
      : fail(what, `${finding}, so Let's Encrypt gives no certificate`, fix);
  });
};

/** A CA says no more that a certificate ends, so this does when less than a sixth of its life is left. */
const ALARM_SHARE = 1 / 6;

function findingOfAcme(state: AcmeState | null, nowMs: number): Finding {
  const what = "HTTPS certificate";
  const { certificate = null, failure = null } = state ?? {};
  const fix = "let port 80 of all names reach this server; it tries again by itself";
  const refused =
    failure === null ? "" : `: ${failure.message} (next try ${isoTime(failure.retryAt)})`;
  if (certificate === null) {
    const finding = `none yet, a self-signed one is shown${refused}`;
    return failure === null ? warn(what, finding, fix) : fail(what, finding, fix);
  }
  const { validFromDate, validToDate } = new X509Certificate(certificate.cert);
  const lifeMs = validToDate.getTime() - validFromDate.getTime();
  const date = isoTime(validToDate.getTime()).slice(0, 10);
  const names = certificate.names.join(", ");
  if (validToDate.getTime() - nowMs < lifeMs * ALARM_SHARE) {
    return fail(what, `is for ${names} until ${date}, and was not renewed${refused}`, fix);
  }
  if (failure !== null)
    return warn(what, `is for ${names} until ${date}, and the last try failed${refused}`, fix);
  return ok(what, `is for ${names} until ${date}`);
}

function findingOfCertificate(
  world: World,
  { what, file, hostname }: { what: string; file: string; hostname: string },
): Finding {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(world.readText(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return fail(what, `${file}: ${reason}`, "replace it by a file with a PEM certificate");
  }
  const until = certificate.validToDate;
  const days = Math.floor((until.getTime() - world.now()) / DAY_MS);
  const date = until.toISOString().slice(0, 10);
  if (days < 0) return fail(what, `${file} expired on ${date}`, "renew it");
  if (certificate.checkHost(hostname) === undefined) {
    return warn(what, `${file} is not for ${hostname}`, `get one whose names include ${hostname}`);
  }
  if (days < SOON_DAYS) {
    return warn(what, `${file} ends on ${date}`, "renew it; the server reads the new file itself");
  }
  return ok(what, `is for ${hostname} until ${date}`);
}
