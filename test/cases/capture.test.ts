/** Messages, sessions and variables as other programs send them to the mail catcher. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readyz } from "../../src/cli/readyz.ts";
import { readMailFiles } from "../../src/cli/inbox/mail-files.ts";
import { parseSendmail } from "../../src/cli/sendmail/options.ts";
import { withMailpitVariables } from "../../src/config/mailpit-variables.ts";
import { readResponse } from "../support/app.ts";
import { captureApp } from "../support/capture.ts";
import { valueAt } from "../support/json.ts";
import { basic, mailpitApp } from "../support/mailpit.ts";
import { sendRaw } from "../support/smtp-client.ts";
import { mailpitConfig } from "./mailpit-variables.ts";
import { inboxParts } from "../support/inbox-parts.ts";

const open: { close: () => Promise<void> }[] = [];
let catcher: Awaited<ReturnType<typeof captureApp>>;
beforeAll(async () => {
  catcher = await smtp();
});
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

/** The bytes of an input, with the line ends of SMTP. */
function inputOf(name: string, file = "input.eml"): string {
  const text = readFileSync(join(import.meta.dir, name, file), "latin1");
  return text.replace(/\r?\n/g, "\r\n");
}

/** Catches a message over SMTP, and returns it as Mailpit's interface shows it. */
async function caught(name: string, file?: string) {
  const client = await catcher.connect();
  await sendRaw(client, Buffer.from(inputOf(name, file), "latin1"));
  client.end();
  await catcher.caught();
  const read = async (path: string) => readResponse(await catcher.app.handle(requestOf(path)));
  const message = await read("/api/v1/message/latest");
  const summary = await read("/api/v1/messages?limit=1");
  return { message, first: valueAt(summary.body, "messages.0") };
}

/** The inbox of the process is that of the first project, and asks for its password. */
function requestOf(path: string): Request {
  const { inboxes } = catcher.inboxes;
  const inbox = inboxes.find(catcher.project.seq, "default");
  if (inbox === null) throw new Error("there is no inbox");
  const authorization = basic("default", inboxes.passwordOf(inbox));
  return new Request(`http://localhost${path}`, { headers: { authorization } });
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

  test("MH_AUTH_FILE of MailHog closes its API", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailhog-auth-"));
    const file = join(folder, "auth");
    writeFileSync(
      file,
      `test:${await Bun.password.hash("word", { algorithm: "bcrypt", cost: 4 })}\n`,
    );
    try {
      const { get } = await web({ MH_AUTH_FILE: file });
      for (const path of [
        "/api/v1/messages",
        "/api/v2/messages",
        "/api/v2/search?kind=to&query=a",
      ]) {
        expect([path, await get(path)]).toEqual([path, 401]);
        expect([path, await get(path, "test:wrong")]).toEqual([path, 401]);
        expect([path, await get(path, "test:word")]).toEqual([path, 200]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
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

const PDF = { FileName: "a.pdf", ContentType: "application/pdf", Size: 5 };

test("boundary-transport-padding", async () => {
  const { message } = await caught("boundary-transport-padding");
  expect(message.body).toMatchObject({ Text: "hello text", Attachments: [PDF] });
});

test("empty-content-type-part", async () => {
  const { message, first } = await caught("empty-content-type-part");
  expect(message.body).toMatchObject({
    Subject: "case",
    From: { Name: "Ada", Address: "ada@example.org" },
    To: [{ Address: "bob@example.com" }],
    Text: "hello text",
    Attachments: [{ FileName: "a.jpg", ContentType: "image/jpeg", Size: 5 }],
  });
  expect(first).toMatchObject({ Subject: "case", Attachments: 1, Snippet: "hello text" });
});

test("html-meta-charset", async () => {
  const { message, first } = await caught("html-meta-charset");
  expect(message.text("HTML")).toContain("S\u00f8nderjylland og \u00c5rhus");
  expect(valueAt(first, "Snippet")).toStartWith("S\u00f8nderjylland og ");
});

test("repeated-fields-last-wins", async () => {
  const { message } = await caught("repeated-fields-last-wins");
  expect(message.body).toMatchObject({ Subject: "first", From: { Address: "first@example.org" } });
});

describe("unnamed-parts-are-dropped", () => {
  test.each([
    ["pdf.eml", "part-2.pdf", "application/pdf"],
    ["invite.eml", "invite.ics", "text/calendar"],
  ])("%s", async (file, FileName, ContentType) => {
    const { message, first } = await caught("unnamed-parts-are-dropped", file);
    expect(message.body).toMatchObject({ Attachments: [{ FileName, ContentType }] });
    expect(first).toMatchObject({ Attachments: 1 });
  });
});

describe("import-blank-first-line", () => {
  const file = join(import.meta.dir, "import-blank-first-line/input.eml");
  const folder = mkdtempSync(join(tmpdir(), "mailstead-case-import-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(["", "\n", "\r\n\r\n", " \t \n"])("after %j", async (blank) => {
    const mark = blank === "" ? 0 : 3;
    const copy = join(folder, "message.eml");
    writeFileSync(copy, Buffer.concat([Buffer.from(blank), readFileSync(file).subarray(mark)]));
    const [found] = await Array.fromAsync(readMailFiles([copy]));
    const raw = found !== undefined && "raw" in found ? found.raw : Buffer.alloc(0);
    expect(raw.toString()).toStartWith("From: Ada <ada@example.org>\r\n");
  });
});

describe("sendmail-options", () => {
  test.each([
    [["-em"], {}],
    [["-ep"], {}],
    [["-O", "ErrorMode=m"], {}],
    [["--smtp-addr", "127.0.0.1:1025"], { server: { host: "127.0.0.1", port: 1025 } }],
  ])("%j", (words, expected) => {
    expect(parseSendmail(["-t", ...words])).toMatchObject({ readsRecipients: true, ...expected });
  });
});

test("send-api-details", async () => {
  const { mailpit, app } = await web({});
  const message = { From: { Email: "f@example.com" }, Subject: "s" };
  const none = await mailpit("POST", "/api/v1/send", { body: { ...message, To: [] } });
  expect([none.status, none.text("Error")]).toEqual([400, "no recipients"]);
  const sent = await mailpit("POST", "/api/v1/send", {
    body: { ...message, To: [{ Email: "t@example.com" }] },
  });
  await inboxParts(app.app).indexer.caughtUp();
  const read = await mailpit("GET", `/api/v1/message/${sent.text("ID")}`);
  expect(read.text("Username")).toBe("default");
});

describe("mailhog-body-and-delete", () => {
  test("the body ends without the line end before the final dot", async () => {
    const { items } = await mailhogItems("From: a@x.example\r\n\r\none\r\ntwo");
    expect(valueAt(items, "0.Content.Body")).toBe("one\r\ntwo");
    expect(valueAt(items, "0.Raw.Data")).toEndWith("one\r\ntwo");
  });

  test("DELETE answers an empty body to the client that reads JSON, and ok to others", async () => {
    const { mailpit } = await web({});
    const plain = await mailpit("DELETE", "/api/v1/messages");
    expect([plain.status, plain.body]).toEqual([200, undefined]);
    const headers = { accept: "application/json, text/plain, */*" };
    expect((await mailpit("DELETE", "/api/v1/messages", { headers })).body).toBe("ok");
  });

  test("a release needs a relay, and says so", async () => {
    const { mailpit, deliver } = await web({});
    const id = await deliver("From: a@x.example\nSubject: x\n\nx");
    const path = `/api/v1/messages/${id}/release`;
    const other = await mailpit("POST", path, { body: { Email: "b@x.example", Host: "smtp" } });
    expect([other.status, other.body]).toEqual([400, "message relaying is not enabled"]);
    const own = await mailpit("POST", path, { body: { Email: "b@x.example" } });
    expect(own.status).toBe(400);
    expect((await mailpit("POST", path, { body: { Host: "smtp" } })).status).toBe(400);
  });
});

async function mailhogItems(message: string) {
  const client = await catcher.connect();
  await sendRaw(client, message);
  client.end();
  await catcher.caught();
  const { body } = await readResponse(await catcher.app.handle(requestOf("/api/v2/messages")));
  return { items: valueAt(body, "items") };
}

test("sign-in-page-at-the-root", async () => {
  const { port } = await web({});
  const read = async () => {
    const headers = { accept: "text/html" };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { redirect: "manual", headers });
    return answer.headers.get("location") ?? "";
  };
  const [first, second] = [await read(), await read()];
  expect(first).toStartWith("/app/link#");
  expect(second).toStartWith("/app/link#");
  expect(second).not.toBe(first);
});

test("image-health-checks", () => {
  const compose: unknown = Bun.YAML.parse(inputOf("image-health-checks", "compose.yaml"));
  const check = valueAt(compose, "services.mailpit.healthcheck.test");
  expect(check).toEqual(["CMD", "/mailpit", readyz.name]);
  const dockerfile = readFileSync(join(import.meta.dir, "../../Dockerfile"), "utf8");
  expect(dockerfile).toContain("ln -s /usr/local/bin/mailstead /image/links/mailpit");
  expect(dockerfile).toContain("COPY --from=build /image/links/ /\n");
});

test("mailpit-text-line-ends", async () => {
  await mailhogItems("From: a@x.example\r\n\r\none\r\ntwo\r\n");
  const read = async (path: string) => readResponse(await catcher.app.handle(requestOf(path)));
  const message = await read("/api/v1/message/latest");
  expect(message.text("Text")).toBe("one\r\ntwo\r\n\r\n");
  expect((await read(`/view/${message.text("ID")}.txt`)).body).toBe("one\r\ntwo\r\n\r\n");
});

test("quoted-local-part", async () => {
  const client = await catcher.connect();
  const lines = inputOf("quoted-local-part", "session.txt").split("\r\n").slice(1);
  const replies: string[] = [];
  for (const line of lines.filter((each) => each !== "")) {
    replies.push((await client.say(`${line}\r\n`)).slice(0, 9));
  }
  expect(replies).toEqual(["250 2.1.0", "250 2.1.5", "250 2.1.5"]);
  await client.say("DATA\r\n");
  await client.say('To: "odd user"@example.com\r\nSubject: quoted\r\n\r\nx\r\n.\r\n');
  client.end();
  const [message] = await catcher.caught();
  expect(message?.addresses).toMatchObject({
    to: [{ address: '"odd user"@example.com' }],
    bcc: [{ address: '"a@b"@example.com' }],
  });
});

test("more-than-100-recipients", async () => {
  const client = await (await smtp({ MP_SMTP_MAX_RECIPIENTS: "101" })).connect();
  await client.say("MAIL FROM:<s@example.com>\r\n");
  const replies: string[] = [];
  for (let i = 1; i <= 102; i++) {
    replies.push((await client.say(`RCPT TO:<r${i}@example.com>\r\n`)).slice(0, 3));
  }
  expect(replies.filter((code) => code === "250")).toHaveLength(101);
  expect(replies.at(-1)).toBe("452");
  client.end();
});
