/** Submission with TLS: which listeners start, and that no password is taken without it. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { createTransport } from "nodemailer";
import { expectSoon, settleEventLoop, waitUntil } from "../support/eventually.ts";
import { networkAddress as address } from "../support/smtp-client.ts";
import { plain, submissionApp } from "../support/submission.ts";
import { makeCertificate } from "../support/tls.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  // The server counts a session until its socket is closed.
  await settleEventLoop();
});

/** A folder that is removed at the end. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-submission-"));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];
let server: Awaited<ReturnType<typeof submissionApp>>;
let files: { cert: string; key: string; ca: string };

/** Writes a new certificate for `localhost`. */
function writeCertificate(): void {
  const { cert, key, ca } = makeCertificate(["localhost", "127.0.0.1"]);
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  files.ca = ca;
}

beforeAll(async () => {
  const folder = temporaryFolder();
  files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem"), ca: "" };
  writeCertificate();
  const listener = { host: "0.0.0.0", port: 0 };
  server = await submissionApp({
    config: {
      submission: listener,
      submissions: listener,
      smtpTlsCert: files.cert,
      smtpTlsKey: files.key,
    },
  });
});

afterAll(async () => {
  await server.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe("with a certificate", () => {
  for (const [name, isImplicit] of [
    ["STARTTLS", false],
    ["TLS from the first byte", true],
  ] as const) {
    test(`nodemailer submits over ${name} and verifies the certificate`, async () => {
      const { submission, submissions } = server.ports();
      const before = server.countRows("captured_messages");
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
      expect(await server.sent(before + 1)).toHaveLength(before + 1);
    });
  }

  test("a changed certificate is used for later sessions, without a restart", async () => {
    const { submissions = 0 } = server.ports();
    const before = files.ca;
    writeCertificate();
    const { ca } = files;
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
    await waitUntil(() => /^\d{3} .*\r\n/m.test(chunks.join("")));
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
    const other = await submissionApp({
      folder: temporaryFolder(),
      config: { submission: null, submissions: { host: "127.0.0.1", port: 0 } },
    });
    closers.push(other.close);
    const { submissions = 0 } = other.ports();
    const socket = connectTls({ port: submissions, host: "127.0.0.1", rejectUnauthorized: false });
    closers.push(() => socket.destroy());
    const [greeting] = await new Promise<string[]>((resolve) =>
      socket.once("data", (bytes) => resolve([String(bytes)])),
    );
    expect(greeting).toStartWith("220 sender.test ");
  });
});
