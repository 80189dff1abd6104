/** The data in records and events that viewers see. */

import { describe, expect, test } from "bun:test";
import {
  conditionFor,
  dataFor,
  eventDataFor,
  hostFor,
  jsonFor,
  stepDetailFor,
  textFor,
} from "../../src/http/role-views.ts";
import {
  OTHER_FIELDS,
  PLAIN_FIELDS,
  SECRET_FIELDS,
  SECRET_NAMES,
  SECRETS,
} from "./secret-values.ts";

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
    ["Refused: sk_live_4eC39H.", "Refused: (hidden)"],
    ["What? No = sign.", "What? No = sign."],
    ["pro", "pro"],
  ];
  test.each(cases)("%s", (text, seen) => {
    expect(textFor("VIEWER", text)).toBe(seen);
    for (const role of ["EDITOR", "ADMIN", "OWNER"] as const)
      expect(textFor(role, text)).toBe(text);
  });
});

test.each([
  ["https://hooks.example/services/T0/B0/abc", "https://hooks.example/…"],
  ["https://ada:abc@hooks.example:8443?a=abc", "https://hooks.example:8443/…"],
  ["http://hooks.example/", "http://hooks.example/"],
  ["https://3f2b8c9d0e1f4a5b.hooks.example/", "https://….hooks.example/"],
  ["abc", "…"],
])("a viewer sees the host of %s", (url, seen) => {
  expect(hostFor("VIEWER", url)).toBe(seen);
  expect(hostFor("EDITOR", url)).toBe(url);
});

describe("a viewer does not see", () => {
  test.each(SECRET_FIELDS.map(([name, value]) => [name, JSON.stringify(value), value] as const))(
    "%s: %s",
    (name, _json, value) => {
      const seen = dataFor("VIEWER", { [name]: value });
      expect(JSON.stringify(seen)).not.toBe(JSON.stringify({ [name]: value }));
      expect(JSON.stringify(Object.values(seen))).not.toMatch(SECRETS);
      expect(dataFor("EDITOR", { [name]: value })).toEqual({ [name]: value });
    },
  );
});

test.each([...SECRET_NAMES])("a viewer does not see a short text named %s", (name) => {
  for (const value of ["a", "4829", 4829, ["a"], { a: "b" }]) {
    expect(dataFor("VIEWER", { [name]: value })).toEqual({ [name]: "(hidden)" });
    expect(dataFor("VIEWER", { user: { [name]: value } })).toEqual({
      user: { [name]: "(hidden)" },
    });
  }
});

describe("a viewer sees", () => {
  test.each(
    [...PLAIN_FIELDS, ...OTHER_FIELDS].map(
      ([name, value]) => [name, JSON.stringify(value), value] as const,
    ),
  )("%s: %s", (name, _json, value) => {
    expect(dataFor("VIEWER", { [name]: value })).toEqual({ [name]: value });
  });
});

test("values of any depth are seen without links and secrets", () => {
  const data = {
    plan: "pro",
    links: [{ url: "https://a.example/?t=1" }],
    resetToken: "abc",
    user: { password: "abc", api_key: "abc", otp: 123_456, age: 3, ok: true, none: null },
  };
  const seen = {
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
  };
  expect(dataFor("VIEWER", data)).toEqual(seen);
  expect(dataFor("EDITOR", data)).toBe(data);
  expect(JSON.parse(jsonFor("VIEWER", JSON.stringify(data)))).toEqual(seen);
});

test("very deep values and JSON in JSON are read to the end", () => {
  let text = "[1]";
  for (let depth = 0; depth < 12; depth++) text = JSON.stringify({ a: text });
  expect(dataFor("VIEWER", { a: text })).toEqual({ a: text });
  const deep = `${"[".repeat(5_000)}"abc"${"]".repeat(5_000)}`;
  expect(JSON.stringify(dataFor("VIEWER", { a: deep }))).not.toContain("abc");
});

test("a condition is seen without the secrets with which it compares", () => {
  const condition = (field: string, value: unknown) => ({
    logic: "AND",
    groups: [{ filters: [{ field, operator: "equals", value }] }],
  });
  expect(conditionFor("VIEWER", condition("data.user.loginCode", "4829"))).toEqual(
    condition("data.user.loginCode", "(hidden)"),
  );
  const branches = {
    field: "data.pin",
    branches: [{ id: "a", operator: "equals", value: "1234" }],
  };
  expect(JSON.stringify(conditionFor("VIEWER", branches))).not.toContain("1234");
  const plain = condition("data.plan", "pro");
  expect(conditionFor("VIEWER", plain)).toEqual(plain);
  const ofEvent = { field: "event.reset", property: "user.pin", test: "equals", value: "1234" };
  expect(JSON.stringify(conditionFor("VIEWER", ofEvent))).not.toContain("1234");
  const link = { field: "link.https://shop.test/a?token=s3cr3t", operator: "wasClicked" };
  expect(JSON.stringify(conditionFor("VIEWER", link))).not.toContain("s3cr3t");
  expect(conditionFor("EDITOR", condition("data.pin", 1))).toEqual(condition("data.pin", 1));
  expect(conditionFor("VIEWER", null)).toBeNull();
});

test("events of the service keep their fields, and not the links in them", () => {
  const data = {
    code: 550,
    reason: "550 5.1.1 <ada@a.test>: unknown",
    emailId: crypto.randomUUID(),
  };
  expect(eventDataFor("VIEWER", "email.bounced", data)).toEqual(data);
  expect(eventDataFor("VIEWER", "ordered", data)).toMatchObject({ code: "(hidden)" });
  expect(eventDataFor("VIEWER", "email.clicked", { url: "https://a.test/r/a1b2c3?x" })).toEqual({
    url: "https://a.test/r/…",
  });
  expect(eventDataFor("VIEWER", "webhook.disabled", { url: "https://a.test/abc" })).toEqual({
    url: "https://a.test/…",
  });
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
