/** The name and the attributes of the session cookie depend on whether the browser uses https. */

import { describe, expect, test } from "bun:test";
import { createSessionCookies } from "../../src/http/session-cookie.ts";
import { parseAddressRange } from "../../src/lib/address-ranges.ts";

const VALUE = "A".repeat(43);
const PROXY = "10.0.0.1";
const trustedProxies = ["10.0.0.0/8"].flatMap((range) => parseAddressRange(range) ?? []);
const plain = createSessionCookies({ url: "http://mail.example:3000", trustedProxies });
const secure = createSessionCookies({ url: "https://mail.example", trustedProxies });

const requestWith = (headers: Record<string, string>) =>
  new Request("http://localhost/app/api/state", { headers });
const FORWARDED = { "x-forwarded-proto": "https" };

describe("the session cookie", () => {
  test("is Secure and bound to the host over https", () => {
    expect(secure.set(requestWith({}), null, VALUE, 60)).toBe(
      `__Host-mailstead=${VALUE}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure`,
    );
  });

  test("has another name and is not Secure over plain http", () => {
    expect(plain.set(requestWith({}), null, VALUE, 60)).toBe(
      `mailstead=${VALUE}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax`,
    );
  });

  test("is Secure if a trusted proxy says that the browser uses https", () => {
    expect(plain.set(requestWith(FORWARDED), PROXY, VALUE, 60)).toStartWith("__Host-mailstead=");
  });

  test("is not Secure if a trusted proxy says that the browser uses http", () => {
    const request = requestWith({ "x-forwarded-proto": "https, http" });
    expect(secure.set(request, PROXY, VALUE, 60)).toStartWith("mailstead=");
  });

  test("does not depend on what other peers say", () => {
    expect(plain.set(requestWith(FORWARDED), "192.0.2.1", VALUE, 60)).toStartWith("mailstead=");
    expect(plain.set(requestWith(FORWARDED), null, VALUE, 60)).toStartWith("mailstead=");
  });

  test("is removed by an empty value that has expired", () => {
    expect(plain.clear(requestWith({}), null)).toBe(
      "mailstead=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    );
  });

  test.each([
    [`mailstead=${VALUE}`, VALUE],
    [`a=b; mailstead=${VALUE};c=d`, VALUE],
    [`mailstead=${VALUE}x`, null],
    ["mailstead=", null],
    [`__Host-mailstead=${VALUE}`, null],
    [`xmailstead=${VALUE}`, null],
    [`${"a=b; ".repeat(4_000)}mailstead=${VALUE}`, null],
    ["", null],
  ])("is read from a Cookie header over http", (cookie, value) => {
    expect(plain.read(requestWith({ cookie }), null)).toBe(value);
  });

  test("is read over https only under the name that no page over http can set", () => {
    const cookie = `mailstead=${"B".repeat(43)}; __Host-mailstead=${VALUE}`;
    expect(secure.read(requestWith({ cookie }), null)).toBe(VALUE);
    expect(secure.read(requestWith({ cookie: `mailstead=${VALUE}` }), null)).toBeNull();
  });
});
