import { afterAll, beforeAll, expect, test } from "bun:test";
import { IS_SUBSCRIBED } from "../../../src/modules/segments/condition/audience-tests.ts";
import { audienceOf } from "../../../src/modules/segments/sql/plan.ts";
import { tallyAudience } from "../../../src/modules/segments/sql/tally.ts";
import { listAt } from "../../support/json.ts";
import { type CampaignApp, campaignApp } from "./campaign-app.ts";

let t: CampaignApp;
beforeAll(async () => {
  t = await campaignApp();
  t.insertContacts(5);
  await t.contact("out@x.test", { subscribed: false });
  await t.contact("both@x.test", { subscribed: false });
  for (const email of ["c1@x.test", "c2@x.test", "both@x.test", "stranger@x.test"]) {
    await t.call("POST", "/suppressions", { email });
  }
});
afterAll(() => t.close());

const breakdown = async (id: string) =>
  (await t.call("GET", `/campaigns/${id}/audience`)).at("data");

test("counts each contact that gets no mail once, with its first reason", async () => {
  const counts = { matched: 7, matching: 7, unsubscribed: 2, suppressed: 2, recipients: 3 };
  const id = await t.campaign();
  const path = `/campaigns/${id}/audience/contacts?reason=`;
  expect(await breakdown(id)).toEqual({
    ...counts,
    isExact: true,
    excluded: [
      { reason: "UNSUBSCRIBED", count: 2, query: `${path}UNSUBSCRIBED` },
      { reason: "MANUAL", count: 2, query: `${path}MANUAL` },
    ],
  });
  await t.act(id, "send");
  await t.settle();
  expect(await t.stats(id)).toMatchObject({ totalRecipients: 5, suppressed: 2, sent: 3 });
});

test("counts the members of a segment", async () => {
  const segment = await t.create("/segments", { name: "Static", type: "STATIC" }, "data.id");
  await t.call("POST", `/segments/${segment}/members`, { emails: ["c1@x.test", "c3@x.test"] });
  const id = await t.campaign({ audienceType: "SEGMENT", segmentId: segment });
  const counts = { matched: 2, unsubscribed: 0, suppressed: 1, recipients: 1 };
  expect(await breakdown(id)).toMatchObject(counts);
});

test("answers 404 for a campaign of another project", async () => {
  const other = await t.makeProject("other");
  const id = await t.campaign();
  const answer = await t.call("GET", `/campaigns/${id}/audience`, undefined, {
    key: other.secretKey,
  });
  expect(answer.status).toBe(404);
});

const listed = async (path: string) => {
  const answer = await t.call("GET", path);
  const emails = listAt(answer.body, "data.items").map((each) =>
    Reflect.get(Object(each), "email"),
  );
  expect(answer.at("data.total")).toBe(emails.length);
  return emails.map(String).toSorted();
};

test("lists the contacts of each number", async () => {
  const id = await t.campaign();
  const path = `/campaigns/${id}/audience/contacts`;
  expect(await listed(`${path}?reason=UNSUBSCRIBED`)).toEqual(["both@x.test", "out@x.test"]);
  expect(await listed(`${path}?reason=MANUAL`)).toEqual(["c1@x.test", "c2@x.test"]);
  expect(await listed(`${path}?reason=COMPLAINT`)).toEqual([]);
  expect(await listed(path)).toEqual(["c3@x.test", "c4@x.test", "c5@x.test"]);
});

const isAtX = {
  logic: "AND",
  groups: [{ filters: [{ field: "email", operator: "endsWith", value: "@x.test" }] }],
};

test.each([
  [{ audienceType: "ALL" }, 2, 2, 3],
  [{ audienceType: "ALL", type: "TRANSACTIONAL" }, 0, 3, 4],
  [{ audienceType: "FILTERED", audienceFilter: isAtX }, 2, 2, 3],
  [{ audienceType: "FILTERED", audienceFilter: isAtX, category: "TRANSACTIONAL" }, 0, 3, 4],
])(
  "counts %j, which belongs to no campaign",
  async (body, unsubscribed, suppressed, recipients) => {
    for (const counted of ["EXACT", "RECENT"]) {
      const answer = await t.call("POST", `/campaigns/audience?counted=${counted}`, body);
      expect(answer.at("data")).toMatchObject({
        matched: 7,
        unsubscribed,
        suppressed,
        recipients,
        isExact: true,
      });
      expect(answer.at("data.excluded.0.query")).toBeNull();
    }
  },
);

test("names the part of an audience that is wrong", async () => {
  const field = async (body: object) =>
    (await t.call("POST", "/campaigns/audience", body)).at("error.errors.0.field");
  expect(await field({ audienceType: "SEGMENT" })).toBe("segmentId");
  expect(await field({ audienceType: "SEGMENT", segmentId: "nope" })).toBe("segmentId");
  const faulty = { logic: "AND", groups: [{ filters: [{ field: "age" }] }] };
  const filter = { audienceType: "FILTERED", audienceFilter: faulty };
  expect(await field(filter)).toBe("audienceFilter.groups.0.filters.0.field");
});

test("estimates the numbers of an audience that takes too long to count", async () => {
  const app = { ...t.app.app, random: () => 0.5 };
  const { find } = app.reader;
  const reader = {
    ...app.reader,
    find: async (...[owner, query, limitMs]: Parameters<typeof find>) =>
      query.sql.includes("count(*)")
        ? { rows: [], isComplete: false, stoppedAt: null, total: null }
        : await find(owner, query, limitMs),
  };
  const context = { projectSeq: t.project.seq, now: 0 };
  const audience = audienceOf([IS_SUBSCRIBED], context);
  const { tallies, isExact } = await tallyAudience({ ...app, reader }, audience, "RECENT");
  expect(isExact).toBe(false);
  // The one contact that is drawn again and again stands for all seven.
  expect(tallies).toEqual([{ isSubscribed: true, reason: null, count: 7 }]);
});

test("an estimate counts only the contacts that were asked in time", async () => {
  const { app } = t.app;
  const reader = {
    ...app.reader,
    find: async () => ({ rows: [[1, null]], isComplete: false, stoppedAt: 3, total: null }),
  };
  const audience = audienceOf([IS_SUBSCRIBED], { projectSeq: t.project.seq, now: 0 });
  const { tallies } = await tallyAudience({ ...app, reader }, audience, "RECENT");
  // One of three, of seven.
  expect(tallies).toEqual([{ isSubscribed: true, reason: null, count: 2 }]);
});
