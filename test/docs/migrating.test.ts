/** "Move without a risk" in docs/migrating.md: the steps of the page, with servers on loopback. */

import { expect, test } from "bun:test";
import { PAYLOADS } from "../protocols/relay-reports/payloads.ts";
import { signed } from "../modules/relay-reports/setup.ts";
import { testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { startMailNet } from "../support/mail-net.ts";
import { migratedFile } from "../support/database.ts";
import { startSink } from "../support/smtp-sink.ts";

test("mail leaves through the old provider and is recorded here; then the way changes, and the records stay", async () => {
  const net = await startMailNet({
    records: {
      "customer.example": { MX: ["10 mx.customer.example"] },
      "mx.customer.example": { A: ["127.0.0.2"] },
    },
  });
  const receiver = await net.sink(2);
  const oldProvider = await startSink();
  const relayUrl = { host: "127.0.0.1", port: oldProvider.port, tls: "none" } as const;
  const db = migratedFile();
  const { clock } = net;

  // 1. The application speaks to this server, with the client that it has; the old provider sends.
  const before = await testApp({ db, clock, config: { transport: "relay", relayUrl } });
  const send = (t: typeof before, to: string) =>
    t.create(
      "/resend/emails",
      { from: "shop@acme.test", to, subject: "Your order", html: "<p>Thank you</p>" },
      "id",
      { key: before.secretKey },
    );
  const recordOf = async (t: typeof before, id: string) =>
    (await t.call("GET", `/emails/${id}`, undefined, { key: before.secretKey })).at("data");
  const ada = await send(before, "ada@customer.example");
  await before.deliver();
  expect(oldProvider.messages.map(({ from, to }) => [from, to])).toEqual([
    ["shop@acme.test", ["ada@customer.example"]],
  ]);
  expect(await recordOf(before, ada)).toMatchObject({
    status: "SENT",
    attempts: [{ number: 1 }],
  });

  // 2. The provider reports the results of its mail here.
  const source = await before.call("POST", "/report-sources", { provider: "POSTMARK" });
  const bounced = signed(
    "POSTMARK",
    PAYLOADS.POSTMARK.hard({ id: ada, to: "ada@customer.example", at: clock.now() }),
    clock.now(),
  );
  const path = new URL(source.text("data.url")).pathname;
  const { body: raw, headers } = bounced;
  await before.call("POST", path, undefined, { key: null, raw, headers });
  expect(await recordOf(before, ada)).toMatchObject({ status: "BOUNCED" });

  // 3. A mail that waits while the way changes leaves by the new one.
  await oldProvider.close();
  const bob = await send(before, "bob@customer.example");
  await before.deliver();
  expect(await recordOf(before, bob)).toMatchObject({ status: "QUEUED" });
  await before.close();

  const after = await testApp({
    db,
    clock,
    transport: net.transport(),
    dns: net.resolver(),
    project: "unused",
  });
  await after.start();
  clock.advance(60 * 60_000);
  await waitUntil(() => receiver.messages.length > 0);
  await after.deliver();
  expect(receiver.messages.map(({ to }) => to)).toEqual([["bob@customer.example"]]);
  expect(await recordOf(after, bob)).toMatchObject({ status: "DELIVERED" });
  expect(await recordOf(after, ada)).toMatchObject({ status: "BOUNCED" });
  const again = await send(after, "ada@customer.example");
  expect(await recordOf(after, again)).toMatchObject({ status: "SUPPRESSED" });
  await after.close();
  await net.close();
});
