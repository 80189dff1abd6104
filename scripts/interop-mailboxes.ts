/**
 * Fetches reports from Dovecot by IMAP and POP3, over TLS, while the server is killed again and again.
 *
 * `bun scripts/interop-mailboxes.ts [--packages=FOLDER]`
 *
 * For each protocol 150 bounces, 20 complaints, 10 mails of people and one of 30 MiB lie in a mailbox. The
 * server reads it and is killed (SIGKILL) three times. At the end each report has counted once, the mails of
 * people are untouched, and the reports are marked as seen or deleted. Dovecot is fetched as in interop.ts
 * if it is missing; then the script needs root. The exit code is 1 if a number is another one.
 */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { messageIdOf } from "../src/protocols/mime/message-id.ts";
import { standard } from "../test/protocols/dsn/corpus/build.ts";
import { makeCertificate } from "../test/support/tls.ts";
import {
  freePort,
  parse,
  removeFolder,
  type Server,
  startServer,
  temporaryFolder,
  twoFreePorts,
} from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import { openReader, prepareStore, waitUntilSent } from "./bench/store.ts";
import { type Dovecot, startDovecot } from "./interop/dovecot.ts";
import { findPackage } from "./interop/packages.ts";
import { killServers } from "./interop/server.ts";

const BOUNCES = 150;
const COMPLAINTS = 20;
const PEOPLE = 10;
const LARGE = 1;
const REPORTS = BOUNCES + COMPLAINTS;
const MAILS = 2 * REPORTS;
/** The server is killed when so many messages were read. */
const KILLED_AT = [10, 60, 130];
const LIMIT_MS = 30_000;
const LOGIN = { username: "bounces@sender.example", password: "a-secret" };

const Made = Type.Object({ data: Type.Object({ id: Type.String() }) });

type Reader = ReturnType<typeof openReader>;

const original = (id: string) =>
  ["text/rfc822-headers", [`Message-ID: ${messageIdOf(id, SENDER)}`]] as const;

const bounce = (id: string): string =>
  standard({ diagnostic: "smtp; 550 5.1.1 User unknown", returned: original(id) });

const complaint = (id: string): string =>
  standard({
    statusType: "message/feedback-report",
    general: ["Feedback-Type: abuse", "User-Agent: Feedback/1.0", "Version: 1"],
    groups: [],
    returned: original(id),
  }).replace("report-type=delivery-status", "report-type=feedback-report");

function fill(dovecot: Dovecot, ids: readonly string[]): void {
  for (const id of ids.slice(0, BOUNCES)) dovecot.deliver(bounce(id));
  for (const id of ids.slice(BOUNCES)) dovecot.deliver(complaint(id));
  for (let i = 0; i < PEOPLE; i++)
    dovecot.deliver(`From: a@b.example\nSubject: Lunch ${i}\n\nAt one?\n`);
  dovecot.deliver(`Subject: large\n\n${`${"x".repeat(998)}\n`.repeat(30 * 1_024)}`);
}

async function waitFor(reader: Reader, what: string, isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) {
      const failures = reader.texts("SELECT failure AS text FROM report_mailboxes").join(", ");
      throw new Error(`${what}: not within ${LIMIT_MS} ms; ${failures}`);
    }
    await Bun.sleep(2);
  }
}

type Start = () => Promise<Server>;

/** Kills the server at each of the numbers of messages that were read. Returns the running one. */
async function readWithCrashes(reader: Reader, server: Server, start: Start): Promise<Server> {
  const read = () =>
    reader.numbers("SELECT received AS n FROM report_mailboxes ORDER BY seq DESC")[0] ?? 0;
  let running = server;
  for (const count of KILLED_AT) {
    await waitFor(reader, `${count} messages`, () => read() >= count);
    await running.crash();
    running = await start();
  }
  const all = REPORTS + PEOPLE + LARGE;
  await waitFor(reader, "all messages", () => read() >= all);
  const isFetched = "report_mailboxes WHERE last_fetched_at IS NOT NULL AND failure IS NULL";
  const mailboxes = reader.count("report_mailboxes");
  await waitFor(reader, "the end of the mailbox", () => reader.count(isFetched) === mailboxes);
  return running;
}

type Protocol = "IMAP" | "POP3";

type Row = readonly [what: string, found: number | undefined, least: number, most?: number];

/** The numbers that differ from what they must be. */
function faultsOf(reader: Reader, dovecot: Dovecot, protocol: Protocol, ids: readonly string[]) {
  const inIds = `(${ids.map((id) => `'${id}'`).join(", ")})`;
  const mails = `emails WHERE id IN ${inIds}`;
  const events = (name: string) =>
    reader.count(`events WHERE name = '${name}' AND email_seq IN (SELECT seq FROM ${mails})`);
  const column = (name: string) =>
    reader.numbers(`SELECT ${name} AS n FROM report_mailboxes ORDER BY seq DESC LIMIT 1`)[0];
  const flags = dovecot.flags();
  const seen = flags.filter((each) => each.includes("S")).length;
  const found: readonly Row[] = [
    ["mails BOUNCED", reader.count(`${mails} AND status = 'BOUNCED'`), BOUNCES],
    ["mails COMPLAINED", reader.count(`${mails} AND status = 'COMPLAINED'`), COMPLAINTS],
    ["events email.bounced", events("email.bounced"), BOUNCES],
    ["events email.complained", events("email.complained"), COMPLAINTS],
    ["messages read", column("received"), REPORTS + PEOPLE + LARGE],
    ["messages counted", column("counted"), REPORTS],
    ["other mail", column("unknown"), PEOPLE + LARGE],
    [
      "messages left",
      flags.length,
      protocol === "IMAP" ? REPORTS + PEOPLE + LARGE : PEOPLE + LARGE,
    ],
    // A report whose server was killed between the commit and the mark keeps no mark.
    ...(protocol === "IMAP"
      ? ([["messages seen", seen, REPORTS - KILLED_AT.length, REPORTS]] as const)
      : []),
  ];
  for (const [what, number] of found) console.log(`       ${what}: ${number}`);
  return found.flatMap(([what, number = -1, least, most = least]) =>
    number >= least && number <= most ? [] : [`${what}: ${number} instead of ${least}`],
  );
}

async function main(folder: string, packages: string): Promise<boolean> {
  const names = ["dovecot-core", "dovecot-imapd", "dovecot-pop3d"];
  const program = await findPackage(packages, names, "/usr/sbin/dovecot");
  if (!program.ok) throw new Error(program.reason);
  const certificate = makeCertificate(["localhost"]);
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, certificate.ca);
  const data = temporaryFolder();
  const key = await prepareStore(data, MAILS);
  const port = freePort();
  const args = ["--transport", "capture", "--send-rate", "0", "--allow-private-addresses", "true"];
  const env = { NODE_EXTRA_CA_CERTS: ca };
  const start = () => startServer({ binary: null, data, port, args, env });
  const call = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await fetch(`http://127.0.0.1:${port}/report-mailboxes${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw new Error(await response.text());
  };
  let server = await start();
  const reader = openReader(data);
  await waitUntilSent(reader, MAILS, { limitMs: LIMIT_MS });
  const ids = reader.texts("SELECT id AS text FROM emails ORDER BY seq");
  let isRight = true;
  for (const protocol of ["IMAP", "POP3"] as const) {
    const part = protocol === "IMAP" ? ids.slice(0, REPORTS) : ids.slice(REPORTS);
    const [imap, pop3] = twoFreePorts();
    const { root } = program;
    const home = join(folder, protocol);
    const dovecot = await startDovecot({
      root,
      home,
      login: LOGIN,
      ports: { imap, pop3 },
      certificate,
    });
    fill(dovecot, part);
    const made = await call("POST", "", {
      ...LOGIN,
      protocol,
      host: "localhost",
      port: protocol === "IMAP" ? imap : pop3,
    });
    server = await readWithCrashes(reader, server, start);
    if (protocol === "POP3") {
      const left = PEOPLE + LARGE;
      await waitFor(reader, "the deletion", () => dovecot.flags().length <= left);
    }
    const faults = faultsOf(reader, dovecot, protocol, part);
    console.log(
      `${faults.length === 0 ? "ok    " : "not ok"} ${protocol}, killed ${KILLED_AT.length} times`,
    );
    for (const fault of faults) console.log(`       ${fault}`);
    isRight &&= faults.length === 0;
    await call("DELETE", `/${parse(Made, await made.json()).data.id}`);
    await dovecot.stop();
  }
  reader.close();
  await server.stop();
  removeFolder(data);
  return isRight;
}

// Dovecot reads the files of its mailbox as another user.
const folder = mkdtempSync(join(tmpdir(), "mailstead-mailboxes-"));
chmodSync(folder, 0o755);
const given = Bun.argv.find((word) => word.startsWith("--packages="))?.slice("--packages=".length);
try {
  process.exitCode = (await main(folder, given ?? join(folder, "packages"))) ? 0 : 1;
} finally {
  killServers();
  rmSync(folder, { recursive: true, force: true });
}
