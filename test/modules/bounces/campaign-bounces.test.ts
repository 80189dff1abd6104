/** Bounces and complaints that arrive later count for their campaign, and for its circuit breaker. */

import { expect, test } from "bun:test";
import { INVARIANTS } from "../../../src/cli/check/invariants.ts";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { waitUntil } from "../../support/eventually.ts";
import { ACCEPTED, testTransport } from "../../support/transport.ts";
import { campaignApp } from "../campaigns/campaign-app.ts";
import { complaint, returnPathOf, UNKNOWN_USER } from "./reports.ts";
import { processReport } from "../../../src/modules/bounces/bounces.ts";

const BOUNCED: Outcome = {
  kind: "bounced",
  class: "no_such_recipient",
  reason: "550 no such user",
  conversations: [],
};

/** The connection was lost after the final dot. */
const LOST: Outcome = {
  kind: "deferred",
  class: "infrastructure",
  reason: "lost",
  conversations: [
    {
      host: "mx.test",
      address: null,
      port: 25,
      tls: null,
      reused: false,
      steps: [{ step: "dot", command: ".", code: null, enhanced: null, text: "", ms: 1 }],
    },
  ],
};

test("a campaign counts a mail as left once, and is paused by late bounces", async () => {
  const transport = testTransport();
  const config = { campaignLimitAfter: 20, campaignBounceLimit: 0.1 };
  const t = await campaignApp({ transport, config });
  let handed = 0;
  transport.answer = () => (handed++ < 2 ? BOUNCED : ACCEPTED);
  t.insertContacts(40);
  const id = await t.campaign();
  await t.act(id, "send");
  await t.settle();
  expect(await t.stats(id)).toMatchObject({ sent: 38, bounced: 2, bouncedLater: 0 });

  const ids = t.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'SENT' ORDER BY seq")
    .all();
  const report = (emailId: string, raw: string) =>
    processReport(t.app.app, Buffer.from(raw), returnPathOf(emailId));
  for (const { id: emailId } of ids.slice(0, 3)) await report(emailId, UNKNOWN_USER);
  await report(ids[3]?.id ?? "", complaint());

  expect(await t.stats(id)).toMatchObject({
    queued: 0,
    sent: 38,
    bounced: 5,
    bouncedLater: 3,
    bounceRate: 5 / 40,
    complained: 1,
    unsubscribed: 1,
  });
  const violated = INVARIANTS.filter(
    ({ violations }) => t.db.sqlite.query(violations).get() !== null,
  );
  expect(violated.map(({ name }) => name)).toEqual([]);
  await t.close();
});

test("one or two recipients cannot pause a campaign by complaints, however often they send them", async () => {
  const transport = testTransport({ concurrency: 40 });
  const config = { campaignLimitAfter: 20, campaignComplaintLimit: 0.01 };
  const t = await campaignApp({ transport, config });
  t.insertContacts(40);
  const id = await t.campaign();
  await t.act(id, "send");
  await t.app.campaigns.tick();
  await waitUntil(() => transport.handed.length >= 30);
  for (const mail of transport.open().slice(0, 30)) mail.end(ACCEPTED);
  await waitUntil(() => t.count("status = 'SENT'") === 30);
  const sent = t.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'SENT' LIMIT 3")
    .all();
  const complain = ({ id: emailId }: { id: string }) =>
    processReport(t.app.app, Buffer.from(complaint()), returnPathOf(emailId));
  for (const mail of sent.slice(0, 2)) for (let i = 0; i < 3; i++) await complain(mail);
  expect(await t.stats(id)).toMatchObject({ complained: 2 });
  expect(await t.statusOf(id)).toBe("SENDING");
  for (const mail of sent.slice(2)) await complain(mail);
  expect(await t.statusOf(id)).toBe("PAUSED");
  for (const mail of transport.open()) mail.end(ACCEPTED);
  await t.close();
});

test("a bounce of a campaign mail of which the result was unknown counts it as sent", async () => {
  const transport = testTransport({ answer: LOST });
  const t = await campaignApp({ transport });
  t.insertContacts(2);
  const id = await t.campaign();
  await t.act(id, "send");
  await t.settle();
  const [first] = t.db.sqlite.query<{ id: string }, []>("SELECT id FROM emails").all();
  await processReport(t.app.app, Buffer.from(UNKNOWN_USER), returnPathOf(first?.id ?? ""));
  expect(await t.stats(id)).toMatchObject({ queued: 1, sent: 1, bounced: 1, bouncedLater: 1 });
  const violated = INVARIANTS.filter(
    ({ violations }) => t.db.sqlite.query(violations).get() !== null,
  );
  expect(violated.map(({ name }) => name)).toEqual([]);
  await t.close();
});

test("late bounces pause a campaign that is still sending", async () => {
  const transport = testTransport({ concurrency: 40 });
  const config = { campaignLimitAfter: 20, campaignBounceLimit: 0.1 };
  const t = await campaignApp({ transport, config });
  t.insertContacts(40);
  const id = await t.campaign();
  await t.act(id, "send");
  await t.app.campaigns.tick();
  await waitUntil(() => transport.handed.length >= 30);
  for (const mail of transport.open().slice(0, 30)) mail.end(ACCEPTED);
  await waitUntil(() => t.count("status = 'SENT'") === 30);
  const ids = t.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'SENT' LIMIT 4")
    .all();
  for (const { id: emailId } of ids) {
    await processReport(t.app.app, Buffer.from(UNKNOWN_USER), returnPathOf(emailId));
  }
  expect(await t.statusOf(id)).toBe("PAUSED");
  for (const mail of transport.open()) mail.end(ACCEPTED);
  await t.close();
});
