/** Many messages at once: what a sender can take, and what becomes of mail whose session ends. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { DisconnectedError } from "../../../src/smtp/message-stream.ts";
import { ReceiveRefusal } from "../../../src/modules/inbound-routes/refusal.ts";
import { signMessage } from "../../../src/protocols/dkim/sign.ts";
import { waitUntil } from "../../support/eventually.ts";
import { valueAt } from "../../support/json.ts";
import { rawSmtp } from "../../support/smtp-client.ts";
import { type InboundApp, inboundApp, mail } from "./inbound-app.ts";
import { inboundPort } from "../../../src/smtp/inbound-module.ts";
import { inboundReceiving } from "../../../src/modules/inbound-routes/inbound-routes.ts";
import { inboundTargets } from "../../../src/modules/inbound-routes/inbound-routes.ts";

const MIB = 1024 * 1024;
const TO = "support@in.acme.test";
/** The domain of a sender whose SPF record is never answered; each test has its own. */
let slow = "";
let tests = 0;
const TOO_MANY = "451 4.3.2 Too many messages are being received, try again later";

let t: InboundApp;
beforeAll(async () => {
  t = await inboundApp();
  await t.start();
  await t.route(TO);
});
beforeEach(() => {
  slow = `slow-${++tests}.example`;
  t.server.failures[slow] = "timeout";
});
afterAll(() => t.close());

const message = (subject: string, bytes: number): Buffer => {
  const line = `${"y".repeat(70)}\r\n`;
  const head = ["From: a@unknown.example", `Subject: ${subject}`];
  return Buffer.from(mail(head, line.repeat(Math.ceil(bytes / line.length))));
};
const LARGE = 1.1 * MIB;
/** Just below a MiB, so that the message is not stored before its end. */
const WHOLE = 0.99 * MIB;

type Work = { reply: Promise<string>; endSession: () => void };

/** Receives a message up to its final dot. `reply` is the answer to it. */
async function begin(
  raw: Uint8Array,
  { from = "h@unknown.example", peer }: { from?: string; peer: string },
): Promise<Work> {
  const [receiving, targets] = [inboundReceiving(t.app.app), inboundTargets(t.app.app)];
  const target = targets.find(TO);
  if (target === null) throw new Error("there is no route");
  const { projectSeq } = target;
  const session = new AbortController();
  const arrival = receiving.open(projectSeq);
  await arrival.add(raw);
  const reply = arrival
    .complete(
      { sender: from, peer, helo: "mx.example", trace: Buffer.of(), signal: session.signal },
      {
        projectSeq,
        recipients: [TO],
        routes: [TO],
        forwardTo: [],
        about: null,
        host: "in.acme.test",
      },
    )
    .then(
      () => "250",
      async (error: unknown) => {
        await arrival.discard();
        if (error instanceof ReceiveRefusal) return `${error.code} ${error.message}`;
        return String(error);
      },
    );
  return { reply, endSession: () => session.abort(new DisconnectedError()) };
}

async function end(works: readonly Work[]): Promise<void> {
  for (const { endSession } of works) endSession();
  await Promise.all(works.map(({ reply }) => reply));
}

const isAsked = () => waitUntil(() => t.server.count(`${slow} TXT`) > 0);
const subjects = () => t.received().map((data) => valueAt(data, "subject"));

describe("messages whose look-ups are not answered", () => {
  test("delay no large message of another sender", async () => {
    const works: Work[] = [];
    for (let i = 0; i < 6; i++) {
      works.push(await begin(message("slow", LARGE), { from: `x@${slow}`, peer: "8.8.8.8" }));
    }
    await isAsked();
    const honest = await begin(message("honest", LARGE), { peer: "9.9.9.9" });
    expect(await honest.reply).toBe("250");
    await end(works);
  });

  test("are received after 20 s", async () => {
    // The policy of DMARC is in the cache then, so that the time limit is about SPF only.
    await (
      await begin(message("first", 1_000), { peer: "9.9.9.9" })
    ).reply;
    const work = await begin(message("slow", 1_000), { from: `x@${slow}`, peer: "8.8.8.8" });
    await isAsked();
    t.clock.advance(20_000);
    expect(await work.reply).toBe("250");
    expect(valueAt(t.received().at(-1), "spf")).toBe("temperror");
  });

  test("of one sender take 16 MiB of memory, and leave the rest to other senders", async () => {
    const works: Work[] = [];
    // All addresses of an IPv6 network count as one sender.
    for (let i = 0; i < 18; i++) {
      works.push(
        await begin(message("held", WHOLE), { from: `x@${slow}`, peer: `2600:1:2:3::${i}` }),
      );
    }
    const refused = works.splice(16);
    expect(await Promise.all(refused.map(({ reply }) => reply))).toEqual([TOO_MANY, TOO_MANY]);
    const small = await begin(message("small", 1_000), { peer: "2600:1:2:3::99" });
    expect(await small.reply).toBe("250");
    const honest = await begin(message("honest", WHOLE), { peer: "9.9.9.9" });
    expect(await honest.reply).toBe("250");
    await end(works);
    const later = await begin(message("later", WHOLE), { peer: "2600:1:2:3::1" });
    expect(await later.reply).toBe("250");
  });
});

test("messages that take long to parse delay only those of their sender", async () => {
  const ends: string[] = [];
  const receive = async (subject: string, peer: string) => {
    const lines = ["From: a@unknown.example", `Subject: ${subject}`, "Content-Type: text/html"];
    const { reply } = await begin(Buffer.from(mail(lines, "\n".repeat(20_000))), { peer });
    return reply.then(() => ends.push(subject));
  };
  const many = Array.from({ length: 8 }, () => receive("many", "8.8.8.8"));
  await Promise.all([...many, receive("one", "9.9.9.9")]);
  expect(ends.indexOf("one")).toBeLessThan(3);
});

test("a message whose session ended before its turn is dropped, and leaves nothing", async () => {
  const [mails, pieces] = [t.countRows("received_mails"), t.countRows("received_pieces")];
  const before = t.received().length;
  const first = await begin(message("first", LARGE), { peer: "8.8.8.8" });
  const gone = await begin(message("gone", LARGE), { peer: "8.8.8.8" });
  gone.endSession();
  expect(await gone.reply).toContain("The connection was closed before");
  expect(await first.reply).toBe("250");
  expect(t.received().length).toBe(before + 1);
  expect(t.countRows("received_mails")).toBe(mails + 1);
  expect(t.countRows("received_pieces")).toBe(pieces + 2);
});

test("a sender that gives up and sends again makes one mail", async () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const keys = [{ algorithm: "rsa-sha256" as const, selector: "s1", privateKey }];
  t.server.failures["s1._domainkey.again.example"] = "timeout";
  const plain = message("again", LARGE);
  const signed = await signMessage(
    plain,
    { domain: "again.example", keys },
    new Date(t.clock.now()),
  );
  const mails = t.countRows("received_mails");
  const send = async (raw: Uint8Array) => {
    const client = await rawSmtp(inboundPort(t.app.app).value ?? 0);
    await client.say("EHLO mx.example.net\r\n");
    await client.say("MAIL FROM:<a@again.example>\r\n");
    await client.say(`RCPT TO:<${TO}>\r\n`);
    await client.say("DATA\r\n");
    client.write(raw);
    client.write(".\r\n");
    return client;
  };
  const first = await send(signed);
  await waitUntil(() => t.server.count("s1._domainkey.again.example TXT") > 0);
  expect(t.countRows("received_mails")).toBe(mails + 1);
  first.end();
  await waitUntil(() => t.countRows("received_mails") === mails);
  const second = await send(plain);
  expect(await second.reply()).toBe("250 2.0.0 Ok: received");
  second.end();
  expect(subjects().filter((subject) => subject === "again")).toHaveLength(1);
});
