import { describe, expect, test } from "bun:test";
import { Gate, type Admission, type Pass } from "../../../src/delivery/direct/gate.ts";
import { manualClock } from "../../support/clock.ts";

function gate(places = 50) {
  const clock = manualClock(0);
  return { clock, gate: new Gate({ places, clock }) };
}

function passOf(admission: Admission): Pass {
  if (admission.kind !== "pass") throw new Error(`no place: ${admission.reason}`);
  return admission;
}

/** A mail to a domain of a site, inside. */
function enter(door: Gate, domain: string, site = domain): Pass {
  const pass = passOf(door.admit(domain));
  if (pass.enter(site).kind !== "entered") throw new Error("it was not let in");
  return pass;
}

/** Makes a site known, at so many milliseconds a mail. */
function teach({ gate: door, clock }: ReturnType<typeof gate>, site: string, ms: number): void {
  const pass = enter(door, site);
  clock.advance(ms);
  pass.end({ kind: "accepted" });
}

describe("the gate", () => {
  test("lets two mails to a domain in, and tells the third when to come", () => {
    const { gate: door } = gate();
    const passes = [enter(door, "d.test"), enter(door, "d.test")];
    expect(door.admit("d.test")).toEqual({
      kind: "busy",
      retryAfterMs: 500,
      spacingMs: 50,
      reason: "2 mails to the site are under way",
    });
    expect(door.admit("e.test").kind).toBe("pass");
    passes[0]?.end({ kind: "answered" });
    expect(door.admit("d.test").kind).toBe("pass");
  });

  test("counts the domains of a site together, once it is known", () => {
    const { gate: door } = gate();
    enter(door, "a.test", "mx.test");
    enter(door, "b.test", "mx.test");
    const late = passOf(door.admit("c.test"));
    expect(late.enter("mx.test")).toMatchObject({ kind: "busy" });
    expect(door.active).toBe(2);
    // From now on it is told so at the door.
    expect(door.admit("c.test").kind).toBe("busy");
  });

  test("does not let a domain without a site fill the house either", () => {
    const { gate: door } = gate();
    const kinds = Array.from({ length: 50 }, () => door.admit("slow-dns.test").kind);
    expect(kinds.filter((kind) => kind === "pass").length).toBe(2);
  });

  test("takes a place back once, however often it is given back", () => {
    const { gate: door } = gate();
    const pass = enter(door, "d.test");
    pass.end({ kind: "accepted" });
    pass.end({ kind: "failed" });
    pass.release();
    expect(door.active).toBe(0);
    enter(door, "d.test");
    enter(door, "d.test");
    expect(door.active).toBe(2);
  });

  test("tells a suspension", () => {
    const { gate: door } = gate();
    for (let i = 0; i < 3; i++) {
      enter(door, "d.test").end({ kind: "unreachable", reason: "refused" });
    }
    expect(passOf(door.admit("d.test")).enter("d.test")).toEqual({
      kind: "suspended",
      reason: "refused",
    });
    expect(door.active).toBe(0);
  });

  test("tells how long a pause lasts, and lets one in after it", () => {
    const { gate: door, clock } = gate();
    enter(door, "d.test").end({ kind: "limited", retryAfterMs: 90_000 });
    clock.advance(30_000);
    expect(door.admit("d.test")).toMatchObject({ retryAfterMs: 60_000 });
    clock.advance(60_000);
    enter(door, "d.test");
    expect(door.admit("d.test").kind).toBe("busy");
  });
});

describe("places in the house", () => {
  /** Mails to sites of their own, as long as they are let in. */
  const crowd = (door: Gate, name: string): number => {
    let count = 0;
    while (door.admit(`${name}${count}.test`).kind === "pass") count++;
    return count;
  };

  test("are never more than there are", () => {
    const both = gate(10);
    for (let i = 0; i < 20; i++) teach(both, `fast${i}.test`, 10);
    expect(crowd(both.gate, "fast")).toBe(10);
    expect(both.gate.admit("fast11.test")).toMatchObject({ kind: "busy", retryAfterMs: 250 });
  });

  test("are kept back from sites that are not known", () => {
    const both = gate(50);
    teach(both, "fast.test", 10);
    expect(crowd(both.gate, "new")).toBe(40);
    expect(both.gate.admit("fast.test").kind).toBe("pass");
  });

  test("are kept back from slow sites, however many there are", () => {
    const both = gate(50);
    for (let i = 0; i < 60; i++) teach(both, `slow${i}.test`, 5_000);
    teach(both, "fast.test", 10);
    expect(crowd(both.gate, "slow")).toBe(25);
    expect(both.gate.admit("fast.test").kind).toBe("pass");
    expect(both.gate.admit("new.test").kind).toBe("pass");
  });

  test("are one at least for everybody", () => {
    const both = gate(1);
    teach(both, "slow.test", 5_000);
    expect(both.gate.admit("slow.test").kind).toBe("pass");
  });
});
