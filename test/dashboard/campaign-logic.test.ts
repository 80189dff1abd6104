/** The logic of the pages of campaigns and templates, without a browser. */

import { describe, expect, test } from "bun:test";
import { rateDifference } from "../../src/dashboard/ui/rate-difference.ts";
import {
  hiddenSeries,
  hideText,
  hourChart,
  partNameOf,
} from "../../src/dashboard/pages/campaigns/hours.ts";
import { commonHost, linkLabel } from "../../src/dashboard/pages/campaigns/link-labels.ts";
import {
  barOf,
  durationText,
  outcomesOf,
  secondsLeft,
  settledOf,
  percentText,
  withSample,
} from "../../src/dashboard/pages/campaigns/numbers.ts";
import { reasonOf } from "../../src/dashboard/pages/campaigns/reason.ts";
import { latestOf, recipientDetail } from "../../src/dashboard/pages/campaigns/recipient-detail.ts";
import {
  readCampaignSearch,
  recipientsQuery,
  summariesQuery,
  campaignTabOf,
  campaignTabs,
} from "../../src/dashboard/pages/campaigns/search.ts";
import { countTop, timeRange } from "../../src/dashboard/ui/time-chart-axes.ts";
import { DOMAIN_LOST } from "../../src/modules/campaigns/lifecycle.ts";

const HOUR_MS = 3_600_000;

const COUNTS = {
  totalRecipients: 100,
  queued: 10,
  sent: 80,
  delivered: 78,
  opened: 40,
  clicked: 8,
  bounced: 5,
  bouncedLater: 2,
  complained: 1,
  unsubscribed: 3,
};

const STATS = {
  ...COUNTS,
  machineOpens: 0,
  machineClicks: 0,
  failed: 3,
  suppressed: 4,
  cancelled: 0,
  deliveryRate: 0,
  openRate: 0,
  clickRate: 0,
  bounceRate: 0,
  complaintRate: 0,
  unsubscribeRate: 0,
  links: [],
  timeline: [],
  sentByHour: [],
};

describe("numbers", () => {
  test("the bar has the shares of the recipients, and is empty without any", () => {
    expect(barOf(COUNTS)).toEqual({ sent: 0.8, opened: 0.4, clicked: 0.08 });
    expect(barOf({ ...COUNTS, totalRecipients: 0 })).toEqual({ sent: 0, opened: 0, clicked: 0 });
    expect(barOf({ ...COUNTS, sent: 150 }).sent).toBe(1);
  });

  test("the recipients less those without a mail are the sent mails", () => {
    const { steps, sent } = outcomesOf(STATS);
    expect(steps.map(({ key, count }) => [key, count])).toEqual([
      ["recipients", 100],
      ["suppressed", 4],
      ["refused", 3],
      ["failed", 3],
      ["waiting", 10],
    ]);
    const [whole = 0, ...parts] = steps.map(({ count }) => count);
    expect(parts.reduce((rest, count) => rest - count, whole)).toBe(sent);
    expect(settledOf(COUNTS)).toBe(90);
  });

  test.each([
    [1, 3, "33.3%"],
    [1, 300, "0.33%"],
    [0, 5, "0%"],
    [5, 0, "–"],
  ])("%p of %p is %p", (part, total, expected) => {
    expect(percentText(part, total)).toBe(expected);
  });

  test("the time that is left follows the speed of the latest minute", () => {
    let samples = withSample([], { atMs: 0, done: 0 });
    expect(secondsLeft(samples, 100)).toBeNull();
    samples = withSample(samples, { atMs: 2_000, done: 20 });
    expect(secondsLeft(samples, 100)).toBeNull();
    samples = withSample(samples, { atMs: 10_000, done: 100 });
    expect(secondsLeft(samples, 100)).toBe(10);
    samples = withSample(samples, { atMs: 65_000, done: 200 });
    expect(samples.length).toBe(2);
    expect(secondsLeft(samples, 200)).toBe(110);
  });

  test.each([
    [5, "less than a minute"],
    [61, "about 1 minute"],
    [30 * 60, "about 30 minutes"],
    [3 * 3600, "about 3 hours"],
    [50 * 3600, "about 2 days"],
  ])("%p seconds are %p", (seconds, expected) => {
    expect(durationText(seconds)).toBe(expected);
  });
});

describe("the chart", () => {
  const startedMs = Date.parse("2026-03-02T10:20:00Z");
  const timeline = [
    { at: "2026-03-02T10:00:00.000Z", opens: 5, clicks: 1 },
    { at: "2026-03-02T12:00:00.000Z", opens: 2, clicks: 0 },
    { at: "2026-03-04T12:00:00.000Z", opens: 1, clicks: 1 },
  ];
  const sentByHour = [
    { at: "2026-03-02T10:00:00.000Z", sent: 60 },
    { at: "2026-03-02T11:00:00.000Z", sent: 20 },
  ];
  const nowMs = startedMs + 30 * 24 * HOUR_MS;
  const chart = (search = {}, now = nowMs) =>
    hourChart({ timeline, sentByHour }, { startedMs, nowMs: now, search });

  test("shows 48 hours without gaps", () => {
    const { interval, times, opens, clicks, isLastOpen } = chart();
    expect([interval, times.length, isLastOpen]).toEqual(["HOUR", 48, false]);
    expect(times[0]).toBe(Date.parse("2026-03-02T10:00:00Z"));
    expect([opens.slice(0, 4), clicks.slice(0, 4)]).toEqual([
      [5, 0, 2, 0],
      [1, 0, 0, 0],
    ]);
  });

  test("shows the sent mails, also of hours without an open", () => {
    expect(chart().sent.slice(0, 4)).toEqual([60, 20, 0, 0]);
    const later = [...sentByHour, { at: "2026-03-06T10:00:00.000Z", sent: 5 }];
    const { sent, times } = hourChart(
      { timeline, sentByHour: later },
      { startedMs, nowMs, search: { range: "all" } },
    );
    expect([sent.at(-2), times.at(-1)]).toEqual([5, Date.parse("2026-03-06T11:00:00Z")]);
  });

  test.each([
    [{}, [21], [5], ["sent"]],
    [{ view: "table" }, [21], [5], []],
    [{}, [20], [5], []],
    [{}, [21], [0], []],
    [{ hide: "none" }, [21], [5], []],
    [{ hide: "opens,clicks" }, [1], [5], ["opens", "clicks"]],
  ])("with the choice %j, %j sent mails and %j opens hides %j", (search, sent, opens, expected) => {
    expect([...hiddenSeries(search, { sent, opens, clicks: [0] })]).toEqual(expected);
  });

  test("names the hidden series, or that there are none", () => {
    expect([hideText(new Set()), hideText(new Set(["sent", "opens"]))]).toEqual([
      "none",
      "sent,opens",
    ]);
  });

  test("ends with the present hour, which is open", () => {
    const { times, isLastOpen } = chart({}, startedMs + 2 * HOUR_MS);
    expect([times.length, isLastOpen]).toEqual([3, true]);
  });

  test("in its first hour has an axis of time around the one point", () => {
    const { times, interval } = chart({}, startedMs + 5 * 60_000);
    const [from, to] = timeRange({ times, interval });
    expect(times).toEqual([Date.parse("2026-03-02T10:00:00Z")]);
    expect([from, to]).toEqual([
      Date.parse("2026-03-02T09:00:00Z") / 1000,
      Date.parse("2026-03-02T11:00:00Z") / 1000,
    ]);
    const two = chart({}, startedMs + HOUR_MS).times;
    expect(timeRange({ times: two, interval })).toEqual([
      Date.parse("2026-03-02T10:00:00Z") / 1000,
      Date.parse("2026-03-02T11:00:00Z") / 1000,
    ]);
  });

  test.each([
    [null, 4],
    [0, 4],
    [4, 4],
    [5, 5],
    [7, 8],
    [11, 15],
    [4_321, 5_000],
    [60_001, 80_000],
  ])("with at most %p in an hour ends at the line of %p", (highest, top) => {
    expect(countTop(highest)).toBe(top);
  });

  test("shows all until after the last open", () => {
    const { opens, times } = chart({ range: "all" });
    expect(opens.reduce((sum, count) => sum + count, 0)).toBe(8);
    expect(times.at(-1)).toBe(Date.parse("2026-03-04T13:00:00Z"));
  });

  test("shows long times by day, with the same sums", () => {
    const late = { at: "2026-03-20T12:00:00.000Z", opens: 3, clicks: 2 };
    const { interval, opens, clicks } = hourChart(
      { timeline: [...timeline, late], sentByHour },
      {
        startedMs,
        nowMs,
        search: { range: "all" },
      },
    );
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    expect([interval, sum(opens), sum(clicks)]).toEqual(["DAY", 11, 4]);
  });

  test("shows the part that was chosen, within the life of the campaign", () => {
    const part = { since: "2026-03-02T12:00:00Z", until: "2026-03-02T14:00:00Z" };
    expect(chart(part).opens).toEqual([2, 0, 0]);
    expect(chart({ since: "2020-01-01T00:00:00Z", until: "2020-01-02T00:00:00Z" }).opens).toEqual([
      5,
    ]);
    expect(partNameOf(part)).toBe("");
    expect(partNameOf({ since: "x", until: "y" })).toBe("48h");
    expect(partNameOf({ range: "7d" })).toBe("7d");
    expect(partNameOf({ range: "toString" })).toBe("48h");
  });
});

describe("the reason of a status", () => {
  test.each([
    ["SENT", null],
    ["SENDING", null],
    ["DRAFT", null],
    ["SCHEDULED", null],
  ] as const)("%s without a reason needs no words", (status, statusReason) => {
    expect(reasonOf({ status, statusReason })).toBeNull();
  });

  test.each([
    ["15.8% of the mails bounced, more than 10.0%", { show: "bounced", label: "Show the bounces" }],
    ["0.4% complained, more than 0.3%", { show: "complained", label: "Show the complaints" }],
    [
      "the first 10 mails all failed alike, the last one with: 554 no",
      { show: "bounced", label: "Show the bounces" },
    ],
    [DOMAIN_LOST, "DOMAINS"],
    [null, undefined],
    ["something else", undefined],
  ] as const)("a pause by %p leads to %p", (statusReason, help) => {
    const reason = reasonOf({ status: "PAUSED", statusReason });
    expect(reason?.help).toEqual(help);
    expect(reason?.text).toMatch(/[.]$/);
  });

  test("an empty audience and a cancellation are explained", () => {
    expect(
      reasonOf({ status: "SENT", statusReason: "Its audience was empty when it was sent." })?.title,
    ).toBe("Nothing was sent");
    expect(reasonOf({ status: "CANCELLED", statusReason: null })?.text).toContain(
      "It cannot be resumed.",
    );
  });
});

describe("recipients", () => {
  const recipient = {
    emailId: "1",
    contactId: null,
    email: "a@b.co",
    status: "SENT" as const,
    lastError: null,
    sentAt: "2026-01-01T00:00:00.000Z",
    openedAt: null,
    clickedAt: null,
    bouncedAt: null,
    complainedAt: null,
    links: [],
    variantId: null,
  };

  test.each([
    [{}, ""],
    [{ links: ["https://a.test/x", "http://b.test"] }, "a.test/x, b.test"],
    [
      { status: "BOUNCED" as const, bouncedAt: "x", lastError: "550 5.1.1 unknown user" },
      "The mailbox does not exist. 550 5.1.1 unknown user",
    ],
    [{ status: "FAILED" as const, lastError: "No connection" }, "No connection"],
    [{ lastError: "451 try later" }, ""],
  ])("the detail of %p is %p", (change, expected) => {
    expect(recipientDetail({ ...recipient, ...change })).toBe(expected);
  });

  test("the latest time is that of the last action", () => {
    expect(latestOf(recipient)).toBe("2026-01-01T00:00:00.000Z");
    expect(latestOf({ ...recipient, openedAt: "2026-01-03T00:00:00.000Z" })).toBe(
      "2026-01-03T00:00:00.000Z",
    );
    expect(latestOf({ ...recipient, sentAt: null })).toBeNull();
  });
});

describe("the search parameters", () => {
  test("other names and empty texts are left out", () => {
    expect(readCampaignSearch({ tab: "email", show: "", other: "x", as: 5 })).toEqual({
      tab: "email",
    });
    expect(campaignTabOf({ tab: "x" }, campaignTabs({ imported: null }))).toBe("report");
  });

  test("are the queries of the interface", () => {
    expect(summariesQuery({ q: "spring", status: "sent" })).toEqual({
      name: "spring",
      status: "SENT",
    });
    expect(recipientsQuery({ show: "not-opened" })).toEqual({
      action: "NOT_OPENED",
      link: undefined,
    });
    expect(recipientsQuery({ show: "waiting", link: "https://a.test" })).toEqual({
      status: "QUEUED",
      link: "https://a.test",
    });
    expect(recipientsQuery({ show: "constructor" })).toEqual({ link: undefined });
  });
});

describe("the labels of links", () => {
  test.each([
    [["https://a.test/x", "https://a.test/y"], "a.test"],
    [["https://a.test/x", "http://a.test"], "a.test"],
    [["https://a.test/x", "https://b.test/x"], null],
    [["https://a.test/x", ""], null],
    [["", ""], null],
    [[], null],
  ])("the links %p have the host %p", (urls, expected) => {
    expect(commonHost(urls)).toBe(expected);
  });

  test.each([
    ["https://a.test/x?y=1#z", "a.test", "/x?y=1#z"],
    ["https://A.test", "a.test", "/"],
    ["https://a.test/x", null, "a.test/x"],
    ["mailto:x@a.test", null, "mailto:x@a.test"],
  ])("the label of %p without %p is %p", (url, host, expected) => {
    expect(linkLabel(url, host)).toBe(expected);
  });
});

describe("the comparison", () => {
  test.each([
    [0.4, [0.3, 0.5], { direction: "SAME", text: "The same" }],
    [0.45, [0.4, null], { direction: "UP", text: "+5 points" }],
    [0.1, [0.1234], { direction: "DOWN", text: "-2.3 points" }],
    [null, [0.1], null],
    [0.1, [null], null],
    [0.1, [], null],
  ] as const)("%p beside %p is %p", (rate, earlier, expected) => {
    expect(rateDifference(rate, earlier)).toEqual(expected);
  });
});
