/**
 * Lets real mail servers bounce our mail, and submit mail to us.
 *
 * `bun scripts/interop-bounces.ts [--keep] [--packages=FOLDER]`
 *
 * 1. Postfix and Exim accept mail of the server, which delivers with --transport direct, and send
 *    their own reports about it to its signed return paths, where --inbound receives them: the
 *    recipient is unknown, the mailbox is full, the mail is delayed (both servers say so) and then given up, it is refused
 *    as spam. A complaint and a vacation note are sent by this program. Each ends in the status, the
 *    event and the suppression of docs/bounces.md; a table shows them.
 * 2. Postfix and Exim submit mail as smarthost clients, with AUTH and STARTTLS, to --submission.
 *
 * Missing programs are fetched as in interop.ts. The exit code is 1 if a result is another one.
 */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../test/support/tls.ts";
import { CASES, type Case, runCase, type CaseResult } from "./interop/bounce-cases.ts";
import { eximBounces, postfixBounces, startBackend } from "./interop/bouncing.ts";
import { startExim } from "./interop/exim.ts";
import { findPackage } from "./interop/packages.ts";
import { startPostfix } from "./interop/postfix.ts";
import { prepareSender, type RunningSender } from "./interop/sender.ts";
import { killServers, type MailServer } from "./interop/server.ts";
import { submitAndFind } from "./interop/submit-case.ts";
import { eximSubmits, postfixSubmits } from "./interop/submitting.ts";
import { startDnsmasq, type ZoneRecord } from "./interop/zone.ts";

const LIMIT_MS = 180_000;
const HOSTNAME = "mail.sender.example";
const SENDER_DOMAIN = "sender.example";
const BOUNCE_HOST = `bounce.${SENDER_DOMAIN}`;
const BACKEND_ADDRESS = "127.0.0.9";

const PROGRAMS = {
  dnsmasq: { packages: ["dnsmasq-base"], probe: "/usr/sbin/dnsmasq" },
  Postfix: { packages: ["postfix", "libsasl2-modules"], probe: "/usr/lib/postfix/sbin/master" },
  Exim: { packages: ["exim4-daemon-light"], probe: "/usr/sbin/exim4" },
} as const;

type Ports = Record<"http" | "dns" | "smtp" | "inbound" | "submission" | "backend", number>;

/** Root folder of a program's files. */
async function rootOf(folder: string, name: keyof typeof PROGRAMS): Promise<string> {
  const { packages, probe } = PROGRAMS[name];
  const found = await findPackage(folder, packages, probe);
  if (!found.ok) throw new Error(`${name}: ${found.reason}`);
  return found.root;
}

/** A server that bounces, and another one with the same program that submits. */
type Pair = { name: "Postfix" | "Exim"; domain: string; bouncing: MailServer; client: MailServer };

async function startPairs(
  folder: string,
  packages: string,
  { ports, secretKey }: { ports: Ports; secretKey: string },
): Promise<Pair[]> {
  const backend = { address: BACKEND_ADDRESS, port: ports.backend };
  const route = { backend, bounceHost: BOUNCE_HOST, inboundPort: ports.inbound };
  const smarthost = { port: ports.submission, secretKey };
  const at = (name: string, address: string) => {
    const home = join(folder, name);
    mkdirSync(home);
    return { home, address, port: ports.smtp };
  };
  const postfix = await rootOf(packages, "Postfix");
  const exim = await rootOf(packages, "Exim");
  const eximHome = at("exim", "127.0.0.3");
  return [
    {
      name: "Postfix",
      domain: "postfix.test",
      bouncing: await startPostfix({
        ...at("postfix", "127.0.0.2"),
        root: postfix,
        domains: ["postfix.test"],
        settings: postfixBounces({ ...route, behind: "behind.postfix.test" }),
      }),
      client: await startPostfix({
        ...at("postfix-client", "127.0.0.6"),
        root: postfix,
        domains: ["unused.test"],
        settings: postfixSubmits(smarthost),
      }),
    },
    {
      name: "Exim",
      domain: "exim.test",
      bouncing: await startExim({
        ...eximHome,
        root: exim,
        domains: ["exim.test", "behind.exim.test"],
        parts: eximBounces(eximHome.home, { ...route, behind: "behind.exim.test" }),
      }),
      client: await startExim({
        ...at("exim-client", "127.0.0.7"),
        root: exim,
        domains: ["*"],
        parts: eximSubmits(smarthost),
      }),
    },
  ];
}

async function startSender(folder: string, ports: Ports, packages: string) {
  const prepared = await prepareSender({ home: join(folder, "data"), hostname: HOSTNAME });
  const records: ZoneRecord[] = [{ type: "A", name: HOSTNAME, value: "127.0.0.1" }];
  records.push(...(await prepared.addDomain(SENDER_DOMAIN)));
  for (const [domain, address] of [
    ["postfix.test", "127.0.0.2"],
    ["exim.test", "127.0.0.3"],
  ] as const) {
    for (const name of [domain, `behind.${domain}`]) {
      records.push({ type: "MX", name, value: `10 mx.${domain}` });
    }
    records.push({ type: "A", name: `mx.${domain}`, value: address });
  }
  const root = await rootOf(packages, "dnsmasq");
  await startDnsmasq({ root, home: join(folder, "dns"), port: ports.dns, records });
  const missing = await prepared.verify(SENDER_DOMAIN, ports.dns);
  if (missing.length > 0) throw new Error(missing.join("; "));
  const tls = makeCertificate([HOSTNAME]);
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(cert, tls.cert);
  writeFileSync(key, tls.key);
  const sender = await prepared.start(ports, [
    `--inbound=127.0.0.1:${ports.inbound}`,
    `--submission=127.0.0.1:${ports.submission}`,
    `--smtp-tls-cert=${cert}`,
    `--smtp-tls-key=${key}`,
  ]);
  return { sender, secretKey: prepared.secretKey };
}

function table(results: readonly { server: string; case: Case; result: CaseResult }[]): boolean {
  const rows = results.map(({ server, case: { name }, result }) => [
    result.faults.length === 0 ? "ok" : "not ok",
    server,
    name,
    result.status,
    result.reports,
    result.event,
    result.suppression,
  ]);
  const head = ["", "server", "case", "status", "report", "event", "suppression"];
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  for (const row of [head, ...rows]) {
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
  for (const {
    server,
    case: { name },
    result,
  } of results) {
    for (const fault of result.faults) console.log(`not ok ${server}, ${name}: ${fault}`);
  }
  return results.every(({ result }) => result.faults.length === 0);
}

async function main(folder: string, packages: string): Promise<boolean> {
  if (process.getuid?.() !== 0) throw new Error("mail servers can only be started by root");
  const ports: Ports = {
    http: freePort(),
    dns: freePort(),
    smtp: freePort(),
    inbound: freePort(),
    submission: freePort(),
    backend: freePort(),
  };
  await startBackend(BACKEND_ADDRESS, ports.backend);
  const { sender, secretKey } = await startSender(folder, ports, packages);
  const pairs = await startPairs(folder, packages, { ports, secretKey });
  const runs = pairs.flatMap(({ name, domain, bouncing }) =>
    CASES.filter(({ only }) => only === undefined || only === name).map(async (each) => ({
      server: name,
      case: each,
      result: await runCase(each, { sender, domain, bouncing, inboundPort: ports.inbound }),
    })),
  );
  const areBounced = table(await Promise.all(runs));
  const areSubmitted = await checkSubmission(sender, pairs, ports.smtp);
  return areBounced && areSubmitted;
}

/** Each client submits a mail to the domain of the other program's server, which receives it. */
async function checkSubmission(
  sender: RunningSender,
  pairs: readonly Pair[],
  port: number,
): Promise<boolean> {
  let isRight = true;
  for (const { name, client } of pairs) {
    for (const { domain, bouncing } of pairs) {
      const faults = await submitAndFind({ sender, client, port, domain, target: bouncing });
      const mark = faults.length === 0 ? "ok" : "not ok";
      console.log(`${mark} ${name} submits with AUTH and STARTTLS, a mail for ${domain}`);
      for (const fault of faults) console.log(`     ${fault}`);
      isRight &&= faults.length === 0;
    }
  }
  return isRight;
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

const words = Bun.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "mailstead-interop-"));
// The mail servers read this folder as other users.
chmodSync(folder, 0o755);
const given = words.find((word) => word.startsWith("--packages="))?.slice("--packages=".length);
const watchdog = setTimeout(() => {
  console.log(`not ok: the checks did not finish within ${LIMIT_MS / 1000} s`);
  killServers();
  process.exit(1);
}, LIMIT_MS);
let isRight = false;
try {
  isRight = await main(folder, given ?? join(folder, "packages"));
} catch (error) {
  console.log(`not ok ${error instanceof Error ? error.message : String(error)}`);
} finally {
  clearTimeout(watchdog);
  killServers();
  if (words.includes("--keep")) console.log(`the files are in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
process.exit(isRight ? 0 : 1);
