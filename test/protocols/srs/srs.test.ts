/** Senders of forwarded mail: both forms, their hashes, their age, and senders that have no form. */

import { describe, expect, test } from "bun:test";
import { forwardedSender, hasSrsForm, reverseSender } from "../../../src/protocols/srs/srs.ts";

const KEY = Buffer.from("a key for tests");
const DAY_MS = 24 * 3_600_000;
const AT = 1_000 * DAY_MS;
const HOST = "in.shop.example";

const PROJECT = 7;
const NUMBER = 1_234;

const forward = (sender: string, at = AT, more = {}) =>
  forwardedSender(KEY, sender, { project: PROJECT, host: HOST, number: NUMBER, at, ...more });
const reverse = (address: string, at = AT, project = PROJECT) =>
  reverseSender(KEY, address, { project, at });
/** The result for an address that leads to this sender. */
const leadsTo = (address: string) => ({ ok: true as const, address, number: NUMBER });
const forwarded = (sender: string, at = AT): string => forward(sender, at) ?? "";

describe("a sender is rewritten and found again", () => {
  const senders = [
    "ada@example.net",
    "Ada.Lovelace@Example.net",
    "a=b=c@example.net",
    "bounce+x=shop.example@news.example.net",
    "o'neil@example.net",
    "x@a.b.c.d.example.net",
  ];
  for (const sender of senders) {
    test(sender, () => {
      const address = forwarded(sender);
      expect(address).toMatch(/^SRS0=[a-z2-7]{8}bgs=7i=.*@in\.shop\.example$/);
      expect(hasSrsForm(address)).toBe(true);
      expect(reverse(address)).toEqual(leadsTo(sender));
    });
  }
});

test("the address has exactly this form", () => {
  expect(forward("ada@example.net")).toBe("SRS0=osjlivxobgs=7i=example.net=ada@in.shop.example");
});

describe("a sender that another forwarder rewrote", () => {
  const first = "SRS0=HHH=TT=example.net=ada@first.example";

  test("SRS0 becomes SRS1, which leads back to the first forwarder", () => {
    const address = forwarded(first);
    expect(address).toMatch(
      /^SRS1=[a-z2-7]{8}bgs=first\.example==HHH=TT=example\.net=ada@in\.shop\.example$/,
    );
    expect(reverse(address)).toEqual(leadsTo(first));
  });

  test("SRS1 keeps the first forwarder and gets another hash", () => {
    const other = "SRS1=XYZ=first.example==HHH=TT=example.net=ada@second.example";
    expect(forwarded(other)).toBe(forwarded(first));
  });

  test.each(["+", "-"])("the separator %s is kept", (separator) => {
    const sender = `SRS0${separator}HHH=TT=example.net=ada@first.example`;
    const address = forwarded(sender);
    expect(reverse(address)).toEqual(leadsTo(sender));
  });
});

describe("an address is refused", () => {
  const address = forwarded("ada@example.net");
  const srs1 = forwarded("SRS0=HHH=TT=example.net=ada@first.example");
  const otherHash = (text: string) =>
    text.replace(/^(SRS\d=)(.)/, (_, start: string, letter: string) =>
      start.concat(letter === "a" ? "b" : "a"),
    );
  const cases: [what: string, address: string, reason: string][] = [
    ["with another hash", otherHash(address), "signature"],
    ["with another domain", address.replace("example.net", "example.org"), "signature"],
    ["with another local part", address.replace("=ada@", "=bob@"), "signature"],
    ["with another day", address.replace("=7i=", "=7j="), "signature"],
    ["SRS1 with another hash", otherHash(srs1), "signature"],
    ["SRS1 with another host", srs1.replace("first.example", "other.example"), "signature"],
    ["without a hash", "SRS0=example.net=ada@in.shop.example", "form"],
    ["with a short hash", "SRS0=abc=7i=example.net=ada@in.shop.example", "form"],
    ["with a host that is none", "SRS0=abcdefghbgs=7i=-=ada@in.shop.example", "form"],
    ["with a space", "SRS0=abcdefghbgs=7i=example.net=a b@in.shop.example", "form"],
    ["with an @ inside", "SRS0=abcdefghbgs=7i=example.net=a@b@in.shop.example", "form"],
    ["of another kind", "ada@in.shop.example", "form"],
    ["without @", "SRS0=abcdefghbgs=7i=example.net=ada", "form"],
    ["that is empty", "", "form"],
    [
      "that is very long",
      `SRS0=abcdefghbgs=7i=example.net=${"a".repeat(100_000)}@x.example`,
      "form",
    ],
  ];
  test.each(cases)("%s", (_, given, reason) => {
    expect(reverse(given)).toMatchObject({ ok: false, reason });
  });

  test.each([1, PROJECT + 1])("of another project: %d", (project) => {
    for (const each of [address, srs1]) {
      expect(reverse(each, AT, project)).toEqual({ ok: false, reason: "signature" });
    }
  });

  test("at another host, and with another number", () => {
    for (const each of [address, srs1]) {
      const moved = each.replace(HOST, "in.other.example");
      expect(reverse(moved)).toEqual({ ok: false, reason: "signature" });
      for (const number of ["bgt", "b", "bgsa", "abgs"]) {
        const renumbered = each.replace("bgs=", `${number}=`);
        expect(reverse(renumbered)).toEqual({ ok: false, reason: "signature" });
      }
    }
  });

  test("of another key", () => {
    const other = Buffer.from("another key");
    expect(reverseSender(other, address, { project: PROJECT, at: AT })).toEqual({
      ok: false,
      reason: "signature",
    });
  });
});

test.each([0, 1, 31, 32, 2 ** 31, Number.MAX_SAFE_INTEGER])(
  "the number %d comes back",
  (number) => {
    expect(reverse(forward("ada@example.net", AT, { number }) ?? "")).toMatchObject({ number });
  },
);

test("letters may change their case on the way", () => {
  const address = forwarded("ada@example.net");
  expect(reverse(address.toUpperCase())).toEqual(leadsTo("ADA@EXAMPLE.NET"));
  expect(reverse(address.toLowerCase())).toEqual(leadsTo("ada@example.net"));
});

test("an address is accepted for 30 days, also when the count of days begins again", () => {
  for (const start of [AT, 1_023 * DAY_MS]) {
    const address = forwarded("ada@example.net", start);
    const after = (days: number) => reverse(address, start + days * DAY_MS);
    expect(after(0)).toEqual(leadsTo("ada@example.net"));
    expect(after(30)).toEqual(leadsTo("ada@example.net"));
    expect(after(31)).toEqual({ ok: false, reason: "expired" });
    expect(after(-1)).toEqual({ ok: false, reason: "expired" });
  }
});

describe("a sender that cannot be rewritten", () => {
  test.each([
    "",
    "ada",
    '"ada l"@example.net',
    "üser@example.net",
    "ada@[192.0.2.1]",
    `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example`,
  ])("%s", (sender) => expect(forward(sender)).toBeNull());
});
