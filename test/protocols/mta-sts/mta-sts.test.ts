import { afterEach, describe, expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { policyFetcher, type PolicyFetcherOptions } from "../../../src/protocols/mta-sts/fetch.ts";
import {
  createMtaSts,
  memoryPolicyStore,
  type PolicyStore,
} from "../../../src/protocols/mta-sts/mta-sts.ts";
import { databasePolicyStore } from "../../../src/outbox/direct/stores.ts";
import {
  allowsHost,
  parsePolicy,
  type Policy,
  readRecordId,
} from "../../../src/protocols/mta-sts/policy.ts";
import { type Outcome, sendOne } from "../../../src/outbox/outcome.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { type MailNet, startMailNet } from "../../support/mail-net.ts";
import { startPolicyServer, type PolicyAnswer } from "../../support/policy-server.ts";
import type { Action, ScriptOptions } from "../../support/smtp-script.ts";
import { makeCertificate } from "../../support/tls.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

describe("the TXT record", () => {
  test.each<[what: string, texts: string[], id: string | null]>([
    ["a common record", ["v=STSv1; id=20160831085700Z;"], "20160831085700Z"],
    ["no final semicolon", ["v=STSv1; id=1"], "1"],
    ["spaces", ["v=STSv1 ;  id = 1 ; "], "1"],
    ["other records as well", ["v=spf1 -all", "v=STSv1; id=1;", "v=TLSRPTv1; rua=x"], "1"],
    ["unknown fields", ["v=STSv1; x=y; id=1; z=1"], "1"],
    ["two records", ["v=STSv1; id=1;", "v=STSv1; id=2;"], null],
    ["no record", ["v=spf1 -all"], null],
    ["another version", ["v=STSv2; id=1;"], null],
    ["version not first", ["id=1; v=STSv1;"], null],
    ["no id", ["v=STSv1;"], null],
    ["an invalid id", ["v=STSv1; id=a-b;"], null],
    ["an id that is too long", [`v=STSv1; id=${"a".repeat(33)};`], null],
  ])("%s", (_, texts, id) => {
    expect(readRecordId(texts)).toBe(id);
  });
});

const ENFORCE = "version: STSv1\r\nmode: enforce\r\nmx: a.d.test\r\nmax_age: 86400\r\n";

describe("the policy", () => {
  test("is read", () => {
    const text =
      "version: STSv1\nmode:testing\nmx: Mail.Example.COM\nmx: *.example.net\nmax_age: 604800";
    expect(parsePolicy(text)).toEqual({
      ok: true,
      policy: {
        mode: "testing",
        mx: ["mail.example.com", "*.example.net"],
        maxAgeSeconds: 604_800,
      },
    });
  });

  test.each<[what: string, text: string]>([
    ["CRLF", ENFORCE],
    ["unknown fields", `${ENFORCE}x-thing: 1\r\nnonsense\r\n`],
    ["a second mode, which is ignored", `${ENFORCE}mode: none\r\n`],
    ["mode none without mx", "version: STSv1\nmode: none\nmax_age: 86400\n"],
    ["spaces", "version:   STSv1  \nmode :\tenforce\nmx: a.test \nmax_age: 1"],
  ])("may have %s", (_, text) => {
    expect(parsePolicy(text).ok).toBe(true);
  });

  test.each<[what: string, text: string]>([
    ["nothing", ""],
    ["another version", ENFORCE.replace("STSv1", "STSv2")],
    ["an unknown mode", ENFORCE.replace("enforce", "Enforce")],
    ["no mx", ENFORCE.replace(/mx.*\r\n/, "")],
    ["no max_age", ENFORCE.replace(/max_age.*\r\n/, "")],
    ["an invalid max_age", ENFORCE.replace("86400", "-1")],
    ["an invalid mx", ENFORCE.replace("a.d.test", "a.*.test")],
    ["HTML", "<html><body>version: STSv1</body></html>"],
  ])("is not valid with %s", (_, text) => {
    expect(parsePolicy(text).ok).toBe(false);
  });

  test.each<[what: string, text: string, reason: RegExp]>([
    ["more than 64 KiB", ENFORCE.padEnd(65_537, "\n"), /65536/],
    ["more than 1000 lines", `${ENFORCE}${"x: y\n".repeat(1_000)}`, /1000 lines/],
    ["a line of more than 1000 characters", `${ENFORCE}x: ${"y".repeat(998)}\n`, /line/],
    ["more than 100 mx lines", ENFORCE + "mx: b.d.test\n".repeat(100), /100 mx/],
    ["an mx of more than 253 characters", `${ENFORCE}mx: ${"a.".repeat(127)}a\n`, /host name/],
  ])("is refused with %s", (_, text, reason) => {
    const parsed = parsePolicy(text);
    expect(parsed).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });

  test("may reach every limit", () => {
    const mx = Array.from({ length: 100 }, (_, i) => `mx: ${i}.d.test`).join("\n");
    const lines = `version: STSv1\nmode: enforce\nmax_age: 1\n${mx}\nx: ${"y".repeat(997)}\n`;
    const parsed = parsePolicy(lines + "z\n".repeat(1_000 - 104));
    expect(parsed).toMatchObject({ ok: true });
    expect(parsed.ok && parsed.policy.mx.length).toBe(100);
  });

  test.each([
    ["a line separator inside a value", "mx: a\u2028b.test"],
    ["a no-break space around a value", "mx: \u00a0b.test"],
    ["a form feed around a value", "mx: b.test\f"],
  ])("is refused with %s in an mx", (_, line) => {
    expect(parsePolicy(`${ENFORCE}${line}\r\n`).ok).toBe(false);
  });

  test.each([
    ["a name that starts with a hyphen", "-mx: b.test"],
    ["a space inside the name", "m x: b.test"],
    ["no name", ": b.test"],
    ["no colon", "mx b.test"],
    ["a name of more than 32 characters", `${"m".repeat(33)}: b.test`],
    ["white space in front of the name", " mx: b.test"],
  ])("ignores a line with %s", (_, line) => {
    const parsed = parsePolicy(`${ENFORCE}${line}\r\n`);
    expect(parsed).toMatchObject({ ok: true, policy: { mx: ["a.d.test"] } });
  });

  test.each([
    ["5", 300],
    ["86400", 86_400],
    ["9999999999", 31_557_600],
  ])("max_age %s is stored for %i s", (age, maxAgeSeconds) => {
    const parsed = parsePolicy(ENFORCE.replace("86400", age));
    expect(parsed).toMatchObject({ policy: { maxAgeSeconds } });
  });

  test.each([
    ["a.d.test", "a.d.test", true],
    ["a.d.test", "A.D.test", true],
    ["a.d.test", "b.d.test", false],
    ["a.d.test", "x.a.d.test", false],
    ["*.d.test", "a.d.test", true],
    ["*.d.test", "b.a.d.test", false],
    ["*.d.test", "d.test", false],
    ["*.d.test", "a.xd.test", false],
  ])("%s for %s: %p", (pattern, host, isAllowed) => {
    const policy = { mode: "enforce", mx: [pattern], maxAgeSeconds: 1 } as const;
    expect(allowsHost(policy, host)).toBe(isAllowed);
  });
});

const POLICY_CERTIFICATE = makeCertificate(["mta-sts.d.test"]);

/** Starts a domain d.test with one mail server and a policy. */
async function domain(
  answer: PolicyAnswer,
  options: {
    fetcher?: Partial<PolicyFetcherOptions>;
    certificate?: typeof POLICY_CERTIFICATE;
  } = {},
) {
  const queryClock = manualClock();
  const net = await startMailNet({
    queryClock,
    records: {
      "_mta-sts.d.test": { TXT: ["v=STSv1; id=1;"] },
      "mta-sts.d.test": { A: ["127.0.0.1"] },
      "d.test": { MX: ["10 a.d.test"] },
      "a.d.test": { A: ["127.0.0.2"] },
    },
    ttlSeconds: 5,
  });
  closers.push(() => net.close());
  const web = await startPolicyServer(options.certificate ?? POLICY_CERTIFICATE, answer);
  closers.push(() => web.close());
  const { dns, clock } = net;
  const fetchPolicy = policyFetcher({
    dns,
    allowPrivateAddresses: true,
    port: web.port,
    ca: POLICY_CERTIFICATE.ca,
    timeoutMs: 2_000,
    clock,
    ...options.fetcher,
  });
  const store: PolicyStore = memoryPolicyStore(clock);
  const mtaSts = createMtaSts({ dns, fetchPolicy, store, clock, log: silentLog });
  return { net, web, clock, queryClock, fetchPolicy, mtaSts, server: net.server };
}

describe("a policy that is stored in the database", () => {
  const policy: Policy = { mode: "enforce", mx: ["a.d.test"], maxAgeSeconds: 86_400 };
  const DAY_MS = 86_400_000;

  /** Simulates a process that cannot fetch a policy, with an existing or a new database. */
  async function process(db: Db, net: MailNet) {
    const { dns, clock } = net;
    const writer = createWriter(db, silentLog);
    const store = databasePolicyStore({ db, writer, clock, log: silentLog });
    const fetchPolicy = () => Promise.resolve({ ok: false as const, reason: "not now" });
    const mtaSts = createMtaSts({ dns, fetchPolicy, store, clock, log: silentLog });
    return { store, writer, mtaSts };
  }

  async function started() {
    const db = openDatabase(":memory:");
    migrate(db.sqlite);
    const net = await startMailNet({
      records: { "_mta-sts.d.test": { TXT: ["v=STSv1; id=2"] } },
      ttlSeconds: 5,
    });
    closers.push(() => net.close());
    const first = await process(db, net);
    first.store.set("d.test", { id: "1", policy, fetchedAt: net.clock.now() });
    await first.writer.drain();
    return { db, net };
  }

  test("applies after a restart without a fetch, until it expires", async () => {
    const { db, net } = await started();
    const { mtaSts } = await process(db, net);
    expect(await mtaSts.policyFor("d.test")).toEqual(policy);
    net.clock.advance(DAY_MS - 1);
    expect(await mtaSts.policyFor("d.test")).toEqual(policy);
    net.clock.advance(1);
    expect(await mtaSts.policyFor("d.test")).toBeNull();
  });

  test("is replaced by a later one, and removed after it expires", async () => {
    const { db, net } = await started();
    const { store, writer } = await process(db, net);
    const later: Policy = { ...policy, mode: "testing" };
    store.set("d.test", { id: "2", policy: later, fetchedAt: net.clock.now() });
    await writer.drain();
    expect((await process(db, net)).store.get("d.test")).toMatchObject({ id: "2", policy: later });
    net.clock.advance(DAY_MS);
    store.set("e.test", { id: "1", policy, fetchedAt: net.clock.now() });
    await writer.drain();
    const domains = db.sqlite.query("SELECT domain FROM mta_sts_policies").all();
    expect(domains).toEqual([{ domain: "e.test" }]);
  });

  test("applies in this process even if the storage refuses it", async () => {
    const { db, net } = await started();
    const { store, writer } = await process(db, net);
    db.sqlite.run("PRAGMA query_only = ON");
    store.set("e.test", { id: "1", policy, fetchedAt: net.clock.now() });
    await writer.write(() => {}).catch(() => {});
    expect(store.get("e.test")).toMatchObject({ policy });
    db.sqlite.run("PRAGMA query_only = OFF");
  });
});

describe("fetching the policy", () => {
  test("asks for the well-known file under the name of the domain", async () => {
    const { fetchPolicy, web } = await domain({ body: ENFORCE });
    expect(await fetchPolicy("d.test")).toEqual({ ok: true, text: ENFORCE });
    expect(web.requests).toEqual(["GET mta-sts.d.test /.well-known/mta-sts.txt"]);
  });

  test.each<[what: string, answer: PolicyAnswer]>([
    ["no media type", { body: ENFORCE, mediaType: null }],
    ["parameters of the media type", { body: ENFORCE, mediaType: "Text/Plain; charset=utf-8" }],
    ["64 KiB", { body: ENFORCE.padEnd(65_536) }],
  ])("accepts %s", async (_, answer) => {
    const { fetchPolicy } = await domain(answer);
    expect((await fetchPolicy("d.test")).ok).toBe(true);
  });

  test.each<[what: string, answer: PolicyAnswer, reason: RegExp]>([
    ["a redirect", { status: 301, location: "/elsewhere", body: ENFORCE }, /status 301/],
    ["404", { status: 404, body: ENFORCE }, /status 404/],
    ["204", { status: 204 }, /status 204/],
    ["HTML", { mediaType: "text/html", body: ENFORCE }, /media type text\/html/],
    ["more than 64 KiB", { body: ENFORCE.padEnd(65_537) }, /65536/],
    ["silence", { hangs: true }, /timed? ?out|abort/i],
    ["a body that never ends", { trickles: true }, /timed? ?out|abort/i],
  ])("refuses %s", async (_, answer, reason) => {
    const { fetchPolicy, web, clock } = await domain(answer);
    const fetching = fetchPolicy("d.test");
    await waitUntil(() => web.requests.length === 1);
    if (answer.hangs === true || answer.trickles === true) {
      await settleEventLoop();
      clock.advance(2_000);
    }
    const fetched = await fetching;
    expect(fetched).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
    expect(web.requests.length).toBe(1);
  });

  test("refuses a certificate for another name", async () => {
    const certificate = makeCertificate(["d.test"]);
    const fetcher = { ca: certificate.ca };
    const { fetchPolicy, web } = await domain({ body: ENFORCE }, { certificate, fetcher });
    expect((await fetchPolicy("d.test")).ok).toBe(false);
    expect(web.requests).toEqual([]);
  });

  test("refuses a certificate of an unknown authority", async () => {
    const { fetchPolicy } = await domain({ body: ENFORCE }, { fetcher: { ca: undefined } });
    expect((await fetchPolicy("d.test")).ok).toBe(false);
  });

  test("does not connect to private addresses", async () => {
    const fetcher = { allowPrivateAddresses: false };
    const { fetchPolicy, web } = await domain({ body: ENFORCE }, { fetcher });
    expect(await fetchPolicy("d.test")).toMatchObject({
      ok: false,
      reason: "mta-sts.d.test has no address that may be asked",
    });
    expect(web.requests).toEqual([]);
  });
});

const HOUR_MS = 3_600_000;

describe("the policy of a domain", () => {
  test("is fetched once, and again when its id changes", async () => {
    const { mtaSts, web, clock, server } = await domain({ body: ENFORCE });
    for (let i = 0; i < 3; i++) {
      expect(await mtaSts.policyFor("d.test")).toMatchObject({ mode: "enforce" });
      clock.advance(HOUR_MS);
    }
    expect(web.requests.length).toBe(1);
    server.records["_mta-sts.d.test"] = { TXT: ["v=STSv1; id=2;"] };
    web.answer = { body: ENFORCE.replace("enforce", "testing") };
    expect(await mtaSts.policyFor("d.test")).toMatchObject({ mode: "testing" });
    expect(web.requests.length).toBe(2);
  });

  test("is fetched once for many mails at the same time", async () => {
    const { mtaSts, web } = await domain({ body: ENFORCE });
    const found = await Promise.all(Array.from({ length: 20 }, () => mtaSts.policyFor("d.test")));
    expect(found.every((policy) => policy?.mode === "enforce")).toBe(true);
    expect(web.requests.length).toBe(1);
  });

  test("is null without a record, and nothing is fetched", async () => {
    const { mtaSts, web, server } = await domain({ body: ENFORCE });
    server.records = {};
    server.failures["_mta-sts.d.test"] = "servfail";
    expect(await mtaSts.policyFor("d.test")).toBeNull();
    expect(web.requests).toEqual([]);
  });

  test("applies until it expires, even if it cannot be fetched any more", async () => {
    const { mtaSts, web, clock, server } = await domain({ body: ENFORCE });
    await mtaSts.policyFor("d.test");
    web.answer = { status: 500 };
    server.records["_mta-sts.d.test"] = { TXT: ["v=STSv1; id=2;"] };
    clock.advance(23 * HOUR_MS);
    expect(await mtaSts.policyFor("d.test")).toMatchObject({ mode: "enforce" });
    clock.advance(HOUR_MS);
    expect(await mtaSts.policyFor("d.test")).toBeNull();
    expect(web.requests.length).toBe(3);
  });

  test.each(["servfail", "timeout"] as const)("applies after %s of its record", async (failure) => {
    const { mtaSts, clock, queryClock, server } = await domain({ body: ENFORCE });
    await mtaSts.policyFor("d.test");
    server.failures["*"] = failure;
    clock.advance(HOUR_MS);
    const applying = mtaSts.policyFor("d.test");
    await waitUntil(() => server.count("_mta-sts.d.test TXT") === 2);
    queryClock.advance(1_000);
    expect(await applying).toMatchObject({ mode: "enforce" });
  });

  test("applies after its record was removed", async () => {
    const { mtaSts, clock, server } = await domain({ body: ENFORCE });
    await mtaSts.policyFor("d.test");
    delete server.records["_mta-sts.d.test"];
    clock.advance(HOUR_MS);
    expect(await mtaSts.policyFor("d.test")).toMatchObject({ mode: "enforce" });
  });

  test("is not fetched again within five minutes after a failure", async () => {
    const { mtaSts, web, clock } = await domain({ body: "nonsense" });
    for (let i = 0; i < 3; i++) expect(await mtaSts.policyFor("d.test")).toBeNull();
    expect(web.requests.length).toBe(1);
    web.answer = { body: ENFORCE };
    clock.advance(300_000);
    expect(await mtaSts.policyFor("d.test")).toMatchObject({ mode: "enforce" });
  });

  test("is fetched again after a day, without a delay of the mail", async () => {
    const text = ENFORCE.replace("86400", "2592000");
    const { mtaSts, web, clock } = await domain({ body: text });
    await mtaSts.policyFor("d.test");
    web.answer = { body: text.replace("enforce", "testing") };
    clock.advance(24 * HOUR_MS);
    expect(await mtaSts.policyFor("d.test")).toMatchObject({ mode: "enforce" });
    for (;;) {
      const policy = await mtaSts.policyFor("d.test");
      if (policy?.mode === "testing") break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(web.requests.length).toBe(2);
  });
});

const MAIL: MailObject = {
  envelope: { from: "a@sender.test", to: "b@d.test" },
  message: Buffer.from("Subject: a\r\n\r\nb\r\n"),
};

describe("delivery under a policy", () => {
  const valid = makeCertificate(["a.d.test"]);
  const wrong = makeCertificate(["other.test"]);
  const policy = (mode: string, mx = "a.d.test") =>
    ENFORCE.replace("enforce", mode).replace("a.d.test", mx);

  const refuses = (starttls: Action): ScriptOptions => ({ tls: valid, script: { starttls } });

  async function deliver(body: string, options: ScriptOptions, ca = valid.ca) {
    const { net, mtaSts, ...rest } = await domain({ body });
    const host = await net.script(2, options);
    const transport = net.transport({ mtaSts, ca });
    const outcome: Outcome = await sendOne(transport, MAIL);
    return { outcome, host, transport, net, ...rest };
  }

  test("enforce: delivered with a valid certificate, verified", async () => {
    const { outcome } = await deliver(policy("enforce"), { tls: valid });
    expect(outcome).toMatchObject({
      kind: "accepted",
      conversations: [{ tls: { verified: true } }],
    });
  });

  test("a pattern allows the host", async () => {
    const { outcome } = await deliver(policy("enforce", "*.d.test"), { tls: valid });
    expect(outcome.kind).toBe("accepted");
  });

  test.each<[what: string, body: string, options: ScriptOptions, ca: string]>([
    ["the certificate is for another host", policy("enforce"), { tls: wrong }, wrong.ca],
    ["the authority of the certificate is unknown", policy("enforce"), { tls: valid }, wrong.ca],
    ["the policy names another host", policy("enforce", "b.d.test"), { tls: valid }, valid.ca],
    ["the host offers no TLS", policy("enforce"), {}, valid.ca],
    ["the host refuses TLS", policy("enforce"), refuses({ code: 454 }), valid.ca],
    ["the handshake fails", policy("enforce"), refuses("close"), valid.ca],
  ])("enforce: not delivered if %s", async (_, body, options, ca) => {
    const { outcome, host, transport, net } = await deliver(body, options, ca);
    for (const each of [outcome, await sendOne(transport, MAIL)]) {
      expect(each).toMatchObject({ kind: "deferred", class: "infrastructure" });
      expect(each.reason).toContain("MTA-STS policy of d.test");
    }
    expect(host.bodies).toEqual([]);
    expect(host.transcripts.flat().filter((line) => line.startsWith("MAIL"))).toEqual([]);
    net.clock.advance(HOUR_MS);
    expect((await sendOne(transport, MAIL)).kind).toBe("deferred");
  });

  test.each<[mode: string, options: ScriptOptions]>([
    ["testing", { tls: wrong }],
    ["none", { tls: wrong }],
    ["testing", {}],
    ["none", { tls: wrong, script: { starttls: "close" } }],
  ])("%s: delivered without a valid certificate", async (mode, options) => {
    const { outcome } = await deliver(policy(mode, "b.d.test"), options);
    expect(outcome.kind).toBe("accepted");
  });

  test("a stored policy applies if it cannot be fetched any more", async () => {
    const { transport, net, web, server, host } = await deliver(policy("enforce"), { tls: wrong });
    web.answer = { status: 503 };
    server.records["_mta-sts.d.test"] = { TXT: ["v=STSv1; id=2;"] };
    net.clock.advance(HOUR_MS);
    expect((await sendOne(transport, MAIL)).kind).toBe("deferred");
    expect(web.requests.length).toBe(2);
    expect(host.bodies).toEqual([]);
    net.clock.advance(24 * HOUR_MS);
    expect((await sendOne(transport, MAIL)).kind).toBe("accepted");
  });

  test("a cleartext connection is never used for a mail that requires TLS", async () => {
    const { net, mtaSts } = await domain({ body: policy("enforce") });
    net.server.records["free.test"] = { MX: ["10 a.d.test"] };
    const host = await net.script(2);
    const transport = net.transport({ mtaSts, ca: valid.ca });
    const to = (address: string) => ({ ...MAIL, envelope: { ...MAIL.envelope, to: address } });
    expect((await sendOne(transport, to("b@free.test"))).kind).toBe("accepted");
    expect((await sendOne(transport, to("b@d.test"))).kind).toBe("deferred");
    expect(host.transcripts.length).toBe(2);
  });
});
