/** The rate limit in the interface of Resend (docs/resend.md). */

import { expect, test } from "bun:test";
import { testApp } from "../../support/app.ts";

test("the headers show the limit, and a request above it is refused in the form of Resend", async () => {
  const t = await testApp({ config: { apiRate: 2 } });
  const list = () => t.call("GET", "/resend/emails");
  const first = await list();
  expect(first.headers.get("ratelimit-limit")).toBe("2");
  expect(first.headers.get("ratelimit-remaining")).toBe("1");
  expect(first.headers.get("ratelimit-reset")).toMatch(/^\d+$/);
  await list();
  const refused = await list();
  expect(refused.status).toBe(429);
  expect(refused.body).toEqual({
    statusCode: 429,
    name: "rate_limit_exceeded",
    message: "Too many requests in one minute.",
  });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  await t.close();
});
