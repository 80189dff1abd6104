/**
 * Changes the certificate of HTTPS while connections are open, and counts what is lost.
 *
 * `bun scripts/certificate-change.ts [--connections N] [--changes N]`
 *
 * A server runs in a process of its own with `--tls files`. On N connections (1,000) a request
 * was answered; others are opened one after the other. Meanwhile both files are replaced several times,
 * and each time the server has read them when a new connection shows the new certificate. Then each open
 * connection makes another request. Prints the counts as JSON. The exit code is 1 if a connection was lost, or if
 * a certificate was not shown.
 */

import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { parseArgs } from "node:util";
import { makeCertificate } from "../test/support/tls.ts";

const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "1000" },
    changes: { type: "string", default: "3" },
  },
});
const [count, changes] = [Number(values.connections), Number(values.changes)];
/** The files are examined every 30 seconds. */
const CHANGE_LIMIT_MS = 45_000;
const REQUEST_LIMIT_MS = 30_000;
const OPENING_AT_ONCE = 20;
const REQUEST = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";

const folder = mkdtempSync(join(tmpdir(), "mailstead-certificate-change-"));
const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
const port = freePort();

function freePort(): number {
  const probe = Bun.serve({ port: 0, fetch: () => new Response() });
  const free = probe.port ?? 0;
  void probe.stop(true);
  return free;
}

/** Writes a new certificate, and returns its fingerprint. */
function writeCertificate(): string {
  const { cert, key } = makeCertificate(["localhost"]);
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return new X509Certificate(cert).fingerprint256;
}

function startServer() {
  const args = ["serve", "--data", join(folder, "data"), "--port", String(freePort())];
  const tls = ["--tls", "files", "--tls-cert", files.cert, "--tls-key", files.key];
  const addresses = ["--https", `127.0.0.1:${port}`, "--plain-http", `127.0.0.1:${freePort()}`];
  const url = ["--url", `https://localhost:${port}`];
  const main = join(import.meta.dir, "../src/main.ts");
  return Bun.spawn([process.execPath, main, ...args, ...tls, ...addresses, ...url], {
    stdout: "ignore",
    stderr: "inherit",
  });
}

type Connection = {
  /** Fingerprint of the certificate that the server has shown. */
  shown: string;
  /** Makes a request, and resolves to whether it was answered with 200. */
  ask: () => Promise<boolean>;
  close: () => void;
};

/** Resolves after the handshake. */
function open(): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    let text = "";
    let answered: (isAnswered: boolean) => void = () => {};
    socket.on("data", (bytes) => {
      text += String(bytes);
      if (text.includes('"ok"')) answered(text.startsWith("HTTP/1.1 200"));
    });
    socket.once("close", () => answered(false));
    socket.on("error", reject);
    socket.once("secureConnect", () =>
      resolve({
        shown: socket.getPeerCertificate().fingerprint256,
        close: () => void socket.destroy(),
        ask() {
          text = "";
          const answer = new Promise<boolean>((done) => (answered = done));
          if (socket.destroyed) answered(false);
          else socket.write(REQUEST);
          return within(answer, REQUEST_LIMIT_MS, false);
        },
      }),
    );
  });
}

async function within<T>(work: Promise<T>, ms: number, otherwise: T): Promise<T> {
  return Promise.race([work, Bun.sleep(ms).then(() => otherwise)]);
}

async function untilServes(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const connection = await open().catch(() => null);
    connection?.close();
    if (connection !== null) return;
    await Bun.sleep(100);
  }
  throw new Error("the server did not start");
}

/** Opens connections, and makes a request on each. */
async function openMany(): Promise<{ connections: Connection[]; lost: number }> {
  const opened: Connection[] = [];
  let lost = 0;
  while (opened.length < count) {
    const next = Math.min(OPENING_AT_ONCE, count - opened.length);
    const group = await Promise.all(Array.from({ length: next }, open));
    lost += await askAll(group);
    opened.push(...group);
  }
  return { connections: opened, lost };
}

/** Makes a request on each connection, and returns how many were not answered. */
async function askAll(asked: readonly Connection[]): Promise<number> {
  const answers = await Promise.all(asked.map((connection) => connection.ask()));
  return answers.filter((isAnswered) => !isAnswered).length;
}

const fresh = { opened: 0, lost: 0, latest: "", isOver: false };

/** Makes one request after the other, each on a connection of its own. */
async function openFresh(): Promise<void> {
  while (!fresh.isOver) {
    const connection = await open().catch(() => null);
    const isAnswered = connection !== null && (await connection.ask());
    connection?.close();
    fresh.opened++;
    if (!isAnswered) fresh.lost++;
    fresh.latest = connection?.shown ?? fresh.latest;
    await Bun.sleep(10);
  }
}

/** Replaces the files, and resolves to whether new connections have shown the new certificate. */
async function changeCertificate(): Promise<boolean> {
  const fingerprint = writeCertificate();
  const end = performance.now() + CHANGE_LIMIT_MS;
  for (; performance.now() < end; await Bun.sleep(100)) {
    if (fresh.latest === fingerprint) return true;
  }
  return false;
}

writeCertificate();
const server = startServer();
try {
  await untilServes();
  const working = Array.from({ length: 5 }, openFresh);
  let shownChanges = 0;
  let lostOpen = 0;
  for (let change = 0; change < changes; change++) {
    const { connections, lost } = await openMany();
    if (await changeCertificate()) shownChanges++;
    lostOpen += lost + (await askAll(connections));
    for (const connection of connections) connection.close();
  }
  fresh.isOver = true;
  await Promise.all(working);
  const { opened, lost: lostFresh } = fresh;
  console.log(
    JSON.stringify({ connections: count, changes, shownChanges, lostOpen, opened, lostFresh }),
  );
  process.exitCode = lostOpen + lostFresh === 0 && shownChanges === changes ? 0 : 1;
} finally {
  server.kill();
  await server.exited;
  rmSync(folder, { recursive: true, force: true });
}
