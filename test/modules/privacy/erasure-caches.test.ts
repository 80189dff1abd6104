/** Copies in memory of texts that an erasure changes. */

import { expect, test } from "bun:test";
import { spellingsOf } from "../../../src/lib/address-spellings.ts";
import { cleanRows, searchedTables } from "../../../src/modules/privacy/sweep.ts";
import { waitUntilRead } from "../../support/eventually.ts";
import { campaignsPerTest } from "../campaigns/campaign-app.ts";
import { chain, step } from "../workflows/graphs.ts";

const EVE = "eve@example.com";
const next = campaignsPerTest();

test("versions of workflows, rules of inboxes and pages of campaigns show an erased address no longer, without a restart", async () => {
  const t = await next();
  await t.contact("ada@x.test");
  const flow = (value: string) =>
    chain(step("ask", "CONDITION", { field: "email", operator: "equals", value }));
  const workflow = await t.create("/workflows", { name: "Flow", ...flow(EVE) }, "data.id");
  // The address would be in use in the current version.
  await t.call("PATCH", `/workflows/${workflow}`, flow("info@acme.test"));
  await t.create(
    "/inboxes/default/rules",
    { stage: "rcpt", match: { to: EVE }, action: { reply: "550 5.1.1 no" } },
    "data.id",
  );
  const body = `<p>Ask ${EVE}</p><a href="{{ unsubscribeUrl }}">Out</a>`;
  const campaign = await t.campaign({ name: "Spring", body, archived: true });
  await t.act(campaign, "send");
  await t.settle();
  const path = (await t.call("GET", `/campaigns/${campaign}`)).text("data.archiveUrl");

  const shown = async () => ({
    version: JSON.stringify(
      (await t.call("GET", `/workflows/${workflow}/versions/1`)).body,
    ).includes(EVE),
    rules: JSON.stringify((await t.call("GET", "/inboxes/default/rules")).body).includes(EVE),
    page: (await (await t.app.handle(new Request(path))).text()).includes(EVE),
  });
  expect(await shown()).toEqual({ version: true, rules: true, page: true });
  const id = (await t.call("POST", "/erasures", { email: EVE })).text("data.id");
  await waitUntilRead(async () => {
    t.clock.advance(1_000);
    return (await t.call("GET", `/erasures/${id}`)).text("data.state") === "COMPLETED";
  });
  expect(await shown()).toEqual({ version: false, rules: false, page: false });
});

test("a change cleans as many rows as there is time for, and at least one", async () => {
  const t = await next();
  for (let i = 0; i < 3; i++) {
    await t.call("POST", "/v1/track", { event: "e", email: "ada@x.test", data: { guest: EVE } });
  }
  const table = searchedTables(t.app.app).find(({ name }) => name === "events");
  if (table === undefined) throw new Error("events are not searched");
  const search = { projectSeq: t.project.seq, addresses: [EVE], spellings: spellingsOf(EVE) };
  const find = "SELECT seq FROM events WHERE project_seq = ? AND data LIKE '%eve@%'";
  const found = () => t.db.sqlite.query<{ seq: number }, [number]>(find).all(t.project.seq);
  const rows = found().map(({ seq }) => ({ row: seq, owner: seq, isInBytes: false }));
  const clean = (hasTime: () => boolean) =>
    t.app.writer.write(() => cleanRows(t.app.app, table, { rows, search, hasTime }));
  expect(await clean(() => false)).toEqual({ rows: 1, changed: 1, postponed: 0 });
  expect(found()).toHaveLength(2);
  expect(await clean(() => true)).toEqual({ rows: 3, changed: 2, postponed: 0 });
  expect(found()).toEqual([]);
});
