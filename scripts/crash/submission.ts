/**
 * Submits mail over SMTP without pause while the server is killed and restarted. A message without an
 * answer is sent again with the same idempotency key, as a client would. Afterwards each message that
 * was answered with 250 has one record, and leaves with the bytes that were sent.
 */

import { type Static, Type } from "@sinclair/typebox";
import { SENDER } from "../bench/mail.ts";
import {
  type ApiClient,
  get,
  idOf,
  listAll,
  sendDuringKills,
  sendMessage,
  type SmtpCrashOptions,
} from "./smtp-load.ts";

const DRAIN_LIMIT_MS = 5 * 60_000;

type SubmissionReport = {
  /** Messages that were answered with 250. */
  accepted: number;
  /** Messages that were sent again because they had no answer. */
  repeated: number;
  /** Messages that were answered with 250 and have no record. */
  lost: number;
  /** Records beyond one for each message. */
  duplicates: number;
  /** Messages that did not leave, or with other bytes. */
  damaged: number;
};

const Listed = Type.Object({ id: Type.String(), subject: Type.String(), status: Type.String() });
type Listed = Static<typeof Listed>;

export async function runSubmissionCrashLoop(options: SmtpCrashOptions): Promise<SubmissionReport> {
  const { accepted, repeated, server, client } = await sendDuringKills(options, {
    listener: "--submission",
    args: ["--transport", "capture", "--send-rate", "0", "--api-rate", "0"],
    logsIn: true,
    repeats: true,
    send: (smtp, number) =>
      sendMessage(smtp, { from: SENDER, to: "b@example.net" }, messageOf(number).sent),
  });
  const listed = await listWhenSent(client);
  const damaged = await countDamaged(client, listed);
  await server.stop();
  return { ...compare(accepted, listed), repeated, damaged };
}

/** `number` is also that of the idempotency key. */
function messageOf(number: number): { sent: string; kept: string } {
  const head = `Message-ID: <${number}@bench.test>\r\nDate: Mon, 02 Mar 2026 10:00:00 +0000\r\n`;
  const key = `X-Mailstead-Idempotency-Key: mail-${number}\r\n`;
  const rest =
    `From: ${SENDER}\r\nTo: b@example.net\r\nSubject: Mail ${number}\r\nMIME-Version: 1.0\r\n\r\n` +
    `Text ${"of the mail ".repeat(number % 50)}\r\n`;
  return { sent: `${head}${key}${rest}`, kept: `${head}${rest}` };
}

/** Mails that were under way at a kill are due again after half a minute. */
async function listWhenSent(client: ApiClient): Promise<Listed[]> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const listed = await listAll(client, "/emails", Listed);
    const isDone = listed.every(({ status }) => status === "SENT");
    if (isDone || performance.now() > deadline) return listed;
    await Bun.sleep(2_000);
  }
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

function compare(accepted: ReadonlyMap<number, string>, listed: readonly Listed[]) {
  const ids = new Set(listed.map(({ id }) => id));
  const subjects = new Set(listed.map(({ subject }) => subject));
  return {
    accepted: accepted.size,
    lost: [...accepted.values()].filter((reply) => !ids.has(idOf(reply))).length,
    duplicates: listed.length - subjects.size,
  };
}
