import { afterEach, describe, expect, test } from "bun:test";
import type { Dispatch, WhenAllowed } from "../../../src/protocols/smtp/dispatch.ts";
import { Pool, type PoolOptions } from "../../../src/protocols/smtp/pool.ts";
import type { Destination } from "../../../src/protocols/smtp/session-group.ts";
import { Session, type SessionOptions } from "../../../src/protocols/smtp/session.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { passSilence } from "../../support/silence.ts";
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

const MAIL: Dispatch = {
  envelope: { from: "a@example.com", to: "b@example.net" },
  message: Buffer.from("a\r\n"),
};

async function kindOf(delivering: ReturnType<Pool["deliver"]>): Promise<string> {
  return (await delivering).delivery.kind;
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
    const sessions = pool({ maxConnections: 1 });
    const destination = to(server.port);
    await sessions.deliver(destination, MAIL);
    const whenAllowed: WhenAllowed = (begin) => {
      if (server.transcripts.length === 1) server.drop();
      const isReplaced = () => server.transcripts.length === 2 || !sessions.hasSession(destination);
      void until(isReplaced).then(() => begin(() => {}));
    };
    const { delivery, conversations } = await sessions.deliver(destination, {
      ...MAIL,
      whenAllowed,
    });
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
    await passSilence(clock, server, { ms: 150 });
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

describe("a mail whose signal is aborted", () => {
  test.each([
    ["greeting", "unopened", 0, 0],
    ["ehlo", "unopened", 1, 0],
    ["mail", "broken", 2, 0],
    ["dot", "broken", 4, 1],
  ] as const)("ends at once while it hangs at %s", async (step, kind, lines, bodies) => {
    const server = await scripted({ script: { [step]: "hang" } });
    const stop = new AbortController();
    const delivering = pool().deliver(to(server.port), { ...MAIL, signal: stop.signal });
    const { transcripts } = server;
    await until(() => transcripts[0]?.length === lines && server.bodies.length === bodies);
    stop.abort();
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
    const signal = AbortSignal.abort();
    expect(await kindOf(pool().deliver(to(server.port), { ...MAIL, signal }))).toBe("unopened");
    expect(server.transcripts).toEqual([]);
  });

  test("does not affect its session if the mail has ended before", async () => {
    const server = await scripted();
    const sessions = pool();
    const stop = new AbortController();
    await sessions.deliver(to(server.port), { ...MAIL, signal: stop.signal });
    stop.abort();
    expect(await kindOf(sessions.deliver(to(server.port), MAIL))).toBe("accepted");
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
