/** Complaints that a relay reports pause a campaign, as those do that arrive by mail. */

import { expect, test } from "bun:test";
import { waitUntil } from "../../support/eventually.ts";
import { ACCEPTED, testTransport } from "../../support/transport.ts";
import { campaignApp } from "../campaigns/campaign-app.ts";
import { PAYLOADS } from "../../protocols/relay-reports/payloads.ts";
import { signed } from "./setup.ts";

const MAILS = 1_000;

test("more than 0.3 % of complaints pause a campaign that is being sent over a relay", async () => {
  const transport = testTransport();
  const t = await campaignApp({ transport });
  const made = await t.call("POST", "/report-sources", { provider: "POSTMARK" });
  const path = new URL(made.text("data.url")).pathname;
  t.insertContacts(MAILS + 100);
  const id = await t.campaign();
  await t.act(id, "send");
  let accepted = 0;
  await t.app.campaigns.tick();
  await waitUntil(() => {
    for (const mail of transport.open()) if (accepted++ < MAILS) mail.end(ACCEPTED);
    return accepted >= MAILS;
  });
  await waitUntil(() => t.count("status = 'SENT'") === MAILS);

  const mails = t.db.sqlite
    .query<{ id: string; to: string }, []>(
      `SELECT id, to_address AS "to" FROM emails WHERE status = 'SENT' LIMIT 4`,
    )
    .all();
  const complain = async (mail: { id: string; to: string }) => {
    const payload = PAYLOADS.POSTMARK.complained({ ...mail, at: t.clock.now() });
    const { body, headers } = signed("POSTMARK", payload, t.clock.now());
    await t.call("POST", path, undefined, { key: null, raw: body, headers });
  };
  // Three complaints, however often they are reported, are 0.3 %.
  for (const mail of mails.slice(0, 3)) for (let i = 0; i < 5; i++) await complain(mail);
  expect([await t.statusOf(id), await t.stats(id)]).toEqual([
    "SENDING",
    expect.objectContaining({ sent: MAILS, complained: 3 }),
  ]);
  for (const mail of mails.slice(3)) await complain(mail);
  expect(await t.statusOf(id)).toBe("PAUSED");
  expect(await t.stats(id)).toMatchObject({ complained: 4, unsubscribed: 4 });

  for (const mail of transport.open()) mail.end(ACCEPTED);
  await t.close();
});
