/**
 * Sends a campaign to thousands of contacts and delivers it directly to Postfix, which dnsmasq names
 * as the MX host of their domains. Then it checks that each recipient has one message in the maildir
 * and that the statistics of the campaign agree.
 *
 * `bun scripts/interop-campaign.ts [--contacts 10000] [--pipelining on|off]`
 *
 * It starts and fetches programs as scripts/interop.ts does. The exit code is 1 if anything differs.
 */

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Type } from "@sinclair/typebox";
import { createApi } from "./bench/api.ts";
import { freePort, startServer as startMailstead } from "./bench/children.ts";
import { BODY, SENDER, SENDER_DOMAIN } from "./bench/mail.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
import { addSender, openReader } from "./bench/store.ts";
import { choiceOf } from "./crash/options.ts";
import { findPackage } from "./interop/packages.ts";
import { startPostfix } from "./interop/postfix.ts";
import { killServers } from "./interop/server.ts";
import { startDnsmasq } from "./interop/zone.ts";
import { seed } from "./seed.ts";
import { DOMAINS } from "./seed/contacts.ts";

const MX_HOST = "mx.postfix.test";
const ADDRESS = "127.0.0.2";
const HOSTNAME = "mail.sender.example";
const LIMIT_MS = 8 * 60_000;

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Shown = Type.Object({ data: Type.Object({ status: Type.String() }) });
const Stats = Type.Object({
  data: Type.Object({
    totalRecipients: Type.Integer(),
    queued: Type.Integer(),
    sent: Type.Integer(),
    delivered: Type.Integer(),
    bounced: Type.Integer(),
    failed: Type.Integer(),
    deliveryRate: Type.Number(),
  }),
});

async function main(folder: string, contacts: number, pipelining: boolean): Promise<boolean> {
  const dnsmasq = await findPackage(join(folder, "p"), ["dnsmasq-base"], "/usr/sbin/dnsmasq");
  const postfix = await findPackage(join(folder, "p"), ["postfix"], "/usr/lib/postfix/sbin/master");
  if (!dnsmasq.ok || !postfix.ok || process.getuid?.() !== 0) {
    console.log("skipped: this needs dnsmasq, Postfix and root");
    return true;
  }
  const [dns, smtp] = [freePort(), freePort()];
  const home = join(folder, "postfix");
  mkdirSync(home);
  const server = await startPostfix({
    root: postfix.root,
    home,
    address: ADDRESS,
    port: smtp,
    domains: DOMAINS,
    pipelining,
  });
  // One MX host serves all domains, as at a hosted mail service.
  const records = [
    { type: "A" as const, name: MX_HOST, value: ADDRESS },
    ...DOMAINS.map((name) => ({ type: "MX" as const, name, value: `10 ${MX_HOST}` })),
  ];
  await startDnsmasq({ root: dnsmasq.root, home: join(folder, "dns"), port: dns, records });

  const data = join(folder, "data");
  const key = await seed(data, { contacts, events: 0, segments: 0 });
  await addSender(data, SENDER_DOMAIN);
  const mailstead = await startMailstead({
    binary: null,
    data,
    args: [
      "--transport=direct",
      `--hostname=${HOSTNAME}`,
      "--allow-private-addresses=true",
      `--dns=127.0.0.1:${dns}`,
      `--direct-port=${smtp}`,
      "--send-rate=0",
      "--api-rate=0",
    ],
  });
  const api = createApi(mailstead, key);
  const content = { name: "All", subject: "News for {{ name }}", body: BODY, from: SENDER };
  const created = await api.read(Created, "POST", "/campaigns", {
    ...content,
    audienceType: "ALL",
  });
  const campaign = `/campaigns/${created.data.id}`;
  const startedAt = performance.now();
  await api.send("POST", `${campaign}/send`);
  const deadline = startedAt + LIMIT_MS;
  let status = "";
  let reported = 0;
  while (status !== "SENT" && performance.now() < deadline) {
    await Bun.sleep(1000);
    status = (await api.read(Shown, "GET", campaign)).data.status;
    const { data: now } = await api.read(Stats, "GET", `${campaign}/stats`);
    if (now.sent > reported * 1.5) {
      reported = now.sent;
      printValue("so far", `${whole(now.sent)} of ${whole(now.totalRecipients)} sent`);
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const { data: stats } = await api.read(Stats, "GET", `${campaign}/stats`);
  await mailstead.stop();
  await waitUntilStable(() => server.received().length);

  const reader = openReader(data);
  const [slowest = 0] = reader.numbers("SELECT max(duration_ms) AS n FROM attempts");
  const deferred = reader.count("attempts WHERE outcome = 'deferred'");
  printValue("deferred attempts, slowest attempt", `${whole(deferred)}, ${whole(slowest)} ms`);
  const audience = reader.texts("SELECT email AS text FROM contacts WHERE is_subscribed");
  reader.close();
  const arrived = server.received().map(recipientOf);
  await server.stop();
  const distinct = new Set(arrived);
  const missing = audience.filter((address) => !distinct.has(address));
  printValue("audience", `${whole(audience.length)} of ${whole(contacts)} contacts are subscribed`);
  printValue("sent", `in ${Math.round(seconds)} s, ${whole(stats.sent / seconds)}/s`);
  const counts = [stats.totalRecipients, stats.sent, stats.delivered, arrived.length];
  return reportAims([
    {
      name: "recipients, sent, delivered, at Postfix",
      isMet: counts.every((n) => n === audience.length),
      measured: counts.map(whole).join(", "),
      wanted: `${whole(audience.length)} each`,
    },
    {
      name: "distinct recipients",
      isMet: distinct.size === arrived.length,
      measured: whole(distinct.size),
      wanted: whole(arrived.length),
    },
    {
      name: "recipients without a mail",
      isMet: missing.length === 0,
      measured: whole(missing.length),
      wanted: "0",
    },
    {
      name: "queued, bounced, failed",
      isMet: stats.queued + stats.bounced + stats.failed === 0 && status === "SENT",
      measured: `${stats.queued}, ${stats.bounced}, ${stats.failed}; ${status}`,
      wanted: "0, 0, 0; SENT",
    },
  ]);
}

/** Returns the recipient that Postfix delivered the message to. */
function recipientOf(message: Buffer): string {
  return /^Delivered-To: (\S+)/im.exec(message.toString("latin1"))?.[1]?.toLowerCase() ?? "";
}

/** Waits until the count stops changing: Postfix delivers mail some time after it accepts it. */
async function waitUntilStable(count: () => number): Promise<void> {
  for (let before = -1, now = count(); now !== before; now = count()) {
    before = now;
    await Bun.sleep(2000);
  }
}

const { values } = parseArgs({
  options: {
    contacts: { type: "string", default: "10000" },
    pipelining: { type: "string", default: "on" },
  },
});
const pipelining = choiceOf("pipelining", values.pipelining, ["on", "off"]);
const folder = mkdtempSync(join(tmpdir(), "mailstead-interop-"));
// Postfix reads this folder as another user.
chmodSync(folder, 0o755);
let isMet = false;
try {
  console.log(
    `campaign to ${whole(Number(values.contacts))} contacts through Postfix, PIPELINING ${pipelining}`,
  );
  isMet = await main(folder, Number(values.contacts), pipelining === "on");
} finally {
  killServers();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);
