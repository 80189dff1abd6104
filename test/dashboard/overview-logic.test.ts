/** The periods, changes, rates and warnings of the overview, without a browser. */

import { describe, expect, test } from "bun:test";
import { attentionItems } from "../../src/dashboard/pages/overview/attention-items.ts";
import {
  changeOf,
  FIGURES,
  mailsThatLeft,
  rateOf,
  shareText,
} from "../../src/dashboard/pages/overview/figures.ts";
import {
  dayText,
  narrowed,
  overviewPeriod,
  pointTime,
  previousLabel,
  rangeNameOf,
} from "../../src/dashboard/pages/overview/period.ts";
import { readOverviewSearch } from "../../src/dashboard/pages/overview/search.ts";
import type { Domain } from "../../src/modules/domains/model.ts";
import type { System } from "../../src/modules/system/model.ts";

/** A time in the zone of the tests. */
const local = (text: string): number => Date.parse(text);
const NOW = local("2026-11-22T16:20:00");
const COUNTS = {
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  bouncedLater: 0,
  complained: 0,
  failed: 0,
  suppressed: 0,
  subscribed: 0,
  unsubscribed: 0,
};

describe("the period of the overview", () => {
  test.each([
    [{}, "2026-10-24T00:00:00", "2026-11-22T17:00:00", "DAY"],
    [{ range: "24h" }, "2026-11-21T17:00:00", "2026-11-22T17:00:00", "HOUR"],
    [{ range: "7d" }, "2026-11-16T00:00:00", "2026-11-22T17:00:00", "DAY"],
    [{ range: "90d" }, "2026-08-25T00:00:00", "2026-11-22T17:00:00", "DAY"],
    [{ range: "unknown" }, "2026-10-24T00:00:00", "2026-11-22T17:00:00", "DAY"],
    [
      { since: "2026-02-27", until: "2026-03-01" },
      "2026-02-27T00:00:00",
      "2026-03-02T00:00:00",
      "DAY",
    ],
    [
      { since: "2026-03-02", until: "2026-03-03" },
      "2026-03-02T00:00:00",
      "2026-03-04T00:00:00",
      "HOUR",
    ],
    [{ since: "2026-11-20" }, "2026-11-20T00:00:00", "2026-11-22T17:00:00", "DAY"],
    [{ until: "2030-01-01" }, "2026-10-24T00:00:00", "2026-11-22T17:00:00", "DAY"],
  ] as const)("%p is from %s to %s by %s", (search, from, to, interval) => {
    expect(overviewPeriod(search, NOW)).toEqual({
      fromMs: local(from),
      toMs: local(to),
      interval,
    });
  });

  test("days that are not a date are ignored", () => {
    expect(overviewPeriod({ since: "tomorrow" }, NOW).fromMs).toBe(local("2026-10-24T00:00:00"));
  });

  test("the search has only known texts, and days have no named range", () => {
    expect(readOverviewSearch({ range: "7d", metric: "", view: 1, other: "x" })).toEqual({
      range: "7d",
    });
    expect(rangeNameOf({})).toBe("30d");
    expect(rangeNameOf({ range: "7d", since: "2026-01-01" })).toBeNull();
  });

  test("dragging over points gives their days, or times that include the last hour", () => {
    const first = pointTime("2026-03-01");
    expect(dayText(first)).toBe("2026-03-01");
    expect(narrowed("DAY", first, pointTime("2026-03-04"))).toEqual({
      since: "2026-03-01",
      until: "2026-03-04",
    });
    const hour = Date.parse("2026-03-01T10:00:00.000Z");
    expect(narrowed("HOUR", hour, hour)).toEqual({
      since: "2026-03-01T10:00:00.000Z",
      until: "2026-03-01T11:00:00.000Z",
    });
  });

  test.each([
    [{ range: "24h" }, "the 24 hours before"],
    [{ range: "7d" }, "the 7 days before"],
    [{ since: "2026-03-02T10:00:00Z", until: "2026-03-02T11:00:00Z" }, "the hour before"],
  ])("%p is compared with %s", (search, expected) => {
    expect(previousLabel(overviewPeriod(search, NOW))).toBe(expected);
  });

  test("a day that began an hour ago is one of the 30 days", () => {
    const period = overviewPeriod({}, new Date(2026, 10, 23, 0, 48).getTime());
    expect(previousLabel(period)).toBe("the 30 days before");
  });
});

describe("figures", () => {
  test.each([
    [112.5, 100, "UP", "+12.5%"],
    [50, 100, "DOWN", "-50%"],
    [100, 100, "SAME", "0%"],
    [0, 4, "DOWN", "-100%"],
    [100_001, 100_000, "SAME", "0%"],
    [5_000, 1, "UP", "over +1,000%"],
  ] as const)("%p after %p is %s, %s", (now, before, direction, text) => {
    expect(changeOf(now, before)).toEqual({ direction, text });
  });

  test("nothing before has no change, and nothing has no share", () => {
    expect(changeOf(3, 0)).toBeNull();
    expect(shareText(0, 0)).toBeNull();
  });

  test.each([
    [1, 3, "33.3%"],
    [1, 1_000, "0.1%"],
    [3, 10_000, "0.03%"],
    [7, 7, "100%"],
  ])("%p of %p are %s", (part, whole, expected) => {
    expect(shareText(part, whole)).toBe(expected);
  });

  test("rates are of the mails that were sent, and for bounces of those that left", () => {
    const counts = { ...COUNTS, sent: 80, opened: 20, bounced: 20, complained: 5 };
    const rates = FIGURES.map((figure) => rateOf(figure, counts));
    expect(rates).toEqual([null, 0, 0.25, 0, 0.25]);
    expect(FIGURES.map((figure) => rateOf(figure, COUNTS))).toEqual(Array(5).fill(null));
  });

  test("a mail that bounced later is counted once", () => {
    expect(mailsThatLeft({ ...COUNTS, sent: 10, bounced: 3, bouncedLater: 1 })).toBe(12);
  });
});

describe("what needs attention", () => {
  const none = {
    isCapturing: false,
    system: undefined,
    domains: [],
    webhooks: [],
    pausedCampaigns: [],
  };
  const domain: Domain = {
    id: "d",
    domain: "acme.example",
    status: "VERIFIED",
    verified: true,
    records: [],
    verifiedAt: "2025-01-01T00:00:00.000Z",
    lastCheckedAt: "2026-01-01T00:00:00.000Z",
    failingSince: "2026-01-01T00:00:00.000Z",
    createdAt: "2025-01-01T00:00:00.000Z",
  };
  const webhook = {
    id: "w",
    url: "https://acme.example/hooks",
    events: ["email.*"],
    shape: "MAILSTEAD" as const,
    enabled: true,
    description: null,
    disabledReason: null,
    failingSince: null,
    createdAt: "",
    updatedAt: "",
  };
  const system: System = {
    version: "1",
    revision: "",
    startedAt: "",
    transport: "relay",
    hostname: "",
    url: "",
    storage: { folder: null, usedBytes: null, freeBytes: null },
    queue: { waiting: 0, inProgress: 0, oldestDueAt: null, stalledSeconds: 0, heldSince: null },
    pausedSites: [],
    update: null,
    backup: null,
    checks: {
      checkedAt: null,
      isRunning: false,
      findings: [],
    },
  };
  const titles = (sources: Partial<Parameters<typeof attentionItems>[0]>) =>
    attentionItems({ ...none, ...sources }).map(({ title }) => title);

  test("nothing, if all is well", () => {
    expect(titles({ system, webhooks: [webhook] })).toEqual([]);
  });

  test("a queue that stands still comes before a full disk and failed checks", () => {
    const finding = {
      level: "fail",
      what: "port 25",
      finding: "is closed",
      fix: null,
      page: null,
    } as const;
    expect(
      titles({
        system: {
          ...system,
          storage: { ...system.storage, freeBytes: 5_000_000 },
          queue: { ...system.queue, stalledSeconds: 600 },
          checks: { ...system.checks, findings: [finding, { ...finding, level: "ok" }] },
        },
      }),
    ).toEqual(["The queue does not move", "The disk is almost full", "Port 25"]);
  });

  test("records of a domain, unless all mail is caught and the domain is still verified", () => {
    const refused: Domain = { ...domain, id: "e", domain: "old.example", status: "FAILED" };
    const domains = [domain, refused];
    const [still, failed] = [
      "DNS of acme.example is not correct",
      "DNS of old.example is not correct",
    ];
    expect(titles({ domains })).toEqual([still, failed]);
    expect(titles({ domains, isCapturing: true })).toEqual([failed]);
  });

  test("a record that is missing, and one with another value", () => {
    const record = { host: "h", value: "v", required: true, note: "" };
    const records = [
      { ...record, purpose: "DKIM", type: "TXT", name: "key.acme.example", status: "MISMATCH" },
      { ...record, purpose: "SPF", type: "TXT", name: "acme.example", status: "MISSING" },
      { ...record, purpose: "DMARC", type: "TXT", name: "d", status: "MISSING", required: false },
    ] as const;
    const [item] = attentionItems({
      ...none,
      domains: [{ ...domain, records: records.map((each) => ({ ...each, found: [] })) }],
    });
    expect(item?.text).toBe(
      "The DNS does not have SPF (TXT at acme.example). The DNS has another value for DKIM " +
        "(TXT at key.acme.example). The domain is still verified.",
    );
  });

  test("webhooks that are disabled or fail", () => {
    expect(
      titles({
        webhooks: [
          { ...webhook, enabled: false, disabledReason: "GONE" },
          { ...webhook, failingSince: "2026-01-01T00:00:00.000Z" },
        ],
      }),
    ).toEqual(["Webhook acme.example was disabled", "Webhook acme.example fails"]);
    const failing = { ...webhook, failingSince: "2026-01-01T00:00:00.000Z" };
    expect(attentionItems({ ...none, webhooks: [failing] })).toEqual([
      {
        key: "w",
        title: "Webhook acme.example fails",
        text: "Its receiver does not accept events. They are tried again.",
        webhook: "w",
      },
    ]);
  });
});
