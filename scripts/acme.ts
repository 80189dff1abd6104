/**
 * Gets certificates from Pebble, the test CA of Let's Encrypt, which refuses half of all nonces and binds
 * accounts to one of its own.
 *
 * `bun scripts/acme.ts [--bin FOLDER]`
 *
 * FOLDER has `pebble` and `pebble-challtestsrv`, its name server; without it they are built with
 * `go install` into a temporary folder. Servers run with `--tls acme`:
 *
 * 1. The first one shows a self-signed certificate until the CA has given one.
 * 2. Started again with a second name, it shows the stored certificate at once, and then one for both.
 * 3. Started again with a clock that is years ahead, it renews the certificate: the CA gives another one.
 * 4. With the CA stopped, a new server serves HTTPS all the same, and the log says why.
 *
 * Prints one line for each step. The exit code is 1 if one fails.
 */

import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { parseArgs } from "node:util";
import { makeCertificate } from "../test/support/tls.ts";

const { values } = parseArgs({ options: { bin: { type: "string" } } });
/** The server looks for work every 30 seconds, and each order takes some seconds. */
const LIMIT_MS = 75_000;
const MODULES = ["cmd/pebble", "cmd/pebble-challtestsrv"].map(
  (path) => `github.com/letsencrypt/pebble/v2/${path}@v2.10.3`,
);

const BINDING = { id: "kid-1", key: Buffer.alloc(32, "MAC key").toString("base64url") };

const folder = mkdtempSync(join(tmpdir(), "mailstead-acme-"));
const bin = values.bin ?? buildPebble();
const running: Bun.Subprocess[] = [];
const [caPort, managementPort, dnsPort, dnsManagementPort] = [1, 2, 3, 4].map(freePort);
const [plainPort, httpsPort] = [freePort(), freePort()];

function freePort(): number {
  const probe = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = probe.port ?? 0;
  void probe.stop(true);
  return port;
}

function buildPebble(): string {
  for (const module of MODULES) {
    const env = { ...process.env, GOBIN: folder };
    const built = Bun.spawnSync(["go", "install", module], { env, stderr: "inherit" });
    if (!built.success) throw new Error(`${module} cannot be built`);
  }
  return folder;
}

function start(command: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: Bun.file(join(folder, `${running.length}.log`)),
  });
  running.push(child);
  return { child, log: join(folder, `${running.length - 1}.log`) };
}

function startCa() {
  const own = makeCertificate(["localhost", "127.0.0.1"]);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  file("ca.pem", own.ca);
  const pebble = {
    listenAddress: `127.0.0.1:${caPort}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: file("pebble-cert.pem", own.cert),
    privateKey: file("pebble-key.pem", own.key),
    httpPort: plainPort,
    tlsPort: httpsPort,
    retryAfter: { authz: 1, order: 1 },
    externalAccountBindingRequired: true,
    externalAccountMACKeys: { [BINDING.id]: BINDING.key },
  };
  const config = file("pebble.json", JSON.stringify({ pebble }));
  const listeners = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""];
  const dns = `127.0.0.1:${dnsPort}`;
  const names = ["-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""];
  const management = ["-management", `127.0.0.1:${dnsManagementPort}`];
  const server = join(bin, "pebble-challtestsrv");
  start([server, "-dnsserver", dns, ...listeners, ...management, ...names]);
  return start([join(bin, "pebble"), "-config", config, "-dnsserver", dns], {
    PEBBLE_WFE_NONCEREJECT: "50",
    PEBBLE_VA_NOSLEEP: "1",
    PEBBLE_AUTHZREUSE: "0",
  });
}

/** Pebble's certificates last five years, so that less than a third of their life is left. */
const AHEAD_MS = 4 * 365 * 24 * 60 * 60_000;
const CLOCK_AHEAD = {
  BUN_OPTIONS: `--preload=${join(import.meta.dir, "crash/clock-ahead.ts")}`,
  CLOCK_AHEAD_MS: String(AHEAD_MS),
};

function startServer(data: string, flags: string[] = [], env: Record<string, string> = {}) {
  const main = join(import.meta.dir, "../src/main.ts");
  const ca = ["--acme-directory", `https://127.0.0.1:${caPort}/dir`];
  const binding = ["--acme-eab", `${BINDING.id}:${BINDING.key}`];
  const trust = ["--acme-ca", join(folder, "ca.pem"), ...binding];
  const listeners = ["--https", `127.0.0.1:${httpsPort}`, "--plain-http", `127.0.0.1:${plainPort}`];
  const dns = ["--dns", `127.0.0.1:${dnsPort}`];
  const url = ["--url", "https://mail.test", "--port", String(freePort()), ...dns];
  const all = ["--tls", "acme", ...ca, ...trust, ...listeners, ...url, ...flags];
  const named = ["--hostname", "mail.test", "--data", join(folder, data)];
  return start([process.execPath, main, "serve", ...named, ...all], env);
}

async function stop(child: Bun.Subprocess): Promise<void> {
  child.kill();
  await child.exited;
}

/** The certificate that HTTPS shows; null if nothing listens. */
function shown(): Promise<X509Certificate | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port: httpsPort, rejectUnauthorized: false });
    socket.once("secureConnect", () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.once("error", () => resolve(null));
  });
}

async function step(name: string, isDone: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await isDone())) {
    if (performance.now() - startedAt > LIMIT_MS) throw new Error(`not in time: ${name}`);
    await Bun.sleep(100);
  }
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${name}`);
}

const isOfCa = (certificate: X509Certificate | null) =>
  certificate?.issuer.includes("Pebble") === true;
const isSelfSigned = (certificate: X509Certificate | null) =>
  certificate !== null && !isOfCa(certificate);
const has = (certificate: X509Certificate | null, name: string) =>
  isOfCa(certificate) && certificate?.checkHost(name) === name;

try {
  const ca = startCa();
  const first = startServer("one");
  await step("a self-signed certificate is shown", async () => isSelfSigned(await shown()));
  await step("the CA gives a certificate", async () => has(await shown(), "mail.test"));
  await stop(first.child);

  const second = startServer("one", ["--tracking-url", "https://go.test"]);
  const stored = async () => {
    const certificate = await shown();
    if (isSelfSigned(certificate)) throw new Error("the stored certificate is not shown");
    return has(certificate, "mail.test");
  };
  await step("after a restart the stored certificate is shown", stored);
  await step("it is replaced by one for both names", async () => has(await shown(), "go.test"));
  const before = await shown();
  await stop(second.child);

  const later = startServer("one", ["--tracking-url", "https://go.test"], CLOCK_AHEAD);
  await step("with a clock that is years ahead it is renewed", async () => {
    const certificate = await shown();
    return has(certificate, "go.test") && certificate?.serialNumber !== before?.serialNumber;
  });
  await stop(later.child);

  await stop(ca.child);
  const third = startServer("two");
  await step("without the CA, HTTPS has a self-signed one", async () =>
    isSelfSigned(await shown()),
  );
  const isLogged = async () =>
    (await Bun.file(third.log).text()).includes("the CA gave no certificate");
  await step("and the log says why", isLogged);
} finally {
  for (const child of running) await stop(child);
  rmSync(folder, { recursive: true, force: true });
}
