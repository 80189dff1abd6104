/** Mailpit's interface below a path, as its `--webroot` serves it. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { basic, mailpitApp } from "../../../support/mailpit.ts";

let server: Awaited<ReturnType<typeof mailpitApp>>;
let url = "";
beforeAll(async () => {
  server = await mailpitApp({
    hasOpenInboxes: true,
    config: { port: 0, mailpitWebroot: "/mail", sendApiAuth: [{ user: "app", password: "key" }] },
  });
  url = `http://127.0.0.1:${await server.app.listen()}`;
});
afterAll(() => server.close());

test("its routes are below the path, and at the root", async () => {
  await server.deliver("Subject: one\n\nx");
  for (const root of ["", "/mail"]) {
    const answer = await fetch(`${url}${root}/api/v1/message/latest`);
    expect(await answer.json()).toMatchObject({ Subject: "one" });
    expect((await fetch(`${url}${root}/view/latest.txt`)).status).toBe(200);
    expect((await fetch(`${url}${root}/api/v2/messages`)).status).toBe(200);
    expect((await fetch(`${url}${root}/api/v1/none`)).status).toBe(404);
    const options = await fetch(`${url}${root}/api/v1/messages`, { method: "OPTIONS" });
    expect(options.status).toBe(200);
  }
});

test("sending asks for its own users there as well", async () => {
  const send = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ From: { Email: "a@x.example" }, To: [{ Email: "b@x.example" }] });
    return (await fetch(`${url}/mail/api/v1/send`, { method: "POST", body, headers })).status;
  };
  expect(await send({})).toBe(401);
  expect(await send({ authorization: basic("app", "key") })).toBe(200);
});

test("the path itself and the health checks lead to those of the server", async () => {
  const target = async (path: string) =>
    (await fetch(`${url}${path}`, { redirect: "manual" })).headers.get("location");
  expect(await target("/mail")).toBe("/");
  expect(await target("/mail/")).toBe("/");
  expect(await target("/mail/readyz")).toBe("/readyz");
  expect((await fetch(`${url}/mail/livez`)).status).toBe(200);
});

test("events are below the path", async () => {
  const socket = new WebSocket(`${url.replace("http", "ws")}/mail/api/events`);
  const frame = await new Promise<unknown>((resolve, reject) => {
    socket.addEventListener("message", ({ data }) => resolve(data));
    socket.addEventListener("error", reject);
  });
  expect(String(frame)).toContain('"stats"');
  socket.close();
});
