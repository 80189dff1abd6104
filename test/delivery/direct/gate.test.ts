import { describe, expect, test } from "bun:test";
import { Gate, type Admission, type Pass } from "../../../src/delivery/direct/gate.ts";
import { manualClock } from "../../support/clock.ts";

function house(places = 50) {
  const clock = manualClock(0);
  return { clock, gate: new Gate({ places, clock }) };
}

function passOf(admission: Admission): Pass {
  if (admission.kind !== "pass") throw new Error(`no place: ${admission.reason}`);
  return admission;
}

/** A mail to a domain of a site, inside. */
async function enter(gate: Gate, domain: string, site = domain): Promise<Pass> {
  const pass = passOf(gate.admit(domain));
  const { kind } = await pass.enter(site);
  if (kind !== "entered") throw new Error(`not let in: ${kind}`);
  return pass;
}

/** Makes a site known, at so many milliseconds a mail. */
async function teach({ gate, clock }: ReturnType<typeof house>, site: string, ms: number) {
  const pass = await enter(gate, site);
  clock.advance(ms);
  pass.end({ kind: "accepted" });
}

describe("at a site", () => {
  test("two mails get in, two wait for a moment, the fifth is told when to come", async () => {
    const { gate, clock } = house();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const waiting = [passOf(gate.admit("d.test")), passOf(gate.admit("d.test"))];
    const entries = waiting.map((pass) => pass.enter("d.test"));
    expect(gate.admit("d.test")).toEqual({
      kind: "busy",
      why: "full",
      retryAfterMs: 50,
      line: "d.test",
      reason: "2 mails to its site are under way",
    });
    expect(gate.admit("e.test").kind).toBe("pass");
    inside[0]?.end({ kind: "answered" });
    expect(await entries[0]).toEqual({ kind: "entered" });
    clock.advance(500);
    expect(await entries[1]).toMatchObject({ kind: "busy" });
    expect(gate.active).toBe(3);
  });

  test("that is known to be fast many wait, in their order", async () => {
    const both = house();
    await teach(both, "d.test", 10);
    const { gate } = both;
    const order: number[] = [];
    const visits = Array.from({ length: 22 }, async (_, i) => {
      const pass = passOf(gate.admit("d.test"));
      expect(await pass.enter("d.test")).toEqual({ kind: "entered" });
      order.push(i);
      pass.end({ kind: "accepted" });
    });
    expect(gate.admit("d.test").kind).toBe("busy");
    await Promise.all(visits);
    expect(order).toEqual(Array.from({ length: 22 }, (_, i) => i));
    expect(gate.active).toBe(0);
  });

  test("that is known to be slow nobody waits", async () => {
    const both = house();
    await teach(both, "d.test", 5_000);
    await enter(both.gate, "d.test");
    await enter(both.gate, "d.test");
    expect(both.gate.admit("d.test")).toMatchObject({ kind: "busy", retryAfterMs: 2_500 });
  });

  test("that keeps somebody for two seconds nobody waits any more", async () => {
    const both = house();
    await teach(both, "d.test", 10);
    await enter(both.gate, "d.test");
    await enter(both.gate, "d.test");
    expect(both.gate.admit("d.test").kind).toBe("pass");
    both.clock.advance(2_000);
    expect(both.gate.admit("d.test").kind).toBe("busy");
  });

  test("the mails of all its domains count together, once it is known", async () => {
    const { gate } = house();
    for (const domain of ["a.test", "b.test"]) await enter(gate, domain, "mx.test");
    const waiting = ["c.test", "d.test"].map((domain) => passOf(gate.admit(domain)));
    for (const pass of waiting) void pass.enter("mx.test");
    expect(await passOf(gate.admit("e.test")).enter("mx.test")).toMatchObject({ kind: "busy" });
    expect(gate.active).toBe(4);
    // From now on it is told so at the door.
    expect(gate.admit("e.test").kind).toBe("busy");
  });

  test("that is not known yet only a few wait for the DNS", () => {
    const { gate } = house();
    const kinds = Array.from({ length: 50 }, () => gate.admit("slow-dns.test").kind);
    expect(kinds.filter((kind) => kind === "pass").length).toBe(4);
  });

  test("a place is given back once, however often it is returned", async () => {
    const { gate } = house();
    const pass = await enter(gate, "d.test");
    pass.end({ kind: "accepted" });
    pass.end({ kind: "failed" });
    pass.release();
    expect(gate.active).toBe(0);
    await enter(gate, "d.test");
    await enter(gate, "d.test");
    expect(gate.active).toBe(2);
  });

  test("a mail that is withdrawn while it waits leaves no gap", async () => {
    const { gate } = house();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const waiting = passOf(gate.admit("d.test"));
    const entry = waiting.enter("d.test");
    waiting.release();
    for (const pass of inside) pass.release();
    expect(await entry).toMatchObject({ kind: "busy" });
    const again = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const late = passOf(gate.admit("d.test"));
    const lateEntry = late.enter("d.test");
    for (const pass of again) pass.release();
    late.release();
    expect(await lateEntry).toMatchObject({ kind: "busy" });
    expect(gate.active).toBe(0);
    for (let i = 0; i < 4; i++) passOf(gate.admit("d.test"));
    expect(gate.admit("d.test").kind).toBe("busy");
  });

  test("that could not be reached a mail hears it at once, those who wait as well", async () => {
    const { gate } = house();
    const fail = (pass: Pass) => pass.end({ kind: "unreachable", reason: "refused" });
    for (let i = 0; i < 2; i++) fail(await enter(gate, "d.test"));
    const last = await enter(gate, "d.test");
    const waiting = passOf(gate.admit("d.test")).enter("d.test");
    fail(last);
    expect(await waiting).toEqual({ kind: "suspended", reason: "refused" });
    expect(gate.active).toBe(0);
  });

  test("that is paused a mail hears how long, those who wait as well", async () => {
    const { gate, clock } = house();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const waiting = passOf(gate.admit("d.test")).enter("d.test");
    inside[0]?.end({ kind: "limited", retryAfterMs: 90_000 });
    expect(await waiting).toMatchObject({ kind: "busy", retryAfterMs: 90_000 });
    clock.advance(30_000);
    expect(gate.admit("d.test")).toMatchObject({ retryAfterMs: 60_000 });
    inside[1]?.end({ kind: "answered" });
    clock.advance(60_000);
    expect(gate.admit("d.test").kind).toBe("pass");
  });
});

describe("places in the house", () => {
  /** Mails to sites of their own, as long as they are let in. */
  async function crowd(gate: Gate, name: string): Promise<number> {
    for (let count = 0; ; count++) {
      const admission = gate.admit(`${name}${count}.test`);
      if (admission.kind === "busy") return count;
      await admission.enter(`${name}${count}.test`);
    }
  }

  test("are never more than there are", async () => {
    const both = house(10);
    for (let i = 0; i < 20; i++) await teach(both, `fast${i}.test`, 10);
    expect(await crowd(both.gate, "fast")).toBe(10);
    expect(both.gate.admit("fast11.test")).toMatchObject({ kind: "busy", retryAfterMs: 100 });
  });

  test("are kept back from sites that are not known", async () => {
    const both = house();
    await teach(both, "fast.test", 10);
    expect(await crowd(both.gate, "new")).toBe(40);
    expect(both.gate.admit("fast.test").kind).toBe("pass");
  });

  test("are kept back from slow sites, however many there are", async () => {
    const both = house();
    for (let i = 0; i < 60; i++) await teach(both, `slow${i}.test`, 5_000);
    await teach(both, "fast.test", 10);
    expect(await crowd(both.gate, "slow")).toBe(25);
    expect(both.gate.admit("fast.test").kind).toBe("pass");
    expect(both.gate.admit("new.test").kind).toBe("pass");
  });

  test("are one at least for everybody", async () => {
    const both = house(1);
    await teach(both, "slow.test", 5_000);
    expect(both.gate.admit("slow.test").kind).toBe("pass");
  });
});
