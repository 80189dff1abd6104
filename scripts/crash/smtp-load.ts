/** Sends messages over SMTP without pause while the server is killed and restarted. */

import { type Server, twoFreePorts } from "../bench/children.ts";
import { type Aim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { connectSmtp, RefusedError, type SmtpClient } from "../bench/smtp-client.ts";
import type { ApiClient } from "./emails.ts";
import {
  type CrashOptions,
  type CrashStore,
  killRepeatedly,
  stopAndCheck,
  withCrashStore,
} from "./kills.ts";

const CONNECTIONS = 10;
const MAX_UPTIME_MS = 400;

export type SmtpLoad = {
  /** The listener that takes the messages. */
  listener: "--inbound" | "--submission" | "--capture-smtp";
  /** Further arguments of the server. */
  args: readonly string[];
  /** Whether the client logs in with the key. */
  logsIn: boolean;
  /** Whether a message without an answer is sent again, as every mail server does. */
  repeats: boolean;
  prepare?: (store: CrashStore) => void;
  /** Sends the message with this number. Resolves to what `sendMessage` returns. */
  send: (client: SmtpClient, number: number) => Promise<string | null>;
  /** Compares what was answered with what is stored; the server runs. */
  compare: (sent: Sent, client: ApiClient, limitMs: number) => Promise<Aim[]>;
  /** Further checks of the data folder after the server stopped. */
  inspect?: (data: string) => Aim[];
};

export type Sent = {
  /** Reply by number of the message, of those that were answered with 250. */
  accepted: ReadonlyMap<number, string>;
  /** Messages that were sent again because they had no answer. */
  repeated: number;
};

export function crashSmtp(load: SmtpLoad, options: CrashOptions): Promise<Outcome> {
  return withCrashStore(options, {}, async (store) => {
    load.prepare?.(store);
    const { sent, unanswered, server } = await sendDuringKills(load, store, options);
    const client = { url: `http://127.0.0.1:${store.port}`, key: store.key };
    const compared = await load.compare(sent, client, options.drainLimitMs);
    const checks = await stopAndCheck(server, store.data);
    return {
      figures: [
        ["answered with 250", whole(sent.accepted.size)],
        ["sent again after a kill", whole(sent.repeated)],
        ["without an answer", whole(unanswered)],
      ],
      aims: [
        presenceAim("answered with 250", sent.accepted.size),
        ...compared,
        ...(load.inspect?.(store.data) ?? []),
        ...checks,
      ],
    };
  });
}

async function sendDuringKills(
  load: SmtpLoad,
  store: CrashStore,
  options: CrashOptions,
): Promise<{ sent: Sent; unanswered: number; server: Server }> {
  const smtpPort = freePortBeside(store.port);
  const args = [load.listener, `127.0.0.1:${smtpPort}`, "--api-rate", "0", ...load.args];
  const accepted = new Map<number, string>();
  const unanswered: number[] = [];
  let repeated = 0;
  let next = 0;

  async function sendUntil(isOver: () => boolean): Promise<void> {
    const password = load.logsIn ? store.key : undefined;
    const client = await connectSmtp(smtpPort, password).catch(() => null);
    if (client === null) return;
    while (!isOver()) {
      const again = load.repeats ? unanswered.shift() : undefined;
      if (again !== undefined) repeated++;
      const number = again ?? next++;
      const reply = await load.send(client, number);
      if (reply === null) return void unanswered.push(number);
      accepted.set(number, reply);
    }
    client.close();
  }

  await killRepeatedly(store, options, {
    args,
    maxUptimeMs: MAX_UPTIME_MS,
    work: async (_, isOver) => {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => sendUntil(isOver)));
    },
    progress: () => accepted.size,
    expectsProgress: () => true,
  });
  const server = await store.launch(options.kills, args);
  return { sent: { accepted, repeated }, unanswered: unanswered.length, server };
}

function freePortBeside(port: number): number {
  return twoFreePorts().find((free) => free !== port) ?? port;
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
