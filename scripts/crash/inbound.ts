/**
 * Sends mail to an inbound route without pause while the server is killed and restarted. A message
 * without an answer is sent again, as every mail server does. Afterwards each message that was
 * answered with 250 was received with the bytes that were sent, has one event, and was forwarded
 * once. SMTP has no idempotency: a message whose answer got lost may have been received twice.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { parse, type Server, twoFreePorts } from "../bench/children.ts";
import { SENDER_DOMAIN } from "../bench/mail.ts";
import { connectSmtp, RefusedError, type SmtpClient } from "../bench/smtp-client.ts";
import { createGenerator } from "./loop.ts";

const MIN_UPTIME_MS = 20;
const MAX_UPTIME_MS = 400;
const ANSWER_LIMIT_MS = 5_000;
const PAGE = 100;
const ADDRESS = `in@in.${SENDER_DOMAIN}`;

type InboundCrashOptions = {
  kills: number;
  seed: number;
  /** The data folder, with a project and a verified domain. */
  data: string;
  /** Secret key of the project. */
  key: string;
  connections: number;
  /** Starts the server with these arguments. Resolves once it is ready. */
  launch: (at: { port: number; args: string[] }) => Promise<Server>;
  /** Receives the number of the kill, from 0, and the number of messages answered with 250. */
  onKill?: (kill: number, accepted: number) => void;
};

type InboundReport = {
  /** Messages that were answered with 250. */
  accepted: number;
  /** Messages that were sent again because they had no answer. */
  repeated: number;
  /** Messages that were answered with 250 and were not received. */
  lost: number;
  /** Received messages beyond one for each message and each repetition. */
  duplicates: number;
  /** Received messages with other bytes. */
  damaged: number;
  /** Received messages that have not one event and one forwarded mail. */
  incomplete: number;
};

const Page = Type.Object({
  data: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        subject: Type.String(),
        forwarded: Type.Array(Type.String()),
      }),
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  }),
});
type Received = { id: string; subject: string; forwarded: string[] };

/** Adds the route directly, because there is no DNS here that names its MX record. */
function addRoute(data: string): void {
  const database = new Database(join(data, "mailstead.db"));
  database.run(
    `INSERT INTO inbound_routes (id, project_seq, address, domain, forward_to, created_at)
     SELECT 'crash', seq, ?, ?, 'team@example.net', 0 FROM projects LIMIT 1`,
    [ADDRESS, `in.${SENDER_DOMAIN}`],
  );
  database.close();
}

export async function runInboundCrashLoop(options: InboundCrashOptions): Promise<InboundReport> {
  addRoute(options.data);
  const [port, smtpPort] = twoFreePorts();
  const limits = ["--transport", "capture", "--send-rate", "0", "--api-rate", "0"];
  const at = { port, args: ["--inbound", `127.0.0.1:${smtpPort}`, ...limits] };
  const random = createGenerator(options.seed);
  const accepted = new Set<number>();
  const unanswered: number[] = [];
  let repeated = 0;
  let next = 0;

  async function sendUntilDead(isDead: () => boolean): Promise<void> {
    const client = await connectSmtp(smtpPort).catch(() => null);
    if (client === null) return;
    while (!isDead()) {
      const again = unanswered.shift();
      if (again !== undefined) repeated++;
      const number = again ?? next++;
      if (!(await sendOne(client, number))) return void unanswered.push(number);
      accepted.add(number);
    }
    client.close();
  }

  for (let kill = 0; kill < options.kills; kill++) {
    const server = await options.launch(at);
    let isDead = false;
    const senders = Array.from({ length: options.connections }, () => sendUntilDead(() => isDead));
    const before = accepted.size;
    await Bun.sleep(MIN_UPTIME_MS + random() * (MAX_UPTIME_MS - MIN_UPTIME_MS));
    // On a busy machine the first answer may take longer; a kill before it would prove nothing.
    const deadline = performance.now() + ANSWER_LIMIT_MS;
    while (accepted.size === before && performance.now() < deadline) await Bun.sleep(1);
    await server.crash();
    isDead = true;
    await Promise.all(senders);
    options.onKill?.(kill, accepted.size);
  }
  const server = await options.launch(at);
  const client = { url: `http://127.0.0.1:${port}`, key: options.key };
  const received = await listAll(client);
  const damaged = await countDamaged(client, received);
  await server.stop();
  const incomplete = countIncomplete(options.data);
  return { ...compare(accepted, received, repeated), repeated, damaged, incomplete };
}

/** Every thirtieth message is larger than a MiB in the database, and is stored while it arrives. */
function messageOf(number: number): string {
  const line = `Text of the mail ${number}`.padEnd(98, ".").concat("\r\n");
  const head = `From: a@example.org\r\nTo: ${ADDRESS}\r\nSubject: Mail ${number}\r\n\r\n`;
  return head + line.repeat(number % 30 === 0 ? 12_000 : 1 + (number % 50));
}

/** Resolves to false if the server died before its answer. */
async function sendOne(client: SmtpClient, number: number): Promise<boolean> {
  try {
    await client.begin({ from: "a@example.org", to: ADDRESS });
    await client.finish(Buffer.from(`${messageOf(number)}.\r\n`));
    return true;
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    return false;
  }
}

type Client = { url: string; key: string };

async function get({ url, key }: Client, path: string): Promise<Response> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function listAll(client: Client): Promise<Received[]> {
  const all: Received[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await get(client, `/received-mails?limit=${PAGE}${after}`);
    const { data } = parse(Page, await response.json());
    all.push(...data.items);
    cursor = data.nextCursor;
  } while (cursor !== null);
  return all;
}

const numberOf = ({ subject }: Received): number => Number(subject.slice("Mail ".length));

async function countDamaged(client: Client, received: readonly Received[]): Promise<number> {
  let damaged = 0;
  for (const mail of received) {
    const raw = await (await get(client, `/received-mails/${mail.id}/raw`)).text();
    if (raw !== messageOf(numberOf(mail)) || mail.forwarded.length !== 1) damaged++;
  }
  return damaged;
}

/** Compares each received mail with its event and its forwarded mail, and looks for pieces of others. */
function countIncomplete(data: string): number {
  const database = new Database(join(data, "mailstead.db"), { readonly: true });
  const found = database
    .query<{ n: number }, []>(
      `SELECT
         (SELECT count(*) FROM received_mails m WHERE state <> 'RECEIVED'
            OR 1 <> (SELECT count(*) FROM events WHERE name = 'email.received'
                     AND json_extract(data, '$.id') = m.id)
            OR 1 <> (SELECT count(*) FROM emails
                     WHERE id = json_extract(m.content, '$.forwarded[0]')))
         + abs((SELECT count(*) FROM received_mails) - (SELECT count(*) FROM emails))
         + (SELECT count(*) FROM messages WHERE digest LIKE 'arriving %') AS n`,
    )
    .get();
  database.close();
  return found?.n ?? -1;
}

function compare(accepted: ReadonlySet<number>, received: readonly Received[], repeated: number) {
  const numbers = new Set(received.map(numberOf));
  return {
    accepted: accepted.size,
    lost: [...accepted].filter((number) => !numbers.has(number)).length,
    duplicates: Math.max(0, received.length - numbers.size - repeated),
  };
}
