/** A change of a segment is refused if something that uses the segment would exceed a limit. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { expectError } from "../../support/refusal.ts";
import { type CampaignApp, campaignApp } from "../campaigns/campaign-app.ts";
import { chain, graph, step, trigger } from "../workflows/graphs.ts";
import { inboxParts } from "../../support/inbox-parts.ts";

const HOUR_MS = 60 * 60 * 1000;

let t: CampaignApp;
/** A segment of the test, which nothing uses before. */
let used: string;

beforeAll(async () => {
  t = await campaignApp();
  t.insertContacts(3);
});
beforeEach(async () => {
  used = await segment("Used", nested(1));
});
afterAll(() => t.close());

const isContact = { field: "email", operator: "contains", value: "@" };
const memberOf = (id: string) => ({ field: `segment.${id}`, operator: "memberOf" });
const all = (...filters: object[]) => ({ logic: "AND", groups: [{ filters }] });
const repeated = (filters: number) => Array.from({ length: filters }, () => isContact);
const nested = (levels: number): object =>
  levels === 1
    ? all(isContact)
    : { logic: "AND", groups: [{ filters: [isContact], conditions: nested(levels - 1) }] };

const segment = (name: string, condition: object) =>
  t.create("/segments", { name, condition }, "data.id");
const filtered = (condition: object = all(memberOf(used)), rest: object = {}) =>
  t.campaign({ audienceType: "FILTERED", audienceFilter: condition, ...rest });
const workflow = (flow: object) => t.create("/workflows", { name: "Welcome", ...flow }, "data.id");
const patch = (condition: object, id = used) => t.call("PATCH", `/segments/${id}`, { condition });

/** Checks that the condition is refused with one error that names the user, and changes nothing. */
async function expectRefused(condition: object, user: string): Promise<void> {
  await inboxParts(t.app.app).indexer.caughtUp(); // It changes rows after mail was captured.
  const before = t.contents();
  const answer = await patch(condition);
  expectError(answer, {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["condition", "too_big"]],
  });
  expect(answer.text("error.message")).toStartWith(
    `condition: does not fit the ${user}, which uses`,
  );
  expect(t.contents()).toEqual(before);
}

describe("the filter of a campaign", () => {
  test("limits the depth and the filters of the segments in it", async () => {
    await filtered(all(memberOf(used), ...repeated(150)));
    await expectRefused(nested(10), 'campaign "Spring"');
    expect((await patch(nested(9))).status).toBe(200);
    await expectRefused(all(...repeated(50)), 'campaign "Spring"');
    expect((await patch(all(...repeated(49)))).status).toBe(200);
  });

  test("limits segments that it refers to through other segments", async () => {
    const outer = await segment("Outer", all(memberOf(used)));
    await filtered(all(memberOf(outer)));
    await expectRefused(nested(9), 'campaign "Spring"');
    expect((await patch(nested(8))).status).toBe(200);
  });

  const states: [status: string, ...actions: string[]][] = [
    ["DRAFT"],
    ["SCHEDULED", "schedule"],
    ["SENDING", "send"],
    ["PAUSED", "send", "pause"],
  ];
  test.each(states)("limits a segment while the campaign is %s", async (status, ...actions) => {
    const id = await filtered(undefined, { rate: 1 / 60 });
    const scheduledFor = new Date(t.clock.now() + HOUR_MS).toISOString();
    for (const action of actions) {
      if (action === "schedule") await t.act(id, "send", { scheduledFor });
      else await t.act(id, action);
      await t.settle();
    }
    expect(await t.statusOf(id)).toBe(status);
    await expectRefused(nested(10), 'campaign "Spring"');
  });

  test("does not limit a segment once the campaign is SENT or CANCELLED", async () => {
    const sent = await filtered();
    await t.act(sent, "send");
    const cancelled = await filtered(undefined, { rate: 1 / 60 });
    await t.act(cancelled, "send");
    await t.settle();
    await t.act(cancelled, "cancel");
    await t.settle();
    expect([await t.statusOf(sent), await t.statusOf(cancelled)]).toEqual(["SENT", "CANCELLED"]);
    expect((await patch(nested(10))).status).toBe(200);
  });

  test("is the one that a campaign to a segment started with", async () => {
    const outer = await segment("Outer", all(memberOf(used)));
    const audience = { audienceType: "SEGMENT", segmentId: outer, rate: 1 / 60 };
    const id = await t.campaign(audience);
    await t.act(id, "send");
    await t.settle();
    expect((await patch(nested(1), outer)).status).toBe(200);
    await expectRefused(nested(10), 'campaign "Spring"');
    expectError(await t.call("DELETE", `/segments/${used}`), { status: 409, code: "CONFLICT" });
    await t.act(id, "cancel");
    await t.settle();
    expect((await t.call("DELETE", `/segments/${used}`)).status).toBe(204);
  });
});

describe("the conditions of a workflow", () => {
  const branches = [{ id: "in", operator: "memberOf" }];

  test("limit the depth and the filters of the segments in them", async () => {
    const condition = all(memberOf(used), ...repeated(150));
    await workflow(chain(step("check", "CONDITION", { condition })));
    await expectRefused(nested(10), 'workflow "Welcome"');
    expect((await patch(nested(9))).status).toBe(200);
    await expectRefused(all(...repeated(50)), 'workflow "Welcome"');
    expect((await patch(nested(10))).text("error.message")).toContain(
      'in step "CONDITION" (check)',
    );
  });

  test("limit segments that they refer to through other segments, or by branches", async () => {
    const outer = await segment("Outer", all(memberOf(used)));
    const field = `segment.${outer}`;
    const check = step("check", "CONDITION", { mode: "multi", field, branches });
    await workflow(graph([trigger(), check], ["start>check"]));
    await expectRefused(nested(9), 'workflow "Welcome"');
    expect((await patch(nested(8))).status).toBe(200);
  });

  test("do not limit a segment once they do not refer to it", async () => {
    const id = await workflow(chain(step("check", "CONDITION", memberOf(used))));
    await expectRefused(nested(10), 'workflow "Welcome"');
    await t.call("PATCH", `/workflows/${id}`, { steps: [], transitions: [] });
    expect((await patch(nested(10))).status).toBe(200);
  });
});

test("all users that would exceed a limit are named", async () => {
  await segment("Outer", all(memberOf(used)));
  await filtered();
  await workflow(chain(step("check", "CONDITION", memberOf(used))));
  const answer = await patch(nested(10));
  expectError(answer, {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [
      ["condition", "too_big"],
      ["condition", "too_big"],
      ["condition", "too_big"],
    ],
  });
  const names = [0, 1, 2].map(
    (i) => /fit the (\w+ ".*"),/.exec(answer.text(`error.errors.${i}.message`))?.[1],
  );
  expect(names).toEqual(['segment "Outer"', 'campaign "Spring"', 'workflow "Welcome"']);
});

test("a change of other fields, or to the same condition, is not refused", async () => {
  await filtered();
  const stored = JSON.stringify(nested(10));
  t.db.sqlite.run("UPDATE segments SET condition = ? WHERE id = ?", [stored, used]);
  expect((await t.call("PATCH", `/segments/${used}`, { name: "Other" })).status).toBe(200);
  expect((await patch(nested(10))).status).toBe(200);
});

test("a user that is invalid for another reason does not keep a segment from being changed", async () => {
  const gone = await segment("Gone", nested(1));
  await filtered(all(memberOf(used), memberOf(gone)));
  t.db.sqlite.run("DELETE FROM segments WHERE id = ?", [gone]);
  expect((await patch(nested(9))).status).toBe(200);
});
