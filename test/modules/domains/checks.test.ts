import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Db } from "../../../src/db/open.ts";
import { prepareDomain } from "../../../src/modules/domains/domains.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { createLog } from "../../../src/lib/log.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { startDnsServer, type TestDns } from "../../support/dns-server.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { publish } from "../../support/zone.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let dns: TestDns;
let clock: ManualClock;
/** Measures how long a question waits for its answer. */
let queryClock: ManualClock;
let t: TestApp;
let lines: string[];

beforeEach(async () => {
  dns = await startDnsServer();
  clock = manualClock();
  queryClock = manualClock();
  lines = [];
  t = await start();
  await t.app.start();
  await settled();
});
afterEach(async () => {
  await t.close();
  await dns.close();
});

function start(db?: Db): Promise<TestApp> {
  return testApp({
    clock,
    ...(db === undefined ? {} : { db }),
    dns: createDns({ servers: [dns.server], clock, queryClock, tries: 1 }),
    log: createLog({ level: "info", format: "json", write: (line) => lines.push(line) }),
  });
}

type Row = { status: string; lastCheckedAt: number | null; nextCheckAt: number };

function row(domain: string): Row {
  const found = t.db.sqlite
    .query<Row, [string]>(
      `SELECT status, last_checked_at AS lastCheckedAt, next_check_at AS nextCheckAt
       FROM domains WHERE domain = ?`,
    )
    .get(domain);
  if (found === null) throw new Error(`no domain ${domain}`);
  return found;
}

/** Advances the clock. The extra second covers the shortest delay between two rounds. */
async function advance(ms: number): Promise<void> {
  await settleEventLoop();
  clock.advance(ms);
  await settleEventLoop();
  clock.advance(1000);
  await settled();
}

/** Waits until no check is due. */
function settled(): Promise<void> {
  return waitUntil(() => {
    const due = t.db.sqlite
      .query<{ n: number }, [number]>("SELECT count(*) AS n FROM domains WHERE next_check_at <= ?")
      .get(clock.now());
    return due?.n === 0;
  });
}

describe("the running server", () => {
  test("checks a new domain immediately, and again until its key is published", async () => {
    const added = await t.call("POST", "/domains", { domain: "example.com" });
    await settled();
    expect(row("example.com")).toMatchObject({
      status: "PENDING",
      lastCheckedAt: clock.now(),
      nextCheckAt: clock.now() + MINUTE,
    });
    publish(dns.records, listAt(added.body, "data.records"));
    await settleEventLoop();
    clock.advance(MINUTE);
    await settled();
    expect(row("example.com")).toMatchObject({
      status: "VERIFIED",
      nextCheckAt: clock.now() + DAY,
    });
    expect(lines.join("\n")).toContain('"a domain is verified","domain":"example.com"');
  });

  test("warns once when a key is lost, and once when the domain fails", async () => {
    const added = await t.call("POST", "/domains", { domain: "example.com" });
    publish(dns.records, listAt(added.body, "data.records"));
    await t.call("POST", `/domains/${stringAt(added.body, "data.id")}/verify`);
    delete dns.records[stringAt(added.body, "data.records.0.name")];
    for (let days = 0; days < 6; days++) {
      await advance(DAY);
    }
    expect(row("example.com").status).toBe("FAILED");
    const warnings = lines.filter(
      (line) => line.includes('"warn"') && line.includes("example.com"),
    );
    const page = `/app/p/${t.project.id}/domains/${stringAt(added.body, "data.id")}`;
    expect(warnings.every((line) => stringAt(JSON.parse(line), "see").endsWith(page))).toBe(true);
    expect(warnings.map((line) => stringAt(JSON.parse(line), "message"))).toEqual([
      "a verified domain lost its key in the DNS",
      "a domain may no longer send: its DKIM record is missing in the DNS",
    ]);
  });

  test("does not undo a change by the operator during a check", async () => {
    dns.failures["*"] = "timeout";
    await t.call("POST", "/domains", { domain: "example.com" });
    await settleEventLoop();
    await t.app.writer.write(
      await prepareDomain(t.app.app, {
        projectSeq: t.project.seq,
        domain: "example.com",
        isDeclaredVerified: true,
      }),
    );
    await waitUntil(() => {
      queryClock.advance(1_000);
      return row("example.com").nextCheckAt > clock.now();
    });
    expect(row("example.com").status).toBe("VERIFIED");
  });

  test("checks a domain that a command added within a minute", async () => {
    await settleEventLoop();
    await t.app.writer.write(
      await prepareDomain(t.app.app, {
        projectSeq: t.project.seq,
        domain: "cli.example",
        isDeclaredVerified: false,
      }),
    );
    expect(row("cli.example").lastCheckedAt).toBeNull();
    clock.advance(MINUTE);
    await settled();
    expect(row("cli.example").lastCheckedAt).not.toBeNull();
  });

  test("checks many domains, a few at a time", async () => {
    for (let i = 0; i < 30; i++) await t.call("POST", "/domains", { domain: `d${i}.example` });
    await settled();
    expect(dns.count("_dmarc.")).toBeGreaterThanOrEqual(31);
  });

  test("stops during a check and repeats it after a restart", async () => {
    dns.failures["*"] = "timeout";
    await t.call("POST", "/domains", { domain: "example.com" });
    await settleEventLoop();
    await t.close(); // The time of the look-up does not pass, so this does not wait for it.
    dns.failures = {};
    t = await start(t.db);
    await t.app.start();
    clock.advance(2 * MINUTE);
    await settled();
    expect(row("example.com").lastCheckedAt).toBe(clock.now());
  });
});
