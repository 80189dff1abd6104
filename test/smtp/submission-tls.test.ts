/** Submission with TLS: which listeners start, and that no password is taken without it. */

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { createTransport } from "nodemailer";
import { expectSoon } from "../support/eventually.ts";
import { networkAddress as address } from "../support/smtp-client.ts";
import { plain, submissionApp } from "../support/submission.ts";
import { makeCertificate } from "../support/tls.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Writes a certificate for `localhost` into a new folder. */
function certificateFiles() {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-submission-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = () => {
    const { cert, key, ca } = makeCertificate(["localhost", "127.0.0.1"]);
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    return ca;
  };
  return { ...files, write, ca: write() };
}

async function start(host = "127.0.0.1") {
  const files = certificateFiles();
  const server = await submissionApp({
    config: {
      submission: { host, port: 0 },
      submissions: { host, port: 0 },
      smtpTlsCert: files.cert,
      smtpTlsKey: files.key,
    },
  });
  closers.push(server.close);
  return { server, files };
}

describe("with a certificate", () => {
  for (const [name, isImplicit] of [
    ["STARTTLS", false],
    ["TLS from the first byte", true],
  ] as const) {
    test(`nodemailer submits over ${name} and verifies the certificate`, async () => {
      const { server, files } = await start();
      const { submission, submissions } = server.ports();
      const transport = createTransport({
        host: "localhost",
        port: isImplicit ? submissions : submission,
        secure: isImplicit,
        requireTLS: true,
        tls: { ca: files.ca },
        auth: { user: "any", pass: server.secretKey },
      });
      await transport.sendMail({ from: "a@acme.test", to: "b@example.com", text: "Hi" });
      transport.close();
      expect(await server.sent(1)).toHaveLength(1);
    });
  }

  test("a changed certificate is used for later sessions, without a restart", async () => {
    const { server, files } = await start();
    const { submissions = 0 } = server.ports();
    const before = files.ca;
    const ca = files.write();
    utimesSync(files.cert, new Date(), new Date(statSync(files.cert).mtimeMs + 5_000));
    await server.app.recurring.find(({ name }) => name === "submission certificate")?.run();
    const isTrusted = (authority: string) =>
      new Promise<boolean>((resolve) => {
        const socket = connectTls({ host: "localhost", port: submissions, ca: authority });
        socket.once("secureConnect", () => resolve(socket.authorized));
        socket.once("error", () => resolve(false));
        closers.push(() => socket.destroy());
      });
    expect([await isTrusted(ca), await isTrusted(before)]).toEqual([true, false]);
  });

  test.skipIf(address === undefined)(
    "session 51 of another address is refused; this machine has no limit",
    async () => {
      const { server } = await start("0.0.0.0");
      const greeting = async (host: string) => {
        const socket = connect(server.port, host);
        closers.push(() => socket.destroy());
        const [text] = await new Promise<string[]>((resolve) =>
          socket.once("data", (bytes) => resolve([String(bytes)])),
        );
        return text?.slice(0, 9);
      };
      const first: (string | undefined)[] = [];
      for (let n = 0; n < 50; n++) first.push(await greeting(address ?? ""));
      expect(new Set(first)).toEqual(new Set(["220 sende"]));
      expect(await greeting(address ?? "")).toBe("421 4.7.0");
      expect(await greeting("127.0.0.1")).toBe("220 sende");
    },
  );
  test.skipIf(address === undefined)(
    "clients that never begin the TLS handshake count as well",
    async () => {
      const { server, files } = await start("0.0.0.0");
      const { submissions = 0 } = server.ports();
      const open = async (host: string) => {
        const socket = connect(submissions, host);
        closers.push(() => socket.destroy());
        const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
        await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
        return { socket, closed };
      };
      const silent = [];
      for (let n = 0; n < 50; n++) silent.push(await open(address ?? ""));
      await (
        await open(address ?? "")
      ).closed;
      const isGreeted = (host: string) =>
        new Promise<boolean>((resolve) => {
          const socket = connectTls({
            host,
            port: submissions,
            ca: files.ca,
            servername: "localhost",
          });
          closers.push(() => socket.destroy());
          socket.once("data", () => resolve(true));
          socket.once("close", () => resolve(false));
          socket.once("error", () => resolve(false));
        });
      expect(await isGreeted("127.0.0.1")).toBe(true);
      expect(await isGreeted(address ?? "")).toBe(false);
      silent[0]?.socket.destroy();
      await expectSoon(() => isGreeted(address ?? ""), true);
    },
  );
  test.skipIf(address === undefined)(
    "AUTH from another address is neither announced nor taken without TLS",
    async () => {
      const { server } = await start("0.0.0.0");
      const client = await sessionFrom(address ?? "", server.port);
      const greeting = await client("EHLO client.test");
      expect(greeting).toContain("STARTTLS");
      expect(greeting).not.toContain("AUTH");
      expect(await client(`AUTH PLAIN ${plain(server.secretKey)}`)).toStartWith("538 5.7.11 ");
      expect(await client("MAIL FROM:<a@acme.test>")).toStartWith("530 5.7.0 ");
    },
  );
});

/** Connects to an address of this machine that is not loopback, and returns a function that asks. */
async function sessionFrom(address: string, port: number) {
  const socket = connect(port, address);
  closers.push(() => socket.destroy());
  const chunks: string[] = [];
  socket.on("data", (bytes) => chunks.push(String(bytes)));
  const replied = async (): Promise<string> => {
    while (!/^\d{3} .*\r\n/m.test(chunks.join(""))) await Bun.sleep(2);
    return chunks.splice(0).join("");
  };
  await replied();
  return (line: string): Promise<string> => {
    socket.write(`${line}\r\n`);
    return replied();
  };
}

describe("without a certificate", () => {
  test("a listener on another address than loopback does not start", async () => {
    const config = { submission: { host: "0.0.0.0", port: 0 } };
    const message = await submissionApp({ config }).then(
      () => "it started",
      (error: unknown) => String(error),
    );
    expect(message).toContain("--submission on 0.0.0.0 needs a certificate");
  });

  test("--submissions on loopback uses the self-signed certificate of the data folder", async () => {
    const folder = mkdtempSync(join(tmpdir(), "mailstead-submission-"));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const server = await submissionApp({
      folder,
      config: { submission: null, submissions: { host: "127.0.0.1", port: 0 } },
    });
    closers.push(server.close);
    const { submissions = 0 } = server.ports();
    const socket = connectTls({ port: submissions, host: "127.0.0.1", rejectUnauthorized: false });
    closers.push(() => socket.destroy());
    const [greeting] = await new Promise<string[]>((resolve) =>
      socket.once("data", (bytes) => resolve([String(bytes)])),
    );
    expect(greeting).toStartWith("220 sender.test ");
  });
});
