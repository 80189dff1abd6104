/** What viewers see of the data in records and events. */

import { describe, expect, test } from "bun:test";
import { dataFor, eventDataFor, stepDetailFor, textFor } from "../../src/http/role-views.ts";

describe("a text of a viewer", () => {
  const UUID = "0198c0de-7a5b-7c3d-8e9f-0123456789ab";
  const cases: [text: string, seen: string][] = [
    ["https://shop.example/reset?token=abc", "https://shop.example/reset"],
    ["https://shop.example/reset#token", "https://shop.example/reset"],
    ["HTTPS://ada:secret@shop.example/a?b", "HTTPS://shop.example/a"],
    ["https://shop.example/reset/Zk3mPq-9fLw_x2Rt8Yb0", "https://shop.example/reset/…"],
    ["https://shop.example/r/0123456789abcdef0123/x", "https://shop.example/r/…/x"],
    [`https://shop.example/orders/${UUID}`, "https://shop.example/orders/…"],
    ["https://shop.example/blog/ten-tips-for-2026", "https://shop.example/blog/ten-tips-for-2026"],
    ["https://shop.example", "https://shop.example"],
    ["app://open?code=1", "app://open"],
    [
      "See https://a.example/x?y=1, or <https://b.example/?z=2>.",
      "See https://a.example/x or <https://b.example/>.",
    ],
    ["shop.example/reset?token=abc", "shop.example/reset"],
    ["/reset?a=1&token=abc", "/reset"],
    ["What? No = sign.", "What? No = sign."],
    ["pro", "pro"],
  ];
  test.each(cases)("%s", (text, seen) => {
    expect(textFor("VIEWER", text)).toBe(seen);
    for (const role of ["EDITOR", "ADMIN", "OWNER"] as const)
      expect(textFor(role, text)).toBe(text);
  });
});

test("values of any depth are seen without links and secrets", () => {
  const data = {
    plan: "pro",
    links: [{ url: "https://a.example/?t=1" }],
    resetToken: "abc",
    user: { password: "abc", api_key: "abc", otp: 123_456, age: 3, ok: true, none: null },
  };
  expect(dataFor("VIEWER", data)).toEqual({
    plan: "pro",
    links: [{ url: "https://a.example/" }],
    resetToken: "(hidden)",
    user: {
      password: "(hidden)",
      api_key: "(hidden)",
      otp: "(hidden)",
      age: 3,
      ok: true,
      none: null,
    },
  });
  expect(dataFor("EDITOR", data)).toBe(data);
});

test("the content of received mail is not seen in its event", () => {
  const data = { id: "1", from: "a@b.test", subject: "Code 1", text: "x", html: "x", raw: "x" };
  expect(eventDataFor("VIEWER", "email.received", data)).toEqual({ id: "1", from: "a@b.test" });
  expect(eventDataFor("EDITOR", "email.received", data)).toBe(data);
  expect(eventDataFor("VIEWER", "email.sent", null)).toBeNull();
});

test("the answer to a step is not seen", () => {
  expect(stepDetailFor("VIEWER", { status: 200, body: "x" })).toEqual({
    status: 200,
    body: "(hidden)",
  });
});
