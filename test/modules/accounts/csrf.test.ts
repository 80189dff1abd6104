/** Every route of accounts that may change something refuses requests of other sites. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { type UserSession, createSession, signIn } from "../../support/session.ts";

let t: TestApp;
let browser: UserSession;
beforeAll(async () => {
  t = await testApp();
  browser = await signIn(t);
});
afterAll(() => t.close());

const routes = () =>
  t.app.http.routes
    .filter(({ path }) => path.startsWith("/app/api/"))
    .map(({ method, path }) => ({ method, path: path.replace(/:\w+/g, "x") }));

const FOREIGN: Record<string, string | null>[] = [
  { origin: null },
  { origin: "https://evil.example" },
  { origin: "null" },
  { "x-requested-with": null },
  { "x-requested-with": "XMLHttpRequest" },
];

test("refuses each request that changes something, before anything else is checked", async () => {
  const changing = routes().filter(({ method }) => method !== "GET");
  expect(changing.length).toBeGreaterThan(8);
  const before = JSON.stringify(t.contents());
  for (const { method, path } of changing) {
    for (const headers of FOREIGN) {
      for (const body of [undefined, {}]) {
        const { status } = await browser.call(method, path, body, headers);
        expect([method, path, headers, status]).toEqual([method, path, headers, 403]);
      }
    }
  }
  expect(JSON.stringify(t.contents())).toBe(before);
});

test("needs a session, except for the routes with which it begins", async () => {
  const open = ["state", "setup", "login", "logout", "link", "reset-request", "reset"];
  const isOpen = (path: string) =>
    open.includes(path.slice("/app/api/".length)) || path.startsWith("/app/api/invitation");
  const closed = routes().filter(({ path }) => !isOpen(path));
  expect(closed.length).toBeGreaterThan(5);
  for (const { method, path } of closed) {
    const body = method === "GET" || method === "DELETE" ? undefined : {};
    const { status } = await createSession(t).call(method, path, body);
    expect([method, path, status]).toEqual([method, path, 401]);
  }
});

test("an API key is no session", async () => {
  const headers = { authorization: `Bearer ${t.secretKey}` };
  const answer = await createSession(t).call("GET", "/app/api/account", undefined, headers);
  expect(answer.status).toBe(401);
});
