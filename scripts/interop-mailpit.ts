/**
 * Compares Mailpit's interface of this program with Mailpit itself.
 *
 * `bun scripts/interop-mailpit.ts --mailpit=PATH`
 *
 * 1. Both servers get the same mails over SMTP (interop/mailpit-mails.ts).
 * 2. Both get the same requests, first those that read, then those that change something. Every
 *    member of both answers must be equal, except ids, times and sizes.
 * 3. The differences are printed. Those that are intended are in DEVIATIONS with their reasons; the
 *    exit code is 1 if there is another one.
 */

import { createTransport } from "nodemailer";
import { startMailstead } from "../test/support/cli.ts";
import { stringAt, listAt, valueAt } from "../test/support/json.ts";
import { startMailpitServer } from "./bench/capture-targets.ts";
import {
  type Answer,
  type Difference,
  differences,
  request,
  type Server,
} from "./interop/mailpit-compare.ts";
import { MAILS } from "./interop/mailpit-mails.ts";

const ARRIVAL_LIMIT_MS = 10_000;

/** A request; `{1}` is the id of the first mail in its path and body. */
type Call = readonly [method: string, path: string, body?: unknown];
type Deviation = { path: RegExp; reason: string };

/** Intended differences: the request with the member, as the difference is printed. */
const DEVIATIONS: readonly Deviation[] = [
  { path: / content-type$/, reason: "the content type names the character set" },
  { path: /\.(?:To|Cc|Bcc|ReplyTo|Links)$/, reason: "an empty list is [] and not null" },
  {
    path: /\.Read$/,
    reason: "a client for Python requires the member that Mailpit left out later",
  },
  { path: /(?:\.Text|\.HTML|\.(?:html|txt)  )$/, reason: "lines of texts end with LF" },
  { path: /\.Snippet$/, reason: "the snippet is that of the text part" },
  { path: /html-check/, reason: "the data about mail programs are of another day" },
  { path: /\/headers {2}\.Received/, reason: "Received has another form" },
  { path: /\/headers {2}\.(?:Bcc|Message-Id)/, reason: "the header section stays as it was sent" },
  { path: /sa-check|\/unknown {2}$/, reason: "every unknown path has the same text" },
  { path: /\/(?:send|release) .* (?:\.Error)?$/, reason: "a refusal has other words" },
  { path: /\/chaos/, reason: "chaos needs no flag" },
  { path: /\/(?:livez|readyz)/, reason: "the state of the process has a body" },
  { path: /query=invoice%20logo/, reason: "the alternative texts of images are searched" },
  { path: /query=shop%20from%3Aplain/, reason: "the envelope's sender is not searched" },
  { path: /\/message\/\{7\} {2}\.Date/, reason: "without Date, the time of arrival counts" },
];

const QUERIES = [
  "subject:order",
  'subject:"Order 1"',
  "Order 1",
  '"Order 1"',
  "-subject:order",
  "!subject:order",
  "from:shop",
  "from:shop@shop.example",
  "to:ada",
  "to:ada@example.com",
  "cc:grace",
  "bcc:hidden",
  "addressed:grace",
  "addressed:hidden@example.com",
  "reply-to:help",
  "message-id:mail-3",
  "tag:signup",
  "is:tagged",
  "is:read",
  "is:unread",
  "-is:read",
  "has:attachment",
  "has:inline",
  "has:attachments",
  "larger:1k",
  "smaller:1K",
  "after:2026-01-01",
  "before:2026-01-01",
  "list-unsubscribe:x",
  "invoice logo",
  "Grüße",
  "grüße köln",
  "日本語",
  "nothing-like-this",
  "subject:grüße to:ada",
  "shop from:plain",
];

const ALL = MAILS.map((_, i) => i + 1);

const READS: readonly Call[] = [
  ["GET", "/api/v1/messages"],
  ["GET", "/api/v1/messages?limit=2&start=1"],
  ["GET", "/api/v1/messages?limit=0"],
  ["GET", "/api/v1/messages?start=100"],
  ["GET", "/api/v1/search"],
  ...QUERIES.map((query): Call => ["GET", `/api/v1/search?query=${encodeURIComponent(query)}`]),
  ["GET", "/api/v1/tags"],
  ["GET", "/api/v1/message/latest"],
  ...ALL.flatMap((n): Call[] => [
    ["GET", `/api/v1/message/{${n}}`],
    ["GET", `/api/v1/message/{${n}}/headers`],
    ["GET", `/api/v1/message/{${n}}/html-check`],
    ["GET", `/view/{${n}}.html`],
    ["GET", `/view/{${n}}.txt`],
    ["GET", `/api/v1/message/{${n}}/part/1`],
    ["GET", `/api/v1/message/{${n}}/part/2`],
    ["GET", `/api/v1/message/{${n}}/part/1.2`],
  ]),
  ["GET", "/api/v1/message/{3}/part/9"],
  ["GET", "/api/v1/message/unknown"],
  ["GET", "/api/v1/message/unknown/headers"],
  ["GET", "/api/v1/message/unknown/raw"],
  ["GET", "/api/v1/message/{1}/sa-check"],
  ["GET", "/api/v1/unknown"],
  ["GET", "/api/v1/chaos"],
  ["GET", "/livez"],
  ["GET", "/readyz"],
];

const LIST: Call = ["GET", "/api/v1/messages"];

/** Changes; the list follows each, so that its effect is compared too. */
const CHANGES: readonly Call[] = [
  ["PUT", "/api/v1/messages", { IDs: ["{1}", "{2}"], Read: false }],
  ["PUT", "/api/v1/messages", { Search: "subject:order", Read: true }],
  ["PUT", "/api/v1/messages", { IDs: ["{1}"], Search: "x", Read: true }],
  ["PUT", "/api/v1/messages", { Read: true }],
  ["PUT", "/api/v1/tags", { IDs: ["{2}", "{3}"], Tags: ["Paid", "march 2026"] }],
  ["PUT", "/api/v1/tags", { IDs: ["{3}"], Tags: [] }],
  ["PUT", "/api/v1/tags", { IDs: ["{3}"], Tags: ["bad/tag"] }],
  ["PUT", "/api/v1/tags/Paid", { Name: "Settled" }],
  ["DELETE", "/api/v1/tags/Settled"],
  ["DELETE", "/api/v1/tags/unknown"],
  ["PUT", "/api/v1/chaos", {}],
  [
    "POST",
    "/api/v1/send",
    {
      From: { Email: "a@shop.example", Name: "A" },
      To: [{ Email: "b@example.com", Name: "B" }],
      Subject: "Sent over HTTP",
      Text: "Hello",
      HTML: "<b>Hello</b>",
      Tags: ["api"],
      Headers: { "X-Order": "1" },
    },
  ],
  ["POST", "/api/v1/send", { Subject: "No sender" }],
  ["POST", "/api/v1/message/{1}/release", { To: ["x@example.com"] }],
  ["DELETE", "/api/v1/messages", { IDs: ["{5}"] }],
  ["DELETE", "/api/v1/search?query=subject%3Aorder"],
  ["DELETE", "/api/v1/search"],
  ["DELETE", "/api/v1/messages"],
];

type Program = Server & { stop: () => Promise<void>; ids: string[] };

async function startMailpit(binary: string): Promise<Program> {
  return { name: "Mailpit", ids: [], ...(await startMailpitServer(binary)) };
}

async function startOwn(): Promise<Program> {
  const ports = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];
  const server = await startMailstead(["dev", "--json", "--data", "temporary", ...ports], (text) =>
    text.endsWith("}\n"),
  );
  const info: unknown = JSON.parse(server.greeting);
  const smtpPort = Number(new URL(`smtp://${stringAt(info, "smtp")}`).port);
  const stop = async () => void (await server.stop());
  return { name: "Mailstead", url: stringAt(info, "url"), smtpPort, stop, ids: [] };
}

/** Sends the mails one after the other, and learns their ids. */
async function fill(server: Program): Promise<void> {
  const transport = createTransport({ host: "127.0.0.1", port: server.smtpPort, ignoreTLS: true });
  for (const [i, { from, to, raw }] of MAILS.entries()) {
    await transport.sendMail({ envelope: { from, to: [...to] }, raw });
    server.ids.push(await newestId(server, i + 1));
  }
  transport.close();
}

async function newestId(server: Server, total: number): Promise<string> {
  const deadline = performance.now() + ARRIVAL_LIMIT_MS;
  while (performance.now() < deadline) {
    const { body } = await request(server, "GET", "/api/v1/messages?limit=1");
    if (valueAt(body, "total") === total) return stringAt(listAt(body, "messages")[0], "ID");
  }
  throw new Error(`${server.name} has fewer than ${total} messages`);
}

/** Replaces `{n}` by the id of a mail. */
function withIds<T>({ ids }: Program, value: T): T {
  if (value === undefined) return value;
  const text = JSON.stringify(value).replaceAll(
    /\{(\d)\}/g,
    (_, n: string) => ids[Number(n) - 1] ?? "",
  );
  const filled: T = JSON.parse(text);
  return filled;
}

/** The answer with the ids of this server as `{n}`. */
async function answerOf(server: Program, [method, path, body]: Call): Promise<Answer> {
  const answer = await request(server, method, withIds(server, path), withIds(server, body));
  let text = JSON.stringify(answer.body ?? null);
  server.ids.forEach((id, i) => (text = text.replaceAll(id, `{${i + 1}}`)));
  const filled: unknown = JSON.parse(text);
  return { ...answer, body: filled };
}

async function compareCall(mailpit: Program, own: Program, call: Call): Promise<number> {
  const [expected, actual] = [await answerOf(mailpit, call), await answerOf(own, call)];
  let unexpected = 0;
  for (const difference of differences(expected, actual)) {
    const line = `${call[0]} ${call[1]} ${JSON.stringify(call[2]) ?? ""} ${difference.path}`;
    const deviation = DEVIATIONS.find(({ path }) => path.test(line));
    if (deviation === undefined) unexpected++;
    console.log(`${deviation?.reason ?? "DIFFERENT"}: ${line}: ${describe(difference)}`);
  }
  return unexpected;
}

function describe({ expected, actual }: Difference): string {
  const short = (value: unknown) => (JSON.stringify(value) ?? "absent").slice(0, 160);
  return `Mailpit ${short(expected)}, Mailstead ${short(actual)}`;
}

async function main(): Promise<number> {
  const path = process.argv[2]?.startsWith("--mailpit=") ? process.argv[2].slice(10) : null;
  if (path === null) throw new Error("usage: bun scripts/interop-mailpit.ts --mailpit=PATH");
  const [mailpit, own] = [await startMailpit(path), await startOwn()];
  try {
    for (const server of [mailpit, own]) await fill(server);
    let unexpected = 0;
    for (const call of READS) unexpected += await compareCall(mailpit, own, call);
    for (const call of CHANGES) {
      unexpected += await compareCall(mailpit, own, call);
      unexpected += await compareCall(mailpit, own, LIST);
    }
    const requests = READS.length + 2 * CHANGES.length;
    console.log(`${requests} requests, ${unexpected} unintended differences`);
    return unexpected === 0 ? 0 : 1;
  } finally {
    await Promise.all([mailpit.stop(), own.stop()]);
  }
}

process.exit(await main());
