/** Messages, sessions and variables as other programs send them to the mail catcher. */

import { afterAll, describe, expect, test } from "bun:test";
import { withMailpitVariables } from "../../src/config/mailpit-variables.ts";
import { captureApp } from "../support/capture.ts";
import { basic, mailpitApp } from "../support/mailpit.ts";
import { mailpitConfig } from "./mailpit-variables.ts";

const open: { close: () => Promise<void> }[] = [];
afterAll(async () => {
  for (const server of open) await server.close();
});

/** A server with the variables of Mailpit, which listens for HTTP. */
async function web(variables: Record<string, string>) {
  const server = await mailpitApp({ hasOpenInboxes: true, config: mailpitConfig(variables) });
  open.push(server);
  const port = await server.app.listen();
  const get = async (path: string, user?: string) => {
    const headers: Record<string, string> =
      user === undefined ? {} : { authorization: basic(...splitLogin(user)) };
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
  };
  return { ...server, port, get };
}

/** A server with the variables of Mailpit, which catches mail over SMTP. */
async function smtp(variables: Record<string, string> = {}) {
  const server = await captureApp({
    hasOpenInboxes: true,
    config: { ...mailpitConfig(variables), captureMaxMessages: 0 },
  });
  open.push(server);
  return server;
}

function splitLogin(login: string): [string, string] {
  const [user = "", password = ""] = login.split(":");
  return [user, password];
}

describe("mailpit-auth-variables-ignored", () => {
  test("MP_UI_AUTH closes each route that shows mail", async () => {
    const { get, port } = await web({ MP_UI_AUTH: "user:pass other:word" });
    const paths = [
      "/api/v1/messages",
      "/api/v1/message/latest",
      "/api/v1/info",
      "/api/v1/tags",
      "/api/v2/messages",
      "/view/latest",
      "/inboxes",
      "/inboxes/default/messages",
    ];
    for (const path of paths) {
      expect([path, await get(path)]).toEqual([path, 401]);
      expect([path, await get(path, "user:wrong")]).toEqual([path, 401]);
      expect([path, await get(path, "other:pass")]).toEqual([path, 401]);
    }
    expect(await get("/api/v1/messages", "user:pass")).toBe(200);
    expect(await get("/api/v1/messages", "other:word")).toBe(200);
    expect(await get("/api/v2/messages", "user:pass")).toBe(200);
    expect(await get("/livez")).toBe(200);
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/events`);
    const opened = await new Promise((resolve) => {
      socket.addEventListener("open", () => resolve(true));
      socket.addEventListener("error", () => resolve(false));
    });
    expect(opened).toBe(false);
  });

  test("MP_SEND_API_AUTH has users of its own", async () => {
    const { port, get } = await web({ MP_UI_AUTH: "user:pass", MP_SEND_API_AUTH: "app:key" });
    const body = JSON.stringify({ From: { Email: "a@x.example" }, To: [{ Email: "b@x.example" }] });
    const send = async (login: string) => {
      const headers = { authorization: basic(...splitLogin(login)) };
      const url = `http://127.0.0.1:${port}/api/v1/send`;
      return (await fetch(url, { method: "POST", headers, body })).status;
    };
    expect([await send("app:key"), await send("user:pass"), await send("app:x")]).toEqual([
      200, 401, 401,
    ]);
    expect(await get("/api/v1/messages", "app:key")).toBe(401);
  });

  test("MP_SMTP_AUTH demands a login", async () => {
    const client = await (await smtp({ MP_SMTP_AUTH: "user:pass" })).connect();
    expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toStartWith("530");
    client.end();
  });

  test("MP_SMTP_ALLOWED_RECIPIENTS refuses the others", async () => {
    const client = await (await smtp({ MP_SMTP_ALLOWED_RECIPIENTS: "@example\\.com$" })).connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    expect(await client.say("RCPT TO:<a@example.net>\r\n")).toStartWith("550");
    expect(await client.say("RCPT TO:<a@example.com>\r\n")).toStartWith("250");
    client.end();
  });

  test("a variable that would close something, and is not known, stops the start", () => {
    const read = () => withMailpitVariables({ MP_UI_TLS_CERT: "cert.pem" });
    expect(read).toThrow("MP_UI_TLS_CERT");
  });
});
