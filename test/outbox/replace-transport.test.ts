/** Another transport is put in use while mail is sent. */

import { afterEach, expect, test } from "bun:test";
import type { Config } from "../../src/config/settings.ts";
import { mailLane, replaceSending } from "../../src/modules/sending.ts";
import { transportOf } from "../../src/outbox/transports/create-transport.ts";
import { testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { startScript } from "../support/smtp-script.ts";
import { type SinkOptions, startSink } from "../support/smtp-sink.ts";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function sink(options: SinkOptions = {}) {
  const server = await startSink(options);
  closers.push(server.close);
  return server;
}

function through({ port }: { port: number }): Pick<Config, "transport" | "relayUrl"> {
  return { transport: "relay", relayUrl: { host: "127.0.0.1", port, tls: "none" } };
}

async function start(config: Partial<Config>) {
  const t = await testApp({ config });
  closers.push(t.close);
  await t.start();
  const { app } = t.app;
  const change = (to: Partial<Config>) => replaceSending(app, { ...app.config, ...to });
  const send = (count: number, name: string) =>
    t.call("POST", "/v1/send", {
      to: Array.from({ length: count }, (_, i) => `${name}${i}@example.net`),
      from: "a@acme.test",
      subject: "s",
      body: "b",
    });
  const statuses = () =>
    t.db.sqlite
      .query<{ status: string; n: number }, []>(
        "SELECT status, count(*) AS n FROM emails GROUP BY status",
      )
      .all();
  return { t, app, change, send, statuses };
}

const recipients = (...sinks: { messages: { to: string[] }[] }[]) =>
  sinks.flatMap(({ messages }) => messages.flatMap(({ to }) => to));

test("each mail leaves once, by the old relay or by the new one", async () => {
  const [first, second] = [await sink(), await sink()];
  const { change, send, statuses } = await start(through(first));
  await Promise.all([send(90, "a"), send(90, "b")]);
  await waitUntil(() => first.messages.length > 20);
  const changing = change(through(second));
  await send(90, "c");
  await changing;
  await send(30, "d");
  await waitUntil(() => statuses().every(({ status }) => status === "SENT"));
  const all = recipients(first, second);
  expect([all.length, new Set(all).size]).toEqual([300, 300]);
  expect(second.messages.length).toBeGreaterThanOrEqual(30);
  expect(recipients(first).some((to) => to.startsWith("d"))).toBe(false);
});

test("a mail that has begun ends at the old relay, and does not hold up the others", async () => {
  const slow = await startScript({ script: { dot: "hang" } });
  closers.push(slow.close);
  const fast = await sink();
  const { t, app, change, send, statuses } = await start(through(slow));
  await send(1, "old");
  await waitUntil(() => slow.hanging === 1);
  await change(through(fast));
  await send(1, "new");
  await waitUntil(() => fast.messages.length === 1);
  expect(recipients(fast)).toEqual(["new0@example.net"]);
  await waitUntil(() => mailLane(app).underWay() === 1);
  slow.drop();
  await waitUntil(() => mailLane(app).underWay() === 0);
  expect(t.countRows("attempts")).toBe(2);
  expect(statuses()).toContainEqual({ status: "QUEUED", n: 1 });
});

test("mail that waits for a relay that is down leaves at once by the new one", async () => {
  const down = await sink();
  await down.close();
  const up = await sink();
  const { app, change, send, statuses } = await start(through(down));
  await send(30, "a");
  await waitUntil(() => transportOf(app).holdOf?.("") !== null && mailLane(app).underWay() === 0);
  await change(through(up));
  // The mail that showed the outage was attempted, and has its own time.
  await waitUntil(() => statuses().find(({ status }) => status === "SENT")?.n === 29);
  expect(transportOf(app).holdOf?.("")).toBeNull();
  expect(statuses()).toEqual([
    { status: "QUEUED", n: 1 },
    { status: "SENT", n: 29 },
  ]);
});

test("mail is sent that was only caught before, and caught again", async () => {
  const relay = await sink();
  const { app, change, send, t } = await start({ transport: "capture" });
  await send(1, "caught");
  await waitUntil(() => t.countRows("attempts") === 1);
  await change(through(relay));
  expect(transportOf(app).name).toBe("relay");
  await send(1, "sent");
  await waitUntil(() => relay.messages.length === 1);
  await change({ transport: "capture" });
  await send(1, "caught");
  await waitUntil(() => t.countRows("attempts") === 3);
  expect(recipients(relay)).toEqual(["sent0@example.net"]);
});
