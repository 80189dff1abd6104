/** Pages sign the developer in: only in `mailstead dev`, and on this machine. */

import { afterAll, expect, test } from "bun:test";
import type { Config } from "../../src/config/settings.ts";
import { testApp } from "../support/app.ts";

const servers: { close: () => Promise<void> }[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function start(config: Partial<Config> = {}, hasOpenInboxes = true) {
  const server = await testApp({ hasOpenInboxes, config: { port: 0, ...config } });
  servers.push(server);
  const url = `http://127.0.0.1:${await server.app.listen()}`;
  const open = (path: string, headers: Record<string, string> = {}) => {
    const init = { redirect: "manual", headers: { accept: "text/html", ...headers } } as const;
    return fetch(url + path, init);
  };
  const home = async (headers: Record<string, string> = {}) =>
    (await open("/", headers)).headers.get("location");
  return { signIn: (path: string | null) => signInWith(url, path), home, open };
}

/** Signs in as the page of the link does. */
async function signInWith(origin: string, home: string | null): Promise<string> {
  const [path, token] = (home ?? "").split("#");
  expect(path).toBe("/app/link");
  const answer = await fetch(`${origin}/app/api/link`, {
    method: "POST",
    headers: { "content-type": "application/json", origin, "x-requested-with": "mailstead" },
    body: JSON.stringify({ token }),
  });
  expect(answer.status).toBe(200);
  return answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
}

test("each browser of this machine is signed in, and stays so", async () => {
  const { signIn, home } = await start();
  const first = await signIn(await home());
  const second = await signIn(await home());
  expect(second).not.toBe(first);
  for (const cookie of [first, second]) expect(await home({ cookie })).toBe("/app");
  expect(await home({ cookie: "mailstead=unknown" })).toStartWith("/app/link#");
});

test("a page that is opened by its address returns after the sign-in", async () => {
  const { home, signIn, open } = await start();
  const path = "/app/p/x/inboxes?message=a%26b";
  const sent = await open(path);
  const [link = "", token = ""] = (sent.headers.get("location") ?? "").split("#");
  expect([sent.status, token.length]).toEqual([302, 43]);
  const { pathname, searchParams } = new URL(link, "http://localhost");
  expect([pathname, searchParams.get("next")]).toEqual(["/app/link", path.slice("/app".length)]);
  const cookie = await signIn(await home());
  for (const [page, headers] of [
    [path, { cookie }],
    [path, { host: "evil.example" }],
    [path, { accept: "*/*" }],
    ["/app/login", {}],
    ["/app/link", {}],
    ["/app/invite", {}],
  ] as const) {
    const answer = await open(page, headers);
    expect([page, answer.headers.get("location")]).toEqual([page, null]);
  }
  expect((await open("/app/assets/none.js")).status).toBe(404);
  expect((await open("/app")).headers.get("location")).toStartWith("/app/link#");
});

test.each<[string, Record<string, string>]>([
  ["a program", { accept: "*/*" }],
  ["a proxy", { "x-forwarded-for": "192.0.2.1" }],
  ["a name of another site", { host: "evil.example" }],
  ["a frame of another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
  ["a page of another origin", { origin: "https://evil.example" }],
])("%s gets no link", async (_, headers) => {
  const { home } = await start();
  expect(await home(headers)).toBe("/app");
});

test("only dev on a loopback address without users makes links", async () => {
  expect(await (await start({}, false)).home()).toBe("/app");
  expect(await (await start({ host: "0.0.0.0" })).home()).toBe("/app");
  expect(await (await start({ uiAuth: [{ user: "a", password: "b" }] })).home()).toBe("/app");
});
