/**
 * Every fault at every step, through the whole application: POST /v1/send accepts mails, which are
 * sent to faulty servers, one for each fault. The tests check the outcome and the conversations of
 * each mail, its status, the time of its next attempt, its events and whether its address is
 * suppressed (docs/delivery.md#R1, docs/delivery.md#S3).
 */

import { sendOne } from "../../src/outbox/outcome.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DirectTransport } from "../../src/outbox/transports/direct.ts";
import { DEFAULT_TIMEOUTS } from "../../src/protocols/smtp/timeouts.ts";
import { testApp, type TestApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";
import { cellsOf, type FaultCell, type FaultStep, STEPS } from "../support/fault-matrix.ts";
import { listAt, valueAt } from "../support/json.ts";
import { type MailNet, startMailNet } from "../support/mail-net.ts";
import type { ScriptServer } from "../support/smtp-script.ts";
import { makeCertificate } from "../support/tls.ts";

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;
/** The first two retry delays, with up to a fifth of jitter (docs/delivery.md#R3). */
const FIRST_DELAY = [4 * MINUTE, 6 * MINUTE] as const;
const SECOND_DELAY = [12 * MINUTE, 18 * MINUTE] as const;
/**
 * Larger than the buffers of a connection, which have up to 4.3 MB, so that the server can interrupt
 * the message.
 */
const LARGE = Buffer.alloc(5_000_000, "All work and no play makes Jack a dull boy. ").toString(
  "base64",
);
const STATUS = { accepted: "DELIVERED", deferred: "QUEUED", bounced: "BOUNCED", failed: "FAILED" };
const EVENTS = {
  accepted: ["email.sent", "email.delivered"],
  deferred: [],
  bounced: ["email.bounced"],
  failed: ["email.failed"],
};
/** The faults after which STARTTLS still gets its right reply. */
const CONTINUES: ReadonlySet<FaultCell["fault"]> = new Set(["slow", "multiline", "huge"]);

/** It takes long to compose a large message, so that only these are sent by the application. */
const OF_LARGE: ReadonlySet<FaultCell["fault"]> = new Set(["5xx", "hang"]);

let net: MailNet;
let t: TestApp;
let transport: DirectTransport;
/** Measures the sessions only, so that a timeout passes while no mail becomes due. */
const sessionClock = manualClock();

beforeAll(async () => {
  net = await startMailNet({ dnsTimeoutMs: 10_000 });
  transport = net.transport({ sessionClock });
  t = await testApp({ transport, clock: net.clock, dns: net.dns });
});

afterAll(async () => {
  await t.close();
  await net.close();
});

/** One mail, and the server with the fault. */
type Case = { cell: FaultCell; to: string; host: ScriptServer; id: string };

/** Number of servers so far. */
let count = 0;

async function startServers(cells: readonly FaultCell[]): Promise<Omit<Case, "id">[]> {
  const domains = cells.map(() => `d${++count}.test`);
  const certificate = makeCertificate(domains.map((domain) => `mx.${domain}`));
  const cases: Omit<Case, "id">[] = [];
  for (const [i, cell] of cells.entries()) {
    const domain = domains[i] ?? "";
    const address = `127.0.1.${/\d+/.exec(domain)?.[0]}`;
    net.server.records[domain] = { MX: [`10 mx.${domain}`] };
    net.server.records[`mx.${domain}`] = { A: [address] };
    const tls = cell.step === "starttls" ? { tls: certificate } : {};
    const host = await net.scriptAt(address, { ...cell.server, ...tls });
    cases.push({ cell, to: `b@${domain}`, host });
  }
  return cases;
}

/** Starts a server for each fault at the step, and accepts a mail to each. */
async function prepare(step: FaultStep): Promise<Case[]> {
  const cells = cellsOf(step);
  expect(cells.length).toBe(11);
  const isLarge = step === "body";
  const servers = await startServers(
    isLarge ? cells.filter(({ fault }) => OF_LARGE.has(fault)) : cells,
  );
  const answer = await t.call("POST", "/v1/send", {
    to: servers.map(({ to }) => to),
    from: "hello@acme.test",
    subject: "Hi",
    body: "<p>Hello</p>",
    ...(isLarge ? { attachments: [{ filename: "a.txt", content: LARGE }] } : {}),
  });
  expect(answer.status).toBe(200);
  return servers.map((each, i) => ({ ...each, id: answer.text(`emails.${i}.email`) }));
}

/** Sends all due mail. If one of them is to a server that hangs, its timeout passes. */
async function deliver(due: readonly Case[]): Promise<void> {
  const silent = due.find(({ cell }) => cell.silenceMs !== null);
  if (silent === undefined) return t.deliver();
  const { cell, host } = silent;
  const before = host.hanging;
  const delivered = t.deliver();
  await waitUntil(() => host.hanging > before && countUnderWay() === 1);
  await settleEventLoop();
  sessionClock.advance(cell.silenceMs ?? 0);
  await delivered;
}

const countUnderWay = (): number =>
  t.db.sqlite
    .query<{ n: number }, []>("SELECT count(*) AS n FROM emails WHERE status = 'SENDING'")
    .get()?.n ?? 0;

/** Number of connections and lines that the server received. */
const received = ({ host }: Case): number =>
  host.transcripts.length + host.transcripts.flat().length;

/** Milliseconds until the next attempt of a mail. */
function waitMs({ id }: Case): number | null {
  const row = t.db.sqlite
    .query<{ at: number | null }, [string]>("SELECT next_at AS at FROM emails WHERE id = ?")
    .get(id);
  return row === null || row.at === null ? null : row.at - net.clock.now();
}

/** Everything that the API shows about a mail. */
async function read({ id }: Case) {
  const { at } = await t.call("GET", `/emails/${id}`);
  const events = await t.call("GET", "/events?limit=100");
  return { at, events: listAt(events.body, "data.items").filter(isAbout(id)).toReversed() };
}

const isAbout = (id: string) => (event: unknown) => valueAt(event, "emailId") === id;

async function expectOutcome(each: Case): Promise<void> {
  const { kind, class: found, isUnknown = false } = each.cell.expected;
  const { at, events } = await read(each);
  expect(at("data.status")).toBe(STATUS[kind]);
  expect(events.map((event) => valueAt(event, "name"))).toEqual(EVENTS[kind]);
  expect(at("data.attempts")).toMatchObject([{ outcome: kind, class: found }]);
  const reason = at("data.lastError");
  expect(reason === null).toBe(kind === "accepted");
  expect(typeof reason === "string" && reason.includes("is unknown")).toBe(isUnknown);
  if (kind === "bounced") expect(valueAt(events[0], "data.class")).toBe(found);
  const suppressed = listAt((await t.call("GET", "/suppressions?limit=100")).body, "data.items");
  const isGone = found === "no_such_recipient";
  expect(suppressed.filter((entry) => valueAt(entry, "email") === each.to)).toMatchObject(
    isGone ? [{ reason: "HARD_BOUNCE" }] : [],
  );
  for (const [field, isSet] of [
    ["sentAt", kind === "accepted"],
    ["deliveredAt", kind === "accepted"],
    ["bouncedAt", kind === "bounced"],
  ] as const) {
    expect([field, at(`data.${field}`) !== null]).toEqual([field, isSet]);
  }
  expectConversations(each, listAt(at("data.attempts.0"), "conversations"));
}

function expectConversations({ cell, host }: Case, conversations: readonly unknown[]): void {
  const { step, fault, expected } = cell;
  // A mail arrives at most once: one with an unknown outcome is not sent again in this attempt.
  const arrived = host.bodies.filter((body) => body.includes("Subject"));
  expect(arrived.length).toBe(expected.kind === "accepted" || step === "dot" ? 1 : 0);
  const isInClear = step === "starttls" && !CONTINUES.has(fault);
  expect(conversations.length).toBe(isInClear ? 2 : 1);
  const isSecured = valueAt(conversations.at(-1), "tls") !== null;
  expect(isSecured).toBe(step === "starttls" && !isInClear);
}

/** The next attempt of each deferred mail starts exactly at its time, and fails again. */
async function expectRetries(deferred: readonly Case[]): Promise<void> {
  for (const each of deferred.toSorted((a, b) => (waitMs(a) ?? 0) - (waitMs(b) ?? 0))) {
    const before = received(each);
    net.clock.advance((waitMs(each) ?? 0) - 1);
    await t.deliver();
    expect(received(each)).toBe(before);
    net.clock.advance(1);
    await deliver([each]);
    expect(received(each)).toBeGreaterThan(before);
    expect(waitMs(each)).toBeWithin(SECOND_DELAY[0], SECOND_DELAY[1] + 1);
    expect((await read(each)).at("data.attempts")).toHaveLength(2);
  }
}

describe("every fault, from the request to the record", () => {
  test.each(STEPS)("at %s", async (step) => {
    const cases = await prepare(step);
    await deliver(cases);
    for (const each of cases) {
      await expectOutcome(each);
      if (each.cell.expected.kind === "deferred") {
        expect(waitMs(each)).toBeWithin(FIRST_DELAY[0], FIRST_DELAY[1] + 1);
      } else {
        expect(waitMs(each)).toBeNull();
      }
    }
    await expectRetries(cases.filter(({ cell }) => cell.expected.kind === "deferred"));
    for (const { host } of cases) host.drop();
    t.db.sqlite.run("UPDATE emails SET next_at = next_at + ? WHERE status = 'QUEUED'", [YEAR]);
  });

  test("in the middle of a message", async () => {
    const message = Buffer.alloc(LARGE.length, "Subject: a\r\n\r\nb\r\n");
    const cases = await startServers(cellsOf("body"));
    let ended = 0;
    const sending = cases.map(({ to }) =>
      sendOne(transport, { envelope: { from: "a@sender.test", to }, message }).finally(
        () => void ended++,
      ),
    );
    // The silent server is the only one left.
    const hangs = () => cases.some(({ host }) => host.hanging === 1);
    await waitUntil(() => ended === cases.length - 1 && hangs());
    await settleEventLoop();
    sessionClock.advance(DEFAULT_TIMEOUTS.blockMs);
    for (const [i, { kind, class: found, reason }] of (await Promise.all(sending)).entries()) {
      const { cell, host } = cases[i] ?? {};
      expect([cell?.fault, kind, found]).toEqual([
        cell?.fault,
        cell?.expected.kind,
        cell?.expected.class,
      ]);
      expect(reason).not.toContain("is unknown");
      expect(host?.bodies).toEqual([]);
    }
  });
});
