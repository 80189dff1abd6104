/** `mailstead dev`: its listeners, its folder, and its start with the variables of Mailpit. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { mailstead, type Running, startMailstead } from "../support/cli.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";

const LIMIT_MS = 30_000;
const ANY_PORTS = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];

let parent: string;
const running: Running[] = [];
beforeAll(() => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-dev-test-"));
});
afterAll(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.map(({ child }) => child.exited));
  rmSync(parent, { recursive: true, force: true });
});

async function dev(words: readonly string[], env: Record<string, string> = {}) {
  const isReady = (greeting: string) => greeting.endsWith("}\n");
  const server = await startMailstead(["dev", "--json", ...words], isReady, { environment: env });
  running.push(server);
  const info: unknown = JSON.parse(server.greeting);
  const at = (name: string) => stringAt(info, name);
  return { ...server, at, smtpPort: Number(at("smtp").split(":").at(-1)) };
}

test(
  "catches a mail over SMTP, which both interfaces show",
  async () => {
    const server = await dev(["--data", join(parent, "first"), ...ANY_PORTS]);
    const transport = createTransport({ host: "127.0.0.1", port: server.smtpPort });
    const sent = await transport.sendMail({
      from: "app@example.org",
      to: "ada@example.com",
      subject: "Hello",
      text: "It works",
    });
    expect(sent.response).toStartWith("250 2.0.0 Ok: queued as ");
    const read = async (path: string): Promise<unknown> =>
      (await fetch(`${server.at("url")}${path}`)).json();
    const own = await read("/inboxes/default/messages?query=subject:hello");
    expect(listAt(own, "data.items").map((item) => valueAt(item, "subject"))).toEqual(["Hello"]);
    const mailpit = await read("/api/v1/search?query=subject:hello");
    expect(valueAt(mailpit, "messages.0.Subject")).toBe("Hello");
    expect((await fetch(`${server.at("url")}/readyz`)).status).toBe(200);
    expect((await server.stop()).code).toBe(0);
  },
  LIMIT_MS,
);

test(
  "limits neither requests nor mails that are sent over HTTP",
  async () => {
    const server = await dev(["--data", join(parent, "unlimited"), ...ANY_PORTS]);
    const url = server.at("url");
    for (let done = 0; done < 1_200; done += 100) {
      const reads = Array.from({ length: 100 }, () => fetch(`${url}/inboxes`));
      for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
    }
    const to = Array.from({ length: 100 }, (_, i) => `ada${i}@example.com`);
    const sent = await fetch(`${url}/v1/send`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${server.at("secretKey")}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ to, from: "shop@example.org", subject: "Hi", body: "Hi" }),
    });
    expect(sent.status).toBe(200);
    const wait = await fetch(`${url}/inboxes/default/wait?count=100&timeoutSeconds=4`);
    expect(valueAt(await wait.json(), "data.matched")).toBe(true);
    expect((await server.stop()).code).toBe(0);
  },
  LIMIT_MS,
);

test(
  "a port in use exits 2, and the message names the option that changes it",
  async () => {
    const first = await dev(["--data", join(parent, "taken"), ...ANY_PORTS]);
    const http = new URL(first.at("url")).port;
    const second = ["dev", "--data", join(parent, "second")];
    const [byHttp, bySmtp] = await Promise.all([
      mailstead([...second, "--port", http, "--capture-smtp", "127.0.0.1:0"]),
      mailstead(["dev", "--data", join(parent, "third"), "--port", "0"], {
        MAILSTEAD_CAPTURE_SMTP: first.at("smtp"),
      }),
    ]);
    expect([byHttp.code, bySmtp.code]).toEqual([2, 2]);
    expect(byHttp.stderr).toMatch(new RegExp(`cannot listen on 127.0.0.1:${http} .* --port`));
    expect(bySmtp.stderr).toMatch(/cannot listen on 127\.0\.0\.1:\d+ .* --capture-smtp HOST:PORT/);
    expect((await first.stop()).code).toBe(0);
  },
  LIMIT_MS,
);

describe("--data temporary", () => {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  test.each(signals)(
    "removes its folder after %s",
    async (signal) => {
      const server = await dev(["--data", "temporary", ...ANY_PORTS], { TMPDIR: parent });
      const folder = server.at("data");
      expect(readdirSync(folder)).toContain("mailstead.db");
      server.child.kill(signal);
      expect(await server.child.exited).toBe(0);
      expect(existsSync(folder)).toBe(false);
    },
    LIMIT_MS,
  );
});

test(
  "the variables of Mailpit set addresses and limits; others are listed once",
  async () => {
    const server = await dev([], {
      MP_DATABASE: join(parent, "mp", "mailpit.db"),
      MP_MAX_MESSAGES: "100",
      MP_SMTP_AUTH_ACCEPT_ANY: "1",
      MP_SMTP_AUTH_ALLOW_INSECURE: "1",
      MP_SMTP_BIND_ADDR: "127.0.0.1:0",
      MP_TENANT_ID: "shop",
      MP_UI_BIND_ADDR: "127.0.0.1:0",
    });
    expect(server.at("data")).toBe(join(parent, "mp", "mailstead-data"));
    const { code, log } = await server.stop();
    expect(code).toBe(0);
    expect(log).toContain("variables of Mailpit have no effect here");
    expect(log).toContain("MP_TENANT_ID");
    expect(log).not.toContain("MP_MAX_MESSAGES");
  },
  LIMIT_MS,
);

test(
  "readyz exits 0 while the server is ready, and 1 afterwards",
  async () => {
    const server = await dev(["--data", join(parent, "ready"), ...ANY_PORTS]);
    const words = ["readyz", "--port", new URL(server.at("url")).port];
    expect((await mailstead(words)).code).toBe(0);
    await server.stop();
    const after = await mailstead(words);
    expect([after.code, after.stdout]).toEqual([1, expect.stringContaining("/readyz: ")]);
  },
  LIMIT_MS,
);
