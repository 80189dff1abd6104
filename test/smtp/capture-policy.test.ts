/** The restrictions of the SMTP listener that catches mail: logins, TLS and recipients. */

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { createTransport } from "nodemailer";
import type { Config } from "../../src/config/settings.ts";
import { captureApp } from "../support/capture.ts";
import { networkAddress, rawSmtp } from "../support/smtp-client.ts";

const folder = mkdtempSync(join(tmpdir(), "mailstead-capture-policy-"));
const servers: Awaited<ReturnType<typeof captureApp>>[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(config: Partial<Config>) {
  const server = await captureApp({ config, folder });
  servers.push(server);
  return server;
}

const plain = (user: string, password: string) =>
  `AUTH PLAIN ${Buffer.from(`\0${user}\0${password}`).toString("base64")}\r\n`;

test("with logins, a session without one is refused, and so is a wrong one", async () => {
  const server = await start({ captureAuth: [{ user: "ada", password: "secret" }] });
  const client = await rawSmtp(server.port);
  const greeting = await client.say("EHLO client.test\r\n");
  expect(greeting).toContain("AUTH PLAIN LOGIN");
  expect(greeting).not.toContain("CRAM-MD5");
  expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toStartWith("530 5.7.0");
  expect(await client.say(plain("ada", "wrong"))).toStartWith("535 5.7.8");
  expect(await client.say(plain("bob", "secret"))).toStartWith("535 5.7.8");
  expect(await client.say(plain("ada", "secret"))).toStartWith("235");
  expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toStartWith("250");
  client.end();
});

test("with logins, the name and the password of an inbox are one, too", async () => {
  const server = await start({ captureAuth: [{ user: "ada", password: "secret" }] });
  const { inboxes } = server.inboxes;
  const inbox = await server.app.writer.write(inboxes.create(server.project.seq, { name: "shop" }));
  const client = await server.connect();
  expect(await client.say(plain("shop", "wrong"))).toStartWith("535");
  expect(await client.say(plain("shop", inboxes.passwordOf(inbox)))).toStartWith("235");
  client.end();
});

test("recipients that the pattern does not match are refused, the others are kept", async () => {
  const server = await start({ captureRecipients: /@example\.com$/ });
  const client = await server.connect();
  await client.say("MAIL FROM:<a@example.com>\r\n");
  expect(await client.say("RCPT TO:<b@example.org>\r\n")).toStartWith("550 5.7.1");
  expect(await client.say("RCPT TO:<b@example.com>\r\n")).toStartWith("250");
  client.end();
});

test("the number of recipients is a setting", async () => {
  const server = await start({ captureMaxRecipients: 2 });
  const client = await server.connect();
  await client.say("MAIL FROM:<a@example.com>\r\n");
  const replies: string[] = [];
  for (const name of ["b", "c", "d"]) {
    replies.push((await client.say(`RCPT TO:<${name}@example.com>\r\n`)).slice(0, 9));
  }
  expect(replies).toEqual(["250 2.1.5", "250 2.1.5", "452 4.5.3"]);
  client.end();
});

test("STARTTLS is demanded, with the certificate of the data folder", async () => {
  const server = await start({ captureTls: "starttls" });
  const client = await rawSmtp(server.port);
  expect(await client.say("EHLO client.test\r\n")).toContain("STARTTLS");
  expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toStartWith("530 5.7.0");
  client.end();
  const tls = { rejectUnauthorized: false };
  const transport = createTransport({
    host: "127.0.0.1",
    port: server.port,
    requireTLS: true,
    tls,
    auth: { user: "ada", pass: "any" },
  });
  await transport.sendMail({ from: "a@example.com", to: "b@example.com", text: "x" });
  expect(await server.caught()).toHaveLength(1);
});

test.skipIf(networkAddress === undefined)(
  "where STARTTLS is demanded, another machine sends no password before it",
  async () => {
    const server = await start({
      captureTls: "starttls",
      captureSmtp: { host: "0.0.0.0", port: 0 },
    });
    const client = await rawSmtp(server.port, networkAddress);
    expect(await client.say("EHLO client.test\r\n")).not.toContain("AUTH");
    expect(await client.say(plain("ada", "x"))).toStartWith("538");
    client.end();
  },
);

test("TLS from the first byte", async () => {
  const server = await start({ captureTls: "implicit" });
  const socket = connectTls({ port: server.port, host: "127.0.0.1", rejectUnauthorized: false });
  const greeting = await new Promise<Buffer>((resolve, reject) => {
    socket.once("data", resolve);
    socket.once("error", reject);
  });
  expect(greeting.toString()).toStartWith("220");
  socket.destroy();
});
