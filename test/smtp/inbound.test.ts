/** The listener for mail from other servers: what it accepts, and what becomes of reports. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type BounceApp,
  bounceApp,
  complaint,
  returnPathOf,
  UNKNOWN_USER,
  vacation,
} from "../modules/bounces/reports.ts";
import { relayForms } from "../support/relay-forms.ts";
import { type RawSmtp, rawSmtp, sendRaw } from "../support/smtp-client.ts";
import { inboundPort } from "../../src/smtp/inbound-module.ts";

const DAY_MS = 24 * 3_600_000;

let t: BounceApp;
beforeAll(async () => {
  t = await bounceApp({ config: { inbound: { host: "127.0.0.1", port: 0 } } });
  await t.deliver();
});
afterAll(() => t.close());

async function connect(): Promise<RawSmtp> {
  const client = await rawSmtp(inboundPort(t.app.app).value ?? 0);
  await client.say("EHLO mx.example.net\r\n");
  return client;
}

/** The replies to RCPT for these paths, in one session. */
async function replies(paths: readonly string[]): Promise<string[]> {
  const client = await connect();
  await client.say("MAIL FROM:<>\r\n");
  const all: string[] = [];
  for (const path of paths) all.push(await client.say(`RCPT TO:${path}\r\n`));
  client.end();
  return all;
}

async function deliverTo(to: string[], message: string): Promise<string> {
  const client = await connect();
  const reply = await sendRaw(client, message, { from: "", to });
  client.end();
  return reply;
}

const withCrlf = (raw: string) => raw.replace(/\r?\n/g, "\r\n");

describe("RCPT", () => {
  test("accepts a return path, in any case, until the mail is 30 days old", async () => {
    const path = returnPathOf(await t.sent());
    const forms = [`<${path}>`, `<${path.toUpperCase()}>`];
    expect((await replies(forms)).map((reply) => reply.slice(0, 3))).toEqual(["250", "250"]);
    t.clock.advance(31 * DAY_MS);
    expect(await replies(forms)).toEqual(forms.map(() => "550 5.1.1 No such address here"));
  });

  test("refuses a return path with a wrong signature", async () => {
    const path = returnPathOf(await t.sent());
    const at = path.indexOf("@");
    const last = path[at - 2] === "a" ? "b" : "a";
    const forged = `${path.slice(0, at - 2)}${last}${path.slice(at - 1)}`;
    expect(await replies([`<${forged}>`])).toEqual(["550 5.1.1 No such address here"]);
  });

  test("accepts postmaster and abuse of our names only", async () => {
    const accepted = ["postmaster@sender.test", "Abuse@bounce.acme.test"];
    expect(
      (await replies(accepted.map((each) => `<${each}>`))).map((text) => text.slice(0, 3)),
    ).toEqual(["250", "250"]);
    const refused = ["postmaster@acme.test", "abuse@bounce.other.test", "info@sender.test"];
    expect(await replies(refused.map((each) => `<${each}>`))).toEqual(
      refused.map(() => "550 5.1.1 No such address here"),
    );
  });

  test.each(["postmaster", "Postmaster", "POSTMASTER"])(
    "accepts <%s> without a domain",
    async (to) => {
      expect(await replies([`<${to}>`])).toEqual(["250 2.1.5 Accepted"]);
      const message = `From: a@b.test\r\nSubject: To ${to}\r\n\r\nHello`;
      expect(await deliverTo([to], message)).toStartWith("250 ");
      const latest = await t.call("GET", "/inboxes/postmaster/messages/latest");
      expect(latest.at("data.subject")).toBe(`To ${to}`);
      expect(await replies(["<abuse>"])).not.toEqual([expect.stringMatching(/^250/)]);
    },
  );

  test.each(relayForms("sender.test", "elsewhere.example"))("does not relay: %s", async (form) => {
    const [reply = ""] = await replies([form]);
    expect(reply).toMatch(/^5\d\d /);
  });

  test("accepts no AUTH", async () => {
    const client = await connect();
    expect(await client.say("AUTH PLAIN AAAA\r\n")).toMatch(/^5\d\d /);
    client.end();
  });
});

describe("a report", () => {
  test("changes its mail before it is answered with 250", async () => {
    const id = await t.sent("ada@example.net");
    const raw = withCrlf(UNKNOWN_USER.replaceAll("bob@example.net", "ada@example.net"));
    expect(await deliverTo([returnPathOf(id)], raw)).toStartWith("250 2.0.0 ");
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED" });
  });

  test("of a complaint unsubscribes; a vacation note changes nothing", async () => {
    const [one, other] = [await t.sent("c1@example.net"), await t.sent("c2@example.net")];
    await deliverTo([returnPathOf(one)], withCrlf(complaint()));
    await deliverTo([returnPathOf(other)], withCrlf(vacation()));
    expect(await t.email(one)).toMatchObject({ status: "COMPLAINED" });
    expect(await t.email(other)).toMatchObject({ status: "SENT" });
  });

  test.each([
    ["two fields From", (raw: string) => `From: x@elsewhere.example\r\n${raw}`],
    ["no field From", (raw: string) => raw.replace(/^From:.*\r\n/im, "")],
  ])("with %s counts as well", async (what, changed) => {
    const domain = `${what.replaceAll(" ", "-").toLowerCase()}.example`;
    const [one, other] = [await t.sent(`b@${domain}`), await t.sent(`c@${domain}`)];
    const bounce = withCrlf(UNKNOWN_USER.replaceAll("bob@example.net", `b@${domain}`));
    for (const raw of [bounce, withCrlf(complaint())]) expect(changed(raw)).not.toBe(raw);
    await deliverTo([returnPathOf(one)], changed(bounce));
    await deliverTo([returnPathOf(other)], changed(withCrlf(complaint())));
    expect(await t.email(one)).toMatchObject({ status: "BOUNCED" });
    expect(await t.email(other)).toMatchObject({ status: "COMPLAINED" });
  });

  test("goes to one return path; another one needs another transaction", async () => {
    const [one, other] = [await t.sent("g1@example.net"), await t.sent("g2@example.net")];
    const client = await connect();
    await client.say("MAIL FROM:<>\r\n");
    expect(await client.say(`RCPT TO:<${returnPathOf(one)}>\r\n`)).toStartWith("250 ");
    expect(await client.say(`RCPT TO:<${returnPathOf(other)}>\r\n`)).toStartWith("452 4.5.3 ");
    client.end();
  });

  test("has to wait while 32 others are received", async () => {
    const id = await t.sent("h@example.net");
    const clients = await Promise.all(Array.from({ length: 33 }, connect));
    for (const client of clients) {
      await client.say("MAIL FROM:<>\r\n");
      await client.say(`RCPT TO:<${returnPathOf(id)}>\r\n`);
      expect(await client.say("DATA\r\n")).toStartWith("354 ");
    }
    const end = `${withCrlf(vacation())}\r\n.\r\n`;
    expect(await clients.at(-1)?.say(end)).toStartWith("452 4.3.2 ");
    expect(await clients[0]?.say(end)).toStartWith("250 ");
    for (const client of clients) client.end();
    expect(await deliverTo([returnPathOf(id)], withCrlf(vacation()))).toStartWith("250 ");
  });

  test("with a bare LF is refused and changes nothing", async () => {
    const id = await t.sent("d@example.net");
    expect(await deliverTo([returnPathOf(id)], "From: a@b.test\n\nx")).toStartWith("550 5.6.0 ");
    expect(await t.email(id)).toMatchObject({ status: "SENT" });
  });

  test("that returns 20 MiB of the mail is read, and larger ones are refused", async () => {
    const id = await t.sent("e@example.net");
    const raw = withCrlf(UNKNOWN_USER.replaceAll("bob@example.net", "e@example.net"));
    const returned = "x"
      .repeat(998)
      .concat("\r\n")
      .repeat(20 * 1024);
    expect(await deliverTo([returnPathOf(id)], `${raw}\r\n${returned}`)).toStartWith("250 ");
    expect(await t.email(id)).toMatchObject({ status: "BOUNCED" });
    expect(await deliverTo([returnPathOf(id)], returned.repeat(2))).toStartWith("552 5.3.4 ");
  });
});

test("mail for the postmaster is in the inbox of that name before it is answered", async () => {
  const message = "From: a@b.test\r\nSubject: Your server\r\n\r\nHello";
  expect(await deliverTo(["postmaster@sender.test"], message)).toStartWith("250 ");
  const latest = await t.call("GET", "/inboxes/postmaster/messages/latest");
  expect(latest.at("data.subject")).toBe("Your server");
});
