import { afterEach, describe, expect, test } from "bun:test";
import type { DiskSync } from "../../src/db/durability/disk-sync.ts";
import { StorageFaultError } from "../../src/db/fault.ts";
import { createWriter } from "../../src/db/writer.ts";
import { createLane } from "../../src/outbox/lane/lane.ts";
import { createLoader } from "../../src/outbox/lane/rows.ts";
import type { Transport } from "../../src/outbox/outcome.ts";
import { createLeaseQueue } from "../../src/outbox/lane/queue.ts";
import { wakeSending } from "../../src/outbox/enqueue.ts";
import { createRecordOutcome } from "../../src/outbox/record.ts";
import { createLog, silentLog } from "../../src/lib/log.ts";
import { testApp, type TestApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { openOutbox } from "../support/outbox.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../support/transport.ts";

const MINUTE = 60_000;
const STORAGE_PAUSE_MS = 1000;

const apps: TestApp[] = [];

afterEach(async () => {
  for (const t of apps.splice(0)) {
    t.db.sqlite.run("PRAGMA query_only = OFF");
    const stopped = t.close();
    await settleEventLoop();
    t.clock.advance(MINUTE); // Longer than any pause and the grace period of hanging mails.
    await stopped;
  }
});

/** A running application with its transport, its log and readers of its rows. */
async function running(options: Parameters<typeof testTransport>[0] = {}) {
  const transport = testTransport(options);
  const lines: string[] = [];
  const log = createLog({ level: "debug", format: "json", write: (line) => lines.push(line) });
  const t = await testApp({ transport, log });
  apps.push(t);
  await t.app.start();

  /** Ids of the email records. */
  async function send(count = 1): Promise<string[]> {
    const to = Array.from({ length: count }, () => `${crypto.randomUUID()}@example.net`);
    const answer = await t.call("POST", "/v1/send", {
      to,
      from: "hello@acme.test",
      subject: "Hi",
      body: "<p>Hello</p>",
    });
    expect(answer.status).toBe(200);
    return to.map((_, i) => answer.text(`emails.${i}.email`));
  }

  return {
    t,
    transport,
    send,
    logged: (message: string) => lines.filter((line) => line.includes(message)).length,
    stored: (id: string) =>
      t.db.sqlite
        .query<{ status: string; attempts: number; nextAt: number }, [string]>(
          "SELECT status, attempts, next_at AS nextAt FROM emails WHERE id = ?",
        )
        .get(id),
    statuses: () =>
      t.db.sqlite
        .query<{ status: string }, []>("SELECT status FROM emails ORDER BY seq")
        .all()
        .map(({ status }) => status),
  };
}

/** A running application for a test with a single mail. */
async function runningWithOne(options: Parameters<typeof testTransport>[0] = {}) {
  const setup = await running(options);
  const [id = ""] = await setup.send();
  return { ...setup, id, one: () => setup.stored(id) };
}

describe("mail that is due", () => {
  test("is sent as soon as it is accepted", async () => {
    const { one, transport } = await runningWithOne({ answer: ACCEPTED });
    await waitUntil(() => one()?.status === "SENT");
    expect(transport.handed).toHaveLength(1);
  });

  test("is leased by the transaction that stores it", async () => {
    const { t, one } = await runningWithOne();
    expect(one()).toMatchObject({ status: "SENDING", attempts: 1 });
    const refused = t.app.app.writer.write(() => {
      wakeSending(t.app.app);
      throw new Error("refused");
    });
    expect(refused).rejects.toThrow("refused");
    await settleEventLoop();
    expect(one()).toMatchObject({ status: "SENDING", attempts: 1 });
  });

  test("is sent at the start if it waited while no process ran", async () => {
    const transport = testTransport({ answer: ACCEPTED });
    const t = await testApp({ transport });
    apps.push(t);
    await t.call("POST", "/v1/send", {
      to: "b@example.net",
      from: "hello@acme.test",
      subject: "Hi",
      body: "<p>Hello</p>",
    });
    await settleEventLoop();
    expect(transport.handed).toHaveLength(0);
    await t.app.start();
    await waitUntil(() => transport.handed.length === 1);
  });

  test("is under way at most as often as the transport's concurrency limit", async () => {
    const { send, transport, statuses } = await running({ concurrency: 2 });
    await send(5);
    await waitUntil(() => transport.open().length === 2);
    await settleEventLoop();
    expect(transport.handed).toHaveLength(2);
    // Two more are prefetched.
    expect(statuses().toSorted()).toEqual(["QUEUED", "SENDING", "SENDING", "SENDING", "SENDING"]);
    while (transport.open().length > 0) {
      transport.open()[0]?.end(ACCEPTED);
      await settleEventLoop();
      expect(transport.open().length).toBeLessThanOrEqual(2);
    }
    expect(statuses()).toEqual(["SENT", "SENT", "SENT", "SENT", "SENT"]);
    expect(transport.handed).toHaveLength(5);
  });

  test("is sent next if it is transactional, before prefetched campaign mail", async () => {
    const { t, send, transport } = await running({ concurrency: 1 });
    await t.app.stop();
    await send(5);
    makeCampaign(t);
    await t.app.start();
    await waitUntil(() => transport.open().length === 1);
    await settleEventLoop();
    await send(1);
    await settleEventLoop();
    transport.answer = ACCEPTED;
    transport.open()[0]?.end(ACCEPTED);
    await waitUntil(() => transport.handed.length === 6);
    const recipients = t.db.sqlite
      .query<{ to: string }, []>("SELECT to_address AS 'to' FROM emails ORDER BY seq")
      .all()
      .map(({ to }) => to);
    const order = transport.handed.map(({ object }) => recipients.indexOf(object.envelope.to));
    // The first was under way; the second was prefetched and is overtaken.
    expect(order).toEqual([0, 5, 1, 2, 3, 4]);
  });
});

test("transactional mail is leased while there is too little room for more of a campaign", async () => {
  const transport = testTransport();
  const t = await testApp({ transport });
  apps.push(t);
  const count = (status: string) =>
    t.db.sqlite.query("SELECT 1 FROM emails WHERE status = ?").all(status).length;
  const send = (to: string[]) =>
    t.call("POST", "/v1/send", { to, from: "hello@acme.test", subject: "Hi", body: "Hello" });
  for (let i = 0; i < 3; i++) await send(Array.from({ length: 100 }, (_, j) => `p${j}@e${i}.test`));
  makeCampaign(t);
  let sent = 0;
  transport.answer = () => {
    if (++sent === 60) transport.answer = null;
    return ACCEPTED;
  };
  await t.app.start();
  await waitUntil(() => count("SENT") === 60);
  // Fewer mails have left than a lease is worth, and more than are reserved for transactional mail.
  for (const mail of transport.open().slice(0, 4)) mail.end(ACCEPTED);
  await waitUntil(() => count("SENT") === 64);
  const leased = count("SENDING");
  await send(["urgent@example.net"]);
  await waitUntil(() => count("SENDING") > leased);
  expect(count("SENDING")).toBe(leased + 1);
});

describe.each(["transactional", "campaign"])("mails that wait for a connection (%s)", (kind) => {
  test("delay others by at most a fifth of a second", async () => {
    const base = testTransport({ answer: ACCEPTED });
    const connecting: string[] = [];
    const transport: Transport = {
      ...base,
      start(mail) {
        const { to } = mail.envelope;
        if (!to.endsWith("@silent.test")) return base.start(mail);
        connecting.push(to);
        mail.waitsFor = "server";
      },
    };
    const t = await testApp({ transport, config: { sendRate: 14 } });
    apps.push(t);
    const silent = Array.from({ length: 17 }, (_, i) => `p${i}@silent.test`);
    const to = [...silent, "b@example.net"];
    await t.call("POST", "/v1/send", { to, from: "hello@acme.test", subject: "Hi", body: "Hello" });
    const isCampaign = kind === "campaign";
    if (isCampaign) makeCampaign(t);
    await t.app.start();
    // One lease is reserved for transactional mail.
    const atOnce = isCampaign ? 5 : 6;
    for (let leased = atOnce; leased < silent.length; leased += atOnce) {
      await settleEventLoop();
      expect([connecting.length, base.handed.length]).toEqual([leased, 0]);
      t.clock.advance(200);
    }
    await waitUntil(() => base.handed.length === 1);
  });
});

/** All mails become those of a campaign that is sent. */
function makeCampaign({ db }: TestApp): void {
  db.sqlite.run(
    `INSERT INTO campaigns (seq, id, project_seq, name, subject, body, from_address,
       audience_type, status, created_at, updated_at)
     VALUES (1, 'c', 1, 'News', 'Hi', 'Hi', 'news@acme.test', 'ALL', 'SENDING', 0, 0)`,
  );
  db.sqlite.run("UPDATE emails SET priority = 1, campaign_seq = 1");
}

describe("mail that is due later", () => {
  test("is retried at its due time and not before", async () => {
    const { t, one, transport } = await runningWithOne({ answer: DEFERRED });
    await waitUntil(() => one()?.status === "QUEUED" && one()?.attempts === 1);
    const waitMs = (one()?.nextAt ?? 0) - t.clock.now();
    expect(waitMs).toBeWithin(4 * MINUTE, 6 * MINUTE + 1);
    await settleEventLoop();
    t.clock.advance(waitMs - 1);
    await settleEventLoop();
    expect(transport.handed).toHaveLength(1);
    transport.answer = ACCEPTED;
    t.clock.advance(1);
    await waitUntil(() => one()?.status === "SENT");
    expect(transport.handed).toHaveLength(2);
    expect(one()?.attempts).toBe(2);
  });

  test("wakes the lane at the earliest due time, in any order of arrival", async () => {
    const { t, send, stored, transport } = await running({ answer: DEFERRED });
    const ids = [...(await send()), ...(await send())];
    await waitUntil(() => ids.every((id) => stored(id)?.attempts === 1));
    await waitUntil(() => ids.every((id) => stored(id)?.status === "QUEUED"));
    await settleEventLoop();
    const times = ids.map((id) => stored(id)?.nextAt ?? 0);
    transport.answer = ACCEPTED;
    t.clock.advance(Math.min(...times) - t.clock.now());
    await waitUntil(() => ids.filter((id) => stored(id)?.status === "SENT").length === 1);
    t.clock.advance(Math.max(...times) - t.clock.now());
    await waitUntil(() => ids.every((id) => stored(id)?.status === "SENT"));
  });

  test("does not wait for an attempt that never ends", async () => {
    const { t, send, stored, transport } = await running({ answer: DEFERRED });
    const [later = ""] = await send();
    await waitUntil(() => stored(later)?.status === "QUEUED" && stored(later)?.attempts === 1);
    transport.answer = null;
    await send();
    await waitUntil(() => transport.open().length === 1);
    await settleEventLoop();
    t.clock.advance((stored(later)?.nextAt ?? 0) - t.clock.now());
    await waitUntil(() => transport.open().length === 2);
    expect(stored(later)).toMatchObject({ status: "SENDING", attempts: 2 });
  });
});

describe("an attempt that throws", () => {
  test("defers the mail and logs the error", async () => {
    const { t, one, id, transport, logged } = await runningWithOne();
    await waitUntil(() => transport.open().length === 1);
    transport.open()[0]?.fail(new Error("a defect"));
    await waitUntil(() => one()?.status === "QUEUED");
    expect((one()?.nextAt ?? 0) - t.clock.now()).toBeWithin(4 * MINUTE, 6 * MINUTE + 1);
    const answer = await t.call("GET", `/emails/${id}`);
    expect(answer.at("data.attempts")).toMatchObject([
      { outcome: "deferred", class: "infrastructure" },
    ]);
    expect(JSON.stringify(answer.body)).not.toContain("a defect");
    expect(logged("an attempt failed unexpectedly")).toBe(1);
  });
});

describe("a transport that throws", () => {
  const throwDefect = (): never => {
    throw new Error("a defect");
  };
  test.each<[string, Transport["start"]]>([
    ["before the transaction", throwDefect],
    [
      "in the transaction",
      (mail) => {
        mail.begin?.();
        throwDefect();
      },
    ],
    [
      "after it has answered",
      (mail) => {
        mail.begin?.();
        mail.end(DEFERRED);
        throwDefect();
      },
    ],
  ])("%s defers the mail once, and the next mails are sent", async (_, start) => {
    const { t, one, transport, send, stored } = await runningWithOne({ concurrency: 1 });
    await waitUntil(() => transport.open().length === 1);
    const working = transport.start;
    transport.start = start;
    const [faulty = ""] = await send();
    transport.open()[0]?.end(ACCEPTED);
    await waitUntil(() => one()?.status === "SENT" && t.countRows("attempts") === 2);
    expect(stored(faulty)).toMatchObject({ status: "QUEUED", attempts: 1 });
    transport.start = working;
    transport.answer = ACCEPTED;
    const later = await send(3);
    await waitUntil(() => later.every((id) => stored(id)?.status === "SENT"));
    expect(await t.app.stop()).toBeUndefined();
  });
});

describe("storage that refuses writes", () => {
  test("delays an outcome until it can be stored, exactly once", async () => {
    const { t, one, transport, logged } = await runningWithOne();
    await waitUntil(() => transport.open().length === 1);
    t.db.sqlite.run("PRAGMA query_only = ON");
    transport.open()[0]?.end(ACCEPTED);
    for (let i = 0; i < 3; i++) {
      await settleEventLoop();
      expect(one()?.status).toBe("SENDING");
      t.clock.advance(STORAGE_PAUSE_MS);
    }
    await settleEventLoop();
    t.db.sqlite.run("PRAGMA query_only = OFF");
    t.clock.advance(STORAGE_PAUSE_MS);
    await waitUntil(() => one()?.status === "SENT");
    await settleEventLoop();
    expect(t.countRows("attempts")).toBe(1);
    expect(t.eventNames().filter((name) => name === "email.sent")).toHaveLength(1);
    expect(transport.handed).toHaveLength(1);
    expect(logged("an outcome could not be stored")).toBe(1);
  });

  test("stops sending, tries once a second, and resumes when it works again", async () => {
    const { t, send, statuses, transport, logged } = await running({ answer: ACCEPTED });
    await t.app.stop();
    await send(3);
    await t.app.start();
    t.db.sqlite.run("PRAGMA query_only = ON");
    await settleEventLoop();
    for (let seconds = 1; seconds <= 3; seconds++) {
      expect(logged("no mail is sent")).toBe(seconds);
      t.clock.advance(STORAGE_PAUSE_MS);
      await settleEventLoop();
    }
    expect(transport.handed).toHaveLength(0);
    expect(statuses()).toEqual(["QUEUED", "QUEUED", "QUEUED"]);
    t.db.sqlite.run("PRAGMA query_only = OFF");
    t.clock.advance(STORAGE_PAUSE_MS);
    await waitUntil(() => statuses().every((status) => status === "SENT"));
    expect(transport.handed).toHaveLength(3);
  });

  test("does not end the lane if reading fails as well", async () => {
    const { t, send, statuses } = await running({ answer: ACCEPTED });
    await t.app.stop();
    await send(1);
    await t.app.start();
    t.db.sqlite.run("ALTER TABLE emails RENAME TO emails_elsewhere");
    await settleEventLoop();
    t.clock.advance(STORAGE_PAUSE_MS);
    await settleEventLoop();
    t.db.sqlite.run("ALTER TABLE emails_elsewhere RENAME TO emails");
    t.clock.advance(STORAGE_PAUSE_MS);
    await waitUntil(() => statuses().every((status) => status === "SENT"));
  });

  test("does not stop other mails if one row cannot be written", async () => {
    const { t, send, stored, transport, logged } = await running({ concurrency: 1 });
    const [bad = ""] = await send();
    await waitUntil(() => transport.open().length === 1);
    t.db.sqlite.run(
      `CREATE TRIGGER defect BEFORE INSERT ON attempts
       WHEN new.email_seq = (SELECT seq FROM emails WHERE id = '${bad}')
       BEGIN SELECT raise(ABORT, 'a defect'); END`,
    );
    transport.answer = ACCEPTED;
    transport.open()[0]?.end(ACCEPTED);
    const [good = ""] = await send();
    await waitUntil(() => stored(good)?.status === "SENT");
    expect(stored(bad)?.status).toBe("SENDING");
    expect(logged("an outcome could not be stored")).toBe(1);
  });

  test("does not delay the mails that are due if one row cannot be written", async () => {
    const { t, send, statuses, transport, logged } = await running({ concurrency: 1 });
    const [bad = ""] = await send(5);
    await waitUntil(() => transport.open().length === 1);
    await settleEventLoop();
    expect(statuses()).toEqual(["SENDING", "SENDING", "SENDING", "QUEUED", "QUEUED"]);
    t.db.sqlite.run(
      `CREATE TRIGGER defect BEFORE INSERT ON attempts
       WHEN new.email_seq = (SELECT seq FROM emails WHERE id = '${bad}')
       BEGIN SELECT raise(ABORT, 'a defect'); END`,
    );
    transport.open()[0]?.end(ACCEPTED);
    await waitUntil(() => logged("an outcome could not be stored") === 1);
    await settleEventLoop();
    expect(statuses()).toEqual(["SENDING", "SENDING", "SENDING", "SENDING", "QUEUED"]);
  });

  test("stores outcomes of contacts that were deleted meanwhile", async () => {
    const { t, one, transport } = await runningWithOne();
    await waitUntil(() => transport.open().length === 1);
    const contacts = await t.call("GET", "/contacts");
    await t.call("DELETE", `/contacts/${contacts.text("contacts.0.id")}`);
    transport.open()[0]?.end(ACCEPTED);
    await waitUntil(() => one()?.status === "SENT");
    expect(t.eventNames()).toContain("email.sent");
  });
});

describe("stopping", () => {
  test("waits for mails under way and starts no others", async () => {
    const { t, send, statuses, transport } = await running({ concurrency: 1 });
    await send(2);
    await waitUntil(() => transport.open().length === 1);
    const stopped = t.app.stop();
    await settleEventLoop();
    transport.open()[0]?.end(ACCEPTED);
    await stopped;
    expect(statuses()).toEqual(["SENT", "QUEUED"]);
    t.clock.advance(24 * 60 * MINUTE);
    await settleEventLoop();
    expect(transport.handed).toHaveLength(1);
  });

  test("waits ten seconds for a mail that hangs, then returns its lease", async () => {
    const { t, one, transport } = await runningWithOne();
    await waitUntil(() => transport.open().length === 1);
    let isStopped = false;
    const stopped = t.app.stop().then(() => (isStopped = true));
    await settleEventLoop();
    t.clock.advance(9_999);
    await settleEventLoop();
    expect(isStopped).toBe(false);
    t.clock.advance(1);
    await stopped;
    expect(one()).toMatchObject({ status: "QUEUED", attempts: 1 });
    expect((one()?.nextAt ?? 0) - t.clock.now()).toBe(20_000);
  });

  test("stores the outcomes of mails that end while the transport is closed", async () => {
    const { t, send, transport, statuses } = await running();
    await send(8);
    await waitUntil(() => transport.open().length === 8);
    transport.close = async () => transport.open()[0]?.end(ACCEPTED);
    const stopped = t.app.stop();
    await settleEventLoop();
    t.clock.advance(10_000);
    await stopped;
    expect(statuses().filter((status) => status === "SENT")).toHaveLength(1);
  });

  test("ignores an outcome that comes after the lease was returned", async () => {
    const { t, one, transport, logged } = await runningWithOne();
    await waitUntil(() => transport.open().length === 1);
    const stopped = t.app.stop();
    await settleEventLoop();
    t.clock.advance(10_000);
    await stopped;
    const before = one();
    transport.open()[0]?.end(ACCEPTED);
    await settleEventLoop();
    expect(one()).toEqual(before);
    expect(t.countRows("attempts")).toBe(0);
    expect(logged("after its lease was lost")).toBe(1);
  });

  test("does not wait for a storage that refuses an outcome", async () => {
    const { t, one, transport } = await runningWithOne();
    await waitUntil(() => transport.open().length === 1);
    t.db.sqlite.run("PRAGMA query_only = ON");
    transport.open()[0]?.end(ACCEPTED);
    await settleEventLoop();
    const stopped = t.app.stop().catch(String);
    await settleEventLoop();
    t.clock.advance(STORAGE_PAUSE_MS);
    expect(await stopped).toContain("cannot store anything");
    expect(one()?.status).toBe("SENDING");
  });

  test("can be followed by another start", async () => {
    const { t, send, statuses } = await running({ answer: ACCEPTED });
    await t.app.stop();
    await send(2);
    await settleEventLoop();
    expect(statuses()).toEqual(["QUEUED", "QUEUED"]);
    await t.app.start();
    await waitUntil(() => statuses().every((status) => status === "SENT"));
  });
});

test("a captured mail is logged once, with recipient, subject and link", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "info", format: "json", write: (line) => lines.push(line) });
  const t = await testApp({ log });
  apps.push(t);
  const id = await t.create(
    "/v1/send",
    { to: "ada@example.net", from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" },
    "emails.0.email",
  );
  await t.deliver();
  const told = lines.filter((line) => line.includes("a mail was captured"));
  expect(told.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: "info",
      to: "ada@example.net",
      subject: "Hi",
      see: `http://127.0.0.1:3000/app/p/${t.project.id}/emails/${id}`,
    }),
  ]);
});

/** A disk whose syncs, while it is slow, wait until the test calls them in `waiting`. */
function slowDisk() {
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const disk: DiskSync = {
    ...QUIET_DISK,
    sync: () => (isSlow ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
  };
  const setSlow = (value: boolean) => {
    isSlow = value;
  };
  return { disk, waiting, setSlow };
}

const QUIET_DISK: Omit<DiskSync, "sync"> = {
  verify: () => true,
  pause: () => null,
  yieldLog() {},
  findHold: () => null,
  emptyLog: () => Promise.resolve(true),
  release: () => Promise.resolve(),
};

describe("a quiet queue", () => {
  /** A real lane that counts the polls of the queue and the timers. */
  async function counting(
    options: { isStuck?: boolean; disk?: DiskSync; returnPathOf?: () => string } = {},
  ) {
    const { isStuck = false, disk = null, returnPathOf = () => "" } = options;
    const outbox = openOutbox();
    const queue = createLeaseQueue(outbox.db, () => null);
    const clock = manualClock();
    const transport = testTransport({ answer: ACCEPTED });
    const counts = { questions: 0, timers: 0 };
    const message = Buffer.alloc(0);
    const lane = createLane({
      ratePerSecond: 0,
      maxUnderWay: 20,
      mostUsual: 10,
      isSenderVerified: () => true,
      isCampaignSending: () => true,
      returnPathOf,
      transport: () => transport,
      composer: {
        prepare: (_, { resolve }) =>
          resolve({ kind: "prepared", subject: "", message, hasTailroom: false }),
        release() {},
      },
      queue: {
        ...queue,
        lease: (limit, now) =>
          isStuck ? { leases: [], mayHaveMore: false } : queue.lease(limit, now),
        nextDueAt() {
          counts.questions++;
          return queue.nextDueAt();
        },
      },
      load: createLoader(outbox.db),
      settle: createRecordOutcome({
        db: outbox.db,
        usage: { addBytes() {}, addQueued() {} },
        random: () => 0.5,
        recordEvent: () => {},
        suppressBounced: () => null,
        applyReports: () => {},
      }),
      writer: createWriter(outbox.db, silentLog, disk),
      clock: {
        ...clock,
        after(delayMs, run) {
          counts.timers++;
          return clock.after(delayMs, run);
        },
      },
      log: silentLog,
      pageOf: ({ id }) => `http://localhost/app/p/x/emails/${id}`,
    });
    await lane.start();
    await settleEventLoop();
    return { outbox, clock, transport, lane, counts };
  }

  test("is not polled and sets no timer while it is empty", async () => {
    const { clock, counts } = await counting();
    expect(counts).toEqual({ questions: 1, timers: 0 });
    clock.advance(24 * 60 * MINUTE);
    await settleEventLoop();
    expect(counts).toEqual({ questions: 1, timers: 0 });
  });

  test("sleeps on one timer until the earliest due time", async () => {
    const { outbox, clock, lane, transport, counts } = await counting();
    const due = clock.now() + 60 * MINUTE;
    for (const nextAt of [due + 1, due, due + 2]) outbox.add({ nextAt });
    lane.wake();
    await settleEventLoop();
    expect(counts).toEqual({ questions: 2, timers: 1 });
    clock.advance(60 * MINUTE - 1);
    await settleEventLoop();
    expect(counts).toEqual({ questions: 2, timers: 1 });
    expect(transport.handed).toHaveLength(0);
    clock.advance(1);
    await settleEventLoop();
    expect(transport.handed).toHaveLength(1);
  });

  test("is not polled in a busy loop if due mail cannot be leased", async () => {
    const { outbox, clock, lane, counts, transport } = await counting({ isStuck: true });
    outbox.add({ nextAt: clock.now() });
    lane.wake();
    await settleEventLoop();
    for (let seconds = 1; seconds <= 3; seconds++) {
      expect(counts.questions).toBe(1 + seconds);
      clock.advance(1000);
      await settleEventLoop();
    }
    expect(transport.handed).toHaveLength(0);
  });

  test("is polled once for many wake-ups at the same time", async () => {
    const { lane, counts } = await counting();
    for (let i = 0; i < 100; i++) lane.wake();
    await settleEventLoop();
    expect(counts.questions).toBe(2);
  });

  test("is not stalled while its only mail waits for a silent server", async () => {
    const { outbox, clock, lane, transport } = await counting();
    transport.start = (mail) => {
      mail.waitsFor = "server";
    };
    outbox.add({ nextAt: clock.now(), createdAt: clock.now() });
    lane.wake();
    await settleEventLoop();
    clock.advance(5 * MINUTE);
    expect([lane.underWay(), lane.stalledMs()]).toEqual([1, 0]);
  });

  test("sends no mail whose lease was written to a file that is lost", async () => {
    const lost = new StorageFaultError({ kind: "displaced", file: "/data/x.db", finding: "test" });
    let isLost = false;
    const disk: DiskSync = {
      ...QUIET_DISK,
      sync: () => (isLost ? Promise.reject(lost) : Promise.resolve()),
    };
    const { outbox, clock, lane, transport } = await counting({ disk });
    isLost = true;
    const mail = outbox.add({ nextAt: clock.now() });
    lane.wake();
    await settleEventLoop();
    expect([outbox.row(mail).attempts, transport.handed.length]).toEqual([1, 0]);
  });

  test("defers a mail whose return path cannot be read, and sends the others", async () => {
    let reads = 0;
    const { outbox, clock, lane, transport } = await counting({
      returnPathOf: () => {
        if (reads++ === 1) throw new Error("disk I/O error");
        return "";
      },
    });
    const now = clock.now();
    const mails = [1, 2, 3].map(() => outbox.add({ nextAt: now, createdAt: now }));
    lane.wake();
    await settleEventLoop();
    expect(mails.map((mail) => outbox.row(mail).status)).toEqual(["SENT", "QUEUED", "SENT"]);
    expect([transport.handed.length, lane.underWay()]).toEqual([2, 0]);
  });

  test("sends no mail whose lease comes to the disk after the stop", async () => {
    const { disk, waiting, setSlow } = slowDisk();
    const { outbox, clock, lane, transport } = await counting({ disk });
    setSlow(true);
    outbox.add({ nextAt: clock.now() });
    lane.wake();
    await waitUntil(() => waiting.length === 1);
    const stopped = lane.stop(10_000);
    setSlow(false);
    waiting.shift()?.();
    expect(await stopped).toBe(true);
    expect(transport.handed).toHaveLength(0);
  });

  test("sends a mail only after its lease is on disk, and releases its slot before its outcome is", async () => {
    const { disk, waiting, setSlow } = slowDisk();
    const { outbox, clock, lane, transport } = await counting({ disk });
    setSlow(true);
    const first = outbox.add({ nextAt: clock.now() });
    lane.wake();
    await settleEventLoop();
    expect([outbox.row(first)?.status, transport.handed.length]).toEqual(["SENDING", 0]);
    waiting.shift()?.();
    await settleEventLoop();
    expect([outbox.row(first)?.status, transport.handed.length]).toEqual(["SENT", 1]);
    // The outcome is not on disk yet, but the next mail is leased.
    const second = outbox.add({ nextAt: clock.now() });
    lane.wake();
    await settleEventLoop();
    expect([waiting.length, outbox.row(second)?.status]).toEqual([1, "SENDING"]);
    setSlow(false);
    waiting.shift()?.();
    await settleEventLoop();
    expect(transport.handed).toHaveLength(2);
  });
});
