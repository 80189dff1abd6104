import { describe, expect, test } from "bun:test";
import { authorDomains, parseFrom, readAuthor } from "../../../src/protocols/mime/from-field.ts";

describe("one mailbox is read", () => {
  const cases: [value: string, address: string, name: string | null][] = [
    [" a@b.test", "a@b.test", null],
    ["<A@B.test>", "a@b.test", null],
    ["Ada <a@b.test>", "a@b.test", "Ada"],
    ['"Ada, the first" <a@b.test>', "a@b.test", "Ada, the first"],
    ['"x@evil.test" <a@b.test>', "a@b.test", "x@evil.test"],
    ["a@b.test (Ada)", "a@b.test", null],
    ["Ada (the (first)) <a@b.test>", "a@b.test", "Ada"],
    ['"\\"quoted\\"" <a@b.test>', "a@b.test", '"quoted"'],
    ["Jörg <a@bücher.test>", "a@xn--bcher-kva.test", "Jörg"],
    ["J. R. Hacker <a@b.test>", "a@b.test", "J. R. Hacker"],
  ];
  test.each(cases)("%s", (value, address, name) => {
    expect(parseFrom(value)).toEqual({ ok: true, mailbox: { address, name } });
  });
});

describe("everything else is refused", () => {
  const cases: [value: string, reason: string][] = [
    ["", "it is empty"],
    ["(only a comment)", "it is empty"],
    ["a@b.test, c@d.test", "it names more than one mailbox"],
    ["Ada, Bob <a@b.test>", "it names more than one mailbox"],
    ["Team: a@b.test;", "it is a group"],
    ["undisclosed-recipients:;", "it is a group"],
    ["<@relay.test:a@b.test>", "it is a group"],
    ["x@evil.test <a@b.test>", "it is not one address"],
    ["<a@b.test> x@evil.test", "it is not one address"],
    ["<a@b.test> <c@d.test>", "it is not one address"],
    ["a@b.test@c.test", "it is not one address"],
    ["Ada", "it is not one address"],
    ['"Ada <a@b.test>', "a comment or a quoted text does not end"],
    ["(Ada <a@b.test>", "a comment or a quoted text does not end"],
    [") <a@b.test>", "a comment or a quoted text does not end"],
    ["<a@[127.0.0.1]>", "its address is not valid"],
    [`${"x".repeat(2_000)} <a@b.test>`, "it is too long"],
  ];
  test.each(cases)("%s", (value, reason) => {
    expect(parseFrom(value)).toMatchObject({
      ok: false,
      reason: expect.stringContaining(reason),
    });
  });
});

describe("the domains of the author", () => {
  const cases: [value: string, domains: string[]][] = [
    ["a@b.test", ["b.test"]],
    ["<a@b.test>", ["b.test"]],
    ["Doe, Jane <a@b.test>", ["b.test"]],
    ["a@b.test, Bob <c@d.test>,", ["b.test", "d.test"]],
    ["x@d.test via List <a@b.test>", ["b.test"]],
    ['"<x@d.test>" (<y@d.test>) <a@b.test>', ["b.test"]],
    ['"a b"@c.test (by (me))', ["c.test"]],
    ["Team: a@b.test, c@d.test;", ["b.test", "d.test"]],
    ["=?utf-8?q?Ad=C3=A4?= <a@b.test>", ["b.test"]],
    ["", []],
    ["<>", []],
    ["MAILER-DAEMON (Mail)", []],
    ["a@[127.0.0.1]", []],
    ["root@localhost", ["localhost"]],
    ["A@B.Test.", ["b.test"]],
    ["a@_spf.b.test", ["_spf.b.test"]],
    ["a@x!y.b.test", ["b.test"]],
    ["a@b\u00fccher.test", ["xn--bcher-kva.test"]],
    // The same domain in other letters, or with invisible characters.
    ["a@\uff42\uff41\uff4e\uff4b.test", ["bank.test"]],
    ["a@bank\u3002test", ["bank.test"]],
    ["a@bank\uff0etest", ["bank.test"]],
    ["a@ba\u200bnk.test", ["bank.test"]],
    ["a@ba\u00adnk.te\u2060st", ["bank.test"]],
    ["a@bank\u00a0.test", ["bank.test"]],
    ["a@bank. test", ["bank.test"]],
    ["a@ (c) bank (c) . (c) test", ["bank.test"]],
    // Programs may read different addresses.
    ["(a(b) x@evil.test) a@bank.test", ["evil.test", "bank.test"]],
    ["(a\\) x@evil.test) a@bank.test", ["evil.test", "bank.test"]],
    ['(" x@evil.test ") a@bank.test', ["evil.test", "bank.test"]],
    ['"\\" <x@evil.test>" <a@bank.test>', ["evil.test", "bank.test"]],
    ["a@bank.test\0 <x@evil.test>", ["bank.test", "evil.test"]],
    ["=?utf-8?q?a=40bank.test?=", ["bank.test"]],
    ["=?utf-8?q?a=40bank.test?= x@evil.test", ["evil.test", "bank.test"]],
    ["<=?utf-8?q?a=40bank.test?=@evil.test>", ["evil.test", "bank.test"]],
    ["a@b.test c@d.test", ["b.test", "d.test"]],
    ["<a@b.test> <c@d.test>", ["b.test", "d.test"]],
    ["<a@b.test> c@d.test", ["b.test", "d.test"]],
    ["<a@b.test", ["b.test"]],
    ["e@f.test, <@relay.test:a@b.test>", ["f.test", "relay.test", "b.test"]],
    ['"Ada <a@b.test>', ["b.test"]],
    ["a@b.test (<c@d.test>", ["b.test", "d.test"]],
    ["a@b.test@d.test", ["b.test", "d.test"]],
  ];
  test.each(cases)("%j", (value, domains) => {
    expect(authorDomains(value).toSorted()).toEqual(domains.toSorted());
  });
});

describe("the author of a message", () => {
  const cases: [header: string, address: string | null, domains: string[]][] = [
    ["Subject: a\r\nfrom :\r\n Ada\r\n <a@b.test>\r\nTo: c@d.test", "a@b.test", ["b.test"]],
    ["From: (a(b) x@evil.test) a@bank.test", "a@bank.test", ["bank.test", "evil.test"]],
    ["From: a@b.test\nFrom: c@d.test", null, ["b.test", "d.test"]],
    ["From: a@b.test\r, c@d.test\r\nTo: e@f.test", null, ["b.test", "d.test"]],
    ["Subject: a\rFrom: a@b.test", "a@b.test", ["b.test"]],
    ["From: a@b\xc3\xbccher.test", "a@xn--bcher-kva.test", ["xn--bcher-kva.test"]],
    ["From: a@b\xfccher.test", "a@xn--bcher-kva.test", ["xn--bcher-kva.test"]],
    ["Subject: a", null, []],
  ];
  test.each(cases)("%j", (header, address, domains) => {
    const author = readAuthor(header);
    expect(author?.mailbox?.address ?? null).toBe(address);
    expect(author?.domains.toSorted()).toEqual(domains);
  });

  test("is not read from fields of more than 64 KiB or more than ten domains", () => {
    const people = Array.from({ length: 11 }, (_, i) => `a@b${i}.test`);
    expect(readAuthor(`From: ${"a".repeat(64 * 1024)}@b.test`)).toBeNull();
    expect(readAuthor(`From: ${people.join()}`)).toBeNull();
    expect(readAuthor(`From: ${people.slice(1).join()}`)?.domains).toHaveLength(10);
  });

  test("has the domain of the mailbox that is shown, in each form of a field", () => {
    const pieces = ["a@b.test", "<", ">", "(", ")", '"', "\\", "@", " ", ",", "x@\uff43.test", "."];
    let state = 1;
    const next = () => (state = (state * 48_271) % 2_147_483_647);
    for (let round = 0; round < 3_000; round++) {
      const value = Array.from({ length: 1 + (next() % 7) }, () => pieces[next() % 12]).join("");
      const author = readAuthor(`From: ${Buffer.from(value).toString("latin1")}`);
      const shown = author?.mailbox?.address.replace(/^.*@/, "");
      if (shown !== undefined) expect(authorDomains(value)).toContain(shown);
    }
  });
});
