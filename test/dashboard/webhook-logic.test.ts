/** The logic of the pages of webhooks without a browser. */

import { describe, expect, test } from "bun:test";
import { matches, matchText, patternsOf } from "../../src/dashboard/pages/webhooks/patterns.ts";
import { requestText } from "../../src/dashboard/pages/webhooks/request-text.ts";
import { verifySamples } from "../../src/dashboard/pages/webhooks/samples.ts";
import { readWebhookSearch } from "../../src/dashboard/pages/webhooks/search.ts";
import {
  eventsText,
  hostOf,
  resultText,
  tookText,
  triesOf,
} from "../../src/dashboard/pages/webhooks/texts.ts";

test.each([
  ["email.*\n\n order.paid \n", ["email.*", "order.paid"]],
  ["", []],
])("the patterns of %j", (text, expected) => {
  expect(patternsOf(text)).toEqual(expected);
});

test.each([
  [["email.*"], "email.sent", true],
  [["email.*"], "emails", false],
  [["*"], "anything", true],
  [["order.paid"], "order.paid", true],
  [["order.paid"], "order.paid.late", false],
])("whether %j match %s", (patterns, name, expected) => {
  expect(matches(patterns, name)).toBe(expected);
});

describe("the sentence about the matches", () => {
  const many = Array.from({ length: 11 }, (_, i) => `email.${i}`);
  test.each([
    [[], ["a"], "Write at least one pattern, such as email.* or order.paid."],
    [
      ["b"],
      ["a"],
      "No event of this project has such a name yet. Events are sent from the first one on.",
    ],
    [["a", "b"], ["b", "a"], "Matches now: b, a."],
    [["email.*"], many, `Matches now: ${many.slice(0, 8).join(", ")} and 3 more.`],
  ])("%j of %j", (patterns, names, expected) => {
    expect(matchText(patterns, names)).toBe(expected);
  });
});

test.each([
  ["MAILSTEAD", "standardwebhooks", "svix-id"],
  ["RESEND", "svix-id", "standardwebhooks"],
] as const)("the code that checks a request of the form %s names %s", (shape, named, absent) => {
  for (const sample of Object.values(verifySamples("whsec_x", shape))) {
    expect(sample).toContain(named);
    expect(sample).not.toContain(absent);
    expect(sample).toContain('"whsec_x"');
  }
});

const DELIVERY = {
  id: "d",
  eventId: "e",
  eventName: "a",
  status: "PENDING",
  attempts: 0,
  responseCode: null,
  responseExcerpt: null,
  error: null,
  durationMs: null,
  lastAttemptAt: null,
  nextAttemptAt: null,
  createdAt: "2026-01-01T00:00:00.000Z",
} as const;

test.each([
  [{}, "Waits for an earlier event of the contact"],
  [{ nextAttemptAt: "2026-01-01T00:00:00.000Z" }, "Has not been tried yet"],
  [{ attempts: 1, responseCode: 503, error: "The receiver answered 503." }, "Answered 503"],
  [{ attempts: 1, error: "The host does not exist." }, "The host does not exist."],
  [{ attempts: 1 }, "Is being tried again"],
])("the result of %j", (given, expected) => {
  expect(resultText({ ...DELIVERY, ...given })).toBe(expected);
});

test.each([
  [null, ""],
  [0, "0 ms"],
  [999, "999 ms"],
  [1_240, "1.2 s"],
  [10_003, "10 s"],
])("a duration of %j milliseconds", (durationMs, expected) => {
  expect(tookText(durationMs)).toBe(expected);
});

test("the tries of a delivery are shown with the latest one first", () => {
  const request = { method: "POST", url: "https://a.example/", headers: {}, body: "{}" } as const;
  const at = "2026-01-01T00:00:00.000Z";
  const earlierAttempts = [
    { at, durationMs: 10_001, responseCode: null, error: "The host does not exist." },
    { at, durationMs: null, responseCode: 503, error: "The receiver answered 503." },
  ];
  const delivery = { ...DELIVERY, request, earlierAttempts };
  expect(triesOf(delivery)).toEqual([]);
  const last = { attempts: 3, lastAttemptAt: at, responseCode: 204, durationMs: 41 };
  expect(triesOf({ ...delivery, ...last })).toEqual([
    { at, isDelivered: true, text: "Answered 204", took: "41 ms" },
    { at, isDelivered: false, text: "Answered 503", took: "" },
    { at, isDelivered: false, text: "The host does not exist.", took: "10 s" },
  ]);
});

test("a request is shown as a body and as headers", () => {
  const request = {
    method: "POST",
    url: "https://shop.example:8443/hooks?a=b",
    headers: { "content-type": "application/json", "webhook-id": "d" },
    body: '{"type":"a"}',
  } as const;
  expect(requestText(request)).toEqual({
    Body: '{\n  "type": "a"\n}',
    Headers:
      "POST /hooks?a=b HTTP/1.1\nhost: shop.example:8443\ncontent-type: application/json\nwebhook-id: d",
  });
});

test("search parameters with other names or without a text are left out", () => {
  expect(readWebhookSearch({ tab: "settings", status: "", delivery: 3, x: "y" })).toEqual({
    tab: "settings",
  });
});

test("the texts of the list", () => {
  expect(eventsText(["*", "a"])).toBe("All events");
  expect(eventsText(["a", "b.*"])).toBe("a, b.*");
  expect(hostOf("https://shop.example/hooks")).toBe("shop.example/hooks");
});
