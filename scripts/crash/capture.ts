/**
 * Sends messages over SMTP without pause while the server is killed and restarted. Afterwards every
 * message that was answered with 250 must be in the inbox, once and parsed. A message that was sent
 * when the server died may be there or not: its client has no answer and would repeat it.
 */

import { type Static, Type } from "@sinclair/typebox";
import { parse, type Server, twoFreePorts } from "../bench/children.ts";
import { connectSmtp, RefusedError, type SmtpClient } from "../bench/smtp-client.ts";
import { createGenerator } from "./loop.ts";

const MIN_UPTIME_MS = 20;
const MAX_UPTIME_MS = 400;
const ANSWER_LIMIT_MS = 5_000;
const PAGE = 100;

export type CaptureCrashOptions = {
  kills: number;
  seed: number;
  /** Secret key of the project whose inbox catches the mail. */
  key: string;
  connections: number;
  /** Starts the server with these arguments. Resolves once it is ready. */
  launch: (at: { port: number; args: string[] }) => Promise<Server>;
  /** Receives the number of the kill, from 0, and the number of messages answered with 250. */
  onKill?: (kill: number, accepted: number) => void;
};

export type CaptureReport = {
  /** Messages that were answered with 250. */
  accepted: number;
  listed: number;
  /** Messages that were answered with 250 and are not in the inbox. */
  lost: number;
  /** Messages that are in the inbox more than once. */
  duplicates: number;
  /** Messages in the inbox that have another subject than was sent, or could not be parsed. */
  damaged: number;
  /** Messages that were being sent at a kill. */
  unanswered: number;
};

const Listed = Type.Object({
  id: Type.String(),
  subject: Type.String(),
  parseError: Type.Union([Type.String(), Type.Null()]),
});
type Listed = Static<typeof Listed>;

const Page = Type.Object({
  data: Type.Object({
    items: Type.Array(Listed),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  }),
});

export async function runCaptureCrashLoop(options: CaptureCrashOptions): Promise<CaptureReport> {
  const [port, smtpPort] = twoFreePorts();
  const limits = ["--capture-max-messages", "0", "--api-rate", "0"];
  const at = { port, args: ["--capture-smtp", `127.0.0.1:${smtpPort}`, ...limits] };
  const random = createGenerator(options.seed);
  /** Subject by id, of the messages that were answered with 250. */
  const accepted = new Map<string, string>();
  let unanswered = 0;
  let next = 0;

  async function sendUntilDead(isDead: () => boolean): Promise<void> {
    const client = await connectSmtp(smtpPort).catch(() => null);
    if (client === null) return;
    while (!isDead()) {
      const subject = `Mail ${next++}`;
      const id = await sendOne(client, subject);
      if (id === null) return void unanswered++;
      accepted.set(id, subject);
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
  const listed = await listAll(`http://127.0.0.1:${port}`, options.key);
  await server.stop();
  return { ...compare(accepted, listed), unanswered };
}

/** Resolves to the id that the server gave; null if the server died before its answer. */
async function sendOne(client: SmtpClient, subject: string): Promise<string | null> {
  const message = `From: a@shop.test\r\nTo: b@example.net\r\nSubject: ${subject}\r\n\r\nText\r\n.\r\n`;
  try {
    await client.begin({ from: "a@shop.test", to: "b@example.net" });
    const reply = await client.finish(Buffer.from(message));
    return /queued as (\S+)/.exec(reply)?.[1] ?? null;
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    return null;
  }
}

async function listAll(url: string, key: string): Promise<Listed[]> {
  const all: Listed[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await fetch(`${url}/inboxes/default/messages?limit=${PAGE}${after}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { data } = parse(Page, await response.json());
    all.push(...data.items);
    cursor = data.nextCursor;
  } while (cursor !== null);
  return all;
}

function compare(accepted: ReadonlyMap<string, string>, listed: readonly Listed[]) {
  const byId = new Map(listed.map((message) => [message.id, message]));
  const subjects = new Set(listed.map(({ subject }) => subject));
  const isDamaged = ({ id, subject, parseError }: Listed): boolean =>
    parseError !== null || (accepted.get(id) ?? subject) !== subject;
  return {
    accepted: accepted.size,
    listed: listed.length,
    lost: [...accepted.keys()].filter((id) => !byId.has(id)).length,
    duplicates: listed.length - subjects.size,
    damaged: listed.filter(isDamaged).length,
  };
}
