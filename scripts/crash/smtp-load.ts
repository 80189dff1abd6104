/** Sends messages over SMTP without pause while the server is killed and restarted. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { parse, type Server, twoFreePorts } from "../bench/children.ts";
import { connectSmtp, RefusedError, type SmtpClient } from "../bench/smtp-client.ts";
import { createGenerator } from "./loop.ts";

const MIN_UPTIME_MS = 20;
const MAX_UPTIME_MS = 400;
const ANSWER_LIMIT_MS = 5_000;
const PAGE = 100;

export type SmtpCrashOptions = {
  kills: number;
  seed: number;
  /** Secret key of the project. */
  key: string;
  connections: number;
  /** Starts the server with these arguments. Resolves once it is ready. */
  launch: (at: { port: number; args: string[] }) => Promise<Server>;
  /** Receives the number of the kill, from 0, and the number of messages answered with 250. */
  onKill?: (kill: number, accepted: number) => void;
};

type Load = {
  /** The listener that takes the messages. */
  listener: "--inbound" | "--submission" | "--capture-smtp";
  /** Further arguments of the server. */
  args: readonly string[];
  /** Whether the client logs in with the key. */
  logsIn: boolean;
  /** Whether a message without an answer is sent again, as every mail server does. */
  repeats: boolean;
  /** Sends the message with this number. Resolves to what `sendMessage` returns. */
  send: (client: SmtpClient, number: number) => Promise<string | null>;
};

type Outcome = {
  /** Reply by number of the message, of those that were answered with 250. */
  accepted: ReadonlyMap<number, string>;
  /** Messages that have no answer at the end. */
  unanswered: number;
  /** Messages that were sent again because they had no answer. */
  repeated: number;
  /** The server after the last kill; the caller stops it. */
  server: Server;
  client: ApiClient;
};

export type ApiClient = { url: string; key: string };

export async function sendDuringKills(options: SmtpCrashOptions, load: Load): Promise<Outcome> {
  const { key, kills, connections, launch, onKill } = options;
  const [port, smtpPort] = twoFreePorts();
  const at = { port, args: [load.listener, `127.0.0.1:${smtpPort}`, ...load.args] };
  const random = createGenerator(options.seed);
  const accepted = new Map<number, string>();
  const unanswered: number[] = [];
  let repeated = 0;
  let next = 0;

  async function sendUntilDead(isDead: () => boolean): Promise<void> {
    const client = await connectSmtp(smtpPort, load.logsIn ? key : undefined).catch(() => null);
    if (client === null) return;
    while (!isDead()) {
      const again = load.repeats ? unanswered.shift() : undefined;
      if (again !== undefined) repeated++;
      const number = again ?? next++;
      const reply = await load.send(client, number);
      if (reply === null) return void unanswered.push(number);
      accepted.set(number, reply);
    }
    client.close();
  }

  for (let kill = 0; kill < kills; kill++) {
    const server = await launch(at);
    let isDead = false;
    const senders = Array.from({ length: connections }, () => sendUntilDead(() => isDead));
    const before = accepted.size;
    await Bun.sleep(MIN_UPTIME_MS + random() * (MAX_UPTIME_MS - MIN_UPTIME_MS));
    // On a busy machine the first answer may take longer; a kill before it would prove nothing.
    const deadline = performance.now() + ANSWER_LIMIT_MS;
    while (accepted.size === before && performance.now() < deadline) await Bun.sleep(1);
    await server.crash();
    isDead = true;
    await Promise.all(senders);
    onKill?.(kill, accepted.size);
  }
  const server = await launch(at);
  const client = { url: `http://127.0.0.1:${port}`, key };
  return { accepted, unanswered: unanswered.length, repeated, server, client };
}

/** Resolves to the reply to the message; null if the server died before its answer. */
export async function sendMessage(
  client: SmtpClient,
  envelope: { from: string; to: string },
  message: string,
): Promise<string | null> {
  try {
    await client.begin(envelope);
    return await client.finish(Buffer.from(`${message}.\r\n`));
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    return null;
  }
}

/** The id that the server gave to a message, from its reply. */
export function idOf(reply: string): string {
  const id = /queued as (\S+)/.exec(reply)?.[1];
  if (id === undefined) throw new Error(`no id in the reply: ${reply}`);
  return id;
}

export async function get({ url, key }: ApiClient, path: string): Promise<Response> {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** All items of a list of the interface. */
export async function listAll<T extends TSchema>(
  client: ApiClient,
  path: string,
  item: T,
): Promise<Static<T>[]> {
  const page = Type.Object({
    data: Type.Object({
      items: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()]),
    }),
  });
  const all: Static<T>[] = [];
  let cursor: string | null = null;
  do {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const response = await get(client, `${path}?limit=${PAGE}${after}`);
    const { data } = parse(page, await response.json());
    all.push(...data.items);
    cursor = data.nextCursor;
  } while (cursor !== null);
  return all;
}
