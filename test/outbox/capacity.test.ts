import { expect, test } from "bun:test";
import { type CountedMail, createCapacity } from "../../src/outbox/lane/capacity.ts";
import { manualClock } from "../support/clock.ts";

test.each([true, false])(
  "mails that are composed slowly are leased up to those that can be sent (urgent: %p)",
  (isUrgent) => {
    const clock = manualClock();
    const capacity = createCapacity(clock, { ratePerSecond: 0, maxUnderWay: 20, mostUsual: 10 });
    const leased = new Set<CountedMail>();
    for (let ms = 0; ms < 10_000; ms += 100) {
      const { free, reserved } = capacity.of(leased);
      for (let left = isUrgent ? free : free - reserved; left > 0; left--) {
        leased.add({ leasedMs: clock.elapsed(), hasBegun: false, isUrgent, waitsFor: "server" });
      }
      clock.advance(100);
    }
    expect(leased.size).toBe(isUrgent ? 31 : 30);
  },
);

test("the reserve for transactional mail stays free if mails no longer leave fast", () => {
  const clock = manualClock();
  const capacity = createCapacity(clock, { ratePerSecond: 0, maxUnderWay: 20, mostUsual: 10 });
  for (let i = 0; i < 32; i++) capacity.noteDeparture();
  const leased = new Set<CountedMail>();
  for (let { free, reserved } = capacity.of(leased); free > reserved; free--) {
    leased.add({ leasedMs: 0, hasBegun: false, isUrgent: false, waitsFor: "turn" });
  }
  expect([leased.size, capacity.of(leased).free]).toEqual([128, 16]);
  clock.advance(60_000);
  expect(capacity.of(leased)).toMatchObject({ free: 1, reserved: 1 });
  leased.add({ leasedMs: 0, hasBegun: false, isUrgent: true, waitsFor: "turn" });
  expect(capacity.of(leased).free).toBe(0);
});

test("mails with a long text of their own are leased in smaller numbers, as those with a long body", () => {
  const freeAfter = (mail: { html: string; text: string | null }) => {
    const capacity = createCapacity(manualClock(), {
      ratePerSecond: 0,
      maxUnderWay: 20,
      mostUsual: 10,
    });
    for (let i = 0; i < 32; i++) capacity.noteDeparture();
    capacity.noteLease({ ...mail, attachments: [], submitted: null });
    return capacity.of(new Set()).free;
  };
  const long = "x".repeat(1024 * 1024);
  const [ofText, ofBody] = [
    freeAfter({ html: "", text: long }),
    freeAfter({ html: long, text: null }),
  ];
  expect(ofText).toBe(ofBody);
  expect(ofText).toBeLessThan(freeAfter({ html: "", text: "short" }));
});
