import { describe, expect, test } from "bun:test";
import { Site, type SiteResult } from "../../../src/outbox/direct/site.ts";

const ACCEPTED: SiteResult = { kind: "accepted" };
const FAILED: SiteResult = { kind: "failed" };
const LIMITED: SiteResult = { kind: "limited", retryAfterMs: undefined };

/** Delivers as many mails at once as the limit allows, `rounds` times. */
function fill(site: Site, rounds: number, result: SiteResult = ACCEPTED, ms = 10): void {
  for (let i = 0; i < rounds; i++) {
    const slots = Array.from({ length: site.limit }, () => site.begin(0));
    for (const slot of slots) site.end(slot, result, ms);
  }
}

describe("the concurrency limit of a site", () => {
  test("is two at first", () => {
    expect(new Site().limit).toBe(2);
  });

  test("grows by one with each full round, up to twenty", () => {
    const site = new Site();
    fill(site, 1);
    expect(site.limit).toBe(3);
    fill(site, 5);
    expect(site.limit).toBe(8);
    fill(site, 50);
    expect(site.limit).toBe(20);
  });

  test("does not grow if it is not used up", () => {
    const site = new Site();
    for (let i = 0; i < 100; i++) site.end(site.begin(0), ACCEPTED, 10);
    expect(site.limit).toBe(2);
  });

  test("is halved by a failure, down to one", () => {
    const site = new Site();
    fill(site, 50);
    for (const limit of [10, 5, 2, 1, 1]) {
      site.end(site.begin(0), FAILED, 10);
      expect(site.limit).toBe(limit);
    }
    fill(site, 1);
    expect(site.limit).toBe(2);
  });

  test("is not changed by refusals because of the mail", () => {
    const site = new Site();
    fill(site, 5);
    const { limit } = site;
    fill(site, 20, { kind: "answered" });
    expect(site.limit).toBe(limit);
  });
});

test("a site gets a lower limit if another host accepted the mail", () => {
  const site = new Site();
  fill(site, 5);
  site.end(site.begin(0), { kind: "rerouted" }, 10);
  expect(site.limit).toBe(3);
});

describe("a site that an earlier process stored", () => {
  test("has the same state", () => {
    const before = new Site();
    fill(before, 5);
    before.end(before.begin(0), LIMITED, 1_000);
    const site = new Site(before.stateAt(11_000), 500_000);
    expect(site.limit).toBe(1);
    expect(site.pauseMs(500_000)).toBe(50_000);
    expect(site.pauseMs(550_000)).toBe(0);
    expect(site.speedAt(550_000)).toBe("fast");
    // The next pause is the second consecutive one.
    site.end(site.begin(550_000), LIMITED, 550_000);
    expect(site.pauseMs(550_000)).toBe(120_000);
  });
});

describe("a site that gets too much mail", () => {
  test("is paused for a minute, and then gets one mail at a time", () => {
    const site = new Site();
    fill(site, 10);
    site.end(site.begin(0), LIMITED, 1_000);
    expect(site.limit).toBe(1);
    expect(site.pauseMs(1_000)).toBe(60_000);
    expect(site.pauseMs(60_999)).toBe(1);
    expect(site.pauseMs(61_000)).toBe(0);
  });

  test("is paused longer each time, for at most an hour, until it accepts a mail", () => {
    const site = new Site();
    const pauses: number[] = [];
    let now = 0;
    for (let i = 0; i < 6; i++) {
      site.end(site.begin(now), LIMITED, now);
      pauses.push(site.pauseMs(now) / 60_000);
      now += site.pauseMs(now);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 16]);
    site.end(site.begin(now), ACCEPTED, now);
    site.end(site.begin(now), LIMITED, now);
    expect(site.pauseMs(now)).toBe(60_000);
  });

  test.each([
    [600_000, 600_000],
    [1_000, 60_000],
    [86_400_000, 3_600_000],
  ])("and names %i ms is paused for %i ms", (retryAfterMs, pauseMs) => {
    const site = new Site();
    site.end(site.begin(0), { kind: "limited", retryAfterMs }, 0);
    expect(site.pauseMs(0)).toBe(pauseMs);
  });

  test("is paused once for replies to several mails at the same time", () => {
    const site = new Site();
    const slots = Array.from({ length: 20 }, () => site.begin(0));
    for (const slot of slots) site.end(slot, LIMITED, 5);
    expect(site.pauseMs(5)).toBe(60_000);
    site.end(site.begin(70_000), LIMITED, 70_000);
    expect(site.pauseMs(70_000)).toBe(120_000);
  });
});

describe("a site that cannot be reached", () => {
  const unreachable: SiteResult = { kind: "unreachable", reason: "connection refused" };

  test("is suspended for a minute after three failures in a row", () => {
    const site = new Site();
    for (const reason of [null, null, "connection refused"]) {
      site.end(site.begin(0), unreachable, 0);
      expect(site.suspensionAt(0)).toBe(reason);
    }
    expect(site.suspensionAt(59_999)).toBe("connection refused");
    expect(site.suspensionAt(60_000)).toBeNull();
    // One more failure is enough for the next suspension.
    site.end(site.begin(60_000), unreachable, 60_000);
    expect(site.suspensionAt(60_000)).toBe("connection refused");
  });

  test("is not suspended if it was reached in between", () => {
    const site = new Site();
    for (const result of [unreachable, unreachable, FAILED, unreachable, unreachable]) {
      site.end(site.begin(0), result, 0);
    }
    expect(site.suspensionAt(0)).toBeNull();
  });
});

describe("the speed of a site", () => {
  test("is unknown until it has answered, even if its failures are fast", () => {
    const site = new Site();
    for (let i = 0; i < 3; i++) site.end(site.begin(0), FAILED, 5);
    site.end(site.begin(0), { kind: "unreachable", reason: "refused" }, 5);
    expect(site.speedAt(0)).toBe("unknown");
    site.end(site.begin(0), { kind: "answered" }, 5);
    expect(site.speedAt(0)).toBe("fast");
  });

  test("is unresponsive while its first mails wait for two seconds", () => {
    const site = new Site();
    const slot = site.begin(1_000);
    expect(site.speedAt(2_999)).toBe("unknown");
    expect(site.speedAt(3_000)).toBe("unresponsive");
    site.end(slot, FAILED, 31_000);
    expect(site.speedAt(31_000)).toBe("unresponsive");
    site.end(site.begin(31_000), ACCEPTED, 31_010);
    expect(site.speedAt(31_010)).toBe("slow");
  });

  test.each(["accepted", "rerouted", "answered"] as const)("is known after %s", (kind) => {
    const site = new Site();
    site.end(site.begin(0), { kind }, 10);
    expect([site.hasGoodSession, site.speedAt(10)]).toEqual([true, "fast"]);
  });

  test("is known after a reply about the rate", () => {
    const site = new Site();
    site.end(site.begin(0), LIMITED, 10);
    expect(site.hasGoodSession).toBe(true);
  });

  test("is unknown until a mail has ended", () => {
    const site = new Site();
    expect(site.speedAt(0)).toBe("unknown");
    site.release(site.begin(0));
    expect(site.speedAt(0)).toBe("unknown");
    site.end(site.begin(0), ACCEPTED, 50);
    expect(site.speedAt(0)).toBe("fast");
  });

  test("is slow while a mail has waited for two seconds", () => {
    const site = new Site();
    site.end(site.begin(0), ACCEPTED, 50);
    const slot = site.begin(1_000);
    expect(site.speedAt(2_999)).toBe("fast");
    expect(site.speedAt(3_000)).toBe("slow");
    site.end(slot, ACCEPTED, 3_000);
    expect(site.speedAt(3_000)).toBe("fast");
  });

  test("follows the times of the latest mails", () => {
    const site = new Site();
    site.end(site.begin(0), ACCEPTED, 5_000);
    expect([site.speedAt(0), site.paceMs(0)]).toEqual(["slow", 5_000]);
    for (let i = 0; i < 5; i++) site.end(site.begin(0), ACCEPTED, 10);
    expect(site.speedAt(0)).toBe("fast");
  });
});
