/**
 * Delivers mail to real mail servers, found with a real name server, and reads it with other tools.
 *
 * `bun scripts/interop.ts [--keep]`
 *
 * Postfix and Exim listen on loopback addresses, each once with PIPELINING and once without; dnsmasq
 * serves their MX records and the DKIM keys of
 * the sender domains, and the server delivers with --transport direct. Then Python's standard library
 * reads each message in the maildirs, which is compared octet for octet with what was sent; dkimpy
 * and opendkim verify both signatures. Missing programs are fetched with apt-get into a temporary
 * folder, which --keep does not remove; checks whose program is not available are reported as
 * skipped. The exit code is 1 if a message differs from what was sent.
 */

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startExim } from "./interop/exim.ts";
import {
  BATCH_MAIL,
  type InteropMail,
  MAILS,
  PLAIN_MAIL,
  SENDER_DOMAINS,
  UTF8_MAIL,
} from "./interop/mails.ts";
import { DKIMPY, findPackage } from "./interop/packages.ts";
import { startPostfix } from "./interop/postfix.ts";
import { differences, type ReadMessage, readMessages, runOpendkim } from "./interop/read.ts";
import { prepareSender, type RunningSender } from "./interop/sender.ts";
import { killServers, type MailServer } from "./interop/server.ts";
import { startDnsmasq, type ZoneRecord } from "./interop/zone.ts";

const TOTAL_LIMIT_MS = 600_000;
const DELIVERY_LIMIT_MS = 60_000;
const BATCH_MAILS = 100;
const HOSTNAME = "mail.sender.example";
/** The A-label form of grüße.test. */
const IDN_DOMAIN = "xn--gre-6ka8l.test";

const report = { passed: 0, failed: 0, skipped: 0 };

function reportCheck(name: string, faults: readonly string[]): void {
  if (faults.length === 0) report.passed++;
  else report.failed++;
  console.log(`${faults.length === 0 ? "ok" : "not ok"} ${name}`);
  for (const fault of faults) console.log(`     ${fault}`);
}

function reportSkipped(name: string, reason: string): void {
  report.skipped++;
  console.log(`skip ${name}: ${reason}`);
}

/** Returns the folder with the files of a tool; reports it as skipped and returns null if missing. */
async function findTool(
  folder: string,
  tool: { name: string; packages: readonly string[]; probe: string },
): Promise<string | null> {
  const found = await findPackage(join(folder, "packages"), tool.packages, tool.probe);
  if (found.ok) return found.root;
  reportSkipped(tool.name, found.reason);
  return null;
}

const DNSMASQ = { name: "dnsmasq", packages: ["dnsmasq-base"], probe: "/usr/sbin/dnsmasq" };
const POSTFIX = { name: "Postfix", packages: ["postfix"], probe: "/usr/lib/postfix/sbin/master" };
const EXIM = { name: "Exim", packages: ["exim4-daemon-light"], probe: "/usr/sbin/exim4" };
const OPENDKIM = { name: "opendkim", packages: ["opendkim"], probe: "/usr/sbin/opendkim" };

type ServerTarget = { server: MailServer; domains: readonly string[]; pipelining: boolean };

async function startTargets(folder: string, port: number): Promise<ServerTarget[]> {
  const kinds = [
    {
      tool: POSTFIX,
      start: startPostfix,
      addresses: ["127.0.0.2", "127.0.0.4"],
      domains: [["postfix.test", IDN_DOMAIN], ["postfix-plain.test"]],
    },
    {
      tool: EXIM,
      start: startExim,
      addresses: ["127.0.0.3", "127.0.0.5"],
      domains: [["exim.test"], ["exim-plain.test"]],
    },
  ];
  const targets: ServerTarget[] = [];
  for (const { tool, start, addresses, domains: domainLists } of kinds) {
    const root = await findTool(folder, tool);
    if (root === null) continue;
    for (const [i, address] of addresses.entries()) {
      const pipelining = i === 0;
      const home = join(folder, `${tool.name}-${i}`);
      mkdirSync(home);
      const domains = domainLists[i] ?? [];
      const started = await start({ root, home, address, port, domains, pipelining });
      const name = pipelining ? started.name : `${started.name} without PIPELINING`;
      targets.push({ server: { ...started, name }, domains, pipelining });
    }
  }
  return targets;
}

function mxRecords(targets: readonly ServerTarget[]): ZoneRecord[] {
  return targets.flatMap(({ server, domains }) =>
    domains.flatMap((domain): ZoneRecord[] => [
      { type: "MX", name: domain, value: `10 mx.${domain}` },
      { type: "A", name: `mx.${domain}`, value: server.address },
    ]),
  );
}

type Sent = { mail: InteropMail; domain: string; id: string };

async function sendAll(sender: RunningSender, { domains }: ServerTarget): Promise<Sent[]> {
  const [first = "", ...others] = domains;
  const mails = [
    ...[...MAILS, UTF8_MAIL].map((mail) => ({ mail, domain: first })),
    ...others.map((domain) => ({ mail: { ...PLAIN_MAIL, name: `to ${domain}` }, domain })),
  ];
  const sent: Sent[] = [];
  for (const { mail, domain } of mails) {
    sent.push({ mail, domain, id: await sender.send(mail, domain) });
  }
  return sent;
}

/** Waits until the server has received `count` messages or the time is over; writes them to files. */
async function collect({ server }: ServerTarget, count: number, folder: string): Promise<string[]> {
  const deadline = performance.now() + DELIVERY_LIMIT_MS;
  while (server.received().length < count && performance.now() < deadline) await Bun.sleep(200);
  return server.received().map((message, i) => {
    const file = join(folder, `${server.name.replaceAll(" ", "-")}-${i}.eml`);
    writeFileSync(file, message);
    return file;
  });
}

async function main(folder: string): Promise<void> {
  if (process.getuid?.() !== 0)
    return reportSkipped("all checks", "mail servers can only be started by root");
  const dnsmasq = await findTool(folder, DNSMASQ);
  const dkimpy = await findTool(folder, DKIMPY);
  const opendkim = await findTool(folder, OPENDKIM);
  if (dnsmasq === null || dkimpy === null) return;
  const [http, dnsPort, smtp] = [freePort(), freePort(), freePort()];
  const targets = await startTargets(folder, smtp);

  const prepared = await prepareSender({ home: join(folder, "data"), hostname: HOSTNAME });
  const records: ZoneRecord[] = [{ type: "A", name: HOSTNAME, value: "127.0.0.1" }];
  for (const domain of SENDER_DOMAINS) records.push(...(await prepared.addDomain(domain)));
  const zone = [...records, ...mxRecords(targets)];
  await startDnsmasq({ root: dnsmasq, home: join(folder, "dns"), port: dnsPort, records: zone });
  for (const domain of SENDER_DOMAINS) {
    reportCheck(
      `${domain} is verified with the records that dnsmasq serves`,
      await prepared.verify(domain, dnsPort),
    );
  }

  const sender = await prepared.start({ http, dns: dnsPort, smtp });
  for (const target of targets) {
    const { name } = target.server;
    const sent = await sendAll(sender, target);
    const [batchDomain = ""] = target.domains;
    const batch = await sender.sendBatch(BATCH_MAIL, batchDomain, BATCH_MAILS);
    const files = await collect(target, sent.length + batch.length, folder);
    const read = await readMessages({ root: dkimpy, dnsPort, files });
    reportCheck(
      `${name}: ${BATCH_MAILS} mails at once`,
      await faultsOfBatch(sender, { ids: batch, read, pipelining: target.pipelining }),
    );
    for (const { mail, domain, id } of sent) {
      const state = await sender.state(id);
      const found = read.filter((message) => message.case === mail.name);
      const [message] = found;
      const faults =
        message === undefined || found.length > 1
          ? [`arrived ${found.length} times; status ${state.status} ${state.lastError ?? ""}`]
          : differences({ mail, domain, state }, message);
      reportCheck(`${name}: ${mail.name}`, faults);
    }
    if (opendkim !== null)
      await verifyWithOpendkim(name, { root: opendkim, home: folder, records, files });
    const forged = forge(files[0] ?? "", folder);
    const [message] = await readMessages({ root: dkimpy, dnsPort, files: [forged] });
    const verdicts = Object.values(message?.dkim ?? {});
    // This shows that the tools reject a wrong signature.
    const isRejected = verdicts.length === 2 && !verdicts.includes("pass");
    reportCheck(`${name}: a modified message does not verify`, isRejected ? [] : verdicts);
  }
  await sender.stop();
  for (const { server } of targets) await server.stop();
}

/** Each mail of the batch has arrived once, at its first attempt, and is DELIVERED. */
async function faultsOfBatch(
  sender: RunningSender,
  batch: { ids: readonly string[]; read: readonly ReadMessage[]; pipelining: boolean },
): Promise<string[]> {
  const arrived = batch.read.filter((message) => message.case === BATCH_MAIL.name);
  const recipients = new Set(arrived.flatMap(({ to }) => to.map(([, address]) => address)));
  const faults: string[] = [];
  if (arrived.length !== batch.ids.length || recipients.size !== batch.ids.length) {
    faults.push(`${arrived.length} messages arrived for ${recipients.size} recipients`);
  }
  const isVerified = ({ dkim }: ReadMessage) => Object.values(dkim).join() === "pass,pass";
  const unverified = arrived.filter((message) => !isVerified(message)).length;
  if (unverified > 0) faults.push(`${unverified} messages do not verify`);
  const offers: boolean[] = [];
  for (const id of batch.ids) {
    const { status, lastError, attempts, pipelining } = await sender.state(id);
    offers.push(...pipelining);
    if (status === "DELIVERED" && attempts === 1) continue;
    faults.push(`${status} after ${attempts} attempts: ${lastError ?? ""}`);
  }
  if (offers.length === 0 || offers.some((offer) => offer !== batch.pipelining)) {
    faults.push(`PIPELINING is offered in ${offers.filter(Boolean).length} of ${offers.length}`);
  }
  return faults;
}

/** A copy of a message with another recipient in its header. */
function forge(file: string, folder: string): string {
  const forged = join(folder, "forged.eml");
  writeFileSync(
    forged,
    readFileSync(file)
      .toString("latin1")
      .replace(/^To: .*$/m, "To: e@e.test"),
  );
  return forged;
}

async function verifyWithOpendkim(
  name: string,
  options: Parameters<typeof runOpendkim>[0],
): Promise<void> {
  const verdicts = await runOpendkim(options);
  const faults = [...verdicts].flatMap(([file, found]) =>
    found.includes("rsa-sha256 pass") && !found.some((verdict) => verdict.endsWith("fail"))
      ? []
      : [`${file}: ${found.join(", ")}`],
  );
  const passed = [...verdicts.values()].flat().filter((verdict) => verdict.endsWith("pass")).length;
  reportCheck(
    `${name}: opendkim verifies ${passed} signatures of ${verdicts.size} messages`,
    faults,
  );
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

const folder = mkdtempSync(join(tmpdir(), "mailstead-interop-"));
// The mail servers read this folder as other users.
chmodSync(folder, 0o755);
const watchdog = setTimeout(() => {
  console.log(`not ok: the checks did not finish within ${TOTAL_LIMIT_MS / 1000} s`);
  killServers();
  process.exit(1);
}, TOTAL_LIMIT_MS);
try {
  await main(folder);
} catch (error) {
  report.failed++;
  console.log(`not ok ${error instanceof Error ? error.message : String(error)}`);
} finally {
  clearTimeout(watchdog);
  killServers();
  if (Bun.argv.includes("--keep")) console.log(`the files are in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(`${report.passed} passed, ${report.failed} failed, ${report.skipped} skipped`);
process.exitCode = report.failed > 0 ? 1 : 0;
