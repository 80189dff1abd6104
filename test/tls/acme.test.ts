/** Certificates from a CA over ACME: the order, its renewal, and what happens when the CA refuses. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAcme, LETS_ENCRYPT } from "../../src/tls/acme.ts";
import { readAcmeState, storeAcmeState } from "../../src/tls/acme-state.ts";
import type { Certificate } from "../../src/tls/certificate.ts";
import { servePlainHttp } from "../../src/tls/plain-http.ts";
import { type AcmeCa, startAcmeCa } from "../support/acme-ca.ts";
import { TEST_SECRET, testApp } from "../support/app.ts";
import { migratedDatabase } from "../support/database.ts";
import { createDns } from "../../src/protocols/dns/client.ts";
import { manualClock } from "../support/clock.ts";
import { startDnsServer } from "../support/dns-server.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const folder = mkdtempSync(join(tmpdir(), "mailstead-acme-"));
const clock = manualClock();
let acme: ReturnType<typeof createAcme>;
let shown: Certificate[] = [];
let ca: AcmeCa;
let server: Awaited<ReturnType<typeof testApp>>;
const plain = servePlainHttp({
  address: { host: "127.0.0.1", port: 0 },
  url: "https://mail.test",
  trackingUrl: null,
  keyAuthorization: (token) => acme.keyAuthorization(token),
});

beforeAll(() => {
  ca = startAcmeCa({ httpUrl: () => plain.url, now: clock.now, lifeMs: 90 * DAY_MS });
  writeFileSync(join(folder, "ca.pem"), ca.ca);
});
beforeEach(async () => {
  Object.assign(ca.state, {
    refusedNonces: 0,
    refusal: null,
    window: null,
    binding: null,
    caaIdentities: [],
  });
  ca.orders.length = 0;
  shown = [];
  server = await testApp({
    clock,
    config: {
      tls: "acme",
      url: "https://mail.test",
      trackingUrl: "https://go.test:8443/t",
      acmeDirectory: ca.directory,
      acmeCa: join(folder, "ca.pem"),
    },
  });
  acme = open();
});
afterAll(async () => {
  await ca.stop();
  await plain.stop(true);
  rmSync(folder, { recursive: true });
});

const open = () => createAcme(server.app.app, (certificate) => shown.push(certificate));
const stateOf = () => readAcmeState(server.db, TEST_SECRET);

test("a certificate for all names is ordered, although nonces are refused, and stored sealed", async () => {
  ca.state.refusedNonces = 8;
  await acme.check();
  expect(ca.orders).toMatchObject([{ names: ["mail.test", "go.test"], replaces: null }]);
  const [issued] = shown;
  expect(new X509Certificate(issued?.cert ?? "").subjectAltName).toBe("DNS:mail.test, DNS:go.test");
  expect(acme.keyAuthorization("token-0")).toBeNull();
  await acme.check();
  expect(ca.orders).toHaveLength(1);
  expect(open().stored()).toMatchObject({ cert: issued?.cert, key: issued?.key });
  expect(JSON.stringify(server.contents())).not.toContain("BEGIN");
  expect(readAcmeState(server.db, "another secret")).toBeNull();
});

test("the account is bound to one that the operator has with the CA, and only if it is new", async () => {
  ca.state.binding = { keyId: "kid-1", macKey: Buffer.from("a key of the CA") };
  await acme.check();
  expect(stateOf()?.failure?.message).toContain("the account is bound to none of ours");
  clock.advance(MINUTE_MS);
  const openBound = (acmeEab: typeof ca.state.binding) => {
    const { app } = server.app;
    acme = createAcme({ ...app, config: { ...app.config, acmeEab } }, (one) => shown.push(one));
  };
  openBound(ca.state.binding);
  await acme.check();
  expect([shown.length, stateOf()?.failure]).toEqual([1, null]);
  openBound({ keyId: "kid-2", macKey: Buffer.from("another key") });
  clock.advance(60 * DAY_MS);
  await acme.check();
  expect(ca.orders).toHaveLength(2);
});

describe("a certificate is renewed", () => {
  const after = (ms: number) => new Date(clock.now() + ms).toISOString();

  test("within the window that the CA names, which is asked for every six hours", async () => {
    ca.state.window = { start: after(10 * DAY_MS), end: after(11 * DAY_MS) };
    await acme.check();
    await acme.check();
    clock.advance(9.9 * DAY_MS);
    await acme.check();
    expect(ca.orders).toHaveLength(1);
    clock.advance(1.1 * DAY_MS);
    await acme.check();
    expect(ca.orders.map(({ replaces }) => replaces)).toEqual([
      null,
      expect.stringMatching(/^.+\..+$/),
    ]);
    expect(shown).toHaveLength(2);
  });

  test("earlier if the CA has changed its mind", async () => {
    ca.state.window = { start: after(50 * DAY_MS), end: after(51 * DAY_MS) };
    await acme.check();
    await acme.check();
    ca.state.window = { start: after(-2 * DAY_MS), end: after(-DAY_MS) };
    clock.advance(6 * 60 * MINUTE_MS);
    await acme.check();
    expect(ca.orders).toHaveLength(2);
  });

  test("when a third of its life is left, if the CA names no window", async () => {
    await acme.check();
    clock.advance(59 * DAY_MS);
    await acme.check();
    expect(ca.orders).toHaveLength(1);
    clock.advance(1 * DAY_MS);
    await acme.check();
    expect(ca.orders).toHaveLength(2);
  });
});

describe("a refusal of the CA", () => {
  test("is followed by longer and longer pauses, also after a restart, and tells its reason", async () => {
    ca.state.refusal = { status: 403, detail: "mail.test is blocked" };
    for (const minutes of [1, 10, 60, 360, 360]) {
      await acme.check();
      expect(stateOf()?.failure).toMatchObject({
        retryAt: clock.now() + minutes * MINUTE_MS,
        message: "the CA answered 403: mail.test is blocked",
      });
      acme = open();
      clock.advance(minutes * MINUTE_MS - 1);
      await acme.check();
      expect(stateOf()?.failure?.retryAt).toBe(clock.now() + 1);
      clock.advance(1);
    }
    ca.state.refusal = null;
    await acme.check();
    expect([stateOf()?.failure, shown.length]).toEqual([null, 1]);
  });

  test("because of its rate limit is obeyed as long as it says", async () => {
    ca.state.refusal = { status: 429, detail: "too many certificates", retryAfter: "86400" };
    await acme.check();
    expect(stateOf()?.failure?.retryAt).toBe(clock.now() + DAY_MS);
  });

  test("leaves the certificate that is in use", async () => {
    await acme.check();
    ca.state.refusal = { status: 500, detail: "out of order" };
    clock.advance(60 * DAY_MS);
    await acme.check();
    expect(stateOf()).toMatchObject({
      failure: { count: 1 },
      certificate: { cert: shown[0]?.cert },
    });
  });
});

test("browsers are told to use HTTPS only, when a public CA has given a certificate", async () => {
  const db = migratedDatabase();
  const config = { tls: "acme", url: "https://mail.test" } as const;
  const headerNow = async () => {
    const { app } = await testApp({ db, config });
    const answer = await app.handle(new Request("http://localhost/livez"));
    return answer.headers.get("strict-transport-security");
  };
  expect(await headerNow()).toBeNull();
  const state = { directory: LETS_ENCRYPT, accountKey: "", renewal: null, failure: null };
  const certificate = { cert: "", key: "", names: ["mail.test"] };
  storeAcmeState(db, TEST_SECRET, { ...state, certificate });
  expect(await headerNow()).toBe("max-age=31536000");
  await acme.check();
  expect(
    (await server.app.handle(new Request("http://localhost/livez"))).headers.get(
      "strict-transport-security",
    ),
  ).toBeNull();
});

test("an order that the CAA records forbid is not made, and it is said which record is missing", async () => {
  ca.state.caaIdentities = ["ca.test"];
  const records = { "go.test": { A: ["192.0.2.1"], CAA: ["0 issue other.test"] } };
  const names = await startDnsServer({ records, failures: { "mail.test": "servfail" } });
  const dns = createDns({ servers: [names.server], clock });
  acme = createAcme({ ...server.app.app, dns }, (one) => shown.push(one));
  await acme.check();
  expect([ca.orders, shown]).toEqual([[], []]);
  expect(stateOf()?.failure?.message).toContain('add the record “0 issue "ca.test"”');
  dns.close();
  await names.close();
});

test("a CA that cannot be reached is a failure like others", async () => {
  const { app } = server.app;
  const config = { ...app.config, acmeDirectory: "https://127.0.0.1:1/directory" };
  await createAcme({ ...app, config }, () => {}).check();
  expect(stateOf()?.failure).toMatchObject({
    count: 1,
    message: expect.stringMatching(/connect/i),
  });
});
