/**
 * A batch of mails, through the whole application, to a relay that ends a connection at every
 * position of a pipelined group: each mail ends as SENT, only the mail of the fault needs a second
 * attempt, and none is sent twice unless the connection ended after its final dot
 * (docs/delivery.md#S5, RFC 2920 §3.1).
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { relayTransport } from "../../src/outbox/transports/relay.ts";
import { silentLog } from "../../src/lib/log.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";
import {
  FAULT_KINDS,
  FAULT_POSITIONS,
  type FaultServer,
  type FaultServerOptions,
  startFaultServer,
} from "../support/fault-server.ts";

const MAILS = 12;
/** Two connections, so that a batch of mails waits for each of them. */
const CONNECTIONS = 2;
const RETRY_MS = 10 * 60_000;
const RECIPIENTS = Array.from({ length: MAILS }, (_, i) => `person-${i}@example.net`);
const MAIL = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };

type Attempts = { status: string; attempts: number; reason: string };

type Source = "POST /v1/send" | "a campaign";

let server: FaultServer;
let t: TestApp;

beforeAll(async () => {
  server = await startFaultServer();
  const clock = manualClock();
  const transport = relayTransport({
    relay: { host: "127.0.0.1", port: server.port, tls: "none" },
    hostname: "sender.test",
    concurrency: CONNECTIONS,
    clock,
    log: silentLog,
  });
  t = await testApp({ transport, clock });
  for (const email of RECIPIENTS) await t.create("/contacts", { email, subscribed: true }, "id");
});

afterAll(async () => {
  await t.close();
  await server.close();
});

/** Accepts the mails, and waits until they are in the queue. */
async function queueMails(source: Source): Promise<void> {
  if (source === "POST /v1/send") {
    await t.create("/v1/send", { ...MAIL, to: RECIPIENTS }, "emails.0.email");
    return;
  }
  const before = t.countRows("emails");
  const campaign = { ...MAIL, name: "News", audienceType: "ALL" };
  const id = await t.create("/campaigns", campaign, "data.id");
  expect((await t.call("POST", `/campaigns/${id}/send`)).status).toBe(204);
  await t.deliver();
  await waitUntil(() => t.countRows("emails") === before + MAILS);
}

/** The attempts of each of the latest mails. */
const readLatest = (): Attempts[] =>
  t.db.sqlite
    .query<Attempts, [number]>(
      `SELECT e.status, count(a.seq) AS attempts, coalesce(group_concat(a.reason), '') AS reason
       FROM (SELECT seq, status FROM emails ORDER BY seq DESC LIMIT ?) e
       LEFT JOIN attempts a ON a.email_seq = e.seq GROUP BY e.seq ORDER BY e.seq`,
    )
    .all(MAILS);

async function sendBatch(options: FaultServerOptions, source: Source) {
  const faults = await server.begin(options);
  // The transport forgets the sessions that have ended.
  await settleEventLoop();
  await queueMails(source);
  await t.deliver();
  const before = readLatest();
  for (let round = 0; round < 3 && readLatest().some(isUnsent); round++) {
    t.clock.advance(RETRY_MS);
    await t.deliver();
  }
  return { faults, before, after: readLatest() };
}

const isUnsent = ({ status }: Attempts): boolean => status !== "SENT";

/** A message that the server took although its reply was lost is sent again. */
const isLostReply = ({ position, kind }: FaultServerOptions) =>
  position === "dot" && kind !== "421";

/** Checks the attempts of the mail that the fault has hit. */
function expectDeferral({ reason }: Attempts, options: FaultServerOptions): void {
  if (options.kind === "421") expect(reason).toContain("421 4.3.2 Shutting down");
  // A small message may have been sent with its final dot before the fault in the message is seen.
  if (options.position === "body") return;
  expect(reason.includes("is unknown")).toBe(isLostReply(options));
}

async function run(options: FaultServerOptions, source: Source): Promise<void> {
  const { faults, before, after } = await sendBatch(options, source);
  expect(faults.hasFaulted()).toBe(true);
  // Without PIPELINING each command waits for the reply to the one before it (RFC 2920 §3.1). A
  // transactional mail waits for no other message.
  const mayFollow = options.pipelining && source === "a campaign";
  if (!mayFollow) expect(faults.followed()).toBe(0);
  else if (options.mail > 1) expect(faults.followed()).toBeGreaterThan(0);
  // The fault delays one mail at most; all others are SENT without waiting.
  expect(before.filter(({ status }) => status === "SENT").length).toBeGreaterThanOrEqual(MAILS - 1);
  expect(before.filter(({ status }) => status === "SENDING")).toEqual([]);
  expect(after.map(({ status }) => status)).toEqual(Array<string>(MAILS).fill("SENT"));
  const repeated = after.filter(({ attempts }) => attempts > 1);
  expect(repeated.length).toBeLessThanOrEqual(1);
  for (const mail of repeated) expectDeferral(mail, options);
  // Every message arrived once; that of a lost reply twice.
  const twice = faults.taken.filter((id, i) => faults.taken.indexOf(id) !== i);
  expect(twice.length).toBe(isLostReply(options) ? 1 : 0);
  expect(new Set(faults.taken).size).toBe(MAILS);
}

const CASES = [true, false]
  .flatMap((pipelining) =>
    // Without PIPELINING the second mail of a connection is like all later ones.
    (pipelining ? [1, 2, 4] : [1, 2]).flatMap((mail) =>
      FAULT_POSITIONS.flatMap((position) =>
        FAULT_KINDS.map((kind): FaultServerOptions => ({ position, kind, mail, pipelining })),
      ),
    ),
  )
  // A reset may overtake the reply before it, so that reply would be lost.
  .filter(({ position, kind }) => position !== "between" || kind !== "reset");

describe.each([true, false])("mails of a campaign, with PIPELINING: %p", (pipelining) => {
  for (const options of CASES.filter((each) => each.pipelining === pipelining)) {
    const { position, kind, mail } = options;
    test(`${kind} at ${position} of mail ${mail} of a connection`, () =>
      run(options, "a campaign"));
  }
});

describe("transactional mails", () => {
  for (const options of CASES.filter(({ pipelining, mail }) => pipelining && mail === 2)) {
    const { position, kind } = options;
    test(`${kind} at ${position} of the second mail of a connection`, () =>
      run(options, "POST /v1/send"));
  }
});
