/**
 * A transactional mail to a site whose slots are all held by campaign mail that waits for the pace,
 * tested with the whole application: the pace lets it leave before the campaign mail.
 */

import { afterEach, expect, test } from "bun:test";
import { createPace } from "../../../src/outbox/pace.ts";
import { testApp } from "../../support/app.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { startMailNet } from "../../support/mail-net.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** An application that sends four mails in a second; its mail to fast.test is that of a campaign. */
async function startCampaign(mails: number) {
  const net = await startMailNet({ records: { "fast.test": { A: ["127.0.0.2"] } } });
  closers.push(() => net.close());
  const server = await net.script(2);
  const transport = net.transport({ pace: createPace({ ratePerSecond: 4, clock: net.clock }) });
  const t = await testApp({ transport, clock: net.clock, config: { sendRate: 4 } });
  closers.push(async () => {
    const closed = Promise.all([transport.close(), t.close()]);
    await settleEventLoop();
    net.clock.advance(60_000);
    await closed;
  });

  async function send(names: readonly string[]): Promise<void> {
    const to = names.map((name) => `${name}@fast.test`);
    const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>", to };
    expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
  }

  await send(Array.from({ length: mails }, (_, i) => `campaign${i}`));
  t.db.sqlite.run(
    `INSERT INTO campaigns (seq, id, project_seq, name, subject, body, from_address,
       audience_type, status, created_at, updated_at)
     VALUES (1, 'c', 1, 'News', 'Hi', 'Hi', 'news@acme.test', 'ALL', 'SENDING', 0, 0)`,
  );
  t.db.sqlite.run("UPDATE emails SET priority = 1, campaign_seq = 1");
  await t.app.start();
  return {
    net,
    server,
    send,
    recipients: () =>
      server.transcripts.flat().flatMap((line) => /^RCPT TO:<(\w+)@/.exec(line)?.[1] ?? []),
    count: (where: string): number =>
      t.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM emails WHERE ${where}`).get()
        ?.n ?? 0,
  };
}

test("a transactional mail leaves before campaign mail that holds all slots of its site", async () => {
  const { net, server, send, recipients, count } = await startCampaign(6);
  await waitUntil(() => count("status = 'DELIVERED'") === 1);
  // Both slots of the site are held by mails that wait for the pace.
  await waitUntil(() => count("status = 'SENDING'") === 2 && server.transcripts.length === 2);
  await settleEventLoop();
  await send(["transactional"]);
  await settleEventLoop();
  net.clock.advance(125);
  await waitUntil(() => count("status = 'DELIVERED'") === 2);
  expect(recipients().toSorted()).toEqual(["campaign0", "transactional"]);
  // The campaign mail that lost its slot made no attempt, and no further connection was opened.
  await settleEventLoop();
  expect(count("status = 'QUEUED' AND attempts > 0")).toBe(0);
  expect(server.transcripts).toHaveLength(2);
  for (let i = 0; i < 3_000 && count("status = 'DELIVERED'") < 7; i++) {
    net.clock.advance(5);
    await settleEventLoop();
  }
  expect(recipients()).toHaveLength(7);
});
