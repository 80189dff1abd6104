/** POST …/release, through a relay on loopback. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { parseRelayUrl } from "../../../src/protocols/smtp/relay-url.ts";
import { type InboxApp, inboxApp, invalid } from "../../support/inbox.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { sendRaw } from "../../support/smtp-client.ts";
import { type Sink, startSink } from "../../support/smtp-sink.ts";

const RELEASE = "/inboxes/default/messages/latest/release";
const ADA = { to: ["ada@example.com"] };

let sink: Sink;
let t: InboxApp;
beforeAll(async () => {
  sink = await startSink();
  t = await relayed(sink);
});
beforeEach(() => void sink.messages.splice(0));
afterAll(async () => {
  await t.close();
  await sink.close();
});

function relayed({ port }: Sink): Promise<InboxApp> {
  const relay = parseRelayUrl(`smtp://127.0.0.1:${port}?tls=none`);
  if (!relay.ok) throw new Error(relay.message);
  return inboxApp({ config: { transport: "relay", relayUrl: relay.relay } });
}

async function receive(message: string | Uint8Array, app = t): Promise<void> {
  const client = await app.connect();
  const reply = await sendRaw(client, message, { from: "a@acme.test", to: ["x@example.com"] });
  expect(reply).toStartWith("250");
  client.end();
}

const HEAD = "From: Shop <shop@acme.test>\r\nTo: x@example.com\r\n";

describe("a release", () => {
  test("sends the message to each recipient, with a transcript", async () => {
    await receive(`${HEAD}Subject: Hello\r\n\r\nHi`);
    const to = ["ada@example.com", "bo@example.com"];
    const answer = await t.call("POST", RELEASE, { to });
    expect(answer.status).toBe(200);
    const results = listAt(answer.body, "data");
    expect(results).toMatchObject(to.map((address) => ({ to: address, outcome: "accepted" })));
    const steps = listAt(results[0], "conversations.0.steps").map((s) => stringAt(s, "step"));
    expect(steps).toContain("rcpt");
    const sent = sink.messages.map((m) => [m.from, ...m.to].join(" "));
    expect(new Set(sent)).toEqual(new Set(to.map((address) => `shop@acme.test ${address}`)));
  });

  test("changes nothing but Bcc, the trace of the listener and the signature", async () => {
    const body = Buffer.concat([
      Buffer.from("Hi\r\n..\r\n"),
      Buffer.from([0xff, 0x80, 0x0d, 0x0a]),
      Buffer.from("\tend \r\n"),
    ]);
    const head =
      "Received: from earlier\r\n\tby other; date\r\n" +
      `${HEAD}bcc: hidden@example.com,\r\n more@example.com\r\n` +
      "X-Odd:   spaces  kept\r\nSubject: =?utf-8?q?x?=\r\n\r\n";
    await receive(Buffer.concat([Buffer.from(head), body]));
    expect((await t.call("POST", RELEASE, ADA)).at("data.0.outcome")).toBe("accepted");
    const sent = Buffer.from(sink.messages[0]?.data ?? []).toString("latin1");
    const unsigned = sent.replaceAll(/^DKIM-Signature:[^\r]*\r\n(?:[ \t][^\r]*\r\n)*/gm, "");
    const expected = head.replace(/bcc:[^]*?more@example.com\r\n/, "");
    // The client sent a line end before the final dot.
    const text = `${body.toString("latin1").replace("..", ".")}\r\n`;
    expect(unsigned).toBe(`${expected}${text}`);
  });

  test("reports the refusal of the server, and sends nothing again", async () => {
    const closed = await startSink();
    const own = await relayed(closed);
    await receive(`${HEAD}\r\nHi`, own);
    await closed.close();
    const answer = await own.call("POST", RELEASE, ADA);
    expect(answer.at("data.0.outcome")).toBe("deferred");
    expect(answer.text("data.0.reason").length).toBeGreaterThan(5);
    expect(own.countRows("emails")).toBe(0);
    await own.close();
  });

  test("sends nothing to a suppressed recipient", async () => {
    await receive(`${HEAD}\r\nHi`);
    const to = "suppressed@example.com";
    await t.call("POST", "/suppressions", { email: to });
    const answer = await t.call("POST", RELEASE, { to: [to] });
    expect(answer.at("data")).toEqual([
      { to, outcome: "suppressed", reason: "MANUAL", conversations: [] },
    ]);
    expect(sink.messages).toEqual([]);
  });
});

describe("a release is refused", () => {
  test("if the domain of From is not verified", async () => {
    await receive("From: shop@other.example\r\n\r\nHi");
    expectError(await t.call("POST", RELEASE, ADA), { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    expect(sink.messages).toEqual([]);
  });

  test("if there is no From", async () => {
    await receive("Subject: x\r\n\r\nHi");
    expectError(await t.call("POST", RELEASE, ADA), { status: 409, code: "CONFLICT" });
  });

  test("if the server catches all mail", async () => {
    const own = await inboxApp();
    await own.mail();
    expectError(await own.call("POST", RELEASE, ADA), { status: 409, code: "CONFLICT" });
    await own.close();
  });

  test("for bad recipients and an unknown message", async () => {
    const bad: [body: unknown, field: string, code: string][] = [
      [{ to: ["nobody"] }, "to.0", "invalid_format"],
      [{ to: ["a@b.co\r\nBcc: c@d.co"] }, "to.0", "invalid_format"],
    ];
    for (const [body, field, code] of bad) {
      expectError(await t.call("POST", RELEASE, body), invalid(field, code));
    }
    const unknown = await t.call("POST", RELEASE.replace("latest", "none"), ADA);
    expectError(unknown, { status: 404, code: "MESSAGE_NOT_FOUND" });
  });
});
