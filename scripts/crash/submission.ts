/**
 * Submits mail over SMTP. A message without an answer is sent again with the same idempotency key, as
 * a client would. Each message that was answered with 250 must have one record, and leave with the
 * bytes that were sent.
 */

import { type Static, Type } from "@sinclair/typebox";
import { SENDER } from "../bench/mail.ts";
import { limitAim } from "../bench/report.ts";
import { type ApiClient, get, listItems, waitUntilDrained } from "./emails.ts";
import { idOf, sendMessage, type SmtpLoad } from "./smtp-load.ts";

const Listed = Type.Object({ id: Type.String(), subject: Type.String(), status: Type.String() });
type Listed = Static<typeof Listed>;

export const SUBMISSION_LOAD: SmtpLoad = {
  listener: "--submission",
  args: ["--transport", "capture", "--send-rate", "0"],
  logsIn: true,
  repeats: true,
  send: (client, number) =>
    sendMessage(client, { from: SENDER, to: "b@example.net" }, messageOf(number).sent),
  async compare({ accepted }, client, limitMs) {
    await waitUntilDrained(client, limitMs);
    const listed = await listItems(client, "/emails", Listed);
    const ids = new Set(listed.map(({ id }) => id));
    const subjects = new Set(listed.map(({ subject }) => subject));
    return [
      limitAim("lost", [...accepted.values()].filter((reply) => !ids.has(idOf(reply))).length),
      limitAim("records beyond one for each message", listed.length - subjects.size),
      limitAim("did not leave, or with other bytes", await countDamaged(client, listed)),
    ];
  },
};

/** `number` is also that of the idempotency key. */
function messageOf(number: number): { sent: string; kept: string } {
  const head = `Message-ID: <${number}@bench.test>\r\nDate: Mon, 02 Mar 2026 10:00:00 +0000\r\n`;
  const key = `X-Mailstead-Idempotency-Key: mail-${number}\r\n`;
  const rest =
    `From: ${SENDER}\r\nTo: b@example.net\r\nSubject: Mail ${number}\r\nMIME-Version: 1.0\r\n\r\n` +
    `Text ${"of the mail ".repeat(number % 50)}\r\n`;
  return { sent: `${head}${key}${rest}`, kept: `${head}${rest}` };
}

async function countDamaged(client: ApiClient, listed: readonly Listed[]): Promise<number> {
  let damaged = 0;
  for (const { id, subject, status } of listed) {
    const number = Number(subject.slice("Mail ".length));
    const raw = status === "SENT" ? await get(client, `/emails/${id}/raw`) : null;
    const text = (await raw?.text()) ?? "";
    if (text !== messageOf(number).kept) damaged++;
  }
  return damaged;
}
