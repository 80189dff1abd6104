import { afterEach, describe, expect, test } from "bun:test";
import net from "node:net";
import { type Destination, Pool, type PoolOptions } from "../../../src/protocols/smtp/pool.ts";
import { Session } from "../../../src/protocols/smtp/session.ts";
import { TAILROOM_BYTES } from "../../../src/protocols/mime/tailroom.ts";
import type { MailObject } from "../../../src/protocols/smtp/stream.ts";
import { DEFAULT_TIMEOUTS } from "../../../src/protocols/smtp/timeouts.ts";
import {
  type Action,
  type Script,
  type ScriptStep,
  startScript,
} from "../../support/smtp-script.ts";
import { manualClock } from "../../support/clock.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { closeServer, portOf } from "../../support/smtp-sink.ts";

/** Measures the sessions. */
const clock = manualClock();

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function pool(options: Partial<PoolOptions> = {}): Pool {
  const created = new Pool({ maxConnections: 1, graceMs: 20, pipelinesMails: true, ...options });
  closers.push(() => created.close());
  return created;
}

function to(port: number): Destination {
  const tls = { mode: "none" } as const;
  const options = { host: "127.0.0.1", port, hostname: "client.test", tls, clock };
  return { key: String(port), connect: () => new Session(options) };
}

function mail(number: number): MailObject {
  return {
    envelope: { from: "a@example.com", to: `${number}@example.net` },
    message: Buffer.from(`Subject: ${number}\r\n\r\nmail ${number}\r\n`),
  };
}

/** The number of each message that the server received completely, in the order of arrival. */
function numbersOf(bodies: readonly string[]): number[] {
  return bodies
    .filter((body) => body.endsWith("\r\n.\r\n"))
    .map((body) => Number(/\d+/.exec(body)));
}

/**
 * Sends six mails over one connection and returns how each ended. With `hangs`, the server falls
 * silent at a final dot.
 */
async function sendSix(
  script: Script | Script[],
  { hangs = false, ...options }: Partial<PoolOptions> & { hangs?: boolean } = {},
) {
  const server = await startScript({ script });
  closers.push(() => server.close());
  const sessions = pool(options);
  const deliveries = [1, 2, 3, 4, 5, 6].map((number) =>
    sessions.deliver(to(server.port), mail(number)),
  );
  if (hangs) await advanceWhenSilent(clock, server, { ms: DEFAULT_TIMEOUTS.dotMs });
  const results = await Promise.all(deliveries);
  const kinds = results.map(({ delivery }) => delivery.kind);
  return { results, kinds, arrived: numbersOf(server.bodies), transcripts: server.transcripts };
}

describe("mails that follow each other on one session", () => {
  test("arrive in order, and each is recorded with its own replies", async () => {
    const { results, kinds, arrived, transcripts } = await sendSix({});
    expect(kinds).toEqual(Array.from({ length: 6 }, () => "accepted"));
    expect(arrived).toEqual([1, 2, 3, 4, 5, 6]);
    expect(transcripts.length).toBe(1);
    for (const [i, { conversations }] of results.entries()) {
      const steps = conversations[0]?.steps.filter(({ step }) => step !== "greeting") ?? [];
      const commands = steps.map(({ command }) => command);
      expect(commands.slice(-4)).toEqual([
        expect.stringContaining("MAIL FROM:<a@example.com>"),
        `RCPT TO:<${i + 1}@example.net>`,
        "DATA",
        ".",
      ]);
      expect(conversations.map(({ reused }) => reused)).toEqual([i > 0]);
    }
  });

  test("need one write each", async () => {
    const server = await startCounting();
    const sessions = pool();
    const mails = Array.from({ length: 20 }, (_, i) => sessions.deliver(to(server.port), mail(i)));
    for (const { delivery } of await Promise.all(mails)) expect(delivery.kind).toBe("accepted");
    // EHLO, the commands of the first mail, and the messages, each with the next commands.
    expect(server.chunks()).toBe(22);
  });

  test("arrive unchanged if their commands are written into the room after a message", async () => {
    const server = await startScript();
    closers.push(() => server.close());
    const sessions = pool();
    const texts = [1, 2, 3, 4].map((n) => `Subject: ${n}\r\n\r\n${"line\r\n".repeat(n)}`);
    // A large message is sent in blocks.
    texts.push(`Subject: 5\r\n\r\n${"line\r\n".repeat(50_000)}`, "Subject: 6\r\n\r\n");
    const mails = texts.map((text, i): MailObject => {
      const buffer = Buffer.alloc(text.length + TAILROOM_BYTES);
      const message = buffer.subarray(0, buffer.write(text));
      // The commands for the third address do not fit into the room.
      const to = `${"x".repeat(i === 2 ? TAILROOM_BYTES : 1)}@example.net`;
      return { envelope: { from: "a@example.com", to }, message, hasTailroom: true };
    });
    const ends = await Promise.all(mails.map((each) => sessions.deliver(to(server.port), each)));
    expect(ends.map(({ delivery }) => delivery.kind)).toEqual(texts.map(() => "accepted"));
    expect(server.bodies).toEqual(texts.map((text) => `${text}.\r\n`));
    expect(server.transcripts.length).toBe(1);
  });

  test("are sent one by one if the server offers no PIPELINING", async () => {
    const server = await startScript({ extensions: ["8BITMIME"] });
    closers.push(() => server.close());
    const sessions = pool();
    const mails = [1, 2, 3].map((number) => sessions.deliver(to(server.port), mail(number)));
    for (const { delivery } of await Promise.all(mails)) expect(delivery.kind).toBe("accepted");
    expect(numbersOf(server.bodies)).toEqual([1, 2, 3]);
  });

  test("use as many connections as the limit of mails per session requires", async () => {
    const { kinds, arrived, transcripts } = await sendSix({}, { maxMessages: 2 });
    expect(kinds).toEqual(Array.from({ length: 6 }, () => "accepted"));
    expect(arrived).toEqual([1, 2, 3, 4, 5, 6]);
    expect(
      transcripts.map((lines) => lines.filter((line) => line.startsWith("MAIL")).length),
    ).toEqual([2, 2, 2]);
  });

  test("let an urgent mail go first", async () => {
    const server = await startScript();
    closers.push(() => server.close());
    const sessions = pool();
    const campaign = [1, 2, 3, 4, 5].map((n) => sessions.deliver(to(server.port), mail(n)));
    const urgent = sessions.deliver(to(server.port), { ...mail(9), isUrgent: true });
    await Promise.all([...campaign, urgent]);
    expect(numbersOf(server.bodies)).toEqual([1, 9, 2, 3, 4, 5]);
  });

  test("do not follow a mail that was withdrawn before its turn", async () => {
    const server = await startScript();
    closers.push(() => server.close());
    const sessions = pool();
    const withdrawn: MailObject = { ...mail(2), begin: () => false };
    const first = sessions.deliver(to(server.port), mail(1));
    const second = sessions
      .deliver(to(server.port), withdrawn)
      .catch((error: Error) => error.message);
    const third = sessions.deliver(to(server.port), mail(3));
    expect((await first).delivery.kind).toBe("accepted");
    expect(await second).toBe("the mail was withdrawn before its transaction");
    expect((await third).delivery.kind).toBe("accepted");
    expect(numbersOf(server.bodies)).toEqual([1, 3]);
  });
});

const REFUSAL = { code: 550, text: "5.7.1 no" };
/** The third mail of the first connection meets the fault. */
const third = (step: ScriptStep, action: Action): Script => ({ [step]: [null, null, action] });

describe("a fault in the middle", () => {
  test.each([
    ["mail", REFUSAL, "refused", false],
    ["rcpt", REFUSAL, "refused", false],
    ["data", REFUSAL, "refused", false],
    ["dot", REFUSAL, "refused", true],
    ["mail", "closing", "refused", false],
    ["rcpt", "closing", "refused", false],
    ["data", "closing", "refused", false],
    ["dot", "closing", "refused", true],
    ["rcpt", "close", "broken", false],
    ["data", "close", "broken", false],
    ["dot", "close", "broken", true],
    ["rcpt", "reset", "broken", false],
    ["dot", "reset", "broken", true],
    ["dot", "hang", "broken", true],
    ["dot", "garbage", "broken", true],
  ] as const)("at %s, %p, affects only its mail", async (step, action, kind, hasArrived) => {
    const { kinds, arrived } = await sendSix([third(step, action), {}], {
      hangs: action === "hang",
    });
    // A session that is lost at MAIL is replaced, and the mail is sent over the new one.
    const isReplaced = step === "mail" && action === "closing";
    const expected = isReplaced ? "accepted" : kind;
    expect(kinds).toEqual(["accepted", "accepted", expected, "accepted", "accepted", "accepted"]);
    const all = hasArrived || isReplaced ? [1, 2, 3, 4, 5, 6] : [1, 2, 4, 5, 6];
    expect(arrived).toEqual(all);
  });

  test("that ends every session sends no mail twice", async () => {
    const { kinds, arrived } = await sendSix({ dot: [null, "close"] });
    expect(kinds).toEqual(["accepted", "broken", "accepted", "broken", "accepted", "broken"]);
    expect(arrived).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("does not let a mail wait for a session that cannot be opened again", async () => {
    const { kinds, arrived } = await sendSix([third("dot", "close"), { greeting: "close" }]);
    expect(kinds).toEqual(["accepted", "accepted", "broken", "unopened", "unopened", "unopened"]);
    expect(arrived).toEqual([1, 2, 3]);
  });
});

/** A server that accepts everything and counts the chunks that it receives. */
async function startCounting() {
  const sockets = new Set<net.Socket>();
  let chunks = 0;
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let isData = false;
    let rest = "";
    socket.write("220 counting.test\r\n");
    socket.on("data", (chunk) => {
      chunks++;
      const lines = (rest + chunk.toString("latin1")).split("\r\n");
      rest = lines.pop() ?? "";
      const replies = lines.flatMap((line) => {
        if (isData && line !== ".") return [];
        if (line.startsWith("EHLO")) return ["250-counting.test", "250 PIPELINING"];
        isData = line === "DATA";
        return [isData ? "354 go on" : "250 ok"];
      });
      if (replies.length > 0) socket.write(replies.map((reply) => `${reply}\r\n`).join(""));
    });
    socket.on("error", () => socket.destroy());
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  closers.push(() => closeServer(server, sockets));
  return { port: portOf(server), chunks: () => chunks };
}
