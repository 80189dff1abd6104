/**
 * Sends mail to an inbound route without pause while the server is killed and restarted. A message
 * without an answer is sent again, as every mail server does. Afterwards each message that was
 * answered with 250 was received with the bytes that were sent, has one event, and was forwarded
 * once. SMTP has no idempotency: a message whose answer got lost may have been received twice.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { SENDER_DOMAIN } from "../bench/mail.ts";
import {
  type ApiClient,
  get,
  listAll,
  sendDuringKills,
  sendMessage,
  type SmtpCrashOptions,
} from "./smtp-load.ts";

const ADDRESS = `in@in.${SENDER_DOMAIN}`;

/** `data` is the data folder, with a project and a verified domain. */
type InboundCrashOptions = SmtpCrashOptions & { data: string };

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

const Received = Type.Object({
  id: Type.String(),
  subject: Type.String(),
  forwarded: Type.Array(Type.String()),
});
type Received = Static<typeof Received>;

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
  const { accepted, repeated, server, client } = await sendDuringKills(options, {
    listener: "--inbound",
    args: ["--transport", "capture", "--send-rate", "0", "--api-rate", "0"],
    logsIn: false,
    repeats: true,
    send: (smtp, number) =>
      sendMessage(smtp, { from: "a@example.org", to: ADDRESS }, messageOf(number)),
  });
  const received = await listAll(client, "/received-mails", Received);
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

const numberOf = ({ subject }: Received): number => Number(subject.slice("Mail ".length));

async function countDamaged(client: ApiClient, received: readonly Received[]): Promise<number> {
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

function compare(
  accepted: ReadonlyMap<number, string>,
  received: readonly Received[],
  repeated: number,
) {
  const numbers = new Set(received.map(numberOf));
  return {
    accepted: accepted.size,
    lost: [...accepted.keys()].filter((number) => !numbers.has(number)).length,
    duplicates: Math.max(0, received.length - numbers.size - repeated),
  };
}
