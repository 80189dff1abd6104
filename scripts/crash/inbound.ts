/**
 * Sends mail to an inbound route. A message without an answer is sent again, as every mail server
 * does. Each message that was answered with 250 must be received with the bytes that were sent, have
 * one event, and be forwarded once. SMTP has no idempotency: a message whose answer got lost may have
 * been received twice.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { SENDER_DOMAIN } from "../bench/mail.ts";
import { limitAim } from "../bench/report.ts";
import { type ApiClient, get, listItems } from "./emails.ts";
import { sendMessage, type SmtpLoad } from "./smtp-load.ts";

const ADDRESS = `in@in.${SENDER_DOMAIN}`;

const Received = Type.Object({
  id: Type.String(),
  subject: Type.String(),
  forwarded: Type.Array(Type.String()),
});
type Received = Static<typeof Received>;

export const INBOUND_LOAD: SmtpLoad = {
  listener: "--inbound",
  args: ["--transport", "capture", "--send-rate", "0"],
  logsIn: false,
  repeats: true,
  prepare: ({ data }) => addRoute(data),
  send: (client, number) =>
    sendMessage(client, { from: "a@example.org", to: ADDRESS }, messageOf(number)),
  async compare({ accepted, repeated }, client) {
    const received = await listItems(client, "/received-mails", Received);
    const numbers = new Set(received.map(numberOf));
    const surplus = Math.max(0, received.length - numbers.size - repeated);
    return [
      limitAim("lost", [...accepted.keys()].filter((number) => !numbers.has(number)).length),
      limitAim("received beyond one for each message and each repetition", surplus),
      limitAim("with other bytes, or not forwarded", await countDamaged(client, received)),
    ];
  },
  inspect: (data) => [limitAim("without one event and one forwarded mail", countIncomplete(data))],
};

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
  return found?.n ?? Number.NaN;
}
