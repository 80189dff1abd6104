import { afterEach, describe, expect, test } from "bun:test";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { deriveKey } from "../../../src/lib/crypto.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { prepareDomain } from "../../../src/modules/domains/domains.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { createLog } from "../../../src/lib/log.ts";
import { openReturnPath } from "../../../src/outbox/return-path.ts";
import { type TestApp, type TestOptions, testApp } from "../../support/app.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { valueAt, listAt, stringAt } from "../../support/json.ts";
import { ACCEPTED, type TestTransport, testTransport } from "../../support/transport.ts";
import { publish } from "../../support/zone.ts";

const SECRET = "a secret for tests, long enough to be taken";
const BODY = "<p>Grüße  an alle\u00a0</p>\n\n<p>.</p>\n";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type Setup = { t: TestApp; transport: TestTransport; domain: unknown };

/** An application with a test transport and example.com declared verified by the operator. */
async function setUp(options: TestOptions = {}): Promise<Setup> {
  const transport = testTransport({ answer: ACCEPTED });
  const t = await testApp({ transport, ...options });
  closers.push(() => t.close());
  await declareVerified(t, "example.com");
  const list = await t.call("GET", "/domains?limit=1");
  return { t, transport, domain: list.at("data.items.0") };
}

async function declareVerified(
  t: TestApp,
  domain: string,
  projectSeq = t.project.seq,
): Promise<void> {
  const add = await prepareDomain(t.app.app, { projectSeq, domain, isDeclaredVerified: true });
  await t.app.writer.write(add);
}

async function send(t: TestApp, from: string, rest: object = {}): Promise<string> {
  const mail = { to: "a@example.net", from, subject: "Grüße", body: BODY, ...rest };
  return t.create("/v1/send", mail, "data.emails.0.email");
}

/** Results of an independent verifier, which uses the records that the API returns. */
async function verifySignatures(message: Uint8Array, domain: unknown): Promise<string[]> {
  const { results } = await dkimVerify(Buffer.from(message), {
    resolver: async (name) =>
      listAt(domain, "records")
        .filter((record) => valueAt(record, "name") === name)
        .map((record) => [stringAt(record, "value")]),
  });
  return results.map(({ status, algo }) => `${algo} ${status.result}`);
}

describe("mail of a domain with keys", () => {
  test("leaves with two signatures that verify with its published keys", async () => {
    const { t, transport, domain } = await setUp();
    await send(t, "hello@example.com", {
      headers: { "List-Unsubscribe": "<https://example.com/u>" },
      attachments: [{ filename: "ü.bin", content: Buffer.alloc(100_000, 7).toString("base64") }],
    });
    await t.deliver();
    const message = transport.handed[0]?.object.message ?? Buffer.alloc(0);
    expect(await verifySignatures(message, domain)).toEqual([
      "rsa-sha256 pass",
      "ed25519-sha256 pass",
    ]);
  });

  test("is signed by the capture transport as well", async () => {
    const t = await testApp();
    closers.push(() => t.close());
    await declareVerified(t, "example.com");
    const id = await send(t, "hello@example.com");
    await t.deliver();
    const raw = await t.call("GET", `/emails/${id}/raw`);
    expect(String(raw.body).match(/^DKIM-Signature:/gm)).toHaveLength(2);
  });

  test("is signed after a domain without keys was added again", async () => {
    const { t, transport } = await setUp();
    await t.create("/domains", { domain: "acme.test" }, "data.id");
    await send(t, "hello@acme.test");
    await t.deliver();
    const message = Buffer.from(transport.handed[0]?.object.message ?? "").toString();
    expect(message.match(/^DKIM-Signature:.* d=acme\.test;/gm)).toHaveLength(2);
    expect(t.countRows("dkim_keys")).toBe(4);
  });

  test("is signed only by its own domain and project", async () => {
    const { t, transport } = await setUp({ config: { requireVerifiedDomain: false } });
    const other = await t.makeProject("other");
    await declareVerified(t, "theirs.example", other.project.seq);
    for (const from of ["a@sub.example.com", "a@theirs.example", "a@unknown.example"]) {
      await send(t, from);
    }
    await t.deliver();
    expect(transport.handed).toHaveLength(3);
    for (const { object } of transport.handed) {
      expect(Buffer.from(object.message).toString()).not.toContain("DKIM-Signature");
    }
  });

  test("waits if its keys cannot be read, with a warning in the log", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "warn", format: "json", write: (line) => lines.push(line) });
    const { t, transport } = await setUp({ log });
    t.db.sqlite.run("UPDATE dkim_keys SET private_key = zeroblob(1200)");
    const id = await send(t, "hello@example.com");
    await t.deliver();
    expect(transport.handed).toEqual([]);
    const email = await t.call("GET", `/emails/${id}`);
    expect(email.at("data.status")).toBe("QUEUED");
    expect(email.text("data.lastError")).toContain("another installation secret");
    expect(email.at("data.attempts.0")).toMatchObject({
      outcome: "deferred",
      class: "infrastructure",
    });
    const line = lines.find((each) => each.includes("delivery needs attention")) ?? "{}";
    expect(stringAt(JSON.parse(line), "see")).toEndWith(`/app/p/${t.project.id}/emails/${id}`);
  });
});

describe("the return path", () => {
  test("is the sender's address until the bounce host is ready", async () => {
    const { t, transport } = await setUp();
    await send(t, "hello@example.com");
    await t.deliver();
    expect(transport.handed[0]?.object.envelope.from).toBe("hello@example.com");
  });

  const inbound = { host: "127.0.0.1", port: 25 };
  const ready: [
    mode: "capture" | "relay",
    host: string,
    receiver: typeof inbound | null,
    isUsed: boolean,
  ][] = [
    ["capture", "smtp.relay.test", null, true],
    ["relay", "smtp.relay.test", inbound, true],
    // Bounces would find no listener, or the relay replaces the return path.
    ["relay", "smtp.relay.test", null, false],
    ["relay", "smtp.sendgrid.net", inbound, false],
  ];
  test.each(ready)(
    "identifies the mail once the bounce host is ready, with --transport %s, %s, --inbound %j: %p",
    async (mode, host, receiver, isUsed) => {
      const dns = await startDnsServer();
      closers.push(() => dns.close());
      const relayUrl = { host, port: 587, tls: "starttls" } as const;
      const { t, transport, domain } = await setUp({
        config: { transport: mode, relayUrl, hostname: "mail.example.org", inbound: receiver },
        dns: createDns({ servers: [dns.server], clock: systemClock }),
      });
      publish(dns.records, listAt(domain, "records"));
      if (mode === "relay") {
        publish(dns.records, [
          { type: "TXT", name: "bounce.example.com", value: "v=spf1 include:relay.test -all" },
          { type: "MX", name: "bounce.example.com", value: "10 mail.example.org" },
        ]);
      }
      await t.call("POST", `/domains/${stringAt(domain, "id")}/verify`);
      const id = await send(t, "hello@example.com");
      await t.deliver();
      const from = transport.handed[0]?.object.envelope.from ?? "";
      if (isUsed) {
        expect(from).toEndWith("@bounce.example.com");
        expect(openReturnPath(deriveKey(SECRET, "return-paths"), from)).toBe(id);
      } else {
        expect(from).toBe("hello@example.com");
      }
    },
  );
});
