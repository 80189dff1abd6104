import { describe, expect, test } from "bun:test";
import { Gate, type Admission } from "../../../src/delivery/direct/gate.ts";
import type { DirectSlot } from "../../../src/delivery/direct/slot.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";

function makeGate(slots = 50) {
  const clock = manualClock(0);
  return { clock, gate: new Gate({ slots, clock }) };
}

function passOf(admission: Admission): DirectSlot {
  if (admission.kind !== "slot") throw new Error(`no pass: ${admission.reason}`);
  return admission;
}

/** The pass of a mail to a domain of a site, with a slot of the site. */
async function enter(gate: Gate, domain: string, site = domain): Promise<DirectSlot> {
  const pass = passOf(gate.admit(domain));
  const { kind } = await pass.enter(site);
  if (kind !== "entered") throw new Error(`no slot of the site: ${kind}`);
  return pass;
}

/** Makes a site known, at so many milliseconds a mail. */
async function teach({ gate, clock }: ReturnType<typeof makeGate>, site: string, ms: number) {
  const pass = await enter(gate, site);
  clock.advance(ms);
  pass.end({ kind: "accepted" });
}

describe("at a site", () => {
  test("two mails get in, two wait for a moment, the fifth is told when to come", async () => {
    const { gate, clock } = makeGate();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const waiting = [passOf(gate.admit("d.test")), passOf(gate.admit("d.test"))];
    const entries = waiting.map((pass) => pass.enter("d.test"));
    expect(gate.admit("d.test")).toEqual({
      kind: "busy",
      why: "full",
      retryAfterMs: 50,
      waitList: "d.test",
      reason: "2 mails to its site are under way",
    });
    expect(gate.admit("e.test").kind).toBe("slot");
    inside[0]?.end({ kind: "answered" });
    expect(await entries[0]).toEqual({ kind: "entered" });
    clock.advance(500);
    expect(await entries[1]).toMatchObject({ kind: "busy" });
    expect(gate.active).toBe(3);
  });

  test("that is known to be fast many wait, in their order", async () => {
    const both = makeGate();
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
    const both = makeGate();
    await teach(both, "d.test", 5_000);
    await enter(both.gate, "d.test");
    await enter(both.gate, "d.test");
    expect(both.gate.admit("d.test")).toMatchObject({ kind: "busy", retryAfterMs: 2_500 });
  });

  test("that keeps somebody for two seconds nobody waits any more", async () => {
    const both = makeGate();
    await teach(both, "d.test", 10);
    await enter(both.gate, "d.test");
    await enter(both.gate, "d.test");
    expect(both.gate.admit("d.test").kind).toBe("slot");
    both.clock.advance(2_000);
    expect(both.gate.admit("d.test").kind).toBe("busy");
  });

  test("the mails of all its domains count together, once it is known", async () => {
    const { gate } = makeGate();
    for (const domain of ["a.test", "b.test"]) await enter(gate, domain, "mx.test");
    const waiting = ["c.test", "d.test"].map((domain) => passOf(gate.admit(domain)));
    for (const pass of waiting) void pass.enter("mx.test");
    expect(await passOf(gate.admit("e.test")).enter("mx.test")).toMatchObject({ kind: "busy" });
    expect(gate.active).toBe(4);
    // From now on it is told so at the door.
    expect(gate.admit("e.test").kind).toBe("busy");
  });

  test("that is not known yet only a few wait for the DNS", () => {
    const { gate } = makeGate();
    const kinds = Array.from({ length: 50 }, () => gate.admit("slow-dns.test").kind);
    expect(kinds.filter((kind) => kind === "slot").length).toBe(4);
  });

  test("a place is given back once, however often it is returned", async () => {
    const { gate } = makeGate();
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
    const { gate } = makeGate();
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
    const { gate } = makeGate();
    const fail = (pass: DirectSlot) => pass.end({ kind: "unreachable", reason: "refused" });
    for (let i = 0; i < 2; i++) fail(await enter(gate, "d.test"));
    const last = await enter(gate, "d.test");
    const waiting = passOf(gate.admit("d.test")).enter("d.test");
    fail(last);
    expect(await waiting).toEqual({ kind: "suspended", reason: "refused" });
    expect(gate.active).toBe(0);
  });

  test("that is paused a mail hears how long, those who wait as well", async () => {
    const { gate, clock } = makeGate();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const waiting = passOf(gate.admit("d.test")).enter("d.test");
    inside[0]?.end({ kind: "limited", retryAfterMs: 90_000 });
    expect(await waiting).toMatchObject({ kind: "busy", retryAfterMs: 90_000 });
    clock.advance(30_000);
    expect(gate.admit("d.test")).toMatchObject({ retryAfterMs: 60_000 });
    inside[1]?.end({ kind: "answered" });
    clock.advance(60_000);
    expect(gate.admit("d.test").kind).toBe("slot");
  });
});

describe("connection slots over all sites", () => {
  /** Mails to sites of their own, as long as there are slots; with what each pass was told. */
  async function crowd(gate: Gate, name: string, stopped: string[] = []): Promise<DirectSlot[]> {
    for (const passes: DirectSlot[] = []; ;) {
      const domain = `${name}${passes.length}.test`;
      const admission = gate.admit(domain);
      if (admission.kind === "busy") return passes;
      await admission.enter(domain);
      admission.onPreempted(() => void stopped.push(domain));
      passes.push(admission);
    }
  }

  /** Mails that nobody answers for so long. */
  async function hang(
    gate: Gate,
    clock: ManualClock,
    name: string,
    ms = 2_000,
  ): Promise<DirectSlot[]> {
    const passes = await crowd(gate, name);
    clock.advance(ms);
    return passes;
  }

  test("are never more than there are", async () => {
    const both = makeGate(10);
    for (let i = 0; i < 20; i++) await teach(both, `fast${i}.test`, 10);
    expect(await crowd(both.gate, "fast")).toHaveLength(10);
    expect(both.gate.admit("fast11.test")).toMatchObject({ kind: "busy", retryAfterMs: 100 });
  });

  test("are kept back from sites that are not known", async () => {
    const both = makeGate();
    await teach(both, "fast.test", 10);
    expect(await crowd(both.gate, "new")).toHaveLength(40);
    expect(both.gate.admit("fast.test").kind).toBe("slot");
  });

  test("are kept back from slow sites, however many there are", async () => {
    const both = makeGate();
    for (let i = 0; i < 60; i++) await teach(both, `slow${i}.test`, 5_000);
    await teach(both, "fast.test", 10);
    expect(await crowd(both.gate, "slow")).toHaveLength(25);
    expect(both.gate.admit("fast.test").kind).toBe("slot");
    expect(both.gate.admit("new.test").kind).toBe("slot");
  });

  test("are one at least for each speed", async () => {
    const both = makeGate(1);
    await teach(both, "slow.test", 5_000);
    expect(both.gate.admit("slow.test").kind).toBe("slot");
  });

  test("count against the speed that the site has now, so unknown sites find some again", async () => {
    const { gate, clock } = makeGate();
    await hang(gate, clock, "tarpit", 1_999);
    expect(gate.admit("new.test")).toMatchObject({ waitList: "# unknown", retryAfterMs: 1 });
    clock.advance(1);
    expect(await crowd(gate, "new")).toHaveLength(40);
    expect(gate.active).toBe(80);
  });

  test("count as slow while a fast site keeps one mail waiting, and as fast after it", async () => {
    const both = makeGate(2);
    for (const site of ["a.test", "b.test"]) await teach(both, site, 10);
    const first = await enter(both.gate, "a.test");
    const second = await enter(both.gate, "a.test");
    expect(both.gate.admit("b.test")).toMatchObject({ kind: "busy", waitList: null });
    both.clock.advance(2_000);
    passOf(both.gate.admit("b.test")).release();
    first.end({ kind: "failed" });
    second.end({ kind: "accepted" });
    for (let i = 0; i < 5; i++) await teach(both, "a.test", 10);
    await enter(both.gate, "a.test");
    await enter(both.gate, "a.test");
    expect(both.gate.admit("b.test")).toMatchObject({ kind: "busy", waitList: null });
  });

  test("are few for sites that never answered, and those do not use the slots of slow ones", async () => {
    const both = makeGate();
    const { gate, clock } = both;
    for (const pass of await hang(gate, clock, "tarpit")) pass.end({ kind: "failed" });
    expect(await crowd(gate, "tarpit")).toHaveLength(10);
    await hang(gate, clock, "tarpits of later");
    for (let i = 0; i < 60; i++) await teach(both, `slow${i}.test`, 5_000);
    expect(await crowd(gate, "slow")).toHaveLength(25);
  });

  test("of mails with slow lookups count as unresponsive, and their site does not", async () => {
    const both = makeGate(5);
    const { gate, clock } = both;
    for (let i = 0; i < 4; i++) passOf(gate.admit(`lookup${i}.test`));
    expect(gate.admit("new.test").kind).toBe("busy");
    clock.advance(2_000);
    const late = passOf(gate.admit("new.test"));
    expect(await late.enter("new.test")).toEqual({ kind: "entered" });
  });

  test("are taken from the mail that has waited longest when all are used", async () => {
    const { gate, clock } = makeGate(10);
    const stopped: string[] = [];
    for (let i = 0; i < 5; i++) {
      await crowd(gate, `tarpit${i}-`, stopped);
      clock.advance(2_000);
    }
    expect(gate.active).toBe(40);
    await crowd(gate, "new", stopped);
    expect(stopped).toEqual(Array.from({ length: 8 }, (_, i) => `tarpit0-${i}.test`));
    expect(gate.active).toBe(40);
  });

  test("that were taken away cannot be given back again, and the site has learnt from it", async () => {
    const { gate, clock } = makeGate(1);
    const passes: DirectSlot[] = [];
    for (let i = 0; i < 4; i++) passes.push(...(await hang(gate, clock, `tarpit${i}-`)));
    await enter(gate, "new.test");
    passes[0]?.end({ kind: "accepted" });
    passes[0]?.release();
    expect(gate.active).toBe(4);
    for (const pass of passes.slice(1)) pass.release();
    expect(gate.active).toBe(1);
    expect(passOf(gate.admit("tarpit0-0.test")).isHurried()).toBe(true);
  });

  test("are taken from a site that answered before only after 30 seconds", async () => {
    const both = makeGate(1);
    const { gate, clock } = both;
    const stopped: string[] = [];
    for (let i = 0; i < 4; i++) await teach(both, `fast${i}.test`, 10);
    for (let i = 0; i < 4; i++) {
      const pass = await enter(gate, `fast${i}.test`);
      pass.onPreempted(() => void stopped.push(`fast${i}.test`));
      clock.advance(2_000);
    }
    expect(gate.admit("new.test")).toMatchObject({ kind: "busy", waitList: null });
    clock.advance(21_999);
    expect(gate.admit("new.test").kind).toBe("busy");
    clock.advance(1);
    expect(gate.admit("new.test").kind).toBe("slot");
    expect(stopped).toEqual(["fast0.test"]);
  });

  test("are scarce while a fifth of them waits at sites that never answered", async () => {
    const both = makeGate(10);
    const { gate, clock } = both;
    await teach(both, "fast.test", 10);
    const first = await enter(gate, "tarpit0.test");
    clock.advance(2_000);
    const third = passOf(gate.admit("new.test"));
    expect(third.isHurried()).toBe(false);
    const second = await enter(gate, "tarpit1.test");
    clock.advance(2_000);
    const hurried = passOf(gate.admit("new2.test"));
    expect(hurried.isHurried()).toBe(true);
    expect(passOf(gate.admit("fast.test")).isHurried()).toBe(false);
    for (const pass of [first, second, third]) pass.release();
    expect(hurried.isHurried()).toBe(false);
  });
});

describe("steps of the wall clock", () => {
  test.each([-3_600_000, 3_600_000])("by %i ms change neither pauses nor speeds", async (ms) => {
    const both = makeGate();
    const { gate, clock } = both;
    await teach(both, "fast.test", 10);
    await enter(gate, "fast.test");
    const pass = await enter(gate, "paused.test");
    pass.end({ kind: "limited", retryAfterMs: 90_000 });
    clock.stepWall(ms);
    expect(gate.admit("paused.test")).toMatchObject({ kind: "busy", retryAfterMs: 90_000 });
    for (let i = 0; i < 3; i++) expect(gate.admit("fast.test").kind).toBe("slot");
    clock.advanceElapsed(90_000);
    expect(gate.admit("paused.test").kind).toBe("slot");
  });
});

describe("connections to one address", () => {
  const ADDRESS = "192.0.2.1";
  const WAIT_LIST = "@ 192.0.2.1";

  test("are two at once over all sites that never answered", async () => {
    const { gate } = makeGate();
    const passes = [];
    for (let i = 0; i < 3; i++) passes.push(await enter(gate, `tarpit${i}.test`));
    const found = passes.map((pass) => pass.reserve(ADDRESS));
    expect(found).toEqual([
      null,
      null,
      expect.objectContaining({ kind: "busy", waitList: WAIT_LIST }),
    ]);
    expect(passes[2]?.reserve("192.0.2.2")).toBeNull();
  });

  test("are known beforehand where the site was reached: its mail is not even looked up", async () => {
    const { gate } = makeGate();
    const first = await enter(gate, "a.test", "mx.a.test");
    expect(first.reserve(ADDRESS)).toBeNull();
    const second = await enter(gate, "b.test", "mx.b.test");
    expect(second.reserve(ADDRESS)).toBeNull();
    expect(gate.admit("b.test")).toMatchObject({ kind: "busy", waitList: WAIT_LIST });
    expect(first.secondWaitList).toBe(WAIT_LIST);
    first.release();
    // One connection is free, so one mail is admitted, whatever time its lookups take.
    expect(gate.admit("b.test").kind).toBe("slot");
    expect(gate.admit("a.test")).toMatchObject({ kind: "busy", waitList: WAIT_LIST });
  });

  test("of a site that answered are not limited", async () => {
    const both = makeGate();
    for (let i = 0; i < 5; i++) await teach(both, `good${i}.test`, 10);
    for (let i = 0; i < 5; i++) {
      expect((await enter(both.gate, `good${i}.test`)).reserve(ADDRESS)).toBeNull();
    }
  });

  test("move with the mail from address to address", async () => {
    const { gate } = makeGate();
    const [one, two, three] = [
      await enter(gate, "a.test"),
      await enter(gate, "b.test"),
      await enter(gate, "c.test"),
    ];
    expect([one.reserve(ADDRESS), two.reserve(ADDRESS)]).toEqual([null, null]);
    expect(one.reserve(ADDRESS)).toBeNull();
    expect(one.reserve("192.0.2.2")).toBeNull();
    expect(three.reserve(ADDRESS)).toBeNull();
    for (const pass of [one, two, three]) pass.end({ kind: "failed" });
    for (const site of ["d.test", "e.test"]) {
      expect((await enter(gate, site)).reserve(ADDRESS)).toBeNull();
    }
  });

  test("of IPv6 are counted by /64", async () => {
    const { gate } = makeGate();
    const reserve = async (site: string, address: string) =>
      (await enter(gate, site)).reserve(address)?.waitList ?? null;
    expect(await reserve("a.test", "2001:db8:0:1::1")).toBeNull();
    expect(await reserve("b.test", "2001:db8:0:1:ffff::2")).toBeNull();
    expect(await reserve("c.test", "2001:db8:0:1:abc::3")).toBe("@ 20010db800000001/64");
    expect(await reserve("d.test", "2001:db8:0:2::1")).toBeNull();
    expect(await reserve("e.test", "::ffff:192.0.2.1")).toBeNull();
  });
});
