import { describe, expect, test } from "bun:test";
import { hasUnclearAddress, parseFrom } from "../../../src/protocols/mime/from-field.ts";

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

describe("whether an address is clear", () => {
  const cases: [value: string, isUnclear: boolean][] = [
    ["a@b.test", false],
    ["<a@b.test>", false],
    ["Doe, Jane <a@b.test>", false],
    ["a@b.test, Bob <c@d.test>,", false],
    ["x@d.test via List <a@b.test>", false],
    ['"<x@d.test>" (<y@d.test>) <a@b.test>', false],
    ["Team: a@b.test, c@d.test;", false],
    ["", false],
    ["<>", false],
    ["a@b.test c@d.test", true],
    ["<a@b.test> <c@d.test>", true],
    ["<a@b.test> c@d.test", true],
    ["<a@b.test", true],
    ["e@f.test, <@relay.test:a@b.test>", true],
    ['"Ada <a@b.test>', true],
    ["a@b.test (<c@d.test>", true],
  ];
  test.each(cases)("%s", (value, isUnclear) => {
    expect(hasUnclearAddress(value)).toBe(isUnclear);
  });
});
