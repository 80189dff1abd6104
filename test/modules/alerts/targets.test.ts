/**
 * The targets of alerts: the messages to each, a kill between them, a target that hangs or fails,
 * and the second path of mail.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { alertSigningSecret } from "../../../src/modules/alerts/targets.ts";
import { holdQueue, queueHold } from "../../../src/outbox/queue-hold.ts";
import { addDomain, TEST_SECRET } from "../../support/app.ts";
import { expectSoon, waitUntil } from "../../support/eventually.ts";
import { startMailNet } from "../../support/mail-net.ts";
import { startSink } from "../../support/smtp-sink.ts";
import {
  type AlertApp,
  alertApp,
  alertTargetServers,
  MINUTE_MS,
  OPERATOR,
  relayAt,
} from "./alert-app.ts";

let servers: Awaited<ReturnType<typeof alertTargetServers>>;
let a: AlertApp;

beforeAll(async () => {
  servers = await alertTargetServers();
});
afterAll(() => servers.close());
beforeEach(async () => {
  servers.web.requests.length = 0;
  servers.sink.messages.length = 0;
  servers.web.answer = () => ({});
  a = await alertApp(servers);
});
afterEach(() => a.close());

const paths = () => servers.web.requests.map(({ path }) => path).toSorted();
const mailText = (index: number) =>
  Buffer.from(servers.sink.messages[index]?.data ?? "").toString();

/** Raises the alert about a certificate. */
async function raise(app = a): Promise<void> {
  app.world.certificates = [
    { name: "HTTPS", life: null, failure: { count: 3, message: "<refused> & käse" } },
  ];
  await app.minutes(1);
}

async function clear(app = a): Promise<void> {
  app.world.certificates = [];
  await app.minutes(1);
}

function notices(app = a) {
  return app.t.db.sqlite
    .query<{ target: string; kind: string; isDelivered: number; reply: string }, []>(
      "SELECT target, kind, is_delivered AS isDelivered, reply FROM alert_notices ORDER BY seq",
    )
    .all();
}

test("each target gets its form, and its reply is stored", async () => {
  a.sender.start();
  await raise();
  await a.sender.idle();
  const [hook, slack, topic] = servers.web.requests.toSorted((one, other) =>
    one.path.localeCompare(other.path),
  );
  const signed = new Webhook(alertSigningSecret(TEST_SECRET));
  const headers = {
    "webhook-id": String(hook?.headers["webhook-id"]),
    // The library checks the time, and the clock of the test stands still.
    "webhook-timestamp": String(hook?.headers["webhook-timestamp"]),
    "webhook-signature": String(hook?.headers["webhook-signature"]),
  };
  const at = new Date(a.clock.now());
  expect(signed.sign(headers["webhook-id"], at, hook?.body ?? "")).toBe(
    headers["webhook-signature"],
  );
  expect(JSON.parse(hook?.body ?? "")).toMatchObject({
    type: "alert.raised",
    timestamp: "2026-03-02T10:01:00.000Z",
    data: {
      condition: "certificate",
      severity: "warning",
      title: "The certificate of HTTPS is not renewed",
      hostname: "sender.test",
    },
  });
  expect(JSON.parse(slack?.body ?? "").text).toContain("&lt;refused&gt; &amp; käse");
  expect(topic?.headers).toMatchObject({
    title: "[sender.test] Problem: The certificate of HTTPS is not renewed",
    priority: "4",
    tags: "warning",
  });
  expect(topic?.body).toContain("What to do: With --tls acme");
  expect(mailText(0)).toContain("Subject: [sender.test] Problem: The certificate of HTTPS");
  expect(mailText(0)).toContain("Auto-Submitted: auto-generated");
  expect(mailText(0)).toContain("&lt;refused&gt;");
  expect(notices().map(({ target, isDelivered }) => [target, isDelivered])).toEqual([
    [`email ${OPERATOR}`, 1],
    ["webhook", 1],
    ["ntfy", 1],
    ["slack", 1],
  ]);
  expect(notices()[1]?.reply).toBe("200");
  expect(notices()[0]?.reply).toContain("250");
});

describe("after a kill", () => {
  test("between raising and telling, each target is told once by the next process", async () => {
    await raise();
    expect([paths(), servers.sink.messages]).toEqual([[], []]);
    const next = await alertApp(servers, { db: a.t.db, clock: a.clock });
    next.world.certificates = a.world.certificates;
    next.sender.start();
    await next.sender.idle();
    await next.minutes(3);
    await next.sender.idle();
    expect(paths()).toEqual(["/hook", "/slack", "/topic"]);
    expect(servers.sink.messages).toHaveLength(1);
    await next.close();
  });

  test("between telling and storing that, a target is told again with the same id", async () => {
    a.t.db.sqlite.run(`CREATE TEMP TRIGGER fault BEFORE UPDATE ON main.alert_notices
      WHEN new.target = 'webhook' BEGIN SELECT RAISE(ABORT, 'no'); END`);
    a.sender.start();
    await raise();
    await a.sender.idle();
    a.t.db.sqlite.run("DROP TRIGGER temp.fault");
    const next = await alertApp(servers, { db: a.t.db, clock: a.clock });
    next.sender.start();
    await next.sender.idle();
    expect(paths()).toEqual(["/hook", "/hook", "/slack", "/topic"]);
    const ids = servers.web.requests.flatMap(({ headers }) => headers["webhook-id"] ?? []);
    expect(new Set(ids).size).toBe(1);
    expect(servers.sink.messages).toHaveLength(1);
    await next.close();
  });
});

describe("a target that", () => {
  test("hangs delays no other, and is told later, in order", async () => {
    let isHanging = true;
    servers.web.answer = ({ path }) =>
      path === "/hook" && isHanging ? { write() {} } : { status: 200 };
    const delivered = () => notices().filter(({ isDelivered }) => isDelivered === 1).length;
    a.sender.start();
    await raise();
    await waitUntil(() => delivered() === 3);
    // The minute that passes here is longer than the time limit of a request.
    await clear();
    await waitUntil(() => delivered() === 6);
    expect(notices().find(({ target }) => target === "webhook")?.reply).toBe(
      "Timed out: no answer within 10 s.",
    );
    expect(paths().filter((path) => path !== "/hook")).toEqual([
      "/slack",
      "/slack",
      "/topic",
      "/topic",
    ]);
    isHanging = false;
    a.clock.advance(MINUTE_MS);
    await a.sender.idle();
    const types = servers.web.requests
      .filter(({ path }) => path === "/hook")
      .map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(["alert.raised", "alert.raised", "alert.cleared"]);
    expect(notices().every(({ isDelivered }) => isDelivered === 1)).toBe(true);
  });

  test("fails is tried for a day with growing pauses, and then given up", async () => {
    servers.web.answer = ({ path }) => (path === "/slack" ? { status: 404, body: "no_team" } : {});
    a.sender.start();
    await raise();
    for (let minute = 0; minute < 26 * 60; minute++) {
      await a.sender.idle();
      a.clock.advance(MINUTE_MS);
    }
    const tries = paths().filter((path) => path === "/slack").length;
    expect(tries).toBeGreaterThan(25);
    expect(tries).toBeLessThan(33);
    expect(notices().find(({ target }) => target === "slack")).toMatchObject({
      isDelivered: 0,
      reply: "404 no_team",
    });
    // A target without a notice of the beginning gets none of the end.
    await clear();
    await a.sender.idle();
    expect(paths().filter((path) => path === "/slack")).toHaveLength(tries);
    expect(paths().filter((path) => path === "/hook")).toHaveLength(2);
  });

  test("is no setting any more is not told, and a new one is told of what comes", async () => {
    await raise();
    const other = await startSink();
    a.app.config = {
      ...a.app.config,
      alertSlack: null,
      operatorEmail: ["eve@operators.test"],
      alertRelayUrl: relayAt(other.port),
    };
    a.sender.start();
    await a.sender.idle();
    expect([paths(), other.messages]).toEqual([["/hook", "/topic"], []]);
    a.world.space.freeBytes = 1;
    await a.minutes(1);
    await a.sender.idle();
    expect(paths()).toEqual(["/hook", "/hook", "/topic", "/topic"]);
    expect(other.messages.map(({ to }) => to)).toEqual([["eve@operators.test"]]);
    expect(servers.sink.messages).toEqual([]);
    // Notices that waited for a target for more than a week are not sent when it is a setting again.
    a.clock.advance(8 * 24 * 60 * MINUTE_MS);
    a.app.config = { ...a.app.config, alertSlack: `${servers.web.origin}/slack` };
    a.sender.wake();
    await a.sender.idle();
    expect(paths()).not.toContain("/slack");
    await other.close();
  });
});

describe("without a relay of its own, mail to an operator", () => {
  test("goes straight to the mail server of the address, signed, beside a held queue", async () => {
    const net = await startMailNet({
      records: {
        "operators.test": { MX: ["10 mx.operators.test"] },
        "mx.operators.test": { A: ["127.0.0.2"] },
      },
    });
    const sink = await net.sink(2);
    const direct = await alertApp(servers, {
      dns: net.resolver(),
      config: {
        alertRelayUrl: null,
        alertWebhook: null,
        alertNtfy: null,
        alertSlack: null,
        allowPrivateAddresses: true,
        directPort: net.port,
        systemFrom: { address: "alerts@signed.test", name: "Alerts" },
      },
    });
    await addDomain(direct.t.app, 1, "signed.test");
    holdQueue(direct.t.db, direct.clock.now());
    await queueHold(direct.app).refresh();
    direct.sender.start();
    await raise(direct);
    await expectSoon(() => sink.messages.length, 1);
    await direct.sender.idle();
    const [message] = sink.messages;
    expect([message?.from, message?.to]).toEqual(["alerts@signed.test", [OPERATOR]]);
    const text = Buffer.from(message?.data ?? "").toString();
    expect(text).toMatch(/^DKIM-Signature: (?:.|\r\n )*d=signed\.test/m);
    expect(notices(direct)).toMatchObject([{ target: `email ${OPERATOR}`, isDelivered: 1 }]);
    await direct.close();
    await net.close();
  });
});
