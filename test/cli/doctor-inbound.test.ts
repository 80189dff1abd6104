/** The doctor's checks of the mail that other servers send here. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { doctor } from "../../src/cli/doctor.ts";
import { SERVER_SETTINGS } from "../../src/cli/serve.ts";
import { readConfig } from "../../src/config/read.ts";
import type { Config, SettingName } from "../../src/config/settings.ts";
import { type Check, lineOf, type World } from "../../src/doctor/check.ts";
import {
  checkCaa,
  checkHttpsCertificate,
  checkInbound,
  checkSmtpCertificate,
} from "../../src/doctor/inbound.ts";
import { checkDomains } from "../../src/doctor/sending.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { AcmeState } from "../../src/tls/acme-state.ts";
import type { Domain } from "../../src/modules/domains/model.ts";
import { createDns, type Dns } from "../../src/protocols/dns/client.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { makeCertificate } from "../support/tls.ts";

const HOST = "mail.example.org";
const DAY_MS = 86_400_000;
const INBOUND = { host: "0.0.0.0", port: 25 };
const FILES = { smtpTlsCert: "cert.pem", smtpTlsKey: "key.pem" };

let server: TestDns;
let dns: Dns;
beforeAll(async () => {
  server = await startDnsServer({ records: { [HOST]: { A: ["8.8.4.4"] } } });
  dns = createDns({ servers: [server.server], clock: systemClock, timeoutMs: 500, tries: 1 });
});
afterAll(async () => {
  dns.close();
  await server.close();
});

function domainWith(status: "OK" | "MISSING"): Domain {
  const common = {
    purpose: "RETURN_PATH" as const,
    name: "bounce.example.com",
    host: "bounce",
    required: false,
  };
  return {
    id: "1",
    domain: "example.com",
    status: "VERIFIED",
    verified: true,
    records: [
      { ...common, type: "MX", value: `10 ${HOST}`, status, found: [], note: "" },
      { ...common, type: "TXT", value: "v=spf1 a -all", status: "OK", found: [], note: "" },
    ],
    verifiedAt: null,
    lastCheckedAt: null,
    failingSince: null,
    createdAt: "",
  };
}

/** The findings of a check. All parts of the world that these checks do not use throw. */
async function findings(
  check: Check,
  changes: Partial<World>,
  settings: Partial<Config> = { inbound: INBOUND },
): Promise<string[]> {
  const unused = () => {
    throw new Error("unused");
  };
  const found = await check({
    config: readConfig({}, {}, { transport: "direct", hostname: HOST, ...settings }),
    folder: "/data",
    dns,
    ownAddresses: unused,
    isOwnAddress: unused,
    greet: unused,
    clockAheadMs: unused,
    refusedProxy: unused,
    recurring: unused,
    freeBytes: unused,
    metrics: unused,
    modeOf: unused,
    readText: unused,
    now: systemClock.now,
    tryRelay: unused,
    requireReadableKeys: unused,
    isSameSecret: unused,
    queueHeldSince: unused,
    knownUpdate: unused,
    backups: unused,
    logHeldSince: unused,
    logBytes: unused,
    reportSources: unused,
    reportMailboxes: unused,
    acme: unused,
    domains: unused,
    ...changes,
  });
  return found.filter(({ what }) => !what.startsWith("domain ")).map(lineOf);
}

test("the bounce host of a domain needs both records, and a server that listens", async () => {
  const at = (status: "OK" | "MISSING") => ({ domains: async () => [domainWith(status)] });
  expect(await findings(checkDomains, at("OK"))).toEqual([
    "ok    bounces of example.com: they are sent to bounce.example.com, and its mail to this server",
  ]);
  expect(await findings(checkDomains, at("MISSING"))).toEqual([
    "warn  bounces of example.com: they go to the sender's address: MX MISSING at " +
      `bounce.example.com — publish bounce.example.com MX 10 ${HOST}`,
  ]);
  const [line] = await findings(checkDomains, at("OK"), { inbound: null });
  expect(line).toMatch(/^warn .* does not listen — serve with --inbound 0\.0\.0\.0:25$/);
  expect(await findings(checkDomains, at("MISSING"), { inbound: null })).toEqual([]);
});

test("port 25 is answered by this server, and the operator gets a command", async () => {
  const answer = (line: string) => ({ greet: async () => ({ ok: true as const, line }) });
  expect(await findings(checkInbound, answer(`220 ${HOST} ESMTP Mailstead`))).toEqual([
    `ok    inbound port 25: answers here; it is reachable if on another machine, ` +
      `“nc -w 5 ${HOST} 25” prints “220 ${HOST} …”`,
  ]);
  const [other] = await findings(checkInbound, answer("220 mx.other.example ESMTP Postfix"));
  expect(other).toMatch(/^fail .*another program answers at 8\.8\.4\.4: 220 mx\.other\.example/);
  const refused = { greet: async () => ({ ok: false as const, reason: "refused" }) };
  const [closed] = await findings(checkInbound, refused);
  expect(closed).toMatch(/^warn .*8\.8\.4\.4: refused — .*nc -w 5 mail\.example\.org 25/);
  const unknown = { inbound: INBOUND, hostname: "none.example.org" };
  expect((await findings(checkInbound, refused, unknown))[0]).toMatch(/^fail .*no address/);
  expect(await findings(checkInbound, refused, { inbound: null })).toEqual([]);
});

test("the certificate is for the host name, and valid for two more weeks", async () => {
  const line = async (pem: string) => {
    const settings = { inbound: INBOUND, ...FILES };
    return (await findings(checkSmtpCertificate, { readText: () => pem }, settings))[0] ?? "";
  };
  const until = (days: number) => ({ validTo: new Date(systemClock.now() + days * DAY_MS) });
  expect(await line(makeCertificate([HOST]).cert)).toMatch(
    /^ok .* is for mail\.example\.org until/,
  );
  expect(await line(makeCertificate(["other.example"]).cert)).toMatch(/^warn .* is not for mail/);
  expect(await line(makeCertificate([HOST], until(5)).cert)).toMatch(/^warn .* ends on/);
  expect(await line(makeCertificate([HOST], until(-0.5)).cert)).toMatch(/^fail .* expired on/);
  expect(await line("no certificate")).toMatch(/^fail .*cert\.pem: /);
});

test("submission needs a certificate, reception from other servers does not", async () => {
  const of = (settings: Partial<Config>) => findings(checkSmtpCertificate, {}, settings);
  expect((await of({ inbound: INBOUND }))[0]).toStartWith("ok ");
  expect((await of({ submission: { host: "127.0.0.1", port: 587 } }))[0]).toStartWith("warn ");
  expect(await of({})).toEqual([]);
});

test("CAA records that allow another CA only are a failure, and others are told", async () => {
  const settings = { tls: "acme" as const, url: "https://www.shop.example" };
  const found = () => findings(checkCaa, {}, settings);
  const of = "CAA of www.shop.example";
  expect(await found()).toEqual([`ok    ${of}: no record, so every CA may give a certificate`]);
  const acmeDirectory = "https://ca.example/directory";
  server.records["caa.example"] = { CAA: ["0 issue ca.example"] };
  const other = { ...settings, url: "https://www.caa.example" };
  const finding = `CAA of www.caa.example: caa.example has issue "ca.example"`;
  expect(await findings(checkCaa, {}, other)).toEqual([
    `fail  ${finding}, so Let's Encrypt gives no certificate — add the record “0 issue ` +
      `"letsencrypt.org"” to caa.example`,
  ]);
  expect(await findings(checkCaa, {}, { ...other, acmeDirectory })).toEqual([`ok    ${finding}`]);
  expect(await findings(checkCaa, {}, { tls: "off" })).toEqual([]);
});

test("the certificate of a CA is there, was renewed, and if not, the CA's reason is told", async () => {
  const settings = { tls: "acme", url: `https://${HOST}` } as const;
  const failure = { count: 1, retryAt: 0, message: "the CA answered 429: too many" };
  const line = async (state: Partial<AcmeState>) => {
    const empty = {
      directory: "",
      accountKey: "",
      certificate: null,
      renewal: null,
      failure: null,
    };
    const acme = async () => ({ ...empty, ...state });
    return (await findings(checkHttpsCertificate, { acme }, settings))[0] ?? "";
  };
  const lasting = (days: number) => {
    const validFrom = new Date(systemClock.now() - (90 - days) * DAY_MS);
    const validTo = new Date(systemClock.now() + days * DAY_MS);
    return { ...makeCertificate([HOST], { validFrom, validTo }), names: [HOST] };
  };
  expect(await line({})).toMatch(/^warn .*none yet, a self-signed one is shown — let port 80/);
  expect(await line({ failure })).toMatch(
    /^fail .*shown: the CA answered 429: too many \(next try /,
  );
  expect(await line({ certificate: lasting(60) })).toMatch(/^ok .*mail\.example\.org until \d{4}-/);
  expect(await line({ certificate: lasting(20), failure })).toMatch(/^warn .*answered 429/);
  expect(await line({ certificate: lasting(14), failure })).toMatch(/^fail .*not renewed: the CA/);
  expect(await findings(checkHttpsCertificate, {}, {})).toEqual([]);
  const needed = SERVER_SETTINGS.filter((name) =>
    /tls(?:Cert|Key)?$|^acme|https|plainHttp/i.test(name),
  );
  const ofCatching: SettingName[] = ["captureTls"];
  expect(needed.filter((name) => !doctor.settings.includes(name))).toEqual(ofCatching);
});
