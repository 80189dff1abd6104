import { afterEach, describe, expect, test } from "bun:test";
import {
  type Destination,
  Pool,
  type PoolMail,
  type PoolOptions,
  Withdrawn,
} from "../../../src/protocols/smtp/pool.ts";
import { Session, type SessionOptions } from "../../../src/protocols/smtp/session.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { startScript, type ScriptOptions } from "../../support/smtp-script.ts";
import { startSink } from "../../support/smtp-sink.ts";

const DAY_MS = 24 * 60 * 60_000;
const IDLE_MS = 5_000;
const GRACE_MS = 2_000;

/** Measures the idle times and the sessions. */
const clock = manualClock();

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function scripted(options: ScriptOptions = {}) {
  const server = await startScript(options);
  closers.push(() => server.close());
  return server;
}

async function sink() {
  const server = await startSink();
  closers.push(() => server.close());
  return server;
}

function pool(options: Partial<PoolOptions> = {}): Pool {
  const created = new Pool({ maxConnections: 20, clock, ...options });
  closers.push(() => closePool(created));
  return created;
}

/** Closes a pool; the grace period of sessions that hang passes at once. */
async function closePool(sessions: Pool): Promise<void> {
  const closed = sessions.close();
  await settleEventLoop();
  clock.advance(GRACE_MS);
  await closed;
}

function to(port: number, options: Partial<SessionOptions> = {}): Destination {
  const all: SessionOptions = {
    host: "127.0.0.1",
    port,
    hostname: "client.test",
    tls: { mode: "none" },
    clock,
    ...options,
  };
  return { key: String(port), connect: () => new Session(all) };
}

const MAIL: MailObject = {
  envelope: { from: "a@example.com", to: "b@example.net" },
  message: Buffer.from("a\r\n"),
};

async function kindOf(delivering: ReturnType<Pool["deliver"]>): Promise<string> {
  return (await delivering).delivery.kind;
}

/** Delivers a mail that can be interrupted or withdrawn. */
function sent(sessions: Pool, destination: Destination, object: MailObject = MAIL) {
  const mails: PoolMail[] = [];
  const delivering = sessions.deliver(destination, object, (mail) => mails.push(mail));
  const [mail] = mails;
  if (mail === undefined) throw new Error("the mail was not given to the pool");
  return { mail, delivering };
}

/** A pace of which the test starts each task. */
function heldPace() {
  const tasks: { start(ended?: () => void): void; urgency: number }[] = [];
  const pace: PoolOptions["pace"] = (task, urgency) =>
    void tasks.push({ start: (ended = () => {}) => task(ended), urgency });
  return { tasks, pace };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("the pool", () => {
  test("sends one mail after the other over one connection", async () => {
    const server = await sink();
    const sessions = pool();
    for (let i = 0; i < 10; i++) {
      const { conversations } = await sessions.deliver(to(server.port), MAIL);
      expect(conversations).toMatchObject([{ reused: i > 0 }]);
    }
    expect(server.counts).toEqual({ messages: 10, connections: 1 });
  });

  test("opens no more connections than allowed, and sends all waiting mails", async () => {
    const server = await sink();
    const sessions = pool({ maxConnections: 3 });
    const mails = Array.from({ length: 50 }, () => kindOf(sessions.deliver(to(server.port), MAIL)));
    expect(new Set(await Promise.all(mails))).toEqual(new Set(["accepted"]));
    expect(server.counts).toEqual({ messages: 50, connections: 3 });
  });

  test("uses separate connections for each destination", async () => {
    const [one, two] = [await sink(), await sink()];
    const sessions = pool({ maxConnections: 1 });
    for (const server of [one, two, one, two]) await sessions.deliver(to(server.port), MAIL);
    expect(one.counts).toEqual({ messages: 2, connections: 1 });
    expect(two.counts).toEqual({ messages: 2, connections: 1 });
  });

  test("ends a connection with QUIT after its maximum of messages", async () => {
    const server = await scripted();
    const sessions = pool({ maxMessages: 3, maxConnections: 1 });
    for (let i = 0; i < 7; i++) {
      expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("accepted");
    }
    const mails = server.transcripts.map((lines) => lines.filter((line) => line === "DATA").length);
    expect(mails).toEqual([3, 3, 1]);
    expect(server.transcripts.map((lines) => lines.at(-1))).toEqual(["QUIT", "QUIT", "DATA"]);
  });

  test("ends an idle connection with QUIT after its timeout", async () => {
    const server = await scripted();
    const sessions = pool();
    await Promise.all([1, 2].map(() => sessions.deliver(to(server.port), MAIL)));
    clock.advance(IDLE_MS);
    await until(() => server.ended === 2);
    expect(server.transcripts.map((lines) => lines.at(-1))).toEqual(["QUIT", "QUIT"]);
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("accepted");
  });

  test.each([
    ["back", -DAY_MS],
    ["forward", DAY_MS],
  ])("counts idle time although the clock is set %s by a day", async (_, stepMs) => {
    const server = await scripted();
    const sessions = pool();
    await sessions.deliver(to(server.port), MAIL);
    clock.stepWall(stepMs);
    clock.advance(IDLE_MS - 1);
    await settleEventLoop();
    const { conversations } = await sessions.deliver(to(server.port), MAIL);
    expect(conversations).toMatchObject([{ reused: true }]);
    clock.advance(IDLE_MS);
    await until(() => server.ended === 1);
  });

  test("limits the idle connections of all destinations", async () => {
    const servers = [await scripted(), await scripted(), await scripted()];
    const sessions = pool({ maxIdle: 2 });
    for (const server of servers) await sessions.deliver(to(server.port), MAIL);
    await until(() => servers[2]?.ended === 1);
    expect(servers.map(({ transcripts }) => transcripts[0]?.at(-1))).toEqual([
      "DATA",
      "DATA",
      "QUIT",
    ]);
  });

  test("does not use a connection again after 421", async () => {
    const server = await scripted({ script: [{ rcpt: "closing" }, {}] });
    const sessions = pool();
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("refused");
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("accepted");
    expect(server.transcripts.length).toBe(2);
  });

  test.each([{ raw: "250 2.0.0 Taken\r\n250 2.0.0 More\r\n" }, { raw: "250 2.0.0 Taken\r\n2" }])(
    "gives no other mail a connection with an unexpected reply: %j",
    async (dot) => {
      const server = await scripted({ script: [{ dot }, {}] });
      const sessions = pool({ maxConnections: 1 });
      const ends = await Promise.all([1, 2].map(() => sessions.deliver(to(server.port), MAIL)));
      expect(ends.map(({ delivery }) => delivery.kind)).toEqual(["accepted", "accepted"]);
      expect(ends[1]?.conversations).toMatchObject([{ reused: false }]);
      expect(server.transcripts.map((lines) => lines.at(-1))).toEqual(["DATA", "DATA"]);
    },
  );

  test("uses a connection again after a refusal", async () => {
    const server = await scripted({ script: { rcpt: [{ code: 550 }] } });
    const sessions = pool();
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("refused");
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("accepted");
    expect(server.transcripts.length).toBe(1);
  });

  test("gives the slot of a failed connection to the next waiting mail", async () => {
    const server = await scripted({ script: [{ greeting: { code: 554 } }, { mail: "close" }, {}] });
    const sessions = pool({ maxConnections: 1 });
    const mails = [1, 2, 3].map(() => kindOf(sessions.deliver(to(server.port), MAIL)));
    expect(await Promise.all(mails)).toEqual(["unopened", "broken", "accepted"]);
  });
});

describe("an urgent mail", () => {
  test("gets the next session before mails that have waited longer", async () => {
    const server = await scripted();
    const sessions = pool({ maxConnections: 1 });
    const order: string[] = [];
    const deliver = (name: string, isUrgent: boolean) =>
      sessions.deliver(to(server.port), { ...MAIL, isUrgent }).then(() => order.push(name));
    await Promise.all([
      deliver("first", false),
      deliver("second", false),
      deliver("urgent", true),
      deliver("more urgent mail", true),
    ]);
    expect(order).toEqual(["first", "urgent", "more urgent mail", "second"]);
  });
});

describe("a connection that went stale", () => {
  test.each(["close", "reset", "closing", "garbage"] as const)(
    "with %s at its next MAIL is replaced within the attempt",
    async (action) => {
      const server = await scripted({ script: [{ mail: [null, action] }, {}] });
      const sessions = pool();
      await sessions.deliver(to(server.port), MAIL);
      const { delivery, conversations } = await sessions.deliver(to(server.port), MAIL);
      expect(delivery.kind).toBe("accepted");
      expect(conversations.map(({ reused }) => reused)).toEqual([true, false]);
      expect(conversations[0]?.steps.map(({ step }) => step)).toEqual(["mail"]);
      expect(server.bodies.length).toBe(2);
    },
  );

  test("while it was idle is not tried", async () => {
    const server = await scripted();
    const sessions = pool();
    await sessions.deliver(to(server.port), MAIL);
    server.drop();
    await until(() => server.ended === 1);
    const { delivery, conversations } = await sessions.deliver(to(server.port), MAIL);
    expect(delivery.kind).toBe("accepted");
    expect(conversations.map(({ reused }) => reused)).toEqual([false]);
  });

  test("while its mail waits for the pace is replaced by one that expires as well", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const sessions = pool({ maxConnections: 1, pace });
    const destination = to(server.port);
    const first = sessions.deliver(destination, MAIL);
    await until(() => tasks.length === 1);
    tasks[0]?.start();
    await first;
    const delivering = sessions.deliver(destination, MAIL);
    server.drop();
    await until(() => !sessions.hasSession(destination));
    const ended: string[] = [];
    tasks[1]?.start(() => ended.push("the first task"));
    expect(ended).toEqual(["the first task"]);
    await until(() => tasks.length === 3);
    tasks[2]?.start(() => ended.push("the second task"));
    const { delivery, conversations } = await delivering;
    expect(ended).toEqual(["the first task", "the second task"]);
    expect(delivery.kind).toBe("accepted");
    expect(conversations.map(({ reused }) => reused)).toEqual([true, false]);
    clock.advance(IDLE_MS);
    await until(() => server.ended === 2);
    expect(server.transcripts.map((lines) => lines.at(-1))).toEqual(["DATA", "QUIT"]);
  });

  test("is not replaced after a timeout", async () => {
    const server = await scripted({ script: [{ mail: [null, "hang"] }, {}] });
    const sessions = pool();
    const destination = to(server.port, { timeouts: { commandMs: 150 } });
    await sessions.deliver(destination, MAIL);
    const delivering = sessions.deliver(destination, MAIL);
    await advanceWhenSilent(clock, server, { ms: 150 });
    const { delivery } = await delivering;
    expect(delivery).toMatchObject({ kind: "broken", failure: { cause: { kind: "timeout" } } });
    expect(server.transcripts.length).toBe(1);
  });

  test("is replaced only once", async () => {
    const server = await scripted({ script: [{ mail: [null, "close"] }, { mail: "close" }] });
    const sessions = pool();
    await sessions.deliver(to(server.port), MAIL);
    const { delivery } = await sessions.deliver(to(server.port), MAIL);
    expect(delivery).toMatchObject({ kind: "broken", isUnknown: false });
    expect(server.transcripts.length).toBe(2);
  });

  test("is not replaced once a command was accepted", async () => {
    const server = await scripted({ extensions: [], script: [{ rcpt: [null, "close"] }, {}] });
    const sessions = pool();
    await sessions.deliver(to(server.port), MAIL);
    const { delivery, conversations } = await sessions.deliver(to(server.port), MAIL);
    expect(delivery).toMatchObject({ kind: "broken", failure: { step: "rcpt" } });
    expect(conversations.length).toBe(1);
  });

  test("is never replaced after the final dot: the mail may have arrived", async () => {
    const server = await scripted({ script: [{ dot: [null, "close"] }, {}] });
    const sessions = pool();
    await sessions.deliver(to(server.port), MAIL);
    const { delivery } = await sessions.deliver(to(server.port), MAIL);
    expect(delivery).toMatchObject({ kind: "broken", isUnknown: true });
    expect(server.bodies.length).toBe(2);
    expect(server.transcripts.length).toBe(1);
  });

  test("is not assumed for a new connection that fails in the same way", async () => {
    const server = await scripted({ script: [{ mail: "close" }, {}] });
    expect(await kindOf(pool().deliver(to(server.port), MAIL))).toBe("broken");
    expect(server.transcripts.length).toBe(1);
  });
});

describe("a mail that is interrupted", () => {
  test.each([
    ["greeting", "unopened", 0, 0],
    ["ehlo", "unopened", 1, 0],
    ["mail", "broken", 2, 0],
    ["dot", "broken", 4, 1],
  ] as const)("ends at once while it hangs at %s", async (step, kind, lines, bodies) => {
    const server = await scripted({ script: { [step]: "hang" } });
    const { mail, delivering } = sent(pool(), to(server.port));
    const { transcripts } = server;
    await until(() => transcripts[0]?.length === lines && server.bodies.length === bodies);
    mail.interrupt();
    const { delivery, conversations } = await delivering;
    expect(delivery).toMatchObject({
      kind,
      failure: { step, cause: { kind: "timeout" } },
    });
    expect(conversations[0]?.steps.at(-1)?.text).toStartWith("interrupted: ");
    await until(() => server.ended === 1);
  });

  test("opens no connection", async () => {
    const server = await scripted();
    const { mail, delivering } = sent(pool(), to(server.port));
    mail.interrupt();
    expect(await kindOf(delivering)).toBe("unopened");
    expect(server.transcripts).toEqual([]);
  });

  test("opens no connection after it has waited for one", async () => {
    const server = await scripted({ script: { dot: "hang" } });
    const sessions = pool({ maxConnections: 1 });
    const [first, second] = [1, 2].map(() => sent(sessions, to(server.port)));
    await until(() => server.hanging === 1);
    second?.mail.interrupt();
    first?.mail.interrupt();
    expect((await first?.delivering)?.delivery).toMatchObject({ kind: "broken", isUnknown: true });
    expect((await second?.delivering)?.delivery).toMatchObject({
      kind: "unopened",
      failure: { cause: { kind: "timeout" } },
    });
    expect(server.transcripts.length).toBe(1);
  });

  test("is not sent over the session for which it has waited", async () => {
    const server = await scripted();
    const sessions = pool({ maxConnections: 1 });
    const [first, second, third] = [1, 2, 3].map(() => sent(sessions, to(server.port)));
    second?.mail.interrupt();
    expect((await first?.delivering)?.delivery.kind).toBe("accepted");
    const { delivery, conversations } = (await second?.delivering) ?? {};
    expect(delivery).toMatchObject({
      kind: "broken",
      isUnknown: false,
      failure: { step: "mail", cause: { kind: "timeout" } },
    });
    expect(conversations?.[0]?.steps.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^interrupted: /),
    ]);
    expect((await third?.delivering)?.delivery.kind).toBe("accepted");
    expect(server.bodies.length).toBe(2);
    expect(server.transcripts.length).toBe(1);
  });

  test("while it waits for the pace ends when its turn comes, without another connection", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const { mail, delivering } = sent(pool({ pace }), to(server.port));
    await until(() => tasks.length === 1);
    mail.interrupt();
    tasks[0]?.start();
    expect((await delivering).delivery).toMatchObject({ kind: "broken", isUnknown: false });
    expect(server.transcripts).toEqual([["EHLO client.test"]]);
  });

  test("does not affect its session if the mail has ended before", async () => {
    const server = await scripted();
    const sessions = pool();
    const { mail, delivering } = sent(sessions, to(server.port));
    await delivering;
    mail.interrupt();
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("accepted");
    expect(server.transcripts.length).toBe(1);
  });
});

describe("a mail that is withdrawn", () => {
  test("because it must not begin leaves its session to the next one", async () => {
    const server = await scripted();
    const sessions = pool({ maxConnections: 1 });
    const first = sessions.deliver(to(server.port), { ...MAIL, begin: () => false });
    const second = sessions.deliver(to(server.port), MAIL);
    expect(first).rejects.toBeInstanceOf(Withdrawn);
    expect(await kindOf(second)).toBe("accepted");
    expect(server.bodies.length).toBe(1);
    expect(server.transcripts.length).toBe(1);
  });

  test("because it must not begin ends its task of the pace", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const delivering = pool({ pace }).deliver(to(server.port), { ...MAIL, begin: () => false });
    await until(() => tasks.length === 1);
    let count = 0;
    tasks[0]?.start(() => count++);
    expect(delivering).rejects.toBeInstanceOf(Withdrawn);
    expect(count).toBe(1);
  });

  test("while it waits for the pace leaves its session to the next one a moment later", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const sessions = pool({ maxConnections: 1, pace });
    const [first, second] = [1, 2].map(() => sent(sessions, to(server.port)));
    await until(() => tasks.length === 1);
    if (first === undefined || second === undefined) throw new Error("no mails");
    expect(sessions.withdraw(second.mail)).toBe(false);
    expect(sessions.withdraw(first.mail)).toBe(true);
    expect(sessions.withdraw(first.mail)).toBe(false);
    // Within the same task of the event loop, the next mail has no session yet.
    expect(tasks.length).toBe(1);
    expect(first.delivering).rejects.toBeInstanceOf(Withdrawn);
    await until(() => tasks.length === 2);
    let ended = 0;
    tasks[0]?.start(() => ended++);
    expect(ended).toBe(1);
    expect(server.transcripts).toEqual([["EHLO client.test"]]);
    tasks[1]?.start();
    expect(await kindOf(second.delivering)).toBe("accepted");
    expect(sessions.withdraw(second.mail)).toBe(false);
  });

  test("is withdrawn with all others that have not begun", async () => {
    const server = await scripted({ script: { dot: "hang" } });
    const { tasks, pace } = heldPace();
    const sessions = pool({ maxConnections: 2, pace });
    const mails = [1, 2, 3, 4].map(() =>
      sessions
        .deliver(to(server.port), MAIL)
        .then(({ delivery }) => delivery.kind)
        .catch((error: unknown) => error instanceof Withdrawn),
    );
    await until(() => tasks.length === 2);
    tasks[0]?.start();
    await until(() => server.hanging === 1);
    sessions.withdrawWaiting();
    expect(await Promise.all(mails.slice(1))).toEqual([true, true, true]);
    await closePool(sessions);
    expect(await mails[0]).toBe("broken");
    expect(tasks.length).toBe(2);
  });

  test("never gets a second turn after a session that went stale", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const sessions = pool({ pace });
    const destination = to(server.port);
    const { mail, delivering } = sent(sessions, destination);
    await until(() => tasks.length === 1);
    server.drop();
    await until(() => !sessions.hasSession(destination));
    let ended = 0;
    tasks[0]?.start(() => ended++);
    await until(() => tasks.length === 2);
    expect(sessions.withdraw(mail)).toBe(true);
    expect(delivering).rejects.toBeInstanceOf(Withdrawn);
    expect(ended).toBe(1);
  });
});

describe("a mail that waits", () => {
  test("knows for what", async () => {
    const server = await scripted({ script: { greeting: "hang" } });
    const sessions = pool({ maxConnections: 1 });
    const [opening, waiting]: [MailObject, MailObject] = [{ ...MAIL }, { ...MAIL }];
    const ended = [opening, waiting].map((object) => sessions.deliver(to(server.port), object));
    expect([opening.waitsFor, waiting.waitsFor]).toEqual(["server", "turn"]);
    await closePool(sessions);
    await Promise.all(ended);
  });

  test("for the pace has its urgency and its turn", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const sessions = pool({ pace });
    const objects: MailObject[] = [{ ...MAIL }, { ...MAIL, isUrgent: true }];
    const sending = objects.map((object) => sessions.deliver(to(server.port), object));
    await until(() => tasks.length === 2);
    expect(new Set(tasks.map(({ urgency }) => urgency))).toEqual(new Set([0, 1]));
    expect(objects.map(({ waitsFor }) => waitsFor)).toEqual(["turn", "turn"]);
    for (const task of tasks) task.start();
    await Promise.all(sending);
  });
});

describe("a handler that sends the next mail at the end of one", () => {
  test("uses the same session, mail after mail", async () => {
    const server = await scripted();
    const sessions = pool({ maxConnections: 1, pipelinesMails: true, maxMessages: 1_000 });
    const ends: number[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const send = (number: number) =>
      sessions.send<MailObject & { number: number }>(
        to(server.port),
        { ...MAIL, number },
        {
          ended(object, { delivery, conversations }) {
            if (delivery.kind === "accepted" && conversations.length === 1)
              ends.push(object.number);
            if (ends.length === 30) resolve();
            else if (object.number < 20) send(object.number + 10);
          },
          withdrawn: () => resolve(),
        },
      );
    for (let number = 0; number < 10; number++) send(number);
    await done;
    expect(ends).toEqual(Array.from({ length: 30 }, (_, number) => number));
    expect(server.transcripts.length).toBe(1);
  });
});

describe("closing the pool", () => {
  test("sends QUIT on idle connections", async () => {
    const server = await scripted();
    const sessions = pool();
    await Promise.all([1, 2, 3].map(() => sessions.deliver(to(server.port), MAIL)));
    await sessions.close();
    expect(server.transcripts.map((lines) => lines.at(-1))).toEqual(["QUIT", "QUIT", "QUIT"]);
  });

  test("waits for mails under way, and ends waiting mails unsent", async () => {
    const server = await scripted();
    const sessions = pool({ maxConnections: 1 });
    const mails = [1, 2].map(() => kindOf(sessions.deliver(to(server.port), MAIL)));
    await until(() => server.transcripts[0]?.includes("DATA") === true);
    await sessions.close();
    expect(await Promise.all(mails)).toEqual(["accepted", "unopened"]);
    expect(server.transcripts[0]?.at(-1)).toBe("QUIT");
  });

  test.each([
    ["greeting", "unopened", 0],
    ["mail", "broken", 2],
    ["dot", "broken", 4],
  ] as const)(
    "closes a connection that hangs at %s after the grace period",
    async (step, kind, lines) => {
      const server = await scripted({ script: { [step]: "hang" } });
      const sessions = pool();
      const delivering = sessions.deliver(to(server.port), MAIL);
      await until(() => server.transcripts[0]?.length === lines);
      await closePool(sessions);
      const { delivery } = await delivering;
      expect(delivery).toMatchObject({
        kind,
        failure: { cause: { kind: "closed", message: "we closed the connection" } },
      });
    },
  );

  test("ends a mail unsent that waits for the pace when its session is closed", async () => {
    const server = await scripted();
    const { tasks, pace } = heldPace();
    const sessions = pool({ pace });
    const delivering = sessions.deliver(to(server.port), MAIL);
    await until(() => tasks.length === 1);
    await closePool(sessions);
    tasks[0]?.start();
    const { delivery, conversations } = await delivering;
    expect(delivery).toMatchObject({ kind: "broken", isUnknown: false, failure: { step: "mail" } });
    expect(conversations).toMatchObject([{ reused: true }]);
    expect(server.transcripts).toEqual([["EHLO client.test"]]);
  });

  test("opens no session for a mail whose commands were sent behind a message", async () => {
    const server = await scripted({ script: { dot: "hang" } });
    const sessions = pool({ maxConnections: 1, pipelinesMails: true });
    const mails = [1, 2].map(() => sessions.deliver(to(server.port), MAIL));
    await until(() => server.hanging === 1);
    await closePool(sessions);
    const [first, second] = await Promise.all(mails);
    expect(first?.delivery).toMatchObject({ kind: "broken", isUnknown: true });
    expect(second?.delivery).toMatchObject({ kind: "broken", isUnknown: false });
    expect(server.transcripts.length).toBe(1);
  });

  test("ends later mails unsent", async () => {
    const server = await scripted();
    const sessions = pool();
    await sessions.close();
    const { delivery, conversations } = await sessions.deliver(to(server.port), MAIL);
    expect(delivery).toMatchObject({ kind: "unopened", failure: { cause: { kind: "closed" } } });
    expect(conversations).toEqual([]);
    expect(server.transcripts).toEqual([]);
  });

  test("can be called twice", async () => {
    const sessions = pool();
    await Promise.all([sessions.close(), sessions.close()]);
  });
});
