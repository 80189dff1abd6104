/** STARTTLS of the listener that catches mail. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { createCertificateFiles, selfSignedCertificate } from "../../src/tls/certificate.ts";
import { silentLog } from "../../src/lib/log.ts";
import { captureApp } from "../support/capture.ts";
import type { RawSmtp } from "../support/smtp-client.ts";
import { makeCertificate } from "../support/tls.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-certificate-"));
  folders.push(folder);
  return folder;
}

function writeCertificate(folder: string, host: string) {
  const { cert, key } = makeCertificate([host]);
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return { ...files, text: cert };
}

/** The certificate that the server shows after STARTTLS. */
async function shownCertificate(client: RawSmtp): Promise<string> {
  expect(await client.say("STARTTLS\r\n")).toStartWith("220 ");
  const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
  await new Promise((resolve) => secure.once("secureConnect", resolve));
  const shown = new X509Certificate(secure.getPeerCertificate().raw).toString().trim();
  secure.destroy();
  return shown;
}

describe("the listener with the operator's certificate", () => {
  const folder = temporaryFolder();
  const files = writeCertificate(folder, "one.test");
  let server: Awaited<ReturnType<typeof captureApp>>;
  beforeAll(async () => {
    server = await captureApp({ config: { smtpTlsCert: files.cert, smtpTlsKey: files.key } });
  });
  afterAll(() => server.close());

  test("shows it after STARTTLS, and a new one after the files changed", async () => {
    expect(await shownCertificate(await server.connect())).toBe(files.text.trim());
    const changed = writeCertificate(folder, "two.test");
    utimesSync(files.cert, new Date(), new Date(statSync(files.cert).mtimeMs + 5_000));
    await server.app.recurring.find(({ name }) => name === "SMTP certificate")?.run();
    expect(await shownCertificate(await server.connect())).toBe(changed.text.trim());
  });

  test("ignores commands that came before the handshake ended", async () => {
    const client = await server.connect();
    const injected = "STARTTLS\r\nEHLO x\r\nMAIL FROM:<evil@example.com>\r\n";
    expect(await client.say(injected)).toStartWith("220 ");
    const secure = connectTls({ socket: client.socket, rejectUnauthorized: false });
    await new Promise((resolve) => secure.once("secureConnect", resolve));
    secure.write("EHLO client.test\r\nRCPT TO:<b@example.com>\r\nQUIT\r\n");
    let replies = "";
    for await (const bytes of secure) replies += String(bytes);
    expect(replies).toContain("250 ");
    expect(replies).toContain("503 5.5.1 Error: need MAIL command");
    expect(replies).not.toContain("evil");
  });
});

describe("files of a certificate", () => {
  test("that cannot be read again leave the old certificate in use", () => {
    const folder = temporaryFolder();
    const files = writeCertificate(folder, "one.test");
    const source = createCertificateFiles(files, silentLog);
    expect(source.load().cert).toBe(files.text);
    expect(source.reload()).toBeNull();
    rmSync(files.key);
    expect(source.reload()).toBeNull();
  });
});

describe("the self-signed certificate", () => {
  test("is made once for a data folder, readable only by its owner", async () => {
    const folder = temporaryFolder();
    const first = await selfSignedCertificate(folder, "mail.test");
    const second = await selfSignedCertificate(folder, "mail.test");
    expect(new X509Certificate(second.cert).fingerprint).toBe(
      new X509Certificate(first.cert).fingerprint,
    );
    expect(new X509Certificate(first.cert).subject).toContain("mail.test");
    expect(statSync(join(folder, "smtp-certificate.pem")).mode & 0o777).toBe(0o600);
  });
});
