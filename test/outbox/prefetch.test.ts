import { describe, expect, test } from "bun:test";
import type { LeasedMail } from "../../src/outbox/lease-rows.ts";
import { createPace } from "../../src/outbox/pace.ts";
import { createPrefetch, TRANSACTIONAL_RESERVE } from "../../src/outbox/prefetch.ts";
import { manualClock } from "../support/clock.ts";

const CONCURRENCY = 20;
/** The usual limit of a pace without a rate. */
const USUAL = CONCURRENCY / 2 + TRANSACTIONAL_RESERVE;
const MAX_FAST = 256;
/** Slots for transactional mail while mails leave fast. */
const FAST_RESERVE = 16;

type Size = { html?: string; attachment?: number };

function mailOf({ html = "<p>Hello</p>", attachment = 0 }: Size = {}): LeasedMail {
  const content = new Uint8Array(attachment);
  return {
    seq: 1,
    attempts: 1,
    dueAt: 0,
    slot: null,
    busy: null,
    id: "mail",
    projectSeq: 1,
    projectId: "project",
    projectName: "Shop",
    isProjectEnabled: true,
    isTest: false,
    tracking: "DISABLED",
    language: "en",
    contactSeq: null,
    contactId: null,
    isSubscribed: true,
    suppression: null,
    to: "ada@example.com",
    toName: null,
    subject: "Hello",
    campaignSeq: 1,
    variables: "{}",
    priority: 1,
    acceptedAt: 0,
    messageSeq: 1,
    fromAddress: "shop@example.com",
    fromName: null,
    replyTo: null,
    html,
    headers: "[]",
    isMarketing: true,
    submitted: null,
    envelopeFrom: null,
    utm: null,
    attachments:
      attachment === 0
        ? []
        : [
            {
              filename: "a",
              contentType: "text/plain",
              contentId: null,
              disposition: "attachment",
              content,
            },
          ],
  };
}

function prefetching({ maxFast = MAX_FAST, ratePerSecond = 0 } = {}) {
  const clock = manualClock();
  const pace = createPace({ ratePerSecond, concurrency: CONCURRENCY, clock });
  const prefetch = createPrefetch({ pace, clock, maxFastPrefetch: maxFast, onRelease: () => {} });
  /** Lets `count` mails leave, one every `intervalMs`. */
  function leave(count: number, intervalMs: number, size: Size = {}): void {
    for (let i = 0; i < count; i++) {
      clock.advance(intervalMs);
      prefetch.reserve(mailOf(size)).release();
      prefetch.noteDeparture();
    }
  }
  return { clock, prefetch, leave };
}

describe("the prefetch limit", () => {
  test("is the usual one before any mail left", () => {
    expect(prefetching().prefetch.capacity(0)).toBe(USUAL);
  });

  test.each([
    ["ten mails a second", 100, USUAL],
    ["a hundred", 10, 33 + FAST_RESERVE],
    ["five hundred", 2, 166 + FAST_RESERVE],
    ["five thousand", 0.2, MAX_FAST + FAST_RESERVE],
  ])("at %s is what leaves in a third of a second", (_, intervalMs, expected) => {
    const { prefetch, leave } = prefetching();
    leave(100, intervalMs);
    const capacity = prefetch.capacity(0);
    expect(Math.abs(capacity - expected)).toBeLessThanOrEqual(2);
  });

  test("falls while no mail leaves", () => {
    const { clock, prefetch, leave } = prefetching();
    leave(100, 1);
    clock.advance(5_000);
    expect(prefetch.capacity(0)).toBe(USUAL);
  });

  test("is the usual one if the transport has no other", () => {
    const { prefetch, leave } = prefetching({ maxFast: 0 });
    leave(100, 1);
    expect(prefetch.capacity(0)).toBe(USUAL);
  });

  test("is lower for large mails, also for the first one after small ones", () => {
    const { prefetch, leave } = prefetching();
    leave(100, 1);
    leave(1, 1, { attachment: 1024 * 1024 });
    expect(prefetch.capacity(0)).toBe(USUAL);
  });

  test("counts mails that are prefetched and mails under way", () => {
    const { prefetch, leave } = prefetching();
    leave(100, 0.2);
    for (let i = 0; i < 100; i++) prefetch.reserve(mailOf());
    expect(prefetch.capacity(100)).toBe(MAX_FAST + FAST_RESERVE - 100);
    expect(prefetch.capacity(MAX_FAST + CONCURRENCY)).toBe(FAST_RESERVE);
  });
});

describe("the next lease", () => {
  test("takes each free mail while mails leave slowly", () => {
    const { prefetch } = prefetching();
    for (let i = 0; i < USUAL - 1; i++) prefetch.reserve(mailOf());
    expect(prefetch.isWorthLeasing(USUAL - 1)).toBe(true);
  });

  test("waits until a quarter of the limit is free while mails leave fast", () => {
    const { prefetch, leave } = prefetching();
    leave(100, 0.2);
    const reserved = Array.from({ length: MAX_FAST }, () => prefetch.reserve(mailOf()));
    expect(prefetch.isWorthLeasing(MAX_FAST)).toBe(false);
    for (const { release } of reserved.slice(0, MAX_FAST / 4)) release();
    expect(prefetch.isWorthLeasing(MAX_FAST - MAX_FAST / 4)).toBe(true);
  });
});
