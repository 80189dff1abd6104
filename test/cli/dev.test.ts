/** `mailstead dev`: its listeners, its folder, and its start with the variables of Mailpit. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { mailstead, startMailstead, stopServers } from "../support/command-line.ts";
import { waitUntilRead } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";

const ANY_PORTS = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];

let parent: string;
let server: Awaited<ReturnType<typeof dev>>;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-dev-test-"));
  server = await dev(["--data", join(parent, "first"), ...ANY_PORTS]);
});
afterAll(async () => {
  await stopServers();
  rmSync(parent, { recursive: true, force: true });
});

async function dev(words: readonly string[], env: Record<string, string> = {}) {
  const started = await startMailstead(["dev", "--json", ...words], { env });
  const info: unknown = JSON.parse(started.greeting);
  return { ...started, at: (name: string) => stringAt(info, name) };
}

const portOf = (address: string) => Number(address.split(":").at(-1));

test("catches a mail over SMTP, which both interfaces show", async () => {
  const transport = createTransport({ host: "127.0.0.1", port: portOf(server.at("smtp")) });
  const sent = await transport.sendMail({
    from: "app@example.org",
    to: "ada@example.com",
    subject: "Hello",
    text: "It works",
  });
  expect(sent.response).toStartWith("250 2.0.0 Ok: queued as ");
  const lines = () =>
    server
      .log()
      .split("\n")
      .filter((line) => line.includes("a mail was caught"));
  await waitUntilRead(async () => lines().length > 0);
  const line: unknown = JSON.parse(lines()[0] ?? "");
  expect(line).toMatchObject({ level: "info", to: "ada@example.com", subject: "Hello" });
  expect(stringAt(line, "see")).toMatch(
    new RegExp(`^${server.at("url")}/app/p/[\\w-]{36}/inboxes/default\\?message=\\w+$`),
  );
  const read = async (path: string): Promise<unknown> =>
    (await fetch(`${server.at("url")}${path}`)).json();
  const own = await read("/inboxes/default/messages?query=subject:hello");
  expect(listAt(own, "data.items").map((item) => valueAt(item, "subject"))).toEqual(["Hello"]);
  const mailpit = await read("/api/v1/search?query=subject:hello");
  expect(valueAt(mailpit, "messages.0.Subject")).toBe("Hello");
});

test("creates a project whose forms can send their mails", async () => {
  const url = server.at("url");
  const headers = {
    Authorization: `Bearer ${server.at("secretKey")}`,
    "Content-Type": "application/json",
  };
  const body = JSON.stringify({ name: "Footer", title: "Stay in touch" });
  const form: unknown = await (
    await fetch(`${url}/forms`, { method: "POST", headers, body })
  ).json();
  const sent = await fetch(stringAt(form, "data.url"), {
    method: "POST",
    body: new URLSearchParams({ email: "grace@example.com" }),
  });
  expect(sent.status).toBe(200);
  const wait = await fetch(`${url}/emails?limit=1`, { headers });
  expect(valueAt(await wait.json(), "data.items.0")).toMatchObject({
    to: "grace@example.com",
    from: "hello@example.org",
  });
});

test("limits neither requests nor mails that are sent over HTTP", async () => {
  const url = server.at("url");
  const headers = {
    Authorization: `Bearer ${server.at("secretKey")}`,
    "Content-Type": "application/json",
  };
  for (const init of [{}, { headers }]) {
    const answer = await fetch(`${url}/inboxes`, init);
    expect([answer.status, answer.headers.get("ratelimit-limit")]).toEqual([200, null]);
  }
  const to = Array.from({ length: 100 }, (_, i) => `ada${i}@example.com`);
  const sent = await fetch(`${url}/v1/send`, {
    method: "POST",
    headers,
    body: JSON.stringify({ to, from: "shop@example.org", subject: "Hi", body: "Hi" }),
  });
  expect(sent.status).toBe(200);
  const wait = await fetch(
    `${url}/inboxes/default/wait?query=subject:Hi&count=100&timeoutSeconds=4`,
  );
  expect(valueAt(await wait.json(), "data.matched")).toBe(true);
});

test("a port in use exits 2, and the message names the option that changes it", async () => {
  const http = new URL(server.at("url")).port;
  const [byHttp, bySmtp, byServe, byMetrics] = await Promise.all([
    mailstead([
      "dev",
      "--data",
      join(parent, "second"),
      "--port",
      http,
      "--capture-smtp",
      "127.0.0.1:0",
    ]),
    mailstead(["dev", "--data", join(parent, "third"), "--port", "0"], {
      MAILSTEAD_CAPTURE_SMTP: server.at("smtp"),
    }),
    mailstead(["serve", "--data", join(parent, "fourth"), "--port", http]),
    mailstead([
      "serve",
      "--data",
      join(parent, "fifth"),
      "--port",
      "0",
      "--metrics",
      `127.0.0.1:${http}`,
    ]),
  ]);
  for (const { code, stdout } of [byHttp, bySmtp, byServe, byMetrics]) {
    expect([code, stdout]).toEqual([2, ""]);
  }
  expect(byHttp.stderr).toMatch(new RegExp(`cannot listen on 127.0.0.1:${http} .* --port`));
  expect(bySmtp.stderr).toMatch(/cannot listen on 127\.0\.0\.1:\d+ .* --capture-smtp HOST:PORT/);
  expect(byServe.stderr).toContain(`cannot listen on 127.0.0.1:${http}`);
  expect(byServe.stderr).toContain("choose another address with --port or --host");
  expect(byMetrics.stderr).toMatch(
    new RegExp(`cannot listen on 127.0.0.1:${http} for the metrics .*another .* --metrics\n`),
  );
});

test("the variables of Mailpit set addresses and limits; others are listed once", async () => {
  const own = await dev([], {
    MP_DATABASE: join(parent, "mp", "mailpit.db"),
    MP_MAX_MESSAGES: "100",
    MP_SMTP_AUTH_ACCEPT_ANY: "1",
    MP_SMTP_AUTH_ALLOW_INSECURE: "1",
    MP_SMTP_BIND_ADDR: "127.0.0.1:0",
    MP_TENANT_ID: "shop",
    MP_UI_BIND_ADDR: "127.0.0.1:0",
  });
  expect(own.at("data")).toBe(join(parent, "mp", "mailstead-data"));
  const { code, log } = await own.stop();
  expect(code).toBe(0);
  expect(log).toContain("these variables have no effect here");
  expect(log).toContain("MP_TENANT_ID");
  expect(log).not.toContain("MP_MAX_MESSAGES");
});

test("--data temporary makes a folder that is removed at the end", async () => {
  const own = await dev(["--data", "temporary", ...ANY_PORTS], { TMPDIR: parent });
  expect(own.at("data")).toStartWith(parent);
  expect(readdirSync(own.at("data"))).toContain("mailstead.db");
  await own.stop();
  expect(existsSync(own.at("data"))).toBe(false);
});

test("readyz exits 0 while the server is ready, and 1 afterwards", async () => {
  const words = ["readyz", "--port", new URL(server.at("url")).port];
  expect((await mailstead(words)).code).toBe(0);
  expect((await server.stop()).code).toBe(0);
  const after = await mailstead(words);
  expect([after.code, after.stdout]).toEqual([1, expect.stringContaining("/readyz: ")]);
});

test("the next start prints the same keys", async () => {
  const second = await dev(["--data", join(parent, "first"), ...ANY_PORTS]);
  for (const name of ["secretKey", "publicKey"]) expect(second.at(name)).toBe(server.at(name));
  await second.stop();
});
