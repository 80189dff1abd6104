/**
 * Tarpits are servers that accept a connection and then stay silent. Mail to any number of them
 * must not delay mail to other sites. The test runs the whole application with real sockets and a
 * real name server; each iteration of the event loop advances its clock by some milliseconds.
 */

import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openDatabase, type Db } from "../../../src/db/open.ts";
import { testApp } from "../../support/app.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import type { MailNet } from "../../support/mail-net.ts";
import type { ScriptOptions, ScriptServer } from "../../support/smtp-script.ts";
import {
  GOOD,
  openConnections,
  ownAddress,
  startTarpitNet,
  startTarpits,
  tarpits,
} from "../../support/tarpit-net.ts";
import { transportOf } from "../../../src/outbox/transports/create-transport.ts";

// Hundreds of sockets on a machine that may be busy.
setDefaultTimeout(60_000);

const closers: (() => unknown)[] = [];
/** The tarpits of the running test. */
const tarpitServers: ScriptServer[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  tarpitServers.length = 0;
});

const LIMIT_MS = 20_000;
/** Longest time until mail to a good domain is delivered, by the application's clock. */
const PROMPT_MS = 30_000;
/** Largest number of mails under way: four times as many as are admitted at once (gate.ts). */
const MAX_CONNECTIONS = 200;
/**
 * Time by the application's clock for each iteration of the event loop: longer while nothing is
 * measured. Work on other threads takes real time, so a measured time would depend on the machine.
 */
const STEP_MS = 10;
const MEASURED_STEP_MS = 1;

async function startNet(...options: Parameters<typeof startTarpitNet>): Promise<MailNet> {
  const net = await startTarpitNet(...options);
  closers.push(() => net.close());
  return net;
}

async function startServers(
  net: MailNet,
  count: number,
  options?: ScriptOptions,
): Promise<ScriptServer[]> {
  const servers = await startTarpits(net, count, options);
  tarpitServers.push(...servers);
  return servers;
}

/**
 * Starts an application that delivers over `net`. With an existing database, it is a restarted one.
 */
async function startApp(net: MailNet, db: Db = openDatabase(":memory:")) {
  const config = {
    transport: "direct",
    directPort: net.port,
    allowPrivateAddresses: true,
    hostname: "sender.test",
  } as const;
  const dns = net.resolver();
  const t = await testApp({ dns, clock: net.clock, db, config });
  await t.app.start();
  let isStopped = false;

  async function advance(ms: number, stepMs = STEP_MS): Promise<void> {
    for (let i = 0; i < ms; i += stepMs) {
      await new Promise((resolve) => setImmediate(resolve));
      net.clock.advance(stepMs);
    }
  }

  async function until(isTrue: () => boolean, stepMs = STEP_MS): Promise<void> {
    const deadline = performance.now() + LIMIT_MS;
    while (!isTrue()) {
      if (performance.now() > deadline) throw new Error(`still false: ${String(isTrue)}`);
      await advance(stepMs, stepMs);
    }
  }

  function delivered(domains: readonly string[]): number {
    const rows = db.sqlite.query<{ to: string }, []>(
      `SELECT to_address AS "to" FROM emails WHERE status = 'DELIVERED'`,
    );
    return rows.all().filter(({ to }) => domains.includes(to.split("@")[1] ?? "")).length;
  }

  /** Runs until `mails` to these domains were delivered; returns the time by the clock. */
  async function untilDelivered(domains: readonly string[], mails: number): Promise<number> {
    const startedAt = net.clock.elapsed();
    await until(() => delivered(domains) >= mails, MEASURED_STEP_MS);
    return net.clock.elapsed() - startedAt;
  }

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    const stopped = Promise.all([transportOf(t.app.app).close(), t.close()]);
    await settleEventLoop();
    // Otherwise open connections and queries would delay the stop by seconds of real time.
    for (const server of tarpitServers) server.drop();
    dns.close();
    await stopped;
  }
  closers.push(stop);

  return {
    t,
    advance,
    until,
    untilDelivered,
    stop,
    /** Accepts one mail to each domain, `rounds` times. */
    async send(domains: readonly string[], rounds = 1): Promise<void> {
      const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
      for (let round = 0; round < rounds; round++) {
        const to = domains.map((domain) => `person${round}@${domain}`);
        expect((await t.call("POST", "/v1/send", { ...mail, to })).status).toBe(200);
      }
    },
    count: (where: string): number =>
      db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${where}`).get()?.n ?? 0,
  };
}

describe("tarpits", () => {
  test("at 200 different addresses do not delay mail to 5 new domains", async () => {
    const net = await startNet();
    const servers = await startServers(net, 200);
    const app = await startApp(net);
    await app.send(tarpits(200), 2);
    await app.until(() => openConnections(servers) > MAX_CONNECTIONS * 0.9);
    await app.advance(1_000);
    expect(openConnections(servers)).toBeLessThanOrEqual(MAX_CONNECTIONS);
    await app.send(GOOD);
    expect(await app.untilDelivered(GOOD, GOOD.length)).toBeLessThan(PROMPT_MS);
    // A mail without a slot makes no attempt, so each attempt had a connection.
    const connections = servers.reduce((sum, each) => sum + each.transcripts.length, 0);
    expect(app.count("attempts")).toBeLessThanOrEqual(connections + GOOD.length);
  });

  test("that are due before mail to 5 new domains do not delay it for long", async () => {
    const net = await startNet();
    await startServers(net, 200);
    const app = await startApp(net);
    await app.send([...tarpits(200), ...GOOD]);
    expect(await app.untilDelivered(GOOD, GOOD.length)).toBeLessThan(PROMPT_MS);
  });

  test.each(["ehlo", "mail", "rcpt", "data", "dot"] as const)(
    "that are silent from %s on do not delay mail to new domains",
    async (step) => {
      const net = await startNet();
      await startServers(net, 120, { script: { [step]: "hang" } });
      const app = await startApp(net);
      await app.send(tarpits(120), 3);
      await app.advance(10_000);
      await app.send(GOOD);
      expect(await app.untilDelivered(GOOD, GOOD.length)).toBeLessThan(PROMPT_MS);
    },
  );

  test("that accepted a mail before do not delay mail to new domains", async () => {
    const net = await startNet();
    await startServers(net, 120, { script: { mail: [null, "hang"] } });
    const app = await startApp(net);
    await app.send(tarpits(120));
    await app.untilDelivered(tarpits(120), 120);
    await app.send(tarpits(120), 3);
    await app.advance(10_000);
    await app.send(GOOD);
    expect(await app.untilDelivered(GOOD, GOOD.length)).toBeLessThan(PROMPT_MS);
  });

  test("among name servers do not delay mail to new domains", async () => {
    const net = await startNet();
    for (const name of tarpits(45)) net.server.failures[name] = "timeout";
    const app = await startApp(net);
    await app.send(tarpits(45));
    await app.advance(5_000);
    await app.send(GOOD);
    expect(await app.untilDelivered(GOOD, GOOD.length)).toBeLessThan(PROMPT_MS);
  });
});

describe("after a restart", () => {
  test("200 silent domains at one address delay neither new nor known domains", async () => {
    const net = await startNet(() => ownAddress(0));
    const [tarpit] = await startServers(net, 1);
    const db = openDatabase(":memory:");
    const before = await startApp(net, db);
    await before.send(["good0.test"]);
    await before.untilDelivered(GOOD, 1);
    await before.stop();

    const app = await startApp(net, db);
    await app.send(tarpits(200), 3);
    await app.advance(5_000);
    await app.send(["good0.test", "good1.test", "good2.test"]);
    expect(await app.untilDelivered(GOOD, 4)).toBeLessThan(PROMPT_MS);
    // Mail that waits for the address has made no attempt.
    const waiting = "emails WHERE line = '@ 127.1.0.1'";
    await app.until(() => app.count(`${waiting} AND status = 'QUEUED' AND attempts = 0`) > 590);
    expect(tarpit?.transcripts.length).toBe(2);
    expect(app.count("attempts")).toBe(4);
  });

  test("only few of the servers that never answered get a connection", async () => {
    const net = await startNet();
    const servers = await startServers(net, 60);
    const db = openDatabase(":memory:");
    const before = await startApp(net, db);
    await before.send(tarpits(60));
    const connections = () => servers.filter(({ transcripts }) => transcripts.length > 0).length;
    await before.until(() => connections() === 60);
    await before.advance(10_000);
    await before.stop();
    await waitUntil(() => servers.every((each) => each.ended === each.transcripts.length));

    db.sqlite.run("UPDATE emails SET next_at = 0 WHERE status = 'QUEUED'");
    const app = await startApp(net, db);
    await app.until(() => openConnections(servers) >= 10);
    await app.advance(10_000);
    expect(openConnections(servers)).toBe(10);
  });

  test("a site that asked for a pause is still paused", async () => {
    const net = await startNet();
    const rate = { code: 451, text: "4.7.0 Rate limit exceeded" };
    const [server] = await startServers(net, 1, { script: [{ mail: rate }, {}] });
    const db = openDatabase(":memory:");
    const before = await startApp(net, db);
    await before.send(["tarpit0.test"]);
    await before.until(() => before.count("attempts") === 1);
    await before.stop();
    expect(server?.transcripts).toHaveLength(1);

    const app = await startApp(net, db);
    await app.send(["tarpit0.test"]);
    await app.advance(40_000);
    expect(server?.transcripts).toHaveLength(1);
    expect(app.count("emails WHERE status = 'QUEUED' AND attempts = 0")).toBe(1);
    expect(await app.untilDelivered(["tarpit0.test"], 1)).toBeLessThan(PROMPT_MS);
  });
});
