import { describe, expect, test } from "bun:test";
import { Gate, type Admission } from "../../../src/outbox/direct/gate.ts";
import type { DirectSlot } from "../../../src/outbox/direct/gate.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";

function makeGate(slots = 50) {
  const clock = manualClock(0);
  return { clock, gate: new Gate({ slots, clock }) };
}

function slotOf(admission: Admission): DirectSlot {
  if (admission.kind !== "slot") throw new Error(`no slot: ${admission.reason}`);
  return admission;
}

/** Acquires a connection slot and a slot of the site for a mail to a domain. */
async function enter(gate: Gate, domain: string, site = domain): Promise<DirectSlot> {
  const slot = slotOf(gate.admit(domain));
  const { kind } = await slot.enter(site);
  if (kind !== "entered") throw new Error(`no slot of the site: ${kind}`);
  return slot;
}

/** Delivers one mail that takes `ms`, so that the speed of the site is known. */
async function deliverOne({ gate, clock }: ReturnType<typeof makeGate>, site: string, ms: number) {
  const slot = await enter(gate, site);
  clock.advance(ms);
  slot.end({ kind: "accepted" });
}

describe("the slots of a site", () => {
  test("are two at first: the third mail learns when to ask again", async () => {
    const { gate } = makeGate();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    expect(gate.admit("d.test")).toEqual({
      kind: "busy",
      why: "full",
      retryAfterMs: 50,
      waitList: "d.test",
      reason: "2 mails to its site are under way",
    });
    expect(gate.admit("e.test").kind).toBe("slot");
    inside[0]?.end({ kind: "answered" });
    await enter(gate, "d.test");
    expect(gate.active).toBe(3);
  });

  test("are not waited for if the site is known to be slow", async () => {
    const setup = makeGate();
    await deliverOne(setup, "d.test", 5_000);
    await enter(setup.gate, "d.test");
    await enter(setup.gate, "d.test");
    expect(setup.gate.admit("d.test")).toMatchObject({ kind: "busy", retryAfterMs: 2_500 });
  });

  test("are given at once to mails that wait, if the site has answered before", async () => {
    const setup = makeGate();
    const { gate, clock } = setup;
    await deliverOne(setup, "d.test", 10);
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    const entered: number[] = [];
    const waiting = [0, 1, 2].map(async (n) => {
      const entry = await slotOf(gate.admit("d.test")).enter("d.test", n === 2);
      entered.push(n);
      return entry;
    });
    inside[0]?.end({ kind: "answered" });
    await settleEventLoop();
    expect(entered).toEqual([2]); // The urgent one.
    inside[1]?.end({ kind: "answered" });
    await settleEventLoop();
    expect(entered).toEqual([2, 0]);
    clock.advance(500);
    expect(await Promise.all(waiting)).toMatchObject([
      { kind: "entered" },
      { kind: "busy", why: "full" },
      { kind: "entered" },
    ]);
    expect(gate.active).toBe(2);
  });

  test("are not given to mails that wait when the site asks for a pause", async () => {
    const setup = makeGate();
    await deliverOne(setup, "d.test", 10);
    const inside = [await enter(setup.gate, "d.test"), await enter(setup.gate, "d.test")];
    const waiting = slotOf(setup.gate.admit("d.test")).enter("d.test");
    inside[0]?.end({ kind: "limited", retryAfterMs: 90_000 });
    expect(await waiting).toMatchObject({ why: "paused", retryAfterMs: 90_000 });
    expect(setup.gate.active).toBe(1);
  });

  test("are shared by all domains of the site, once the site is known", async () => {
    const { gate } = makeGate();
    for (const domain of ["a.test", "b.test"]) await enter(gate, domain, "mx.test");
    expect(await slotOf(gate.admit("e.test")).enter("mx.test")).toMatchObject({ kind: "busy" });
    expect(gate.active).toBe(2);
    // From now on the domain is refused at admission.
    expect(gate.admit("e.test").kind).toBe("busy");
  });

  test("limit the DNS lookups while the site of a domain is not known", () => {
    const { gate } = makeGate();
    const kinds = Array.from({ length: 50 }, () => gate.admit("slow-dns.test").kind);
    expect(kinds.filter((kind) => kind === "slot").length).toBe(2);
  });

  test("are released once, even if `end` and `release` are called again", async () => {
    const { gate } = makeGate();
    const slot = await enter(gate, "d.test");
    slot.end({ kind: "accepted" });
    slot.end({ kind: "failed" });
    slot.release();
    expect(gate.active).toBe(0);
    await enter(gate, "d.test");
    await enter(gate, "d.test");
    expect(gate.active).toBe(2);
  });

  test("are refused if the site could not be reached", async () => {
    const { gate } = makeGate();
    const fail = (slot: DirectSlot) => slot.end({ kind: "unreachable", reason: "refused" });
    for (let i = 0; i < 2; i++) fail(await enter(gate, "d.test"));
    fail(await enter(gate, "d.test"));
    const next = slotOf(gate.admit("d.test"));
    expect(await next.enter("d.test")).toEqual({ kind: "suspended", reason: "refused" });
    expect(gate.active).toBe(0);
  });

  test("are refused, with the time, while the site is paused", async () => {
    const { gate, clock } = makeGate();
    const inside = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    inside[0]?.end({ kind: "limited", retryAfterMs: 90_000 });
    expect(gate.admit("d.test")).toMatchObject({ kind: "busy", retryAfterMs: 90_000 });
    clock.advance(30_000);
    expect(gate.admit("d.test")).toMatchObject({ retryAfterMs: 60_000 });
    expect(gate.holdOf("d.test")).toEqual({
      at: "site",
      name: "d.test",
      reason: "its servers answered that too much mail arrives",
      retryAfterMs: 60_000,
    });
    expect(gate.holdOf("e.test")).toBeNull();
    inside[1]?.end({ kind: "answered" });
    clock.advance(60_000);
    expect(gate.admit("d.test").kind).toBe("slot");
    expect(gate.holdOf("d.test")).toBeNull();
  });

  test("are refused if the site asked for a pause during the lookups", async () => {
    const { gate } = makeGate();
    const first = await enter(gate, "d.test");
    const second = slotOf(gate.admit("d.test"));
    first.end({ kind: "limited", retryAfterMs: 90_000 });
    expect(await second.enter("d.test")).toMatchObject({ why: "paused", retryAfterMs: 90_000 });
    expect(gate.active).toBe(0);
  });
});

describe("an urgent mail", () => {
  /** Starts two mails that wait for the pace, which fill their site; `taken` gets the stopped ones. */
  async function fillSite() {
    const { gate } = makeGate();
    const taken: number[] = [];
    /** Whether each mail waits for the pace. */
    const waits = [true, true];
    const slots = [await enter(gate, "d.test"), await enter(gate, "d.test")];
    for (const [i, slot] of slots.entries())
      slot.onTaken(() => waits[i] === true && taken.push(i) > 0);
    return { gate, taken, waits, slots };
  }

  test("takes the slot of the latest mail that waits for the pace at its site", async () => {
    const { gate, taken, slots } = await fillSite();
    expect(gate.admit("d.test").kind).toBe("busy");
    const urgent = slotOf(gate.admit("d.test", true));
    expect(await urgent.enter("d.test", true)).toEqual({ kind: "entered" });
    expect(taken).toEqual([1]);
    // The mail that lost its slot has no influence on the site.
    slots[1]?.end({ kind: "failed" });
    slots[1]?.release();
    expect(gate.active).toBe(2);
    expect(gate.admit("d.test")).toMatchObject({ reason: "2 mails to its site are under way" });
  });

  test("takes a slot once the site of its domain is known", async () => {
    const { gate, taken } = await fillSite();
    const urgent = slotOf(gate.admit("e.test", true));
    expect(await urgent.enter("d.test", true)).toEqual({ kind: "entered" });
    expect([taken, gate.active]).toEqual([[1], 2]);
  });

  test("takes no slot of a mail that does not wait for the pace", async () => {
    const { gate, taken, waits } = await fillSite();
    waits[1] = false;
    slotOf(gate.admit("d.test", true));
    expect(taken).toEqual([0]);
    expect(gate.admit("d.test", true).kind).toBe("busy");
    expect(taken).toEqual([0]);
  });

  test("takes no slot while the site has a free one, or is paused", async () => {
    const { gate, taken, slots } = await fillSite();
    slots[0]?.release();
    slotOf(gate.admit("d.test", true)).end({ kind: "answered" });
    slots[1]?.end({ kind: "limited", retryAfterMs: 90_000 });
    expect(gate.admit("d.test", true).kind).toBe("busy");
    expect(taken).toEqual([]);
  });
});

describe("connection slots over all sites", () => {
  /** Admits mails to different sites while there are slots; `stopped` gets the interrupted ones. */
  async function admitAll(gate: Gate, name: string, stopped: string[] = []): Promise<DirectSlot[]> {
    for (const slots: DirectSlot[] = []; ;) {
      const domain = `${name}${slots.length}.test`;
      const admission = gate.admit(domain);
      if (admission.kind === "busy") return slots;
      await admission.enter(domain);
      admission.onPreempted(() => void stopped.push(domain));
      slots.push(admission);
    }
  }

  /** Admits mails to different sites that do not answer for `ms`. */
  async function admitSilent(
    gate: Gate,
    clock: ManualClock,
    name: string,
    ms = 2_000,
  ): Promise<DirectSlot[]> {
    const slots = await admitAll(gate, name);
    clock.advance(ms);
    return slots;
  }

  test("never exceed the limit", async () => {
    const setup = makeGate(10);
    for (let i = 0; i < 20; i++) await deliverOne(setup, `fast${i}.test`, 10);
    expect(await admitAll(setup.gate, "fast")).toHaveLength(10);
    expect(setup.gate.admit("fast11.test")).toMatchObject({ kind: "busy", retryAfterMs: 100 });
  });

  test("are limited for sites that are not known", async () => {
    const setup = makeGate();
    await deliverOne(setup, "fast.test", 10);
    expect(await admitAll(setup.gate, "new")).toHaveLength(40);
    expect(setup.gate.admit("fast.test").kind).toBe("slot");
  });

  test("are limited for slow sites, for any number of them", async () => {
    const setup = makeGate();
    for (let i = 0; i < 60; i++) await deliverOne(setup, `slow${i}.test`, 5_000);
    await deliverOne(setup, "fast.test", 10);
    expect(await admitAll(setup.gate, "slow")).toHaveLength(25);
    expect(setup.gate.admit("fast.test").kind).toBe("slot");
    expect(setup.gate.admit("new.test").kind).toBe("slot");
  });

  test("are at least one for each speed", async () => {
    const setup = makeGate(1);
    await deliverOne(setup, "slow.test", 5_000);
    expect(setup.gate.admit("slow.test").kind).toBe("slot");
  });

  test("count against the current speed of the site, so unknown sites get slots again", async () => {
    const { gate, clock } = makeGate();
    await admitSilent(gate, clock, "tarpit", 1_999);
    expect(gate.admit("new.test")).toMatchObject({ waitList: "# unknown", retryAfterMs: 1 });
    clock.advance(1);
    expect(await admitAll(gate, "new")).toHaveLength(40);
    expect(gate.active).toBe(80);
  });

  test("count as slow while a mail waits at a fast site, and as fast afterwards", async () => {
    const setup = makeGate(2);
    for (const site of ["a.test", "b.test"]) await deliverOne(setup, site, 10);
    const first = await enter(setup.gate, "a.test");
    const second = await enter(setup.gate, "a.test");
    expect(setup.gate.admit("b.test")).toMatchObject({ kind: "busy", waitList: null });
    setup.clock.advance(2_000);
    slotOf(setup.gate.admit("b.test")).release();
    first.end({ kind: "failed" });
    second.end({ kind: "accepted" });
    for (let i = 0; i < 5; i++) await deliverOne(setup, "a.test", 10);
    await enter(setup.gate, "a.test");
    await enter(setup.gate, "a.test");
    expect(setup.gate.admit("b.test")).toMatchObject({ kind: "busy", waitList: null });
  });

  test("are few for sites that never answered, and separate from those of slow sites", async () => {
    const setup = makeGate();
    const { gate, clock } = setup;
    for (const slot of await admitSilent(gate, clock, "tarpit")) slot.end({ kind: "failed" });
    expect(await admitAll(gate, "tarpit")).toHaveLength(10);
    await admitSilent(gate, clock, "tarpits of later");
    for (let i = 0; i < 60; i++) await deliverOne(setup, `slow${i}.test`, 5_000);
    expect(await admitAll(gate, "slow")).toHaveLength(25);
  });

  test("count as unresponsive for mails with slow lookups, but their site does not", async () => {
    const setup = makeGate(5);
    const { gate, clock } = setup;
    for (let i = 0; i < 4; i++) slotOf(gate.admit(`lookup${i}.test`));
    expect(gate.admit("new.test").kind).toBe("busy");
    clock.advance(2_000);
    const late = slotOf(gate.admit("new.test"));
    expect(await late.enter("new.test")).toEqual({ kind: "entered" });
  });

  test("are taken from the mail that has waited longest when all are used", async () => {
    const { gate, clock } = makeGate(10);
    const stopped: string[] = [];
    for (let i = 0; i < 5; i++) {
      await admitAll(gate, `tarpit${i}-`, stopped);
      clock.advance(2_000);
    }
    expect(gate.active).toBe(40);
    await admitAll(gate, "new", stopped);
    expect(stopped).toEqual(Array.from({ length: 8 }, (_, i) => `tarpit0-${i}.test`));
    expect(gate.active).toBe(40);
  });

  test("cannot be released again after an interruption, which counts as a failure of the site", async () => {
    const { gate, clock } = makeGate(1);
    const slots: DirectSlot[] = [];
    for (let i = 0; i < 4; i++) slots.push(...(await admitSilent(gate, clock, `tarpit${i}-`)));
    await enter(gate, "new.test");
    slots[0]?.end({ kind: "accepted" });
    slots[0]?.release();
    expect(gate.active).toBe(4);
    for (const slot of slots.slice(1)) slot.release();
    expect(gate.active).toBe(1);
    expect(slotOf(gate.admit("tarpit0-0.test")).isHurried()).toBe(true);
  });

  test("are taken from a site that answered before only after 30 seconds", async () => {
    const setup = makeGate(1);
    const { gate, clock } = setup;
    const stopped: string[] = [];
    for (let i = 0; i < 4; i++) await deliverOne(setup, `fast${i}.test`, 10);
    for (let i = 0; i < 4; i++) {
      const slot = await enter(gate, `fast${i}.test`);
      slot.onPreempted(() => void stopped.push(`fast${i}.test`));
      clock.advance(2_000);
    }
    expect(gate.admit("new.test")).toMatchObject({ kind: "busy", waitList: null });
    clock.advance(21_999);
    expect(gate.admit("new.test").kind).toBe("busy");
    clock.advance(1);
    expect(gate.admit("new.test").kind).toBe("slot");
    expect(stopped).toEqual(["fast0.test"]);
  });

  test("are scarce while a fifth of them is used by sites that never answered", async () => {
    const setup = makeGate(10);
    const { gate, clock } = setup;
    await deliverOne(setup, "fast.test", 10);
    const first = await enter(gate, "tarpit0.test");
    clock.advance(2_000);
    const third = slotOf(gate.admit("new.test"));
    expect(third.isHurried()).toBe(false);
    const second = await enter(gate, "tarpit1.test");
    clock.advance(2_000);
    const hurried = slotOf(gate.admit("new2.test"));
    expect(hurried.isHurried()).toBe(true);
    expect(slotOf(gate.admit("fast.test")).isHurried()).toBe(false);
    for (const slot of [first, second, third]) slot.release();
    expect(hurried.isHurried()).toBe(false);
  });
});

describe("steps of the wall clock", () => {
  test.each([-3_600_000, 3_600_000])("by %i ms change neither pauses nor speeds", async (ms) => {
    const setup = makeGate();
    const { gate, clock } = setup;
    await deliverOne(setup, "fast.test", 10);
    await enter(gate, "fast.test");
    const slot = await enter(gate, "paused.test");
    slot.end({ kind: "limited", retryAfterMs: 90_000 });
    clock.stepWall(ms);
    expect(gate.admit("paused.test")).toMatchObject({ kind: "busy", retryAfterMs: 90_000 });
    expect(gate.admit("fast.test").kind).toBe("slot");
    clock.advanceElapsed(90_000);
    expect(gate.admit("paused.test").kind).toBe("slot");
  });
});

describe("connections to one address", () => {
  const ADDRESS = "192.0.2.1";
  const WAIT_LIST = "@ 192.0.2.1";

  test("are at most two over all sites that never answered", async () => {
    const { gate } = makeGate();
    const slots = [];
    for (let i = 0; i < 3; i++) slots.push(await enter(gate, `tarpit${i}.test`));
    const found = slots.map((slot) => slot.reserve(ADDRESS));
    expect(found).toEqual([
      null,
      null,
      expect.objectContaining({ kind: "busy", waitList: WAIT_LIST }),
    ]);
    expect(slots[2]?.reserve("192.0.2.2")).toBeNull();
  });

  test("are limited at admission, before any lookup, if the site was dialled before", async () => {
    const { gate } = makeGate();
    const first = await enter(gate, "a.test", "mx.a.test");
    expect(first.reserve(ADDRESS)).toBeNull();
    const second = await enter(gate, "b.test", "mx.b.test");
    expect(second.reserve(ADDRESS)).toBeNull();
    expect(gate.admit("b.test")).toMatchObject({ kind: "busy", waitList: WAIT_LIST });
    expect(first.secondWaitList).toBe(WAIT_LIST);
    first.release();
    // One connection is free, so one mail is admitted, even if its lookups are slow.
    expect(gate.admit("b.test").kind).toBe("slot");
    expect(gate.admit("a.test")).toMatchObject({ kind: "busy", waitList: WAIT_LIST });
  });

  test("are not limited for a site that has answered", async () => {
    const setup = makeGate();
    for (let i = 0; i < 5; i++) await deliverOne(setup, `good${i}.test`, 10);
    for (let i = 0; i < 5; i++) {
      expect((await enter(setup.gate, `good${i}.test`)).reserve(ADDRESS)).toBeNull();
    }
  });

  test("follow the mail from address to address", async () => {
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
    for (const slot of [one, two, three]) slot.end({ kind: "failed" });
    for (const site of ["d.test", "e.test"]) {
      expect((await enter(gate, site)).reserve(ADDRESS)).toBeNull();
    }
  });

  test("are counted by /64 for IPv6", async () => {
    const { gate } = makeGate();
    const reserve = async (site: string, address: string) =>
      (await enter(gate, site)).reserve(address)?.waitList ?? null;
    expect(await reserve("a.test", "2001:db8:0:1::1")).toBeNull();
    expect(await reserve("b.test", "2001:db8:0:1:ffff::2")).toBeNull();
    expect(await reserve("c.test", "2001:db8:0:1:abc::3")).toBe("@ 2001:db8:0:1::/64");
    expect(await reserve("d.test", "2001:db8:0:2::1")).toBeNull();
    expect(await reserve("e.test", "::ffff:192.0.2.1")).toBeNull();
  });
});
