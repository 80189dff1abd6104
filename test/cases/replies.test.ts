/** Refusals as real servers and relays give them, each over the whole application. */

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { prepareDomain } from "../../src/modules/domains/domains.ts";
import { relayTransport } from "../../src/outbox/transports/relay.ts";
import type { Relay } from "../../src/protocols/smtp/relay-url.ts";
import { silentLog } from "../../src/lib/log.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { expectSoon, settleEventLoop, waitUntil } from "../support/eventually.ts";
import { startMailNet } from "../support/mail-net.ts";
import { signIn } from "../support/session.ts";
import { type Action, type Script, startScript } from "../support/smtp-script.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** The last line of a file of this folder, as the server sends it. */
function replyIn(file: string): Action {
  const lines = readFileSync(path.join(import.meta.dir, file), "utf8")
    .trim()
    .split("\n");
  return { raw: `${lines.at(-1)}\r\n` };
}

/** Answers as usual until `accepted` mails were taken, and then as the file says. */
function afterMails(accepted: number, file: string): () => Action | null {
  const reply = replyIn(file);
  let count = 0;
  return () => (count++ < accepted ? null : reply);
}

/** An application that sends over a server with this behaviour. */
async function setUp(script: Script, relayUrl: Relay | null = null) {
  const server = await startScript({ script });
  closers.push(() => server.close());
  const clock = manualClock();
  const transport = relayTransport({
    relay: { host: "127.0.0.1", tls: "none", port: server.port },
    hostname: "sender.test",
    concurrency: 1,
    clock,
    log: silentLog,
  });
  const config = relayUrl === null ? {} : { transport: "relay" as const, relayUrl };
  const t = await testApp({ transport, clock, config });
  closers.push(() => t.close());
  await t.start();

  return {
    t,
    clock,
    server,
    async send(to: string): Promise<string> {
      const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
      return (await t.call("POST", "/v1/send", { ...mail, to })).text("data.emails.0.email");
    },
    status: async (id: string) => (await t.call("GET", `/emails/${id}`)).text("data.status"),
    waitOf: async (id: string) => (await t.call("GET", `/emails/${id}`)).at("data.wait"),
    /** Number of mails by status. */
    statuses: (): Record<string, number> =>
      Object.fromEntries(
        t.db.sqlite
          .query<{ status: string; n: number }, []>(
            "SELECT status, count(*) AS n FROM emails GROUP BY status",
          )
          .all()
          .map((row) => [row.status, row.n]),
      ),
    /** Starts a campaign to so many contacts. */
    async campaign(recipients: number): Promise<string> {
      t.db.sqlite.run(
        `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
         WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
         SELECT 'c' || n, ?2, 'c' || n || '@q.example', 1, '{}', 0, 0 FROM numbers`,
        [recipients, t.project.seq],
      );
      const content = { name: "Spring", subject: "Hi", body: "<p>Hello</p>", audienceType: "ALL" };
      const id = await t.create("/campaigns", { ...content, from: "news@acme.test" }, "data.id");
      await t.call("POST", `/campaigns/${id}/send`);
      return id;
    },
    campaignAt: async (id: string, field: string) =>
      (await t.call("GET", `/campaigns/${id}`)).at(`data.${field}`),
    /** Reason of the address's suppression; undefined if it is not suppressed. */
    suppression: async (email: string) =>
      (await t.call("GET", `/suppressions?email=${email}`)).at("data.items.0.reason"),
  };
}

describe("an address that does not exist is suppressed", () => {
  test.each([
    ["no-such-user-571", "rcpt"],
    ["no-user-found", "rcpt"],
    ["not-in-recipient-list", "rcpt"],
    ["dbeb-541", "rcpt"],
    ["validrcptto", "rcpt"],
    ["yahoo-no-longer-valid", "dot"],
  ] as const)("%s", async (name, step) => {
    const { t, send, status, suppression } = await setUp({
      [step]: replyIn(`${name}/reply.txt`),
    });
    const id = await send("user@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    expect(await status(id)).toBe("BOUNCED");
    expect(await suppression("user@q.example")).toBe("HARD_BOUNCE");
  });
});

describe("an address is not suppressed for a refusal of the message or of the host", () => {
  test("content-521-at-dot", async () => {
    const { t, send, status, suppression } = await setUp({
      dot: replyIn("content-521-at-dot/reply.txt"),
    });
    const id = await send("user@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    expect(await status(id)).toBe("BOUNCED");
    expect(await suppression("user@q.example")).toBeUndefined();
  });
});

describe("a limit of our account keeps all mail in the queue, with the reason", () => {
  test.each(["relay-daily-limit-5xx", "relay-limit-5xx-policy"])("%s", async (name) => {
    const reply = afterMails(20, `${name}/relay-reply.txt`);
    const { t, clock, send, statuses, waitOf, campaign } = await setUp({ dot: reply });
    await campaign(60);
    await waitUntil(() => t.countRows("attempts") === 21);
    await expectSoon(statuses, { SENT: 20, QUEUED: 40 });
    const password = await send("ada@q.example");
    clock.advance(1000);
    await expectSoon(statuses, { SENT: 20, QUEUED: 41 });
    expect(await waitOf(password)).toMatchObject({
      cause: "RELAY_REFUSES",
      reason: expect.stringMatching(/limit/),
    });
    expect(
      (await signIn(t).then(({ get }) => get("/system"))).at("data.checks.findings.0"),
    ).toEqual({
      level: "fail",
      what: expect.stringMatching(/^relay 127\.0\.0\.1:/),
      finding: expect.stringMatching(/^refuses the mail of this account, .*limit/),
      fix: "look at the quota and the state of the account at the relay",
      page: null,
    });
    expect(t.countRows("suppressions")).toBe(0);
  });

  test("relay-quota-552", async () => {
    const reply = replyIn("relay-quota-552/relay-reply.txt");
    const { t, send, status, suppression } = await setUp({ dot: reply });
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push(await send("good@x.example"));
    await waitUntil(() => t.countRows("attempts") === 1);
    for (const id of ids) await expectSoon(() => status(id), "QUEUED");
    expect(await suppression("good@x.example")).toBeUndefined();
  });

  test("ses-two-signatures", async () => {
    const reply = replyIn("ses-two-signatures/relay-reply.txt");
    const { t, statuses, campaign, campaignAt } = await setUp({ dot: reply });
    const id = await campaign(30);
    await waitUntil(() => t.countRows("attempts") === 1);
    await expectSoon(statuses, { QUEUED: 30 });
    expect(await campaignAt(id, "status")).toBe("SENDING");
  });

  test("ends when the relay takes a mail again", async () => {
    let isLimited = true;
    const limit = replyIn("relay-daily-limit-5xx/relay-reply.txt");
    const { t, clock, statuses, campaign } = await setUp({ dot: () => (isLimited ? limit : null) });
    await campaign(60);
    await waitUntil(() => t.countRows("attempts") === 1);
    for (let probes = 2; probes <= 4; probes++) {
      for (let i = 0; i < 60 && t.countRows("attempts") < probes; i++) {
        clock.advance(10_000);
        await settleEventLoop();
      }
    }
    expect(t.countRows("attempts")).toBe(4);
    isLimited = false;
    for (let i = 0; i < 200 && statuses()["SENT"] !== 60; i++) {
      clock.advance(60_000);
      await settleEventLoop();
    }
    expect(statuses()).toEqual({ SENT: 60 });
  });
});

describe("a campaign whose first mails all fail alike pauses itself", () => {
  test.each([
    ["the message is refused", "554 5.6.0 Nope", "BOUNCED"],
    ["the sender is not known", "554 Message rejected: Email address is not verified.", "QUEUED"],
  ])("%s", async (_, reply, status) => {
    const { statuses, campaign, campaignAt } = await setUp({ dot: { raw: `${reply}\r\n` } });
    const id = await campaign(60);
    await expectSoon(() => campaignAt(id, "status"), "PAUSED");
    await waitUntil(() => statuses()["SENDING"] === undefined);
    expect(await campaignAt(id, "statusReason")).toMatch(/^the first 10 mails all failed alike/);
    expect(statuses()["SENT"]).toBeUndefined();
    expect(statuses()[status]).toBeGreaterThanOrEqual(10);
    expect(statuses()["BOUNCED"] ?? 0).toBeLessThan(20);
  });

  test("unless the failures are different, or are of recipients", async () => {
    const replies = ["550 5.1.1 User unknown", "550 5.7.1 Policy", "554 5.6.0 Nope"];
    let count = 0;
    const { statuses, campaign, campaignAt } = await setUp({
      rcpt: () => ({ raw: `${replies[count++ % 3]}\r\n` }),
    });
    const id = await campaign(30);
    await waitUntil(() => statuses()["BOUNCED"] === 30);
    expect(await campaignAt(id, "statusReason")).toBeNull();
  });
});

describe("mail goes to a relay with signatures only if they survive there", () => {
  const [messageId = "", date = ""] = readFileSync(
    path.join(import.meta.dir, "ses-message-id-rewritten/what-the-relay-changes.txt"),
    "utf8",
  ).split("\n");

  test.each([
    ["email-smtp.eu-west-1.amazonaws.com", undefined, 0],
    ["email-smtp.eu-west-1.amazonaws.com", true, 2],
    ["smtp.postmarkapp.com", undefined, 0],
    ["smtp.sendgrid.net", undefined, 2],
    ["smtp.sendgrid.net", false, 0],
    ["relay.example", undefined, 2],
  ] as const)("ses-message-id-rewritten: %s with sign=%p", async (host, sign, signatures) => {
    const url: Relay = {
      host,
      port: 587,
      tls: "starttls",
      ...(sign === undefined ? {} : { sign }),
    };
    const { t, server } = await setUp({}, url);
    const added = { projectSeq: t.project.seq, domain: "signed.example", isDeclaredVerified: true };
    await t.app.writer.write(await prepareDomain(t.app.app, added));
    const mail = { from: "a@signed.example", to: "b@q.example", subject: "Hi", body: "<p>Hi</p>" };
    await t.call("POST", "/v1/send", mail);
    await waitUntil(() => server.bodies.length === 1);
    const [body = ""] = server.bodies;
    expect(body.match(/^DKIM-Signature:/gm) ?? []).toHaveLength(signatures);
    // The relay may replace these fields, which our signatures cover.
    for (const line of [messageId, date]) expect(body).toContain(`${line.split(":", 1)[0]}: `);
  });
});

describe("a site that refuses this server, or the sender, keeps the mail in the queue", () => {
  /** An application that delivers to the one host of q.example. */
  async function setUpDirect(script: Script) {
    const records = { "q.example": { A: ["127.0.0.2"] } };
    const net = await startMailNet({ records });
    closers.push(() => net.close());
    await net.script(2, { script });
    const t = await testApp({ transport: net.transport(), clock: net.clock });
    closers.push(() => t.close());
    await t.start();
    const send = async (to: string): Promise<string> => {
      const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>", to };
      return (await t.call("POST", "/v1/send", mail)).text("data.emails.0.email");
    };
    const mailAt = async (id: string, field: string) =>
      (await t.call("GET", `/emails/${id}`)).at(`data.${field}`);
    return { t, net, send, mailAt };
  }

  const BLOCK = "5.7.1 Service unavailable; client host [203.0.113.9] blocked using Spamhaus";

  test.each([
    ["a block by reputation", "rcpt", BLOCK],
    ["a refusal of the sender without a reason", "mail", "Go away"],
  ] as const)("%s, until it takes mail again", async (_, step, text) => {
    const { t, net, send, mailAt } = await setUpDirect({ [step]: [{ code: 550, text }] });
    const id = await send("ada@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    await expectSoon(() => mailAt(id, "status"), "QUEUED");
    expect(await mailAt(id, "lastError")).toContain(text);
    expect(await mailAt(id, "bouncedAt")).toBeNull();
    await expectSoon(async () => {
      net.clock.advance(60_000);
      return mailAt(id, "status");
    }, "DELIVERED");
    expect(t.countRows("suppressions")).toBe(0);
  });

  test("other mail to it waits with its reply as the reason", async () => {
    const { t, send, mailAt } = await setUpDirect({ rcpt: { code: 550, text: BLOCK } });
    await send("ada@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    const id = await send("bob@q.example");
    await expectSoon(() => mailAt(id, "wait.cause"), "SITE_PAUSED");
    expect(await mailAt(id, "wait.reason")).toContain("blocked using Spamhaus");
    expect(t.countRows("attempts")).toBe(1);
  });

  test("it bounces at the end of its lifetime, and the recipient is not suppressed", async () => {
    const { t, net, send, mailAt } = await setUpDirect({ rcpt: { code: 550, text: BLOCK } });
    const id = await send("ada@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    await expectSoon(async () => {
      net.clock.advance(12 * 3_600_000);
      return mailAt(id, "status");
    }, "BOUNCED");
    expect(await mailAt(id, "lastError")).toMatch(/^4\.4\.7 .*blocked using Spamhaus/);
    expect(t.countRows("suppressions")).toBe(0);
  });
});
