/** The request of a WEBHOOK step: the time of its texts together, and when it is certainly cheap. */

import { expect, test } from "bun:test";
import { templateCache } from "../../src/render/template/cache.ts";
import { isCheapWebhook, renderWebhookRequest } from "../../src/render/webhook-request.ts";

const templates = templateCache({ maxEntries: 10, maxBytes: 1_000_000 });
const input = { url: "http://a.example/{{ id }}", method: "POST", defaultBody: {}, id: "7" };
const loop = "{% for i in (1..2000) %}{% assign x = i | times: 3 %}{% endfor %}{{ id }}";

test("all texts of a request share one limit of time", () => {
  const body = Array.from({ length: 1_000 }, () => loop);
  const result = renderWebhookRequest({ ...input, body, variables: {} }, templates, 20);
  expect(result).toMatchObject({ ok: false, isSpent: true });
  expect(result).toMatchObject({ reason: expect.stringContaining("The body cannot be rendered") });
});

test("a fault of a template is no lack of time", () => {
  const body = { a: "{{ id | append }}" };
  const result = renderWebhookRequest({ ...input, body, variables: {} }, templates);
  expect(result).toMatchObject({ ok: false, isSpent: false });
});

test.each([
  [true, { body: { a: ["{{ id }}", 1, null] } }],
  [true, {}],
  [false, { body: { a: [{ b: loop }] } }],
  [false, { headers: { "X-A": loop } }],
  [false, { url: `http://a.example/${loop}` }],
  [false, { variables: { long: "x".repeat(200_000) } }],
])("is certainly cheap: %p for %p", (isCheap, own) => {
  expect(isCheapWebhook({ ...input, variables: {}, ...own })).toBe(isCheap);
});
