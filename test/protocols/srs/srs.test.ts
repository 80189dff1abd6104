/** Senders of forwarded mail: both forms, their hashes, their age, and senders that have no form. */

import { describe, expect, test } from "bun:test";
import { forwardedSender, hasSrsForm, reverseSender } from "../../../src/protocols/srs/srs.ts";

const KEY = Buffer.from("a key for tests");
const DAY_MS = 24 * 3_600_000;
const AT = 1_000 * DAY_MS;
const HOST = "in.shop.example";

const forward = (sender: string, at = AT, host = HOST) =>
  forwardedSender(KEY, sender, { host, at });
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
      expect(address).toMatch(/^SRS0=[a-z2-7]{8}=7i=.*@in\.shop\.example$/);
      expect(hasSrsForm(address)).toBe(true);
      expect(reverseSender(KEY, address, AT)).toEqual({ ok: true, address: sender });
    });
  }
});

test("the address has exactly this form", () => {
  expect(forward("ada@example.net")).toBe("SRS0=rtoao4m5=7i=example.net=ada@in.shop.example");
});

describe("a sender that another forwarder rewrote", () => {
  const first = "SRS0=HHH=TT=example.net=ada@first.example";

  test("SRS0 becomes SRS1, which leads back to the first forwarder", () => {
    const address = forwarded(first);
    expect(address).toMatch(
      /^SRS1=[a-z2-7]{8}=first\.example==HHH=TT=example\.net=ada@in\.shop\.example$/,
    );
    expect(reverseSender(KEY, address, AT)).toEqual({ ok: true, address: first });
  });

  test("SRS1 keeps the first forwarder and gets another hash", () => {
    const other = "SRS1=XYZ=first.example==HHH=TT=example.net=ada@second.example";
    expect(forwarded(other)).toBe(forwarded(first));
  });

  test.each(["+", "-"])("the separator %s is kept", (separator) => {
    const sender = `SRS0${separator}HHH=TT=example.net=ada@first.example`;
    const address = forwarded(sender);
    expect(reverseSender(KEY, address, AT)).toEqual({ ok: true, address: sender });
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
    ["with a host that is none", "SRS0=abcdefgh=7i=-=ada@in.shop.example", "form"],
    ["with a space", "SRS0=abcdefgh=7i=example.net=a b@in.shop.example", "form"],
    ["with an @ inside", "SRS0=abcdefgh=7i=example.net=a@b@in.shop.example", "form"],
    ["of another kind", "ada@in.shop.example", "form"],
    ["without @", "SRS0=abcdefgh=7i=example.net=ada", "form"],
    ["that is empty", "", "form"],
    ["that is very long", `SRS0=abcdefgh=7i=example.net=${"a".repeat(100_000)}@x.example`, "form"],
  ];
  test.each(cases)("%s", (_, given, reason) => {
    expect(reverseSender(KEY, given, AT)).toMatchObject({ ok: false, reason });
  });

  test("of another key", () => {
    const other = Buffer.from("another key");
    expect(reverseSender(other, address, AT)).toEqual({ ok: false, reason: "signature" });
  });
});

test("letters may change their case on the way", () => {
  const address = forwarded("ada@example.net");
  const expected = { ok: true, address: "ADA@EXAMPLE.NET" } as const;
  expect(reverseSender(KEY, address.toUpperCase(), AT)).toEqual(expected);
  expect(reverseSender(KEY, address.toLowerCase(), AT)).toEqual({
    ok: true,
    address: "ada@example.net",
  });
});

test("an address is accepted for 30 days, also when the count of days begins again", () => {
  for (const start of [AT, 1_023 * DAY_MS]) {
    const address = forwarded("ada@example.net", start);
    const after = (days: number) => reverseSender(KEY, address, start + days * DAY_MS);
    expect(after(0)).toEqual({ ok: true, address: "ada@example.net" });
    expect(after(30)).toEqual({ ok: true, address: "ada@example.net" });
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
