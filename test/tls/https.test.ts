/** HTTPS with the certificate of the operator's files, and its change while connections are open. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { createCertificateFiles } from "../../src/tls/certificate.ts";
import { keepRelayedPeer, peerOf } from "../../src/http/incoming.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog, silentLog } from "../../src/lib/log.ts";
import { createHttpsListener } from "../../src/tls/https.ts";
import { httpsPort } from "../../src/tls/listeners.ts";
import { servePlainHttp } from "../../src/tls/plain-http.ts";
import { serverCertificate, smtpCertificate } from "../../src/tls/server-certificate.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { expectSoon, settleEventLoop, waitUntil } from "../support/eventually.ts";
import { makeCertificate } from "../support/tls.ts";

const folder = mkdtempSync(join(tmpdir(), "mailstead-https-"));
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
afterAll(() => rmSync(folder, { recursive: true }));

const [first, second] = [makeCertificate(["mail.test"]), makeCertificate(["mail.test"])];

function write({ cert, key }: { cert: string; key: string }): void {
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
}

const fingerprintOf = (pem: string) => new X509Certificate(pem).fingerprint256;

describe("a server with --tls files", () => {
  let server: Awaited<ReturnType<typeof testApp>>;
  let port: number;
  const sockets: TLSSocket[] = [];

  beforeAll(async () => {
    write(first);
    server = await testApp({
      config: {
        port: 0,
        https: { host: "127.0.0.1", port: 0 },
        url: "https://mail.test",
        tls: "files",
        tlsCert: files.cert,
        tlsKey: files.key,
        plainHttp: { host: "127.0.0.1", port: 0 },
      },
    });
    await server.app.listen();
    port = httpsPort(server.app.app).value ?? 0;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });

  async function open(): Promise<{ socket: TLSSocket; received: () => string }> {
    const options = { host: "127.0.0.1", port, rejectUnauthorized: false };
    const socket = connect(options);
    sockets.push(socket);
    let text = "";
    socket.on("data", (bytes) => (text += String(bytes)));
    await new Promise<void>((resolve, reject) => {
      socket.once("secureConnect", resolve);
      socket.once("error", reject);
    });
    return { socket, received: () => text };
  }

  const shownCertificate = async () => (await open()).socket.getPeerCertificate().fingerprint256;

  test("shows a changed certificate to new connections, and answers the requests under way", async () => {
    const body = JSON.stringify({ event: "signup", email: "ada@example.com" });
    const head =
      `POST /v1/track HTTP/1.1\r\nHost: mail.test\r\nAuthorization: Bearer ${server.secretKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const underWay = await Promise.all(Array.from({ length: 10 }, open));
    for (const { socket } of underWay) socket.write(head + body.slice(0, 5));
    expect(await shownCertificate()).toBe(fingerprintOf(first.cert));

    const ofSmtp = smtpCertificate(server.app.app);
    expect((await ofSmtp?.load())?.cert).toBe(first.cert);
    expect(ofSmtp?.reload()).toBeNull();

    write(second);
    await server.app.recurring.find(({ name }) => name === "certificate")?.run();
    await expectSoon(shownCertificate, fingerprintOf(second.cert));

    expect([ofSmtp?.reload()?.cert, ofSmtp?.reload()]).toEqual([second.cert, null]);
    const endsAt = serverCertificate(server.app.app).endsAt();
    expect(endsAt).toBe(new X509Certificate(second.cert).validToDate.getTime());

    write(first);
    await server.app.reload();
    await expectSoon(shownCertificate, fingerprintOf(first.cert));
    expect(ofSmtp?.reload()?.cert).toBe(first.cert);

    for (const { socket } of underWay) socket.write(body.slice(5));
    await waitUntil(() => underWay.every(({ received }) => received().includes("\r\n\r\n")));
    const statuses = underWay.map(({ received }) => received().slice(0, 12));
    expect(new Set(statuses)).toEqual(new Set(["HTTP/1.1 200"]));
  });
});

test("HTTP sees the address of the client behind HTTPS, which has a limited number of connections", async () => {
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => new Response(`peer ${peerOf({ request, server })};`),
  });
  const target = { host: "127.0.0.1", port: http.port ?? 0 };
  const https = createHttpsListener({
    certificate: first,
    target,
    keepPeer: keepRelayedPeer,
    clock: systemClock,
    isShared: (address) => address === "127.0.0.1",
    maxPerNetwork: 1,
  });
  const port = await https.listen({ host: "127.0.0.1", port: 0 });
  const localAddress = "127.0.0.9";
  const options = { host: "127.0.0.1", port, localAddress, rejectUnauthorized: false };
  const socket = connect(options, () => socket.write("GET / HTTP/1.1\r\nHost: mail.test\r\n\r\n"));
  let text = "";
  socket.on("data", (bytes) => (text += String(bytes)));
  await waitUntil(() => text.includes(";"));
  expect(text).toContain("peer 127.0.0.9;");
  const isAccepted = (from: string) =>
    new Promise<boolean>((resolve) => {
      const fromThere = { ...options, localAddress: from };
      const other = connect(fromThere, () => resolve(true));
      other.once("error", () => resolve(false));
      others.push(other);
    });
  const others: TLSSocket[] = [];
  expect(await isAccepted(localAddress)).toBe(false);
  expect([await isAccepted("127.0.0.1"), await isAccepted("127.0.0.1")]).toEqual([true, true]);
  expect(await (await fetch(http.url)).text()).toBe("peer 127.0.0.1;");
  for (const each of [socket, ...others]) each.destroy();
  https.stop();
  await http.stop(true);
});

test("a client that reads nothing for a minute loses its connection; slow and idle ones stay", async () => {
  const megabyte = new Uint8Array(2 ** 20);
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: ({ url }) => {
      if (new URL(url).pathname === "/short") return new Response("answer;");
      return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(megabyte) }));
    },
  });
  const clock = manualClock();
  const relayed = new Set<string>();
  const https = createHttpsListener({
    certificate: first,
    target: { host: "127.0.0.1", port: http.port ?? 0 },
    keepPeer: (_end, client) => {
      relayed.add(client);
      return () => void relayed.delete(client);
    },
    clock,
    isShared: () => true,
    maxPerNetwork: 1,
  });
  const port = await https.listen({ host: "127.0.0.1", port: 0 });
  const clients = ["127.0.0.2", "127.0.0.3", "127.0.0.4"].map((localAddress) => {
    const options = { host: "127.0.0.1", port, localAddress, rejectUnauthorized: false };
    const socket = connect(options);
    let text = "";
    let receivedBytes = 0;
    socket.on("data", (bytes) => {
      receivedBytes += bytes.length;
      text = String(bytes.slice(-20));
    });
    socket.on("error", () => socket.destroy());
    const ask = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: mail.test\r\n\r\n`);
    return { socket, ask, text: () => text, receivedBytes: () => receivedBytes };
  });
  const [silent, slow, idle] = clients;
  if (!silent || !slow || !idle) throw new Error("three clients are needed");
  silent.ask("/endless");
  slow.ask("/endless");
  idle.ask("/short");
  await waitUntil(() => silent.receivedBytes() > 0 && idle.text().endsWith("answer;"));
  silent.socket.pause();

  for (let minute = 0; minute < 20 && relayed.has("127.0.0.2"); minute += 1) {
    const enough = slow.receivedBytes() + 8 * megabyte.length;
    slow.socket.resume();
    await waitUntil(() => slow.receivedBytes() > enough);
    slow.socket.pause();
    clock.advance(60_000);
    await settleEventLoop();
  }
  expect([...relayed].sort()).toEqual(["127.0.0.3", "127.0.0.4"]);
  silent.socket.resume();
  await waitUntil(() => silent.socket.closed);

  for (let minute = 0; minute < 3; minute += 1) clock.advance(60_000);
  expect(relayed.has("127.0.0.4")).toBe(true);
  const answeredBytes = idle.receivedBytes();
  idle.ask("/short");
  await waitUntil(() => idle.receivedBytes() >= 2 * answeredBytes);

  for (const { socket } of clients) socket.destroy();
  https.stop();
  await http.stop(true);
  await waitUntil(() => clock.untilNextTimer() === Infinity);
});

describe("files that are replaced one by one", () => {
  test("leave the old certificate in use until both fit, and are reported once", () => {
    write(first);
    const lines: string[] = [];
    const log = createLog({ level: "warn", format: "json", write: (line) => lines.push(line) });
    const source = createCertificateFiles(files, log);
    expect(source.load().cert).toBe(first.cert);
    writeFileSync(files.cert, `${second.cert}\n`);
    expect([source.reload(), source.reload()]).toEqual([null, null]);
    expect(lines).toHaveLength(1);
    writeFileSync(files.key, `${second.key}\n`);
    expect(source.reload()?.key).toBe(`${second.key}\n`);
  });

  test("do not let the server start with a key of another certificate", () => {
    write({ cert: first.cert, key: second.key });
    expect(() => createCertificateFiles(files, silentLog).load()).toThrow(
      /cannot be used: the key in .*key\.pem is not that of the certificate/,
    );
  });
});

test("HTTP answers a CA, and is redirected to the same path of the public addresses only", async () => {
  const server = servePlainHttp({
    address: { host: "127.0.0.1", port: 0 },
    url: "https://mail.test:8443/base",
    trackingUrl: "https://go.test",
    keyAuthorization: (token) => (token === "known" ? "known.digest" : null),
  });
  const locationFor = async (host: string) => {
    const url = new URL("/o/token?a=1", server.url);
    const answer = await fetch(url, { headers: { host }, redirect: "manual" });
    return [answer.status, answer.headers.get("location")];
  };
  try {
    expect(await locationFor("mail.test")).toEqual([308, "https://mail.test:8443/o/token?a=1"]);
    expect(await locationFor("go.test")).toEqual([308, "https://go.test/o/token?a=1"]);
    const challenge = (token: string) =>
      new URL(`/.well-known/acme-challenge/${token}`, server.url);
    expect(await (await fetch(challenge("known"))).text()).toBe("known.digest");
    expect((await fetch(challenge("other"))).status).toBe(404);
    expect(await locationFor("evil.test")).toEqual([308, "https://mail.test:8443/o/token?a=1"]);
  } finally {
    await server.stop(true);
  }
});
