/**
 * Submits mail over SMTP without pause while the server is killed and restarted. A message without an
 * answer is sent again with the same idempotency key, as a client would. Afterwards each message that
 * was answered with 250 has one record, and leaves with the bytes that were sent.
 */

import { Type } from "@sinclair/typebox";
import { parse, type Server, twoFreePorts } from "../bench/children.ts";
import { SENDER } from "../bench/mail.ts";
import { connectSmtp, RefusedError, type SmtpClient } from "../bench/smtp-client.ts";
import { createGenerator } from "./loop.ts";

const MIN_UPTIME_MS = 20;
const MAX_UPTIME_MS = 400;
const ANSWER_LIMIT_MS = 5_000;
const DRAIN_LIMIT_MS = 5 * 60_000;
const PAGE = 100;

type SubmissionCrashOptions = {
  kills: number;
  seed: number;
  /** Secret key of the project that sends. */
  key: string;
  connections: number;
  /** Starts the server with these arguments. Resolves once it is ready. */
  launch: (at: { port: number; args: string[] }) => Promise<Server>;
  /** Receives the number of the kill, from 0, and the number of messages answered with 250. */
  onKill?: (kill: number, accepted: number) => void;
};

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

const Page = Type.Object({
  data: Type.Object({
    items: Type.Array(
      Type.Object({ id: Type.String(), subject: Type.String(), status: Type.String() }),
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  }),
});
type Listed = { id: string; subject: string; status: string };

export async function runSubmissionCrashLoop(
  options: SubmissionCrashOptions,
): Promise<SubmissionReport> {
  const { key } = options;
  const [port, smtpPort] = twoFreePorts();
  const limits = ["--transport", "capture", "--send-rate", "0", "--api-rate", "0"];
  const at = { port, args: ["--submission", `127.0.0.1:${smtpPort}`, ...limits] };
  const random = createGenerator(options.seed);
  /** Id by number of the message, of those that were answered with 250. */
  const accepted = new Map<number, string>();
  const unanswered: number[] = [];
  let repeated = 0;
  let next = 0;

  async function submitUntilDead(isDead: () => boolean): Promise<void> {
    const client = await connectSmtp(smtpPort, key).catch(() => null);
    if (client === null) return;
    while (!isDead()) {
      const again = unanswered.shift();
      if (again !== undefined) repeated++;
      const number = again ?? next++;
      const id = await submitOne(client, number);
      if (id === null) return void unanswered.push(number);
      accepted.set(number, id);
    }
    client.close();
  }

  for (let kill = 0; kill < options.kills; kill++) {
    const server = await options.launch(at);
    let isDead = false;
    const senders = Array.from({ length: options.connections }, () =>
      submitUntilDead(() => isDead),
    );
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
  const client = { url: `http://127.0.0.1:${port}`, key };
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

/** Resolves to the id that the server gave; null if the server died before its answer. */
async function submitOne(client: SmtpClient, number: number): Promise<string | null> {
  try {
    await client.begin({ from: SENDER, to: "b@example.net" });
    const reply = await client.finish(Buffer.from(`${messageOf(number).sent}.\r\n`));
    return /queued as (\S+)/.exec(reply)?.[1] ?? null;
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    return null;
  }
}

type Client = { url: string; key: string };

async function get({ url, key }: Client, path: string): Promise<Response> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function listAll(client: Client): Promise<Listed[]> {
  const all: Listed[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await get(client, `/emails?limit=${PAGE}${after}`);
    const { data } = parse(Page, await response.json());
    all.push(...data.items);
    cursor = data.nextCursor;
  } while (cursor !== null);
  return all;
}

/** Mails that were under way at a kill are due again after half a minute. */
async function listWhenSent(client: Client): Promise<Listed[]> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const listed = await listAll(client);
    const isDone = listed.every(({ status }) => status === "SENT");
    if (isDone || performance.now() > deadline) return listed;
    await Bun.sleep(2_000);
  }
}

async function countDamaged(client: Client, listed: readonly Listed[]): Promise<number> {
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
    lost: [...accepted.values()].filter((id) => !ids.has(id)).length,
    duplicates: listed.length - subjects.size,
  };
}
