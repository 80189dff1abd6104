/** Parameters of MAIL and RCPT (RFC 5321 §4.1.1.11) at the listeners for submission and inbound mail. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rawSmtp, type RawSmtp } from "../support/smtp-client.ts";
import { submissionApp } from "../support/submission.ts";
import { inboundPort } from "../../src/smtp/inbound-module.ts";

let server: Awaited<ReturnType<typeof submissionApp>>;
beforeAll(async () => {
  server = await submissionApp({ config: { inbound: { host: "127.0.0.1", port: 0 } } });
});
afterAll(() => server.close());

async function inbound(): Promise<RawSmtp> {
  const client = await rawSmtp(inboundPort(server.app.app).value ?? 0);
  await client.say("EHLO mx.example.net\r\n");
  return client;
}

const listeners: [
  name: string,
  from: string,
  to: string,
  connect: () => Promise<RawSmtp>,
  known: string,
][] = [
  ["inbound", "a@b.example", "postmaster@sender.test", inbound, ""],
  ["submission", "a@acme.test", "b@example.com", () => server.signIn(), " AUTH=<>"],
];

describe.each(listeners)("%s", (_, from, to, connect, known) => {
  test.each([
    ["FOO=BAR", "The parameter FOO is"],
    ["size=10 requiretls-x", "The parameter REQUIRETLS-X is"],
    ["RET=HDRS", "The parameter RET is"],
    ["\u00fc=1", "A parameter is"],
  ])("refuses MAIL with the parameters %s, and takes the next MAIL", async (given, words) => {
    const client = await connect();
    const reply = await client.say(`MAIL FROM:<${from}> ${given}\r\n`);
    expect(reply).toBe(`555 5.5.4 ${words} not supported`);
    expect(await client.say(`RCPT TO:<${to}>\r\n`)).toStartWith("503 ");
    expect(await client.say(`MAIL FROM:<${from}>\r\n`)).toStartWith("250 ");
    client.end();
  });

  test("takes the parameters of the announced extensions", async () => {
    const client = await connect();
    const command = `MAIL FROM:<${from}> size=10 BODY=8BITMIME SMTPUTF8${known}\r\n`;
    expect(await client.say(command)).toStartWith("250 ");
    client.end();
  });

  test("refuses RCPT with a parameter, and takes the same recipient without it", async () => {
    const client = await connect();
    await client.say(`MAIL FROM:<${from}>\r\n`);
    expect(await client.say(`RCPT TO:<${to}> NOTIFY=NEVER\r\n`)).toBe(
      "555 5.5.4 The parameter NOTIFY is not supported",
    );
    expect(await client.say(`RCPT TO:<${to}>\r\n`)).toStartWith("250 ");
    client.end();
  });
});

test("inbound refuses the parameter AUTH, because it announces no AUTH", async () => {
  const client = await inbound();
  expect(await client.say("MAIL FROM:<a@b.example> AUTH=<>\r\n")).toStartWith("555 5.5.4 ");
  client.end();
});
