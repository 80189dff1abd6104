import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import dgram from "node:dgram";
import net from "node:net";
import type { ReportMailboxState } from "../../src/modules/report-mailboxes/report-mailboxes.ts";
import type { ReportSourceState } from "../../src/modules/relay-reports/sources.ts";
import { type Check, lineOf, type World } from "../../src/doctor/check.ts";
import { ALL_CHECKS, examine } from "../../src/doctor/examine.ts";
import { greet, isOwnAddress } from "../../src/doctor/probes.ts";
import { askTimeServer } from "../../src/doctor/sntp.ts";
import { realWorld } from "../../src/cli/doctor/world.ts";
import { readConfig } from "../../src/config/read.ts";
import type { Config } from "../../src/config/settings.ts";
import { RECENT_HOLD } from "../../src/lib/metrics.ts";
import { DataFolderError } from "../../src/db/folder.ts";
import { UnreadableKeyError } from "../../src/modules/domains/keys.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createDns, type Dns } from "../../src/protocols/dns/client.ts";
import type { Domain } from "../../src/modules/domains/model.ts";
import { type ManualClock, manualClock } from "../support/clock.ts";
import { testStreams } from "../support/command-line.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../support/dns-server.ts";
import { waitUntil } from "../support/eventually.ts";
import { startSink } from "../support/smtp-sink.ts";

const GIB = 1024 ** 3;
const LIMIT_MS = 30_000;
const HOST = "mail.example.org";
const ADDRESS = "8.8.4.4";

const ZONE: Record<string, TestRecords> = {
  "gmail.com": { MX: ["20 alt.gmail.test", "10 mx.gmail.test"] },
  "mx.gmail.test": { A: ["8.8.8.8"] },
  "outlook.com": { MX: ["10 mx.outlook.test"] },
  "mx.outlook.test": { A: ["9.9.9.9"] },
  [HOST]: { A: [ADDRESS] },
  "4.4.8.8.in-addr.arpa": { PTR: [HOST] },
};

let server: TestDns;
let dns: Dns;
beforeEach(async () => {
  server = await startDnsServer({ records: structuredClone(ZONE) });
  dns = createDns({ servers: [server.server], clock: systemClock, timeoutMs: 500, tries: 1 });
});
afterEach(async () => {
  dns.close();
  await server.close();
});

/** A world in which every check of a server with --transport direct succeeds. */
function world(changes: Partial<World> = {}, settings: Partial<Config> = {}): World {
  const defaults: Partial<Config> = {
    transport: "direct",
    hostname: HOST,
    url: "https://mail.example.org",
    ...settings,
  };
  return {
    config: readConfig({}, {}, defaults),
    folder: "/data",
    dns,
    ownAddresses: () => [],
    isOwnAddress: async () => true,
    greet: async () => ({ ok: true, line: "220 mx ready" }),
    clockAheadMs: async () => 20,
    refusedProxy: async () => null,
    recurring: async () => [
      { name: "clock", everySeconds: 1 },
      { name: "webhooks", everySeconds: 60 },
    ],
    freeBytes: () => 50 * GIB,
    metrics: async () => null,
    modeOf: () => 0o600,
    readText: () => "",
    now: systemClock.now,
    tryRelay: async () => ({ ok: true, tls: "TLSv1.3", isAuthenticated: true }),
    requireReadableKeys: async () => {},
    isSameSecret: async () => true,
    queueHeldSince: async () => null,
    knownUpdate: async () => null,
    backups: async () => null,
    logHeldSince: async () => null,
    logBytes: () => 0,
    reportSources: async () => [],
    reportMailboxes: async () => [],
    acme: async () => null,
    domains: async () => [domain()],
    ...changes,
  };
}

const mailbox = (changes: Partial<ReportMailboxState>): ReportMailboxState => ({
  name: "Bounces",
  host: "imap.acme.test",
  lastFetchedAt: null,
  failure: null,
  ...changes,
});

const source = (changes: Partial<ReportSourceState>): ReportSourceState => ({
  provider: "SendGrid",
  lastReceivedAt: null,
  refusal: null,
  ...changes,
});

function domain(
  changes: Partial<Domain> = {},
  status: "OK" | "MISSING" | "PENDING" = "OK",
): Domain {
  return {
    id: "1",
    domain: "example.com",
    status: "VERIFIED",
    verified: true,
    records: [
      {
        purpose: "DKIM",
        type: "TXT",
        name: "n",
        host: "n",
        value: "v",
        required: true,
        status,
        found: [],
        note: "",
      },
    ],
    verifiedAt: null,
    lastCheckedAt: null,
    failingSince: null,
    createdAt: "",
    ...changes,
  };
}

function recordsAs(status: "MISSING" | "PENDING"): Domain["records"] {
  return domain({}, status).records;
}

/** The lines of the report. All waiting is done by the clock. */
async function lines(examined: World, clock: ManualClock = manualClock()): Promise<string[]> {
  const found: string[] = [];
  const limits = { checks: ALL_CHECKS, limitMs: LIMIT_MS, clock };
  for await (const finding of examine(examined, limits)) found.push(lineOf(finding));
  return found;
}

/** Advances the clock until the work has ended. */
async function advanceUntilSettled<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => (isOver = true);
  work.then(over, over);
  await waitUntil(() => {
    clock.advance(250);
    return isOver;
  });
  return work;
}

test("prints one ok line per check of a healthy server", async () => {
  expect(await lines(world())).toEqual([
    "ok    transport: direct",
    "ok    clock: is correct",
    "ok    data folder: only its owner may read /data",
    "ok    storage: 50.0 GiB free for /data",
    "ok    DNS resolver: answers, and says so when a name does not exist",
    "ok    hostname: mail.example.org is 8.8.4.4",
    "ok    PTR: 8.8.4.4 has the name mail.example.org, which resolves to it",
    "ok    port 25: mx.gmail.test answers: 220 mx ready",
    "ok    links in mails: https://mail.example.org",
    "ok    recurring work: clock every 1 s, webhooks every 60 s",
    "ok    domain example.com: all records are correct",
  ]);
});

describe("a finding names the problem and its fix", () => {
  const relayUrl = { host: "smtp.relay.test", port: 587, tls: "starttls" } as const;
  type Row = [name: string, changes: Partial<World>, settings: Partial<Config>, line: RegExp];
  const metrics = { host: "127.0.0.1", port: 9090 };
  const held = (seconds: number) => async () => `${RECENT_HOLD} ${seconds}\n`;
  const cases: Row[] = [
    [
      "warns that the event loop was held",
      { metrics: held(0.31) },
      { metrics },
      /^warn {2}event loop: .* 310 ms/,
    ],
    [
      "warns that no server shows metrics",
      {},
      { metrics },
      /^warn {2}event loop: no server .* 127.0.0.1:9090/,
    ],
    [
      "accepts short holds of the event loop",
      { metrics: held(0.02) },
      { metrics },
      /^ok {4}event loop: .* 20 ms/,
    ],
    [
      "warns that mail is captured",
      {},
      { transport: "capture" },
      /^warn {2}transport: .* — set --transport/,
    ],
    [
      "fails if the clock is 90 s behind",
      { clockAheadMs: async () => -90_000 },
      {},
      /^fail {2}clock: 90\.0 s behind — /,
    ],
    [
      "warns if the clock is 6 s ahead",
      { clockAheadMs: async () => 6_000 },
      {},
      /^warn {2}clock: 6\.0 s ahead/,
    ],
    [
      "warns if no time server answers",
      { clockAheadMs: async () => null },
      {},
      /^warn {2}clock: no time server/,
    ],
    ["fails if the disk is full", { freeBytes: () => 1000 }, {}, /^fail {2}storage: 0\.0 GiB free/],
    [
      "warns if the disk is nearly full",
      { freeBytes: () => GIB / 2 },
      {},
      /^warn {2}storage: 0\.5 GiB free/,
    ],
    [
      "fails if other users may read the secret",
      { modeOf: () => 0o755 },
      {},
      /^fail {2}data folder: other users may read secret.* — chmod 700/,
    ],
    [
      "fails if the secret does not decrypt the keys",
      { requireReadableKeys: () => Promise.reject(new UnreadableKeyError("example.com")) },
      {},
      /^fail {2}secret: a stored DKIM key of example\.com cannot be opened.* — Restore the file/,
    ],
    [
      "fails if the database was used with another secret",
      { isSameSecret: async () => false },
      {},
      /^fail {2}secret: it is not the one that this database was used with — restore the old/,
    ],
    [
      "warns if another process holds the write-ahead log",
      { logHeldSince: async () => "2026-02-03T04:05:06.000Z", logBytes: () => 70 * 1024 ** 2 },
      {},
      /^warn {2}write-ahead log: 70\.0 MiB, held .* since 2026-02-03T.* — .*--durability sqlite/,
    ],
    [
      "fails if the newest backup is older than 36 hours",
      { backups: async () => ({ hasKey: true, newestAt: Date.UTC(2026, 0, 3) }) },
      { backupTo: "/backup" },
      /^fail {2}backups: the newest one is of 2026-01-03T.* — .*mailstead backup run \/backup$/,
    ],
    [
      "fails if there is no key for the scheduled backups",
      { backups: async () => ({ hasKey: false, newestAt: null }) },
      { backupTo: "/backup" },
      /^fail {2}backups: there is no recovery key — .*backup init$/,
    ],
    [
      "fails while the queue is held",
      { queueHeldSince: async () => Date.UTC(2026, 1, 3) },
      {},
      /^fail {2}queue: held since 2026-02-03T00:00:00\.000Z, so no mail .* — .*queue release$/,
    ],
    [
      "fails if people behind a proxy were refused together",
      { refusedProxy: async () => "10.0.0.7" },
      {},
      /^fail {2}reverse proxy: a sign-up form .* behind 10\.0\.0\.7.* — .*--trusted-proxy 10\.0\.0\.7$/,
    ],
    [
      "warns of a newer version",
      { knownUpdate: async () => ({ version: "99.0.0", changesUrl: "https://example.com/new" }) },
      {},
      /^warn {2}version: 99\.0\.0 is available, and \d.* — read https:\/\/example.com\/new, .*upgrade/,
    ],
    [
      "reports a missing secret once",
      {
        requireReadableKeys: () => Promise.reject(new DataFolderError("No secret.", "Restore it.")),
        domains: () => Promise.reject(new DataFolderError("No secret.", "Restore it.")),
      },
      {},
      /^fail {2}data folder: No secret\. — Restore it\.$/,
    ],
    [
      "accepts that there is no data folder yet",
      { folder: null },
      {},
      /^ok {4}data folder: does not exist yet/,
    ],
    [
      "fails if the hostname is not fully qualified",
      {},
      { hostname: "vm" },
      /^fail {2}hostname: “vm” is not a fully qualified name — /,
    ],
    [
      "fails if the hostname has no address",
      {},
      { hostname: "x.example.org" },
      /^fail {2}hostname: x\.example\.org has no address/,
    ],
    [
      "fails if a source address has no PTR record",
      {},
      { sourceAddresses: ["8.8.4.5"] },
      /^fail {2}PTR: 8\.8\.4\.5 has no name — have the owner/,
    ],
    [
      "warns if the server has an address that the hostname does not have",
      { ownAddresses: () => [ADDRESS, "9.9.9.10"] },
      {},
      /^warn {2}hostname: this server also has 9\.9\.9\.10/,
    ],
    [
      "fails if a source address is not one of this machine",
      { isOwnAddress: async (address) => address !== "8.8.4.5" },
      { sourceAddresses: ["8.8.8.8", "8.8.4.5"] },
      /^fail {2}source address: 8\.8\.4\.5 is not an address of this machine — set --source-address/,
    ],
    [
      "fails if port 25 is blocked",
      { greet: async () => ({ ok: false, reason: "no answer within 8 s" }) },
      {},
      /^fail {2}port 25: .*mx\.gmail\.test \(8\.8\.8\.8\): no answer.*mx\.outlook\.test.* — ask your provider/,
    ],
    [
      "fails if port 25 answers with an error",
      { greet: async () => ({ ok: true, line: "554 no" }) },
      {},
      /^fail {2}port 25: .*554 no/,
    ],
    [
      "warns if links have no TLS",
      {},
      { url: "http://x.test" },
      /^warn {2}links in mails: .*without TLS/,
    ],
    [
      "warns if links lead to this machine",
      {},
      { url: null },
      /^warn {2}links in mails: they lead to http:\/\/127/,
    ],
    [
      "warns if there is no domain",
      { domains: async () => [] },
      {},
      /^warn {2}domains: no domain can be used/,
    ],
    [
      "warns if a domain is not verified yet",
      { domains: async () => [domain({ status: "PENDING", verified: false }, "MISSING")] },
      {},
      /^warn {2}domain example\.com: not verified yet: the DKIM record [\w.-]+ \(TXT\) is missing — publish the records that the page of the domain and mailstead domain records example\.com show/,
    ],
    [
      "fails if a domain has failed",
      { domains: async () => [domain({ status: "FAILED", verified: false }, "MISSING")] },
      {},
      /^fail {2}domain example\.com: may not be used as a sender/,
    ],
    [
      "warns if the DNS does not answer for a domain",
      { domains: async () => [domain({}, "PENDING")] },
      {},
      /^warn {2}domain example\.com: its records could not be looked up: the DKIM record [\w.-]+ \(TXT\) — find .* DNS server/,
    ],
    [
      "fails if the DNS does not answer for a failed domain",
      { domains: async () => [domain({ status: "FAILED", verified: false }, "PENDING")] },
      {},
      /^fail {2}domain example\.com: may not be used as a sender — /,
    ],
    [
      "fails if a key is missing and the DNS does not answer for the other records",
      {
        domains: async () => [
          domain({ records: [...recordsAs("MISSING"), ...recordsAs("PENDING")] }),
        ],
      },
      {},
      /^fail {2}domain example\.com: our signatures do not verify: the DKIM record [\w.-]+ \(TXT\) is missing — /,
    ],
    [
      "fails if a key is missing",
      { domains: async () => [domain({}, "MISSING")] },
      {},
      /^fail {2}domain example\.com: our signatures do not verify/,
    ],
    [
      "fails if the relay refuses the login",
      {
        tryRelay: async () => ({
          ok: false,
          reason: "auth was answered 535",
          fix: "check the user",
        }),
      },
      { transport: "relay", relayUrl },
      /^fail {2}relay smtp\.relay\.test:587: auth was answered 535 — check the user$/,
    ],
    [
      "warns if the relay has no TLS",
      { tryRelay: async () => ({ ok: true, tls: null, isAuthenticated: false }) },
      { transport: "relay", relayUrl },
      /^warn {2}relay .*without TLS/,
    ],
    [
      "accepts a relay with TLS and login",
      {},
      { transport: "relay", relayUrl },
      /^ok {4}relay .*: answers, TLSv1\.3, logged in$/,
    ],
    [
      "says that mail goes to Amazon SES without our signatures",
      {},
      {
        transport: "relay",
        relayUrl: { ...relayUrl, host: "email-smtp.eu-west-1.amazonaws.com" },
      },
      /^ok {4}signatures with Amazon SES: mail goes there without ours \(sign=false\), because it replaces Message-ID and Date and takes one/,
    ],
    [
      "warns if our signatures are wanted where they break",
      {},
      {
        transport: "relay",
        relayUrl: { ...relayUrl, host: "email-smtp.eu-west-1.amazonaws.com", sign: true },
      },
      /^warn {2}signatures with Amazon SES: .* write sign=false into --relay-url/,
    ],
    [
      "says how a known relay reports bounces",
      {},
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.sendgrid.net" } },
      /^ok {4}signatures with SendGrid: our signatures reach the recipient; bounces are reported/,
    ],
    [
      "says what a known relay needs before the first mail",
      {},
      { transport: "relay", relayUrl: { ...relayUrl, host: "email-smtp.eu-west-1.amazonaws.com" } },
      /^warn {2}Amazon SES, MAIL FROM: it names amazonses\.com .* — set a custom MAIL FROM domain/,
    ],
    [
      "says it before there is a data folder",
      { folder: null },
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.postmarkapp.com" } },
      /^warn {2}Postmark, approval: until the account is approved/,
    ],
    [
      "warns if the reports of a known relay are not set up",
      {},
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.sendgrid.net" } },
      /^warn {2}reports of SendGrid: its bounces, complaints and deliveries are not counted here — set up/,
    ],
    [
      "warns if the source of reports is of another provider",
      { reportSources: async () => [source({ provider: "Postmark", lastReceivedAt: 1 })] },
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.sendgrid.net" } },
      /^warn {2}reports of SendGrid: its bounces/,
    ],
    [
      "warns if no report has arrived",
      { reportSources: async () => [source({})] },
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.sendgrid.net" } },
      /^warn {2}reports of SendGrid: none has arrived yet — use the test/,
    ],
    [
      "warns if reports are refused",
      { reportSources: async () => [source({ refusal: "no signing key" }), source({})] },
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.sendgrid.net" } },
      /^warn {2}reports of SendGrid: the last one was refused: no signing key — correct/,
    ],
    [
      "accepts reports that arrive",
      { reportSources: async () => [source({ lastReceivedAt: 1 }), source({})] },
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.sendgrid.net" } },
      /^ok {4}reports of SendGrid: they arrive$/,
    ],
    [
      "warns if the mailbox to which a relay reports is not read",
      {},
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.gmail.com" } },
      /^warn {2}reports of Gmail or Google Workspace: its bounces come to the mailbox of .* add that mailbox/,
    ],
    [
      "accepts a mailbox that is read",
      { reportMailboxes: async () => [mailbox({ lastFetchedAt: 1 })] },
      { transport: "relay", relayUrl: { ...relayUrl, host: "smtp.gmail.com" } },
      /^ok {4}reports of Gmail or Google Workspace: a mailbox is read for them$/,
    ],
    [
      "warns if a mailbox cannot be read",
      {
        reportMailboxes: async () => [
          mailbox({ lastFetchedAt: 1, failure: "no answer within 30 s" }),
        ],
      },
      {},
      /^warn {2}mailbox Bounces: imap\.acme\.test cannot be read: no answer within 30 s — test its login/,
    ],
    [
      "warns if a mailbox was never read",
      { reportMailboxes: async () => [mailbox({})] },
      {},
      /^warn {2}mailbox Bounces: was not read yet — start the server/,
    ],
    [
      "accepts any hostname with a relay",
      {},
      { transport: "relay", relayUrl, hostname: "vm" },
      /^ok {4}hostname: vm; /,
    ],
  ];
  test.each(cases)("%s", async (_, changes, settings, line) => {
    const found = await lines(world(changes, settings));
    expect(found.filter((text) => line.test(text))).toHaveLength(1);
  });
});

describe("the DNS checks", () => {
  test("fail for a resolver that answers for names that do not exist", async () => {
    server.records = new Proxy(server.records, {
      get: (records, name) => Reflect.get(records, name) ?? { A: ["192.0.2.80"] },
      has: () => true,
    });
    expect((await lines(world()))[4]).toMatch(
      /^fail {2}DNS resolver: it answers 192\.0\.2\.80 for/,
    );
  });

  test("fail for a resolver that does not answer", async () => {
    server.failures["*"] = "timeout";
    const clock = manualClock();
    const silent = createDns({ servers: [server.server], clock, queryClock: clock, tries: 1 });
    const found = await advanceUntilSettled(clock, lines(world({ dns: silent }), clock));
    silent.close();
    expect(found[4]).toMatch(/^fail {2}DNS resolver: MX of gmail\.com/);
    expect(found[5]).toMatch(/^warn {2}hostname: .* — run this again later/);
    expect(found[6]).toMatch(/^fail {2}port 25: no mail server of .* — set --dns to a resolver/);
  });

  test("fail for an address whose PTR record names another host", async () => {
    server.records["4.4.8.8.in-addr.arpa"] = { PTR: ["static-8-8-4-4.provider.test"] };
    const found = await lines(world());
    expect(found).toContain(
      "fail  PTR: 8.8.4.4 is static-8-8-4-4.provider.test — have the owner of the address " +
        "(your provider) set its PTR record to mail.example.org",
    );
  });
});

test("reports one finding for a domain whose records could not be looked up", async () => {
  const found = await lines(world({ domains: async () => [domain({}, "PENDING")] }));
  expect(found.filter((line) => line.includes("example.com:"))).toHaveLength(1);
});

test("reports the other checks if one hangs and one throws", async () => {
  const clock = manualClock();
  let ended = 0;
  const checks = ALL_CHECKS.map(
    (check): Check =>
      (given) =>
        check(given).finally(() => ended++),
  );
  const examined = world({
    tryRelay: () => Promise.reject(new Error("x")),
    clockAheadMs: () => new Promise(() => {}),
    domains: () => Promise.reject(new Error("broken")),
  });
  const examining = Array.fromAsync(examine(examined, { checks, limitMs: LIMIT_MS, clock }));
  await waitUntil(() => ended === checks.length - 1);
  clock.advance(LIMIT_MS);
  const found = (await examining).map(lineOf);
  expect(found[1]).toMatch(/^fail {2}doctor: a check did not finish within 30 s/);
  expect(found.at(-1)).toMatch(/^fail {2}doctor: Error: broken/);
  expect(found).toHaveLength(11);
});

describe("the real world", () => {
  test("knows from which addresses mail can leave", async () => {
    const addresses = ["127.0.0.1", "127.0.0.9", "192.0.2.1", "2001:db8::1"];
    expect(await Promise.all(addresses.map(isOwnAddress))).toEqual([true, true, false, false]);
  });

  test("lists the recurring work of the server with its intervals", async () => {
    const io = testStreams().io;
    const input = { settings: {}, flags: {}, positionals: [], isJson: false, io };
    const real = realWorld({ input, config: readConfig({}, {}), dns, clock: systemClock });
    expect(await real.recurring()).toEqual(
      expect.arrayContaining([
        { name: "clock", everySeconds: 1 },
        { name: "campaigns", everySeconds: 5 },
        { name: "webhooks", everySeconds: 60 },
      ]),
    );
  });

  test("reads the greeting of a mail server", async () => {
    const sink = await startSink();
    expect(await greet("127.0.0.1", sink.port)).toMatchObject({
      ok: true,
      line: expect.stringMatching(/^220 /),
    });
    await sink.close();
  });

  test("reports a server that does not listen, and one that closes without a greeting", async () => {
    const silent = net.createServer((socket) => socket.end());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    expect(await greet("127.0.0.1", port)).toEqual({
      ok: false,
      reason: "the server closed the connection",
    });
    await new Promise((resolve) => silent.close(resolve));
    expect(await greet("127.0.0.1", port)).toMatchObject({ ok: false });
  });

  test.each([
    ["ahead", 7_000],
    ["behind", -3_600_000],
  ])("measures that the clock is %s", async (_, aheadMs) => {
    const timeServer = dgram.createSocket("udp4");
    const nowMs = Date.parse("2026-03-02T10:00:00Z");
    timeServer.on("message", (request, from) => {
      expect([request.length, request[0]]).toEqual([48, 0x23]);
      const answer = Buffer.alloc(48);
      answer.writeUInt32BE(nowMs / 1000 + 2_208_988_800, 40);
      timeServer.send(answer, from.port, from.address);
    });
    await new Promise<void>((resolve) => timeServer.bind(0, "127.0.0.1", resolve));
    const { port } = timeServer.address();
    const options = { port, timeoutMs: 2_000, now: () => nowMs + aheadMs };
    expect(await askTimeServer("127.0.0.1", options)).toBe(aheadMs);
    timeServer.close();
    expect(await askTimeServer("127.0.0.1", { ...options, timeoutMs: 50 })).toBeNull();
  });
});
