/** Certificates of tracking hosts: each host has an order of its own, and HTTPS shows its certificate. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { hostedNames } from "../../../src/core/hosted-names.ts";
import { answerCheck } from "../../../src/modules/delivery/tracking-check.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { hostCertificates } from "../../../src/tls/host-certificates.ts";
import { createHttpsListener } from "../../../src/tls/https.ts";
import { servePlainHttp } from "../../../src/tls/plain-http.ts";
import { type AcmeCa, startAcmeCa } from "../../support/acme-ca.ts";
import { testApp, type TestApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { startDnsServer, type TestDns } from "../../support/dns-server.ts";
import { makeCertificate } from "../../support/tls.ts";

const DAY_MS = 24 * 60 * 60_000;

const folder = mkdtempSync(join(tmpdir(), "mailstead-hosts-"));
const clock = manualClock();
let dns: TestDns;
let ca: AcmeCa;
let t: TestApp;
let plain: ReturnType<typeof servePlainHttp>;

beforeAll(async () => {
  dns = await startDnsServer({ records: { "links.acme.test": { A: ["127.0.0.2"] } } });
  ca = startAcmeCa({ httpUrl: () => plain.url, now: clock.now, lifeMs: 90 * DAY_MS });
  writeFileSync(join(folder, "ca.pem"), ca.ca);
});
beforeEach(async () => {
  ca.orders.length = 0;
  t = await testApp({
    clock,
    dns: createDns({ servers: [dns.server], clock: systemClock, tries: 1 }),
    config: {
      tls: "acme",
      url: "https://mail.test",
      trackingUrl: "https://go.mail.test:8443",
      acmeDirectory: ca.directory,
      acmeCa: join(folder, "ca.pem"),
      allowPrivateAddresses: true,
    },
  });
  hostCertificates(t.app.app).load();
  plain = servePlainHttp({
    address: { host: "127.0.0.1", port: 0 },
    url: "https://mail.test",
    trackingUrl: "https://go.mail.test:8443",
    keyAuthorization: (token) => hostCertificates(t.app.app).keyAuthorization(token),
    hosted: hostedNames(t.app.app),
  });
});
afterEach(async () => {
  await plain.stop(true);
  await t.close();
});
afterAll(async () => {
  await ca.stop();
  await dns.close();
  rmSync(folder, { recursive: true });
});

/** Adds a host, as if a check had reached it over HTTP. */
async function reached(host: string, key?: string): Promise<void> {
  await t.create("/tracking-hosts", { host }, "data.id", key === undefined ? {} : { key });
  t.db.sqlite.run("UPDATE tracking_hosts SET checked_at = 1 WHERE host = ?", [host]);
}

test("a host that leads here gets a certificate of its own, which HTTPS shows for its name", async () => {
  const certificates = hostCertificates(t.app.app);
  await t.create("/tracking-hosts", { host: "links.acme.test" }, "data.id");
  await certificates.check();
  expect(ca.orders).toEqual([]);
  t.db.sqlite.run("UPDATE tracking_hosts SET checked_at = 1");
  await certificates.check();
  await certificates.check();
  expect(ca.orders.map(({ names }) => names)).toEqual([["links.acme.test"]]);
  expect(JSON.stringify(t.contents())).not.toContain("BEGIN");

  const listener = createHttpsListener({
    certificate: makeCertificate(["mail.test"]),
    contextOf: certificates.contextOf,
    target: { host: "127.0.0.1", port: plain.port ?? 0 },
    keepPeer: () => () => {},
    clock: systemClock,
    isShared: () => true,
    maxPerNetwork: 10,
  });
  const port = await listener.listen({ host: "127.0.0.1", port: 0 });
  const shownFor = (servername: string) =>
    new Promise<string | undefined>((resolve, reject) => {
      const socket = connect({ port, host: "127.0.0.1", servername, rejectUnauthorized: false });
      socket.once("error", reject);
      socket.once("secureConnect", () => {
        resolve(socket.getPeerCertificate().subjectaltname);
        socket.destroy();
      });
    });
  expect([await shownFor("links.acme.test"), await shownFor("mail.test")]).toEqual([
    "DNS:links.acme.test",
    "DNS:mail.test",
  ]);
  listener.stop();
});

test("a host for which the CA gives none holds up no other, and says why", async () => {
  await reached("broken.acme.test");
  const other = await t.makeProject("other");
  dns.records["links.other.test"] = { A: ["127.0.0.2"] };
  await reached("links.other.test", other.secretKey);
  await hostCertificates(t.app.app).check();
  expect(ca.orders.map(({ names }) => names)).toEqual([["links.other.test"]]);
  const { at } = await t.call("GET", "/tracking-hosts");
  expect(at("data.items.0.problem")).toMatch(/^the CA gave no certificate .*has no address/);
});

test("a host that no check has reached gets none, also if its look-up has failed", async () => {
  await reached("lost.acme.test");
  t.db.sqlite.run("UPDATE tracking_hosts SET problem = 'it could not be looked up in the DNS'");
  await hostCertificates(t.app.app).check();
  expect(t.db.sqlite.query("SELECT certificate FROM tracking_hosts").get()).toEqual({
    certificate: null,
  });
});

test("hosts that do not lead here take no place, and one for which there is none says so", async () => {
  const addMany = (prefix: string, checkedAt: number | null) =>
    t.db.sqlite.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
       INSERT INTO tracking_hosts (id, project_seq, host, status, misses, checked_at, next_check_at, created_at)
       SELECT ?1 || i, (SELECT max(seq) FROM projects), ?1 || i || '.test', 'ACTIVE', 0, ?2, 1, 1 FROM n`,
      [prefix, checkedAt],
    );
  await t.makeProject("other");
  const problem = async () => {
    hostCertificates(t.app.app).load();
    return (await t.call("GET", "/tracking-hosts")).at("data.items.0.problem");
  };
  addMany("unchecked", null);
  await reached("links.acme.test");
  expect(await problem()).toMatch(/certificate is being ordered$/);
  t.db.sqlite.run("DELETE FROM tracking_hosts");
  await hostCertificates(t.app.app).check();
  addMany("active", 1);
  await reached("links.acme.test");
  expect(await problem()).toMatch(/has 100 certificates of tracking hosts, which is the most$/);
});

test("without TLS, a host is redirected to itself, and a check is answered", async () => {
  await reached("links.acme.test");
  const ask = (host: string, path: string) =>
    fetch(new URL(path, plain.url), { headers: { host }, redirect: "manual" });
  const [own, foreign] = await Promise.all([
    ask("links.acme.test", "/c/a/b"),
    ask("evil.test", "/c/a/b"),
  ]);
  expect([own.headers.get("location"), foreign.headers.get("location")]).toEqual([
    "https://links.acme.test:8443/c/a/b",
    "https://mail.test/c/a/b",
  ]);
  const nonce = "b".repeat(32);
  const answer = await ask("links.acme.test", `/.well-known/mailstead-tracking/${nonce}`);
  expect(await answer.text()).toBe(answerCheck(t.app.app, nonce) ?? "");
});
