/** The servers of the measurement `capture`: this program, and Mailpit if its binary is given. */

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import {
  parse,
  removeFolder,
  startProgram,
  startServer,
  temporaryFolder,
  twoFreePorts,
} from "./children.ts";
import { prepareStore } from "./store.ts";

export type Target = {
  name: string;
  pid: number;
  smtpPort: number;
  /** Number of messages that a search for the subject finds. */
  count(subject: string): Promise<number>;
  stop(): Promise<void>;
};

/** This program, with its interface over HTTP. */
export type OwnTarget = Target & {
  port: number;
  /** The header field of requests. */
  authorization: string;
  /** Number of messages that match a query. */
  total(query: string): Promise<number>;
  /** Sends a request about the default inbox. Rejects if it is refused. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
};

const OwnList = Type.Object({ data: Type.Object({ total: Type.Integer() }) });
const MailpitList = Type.Object({ messages_count: Type.Integer() });

/** Keeps every message, unless `hasDefaultLimit`: then an inbox keeps its newest 500. */
export async function startOwn(
  binary: string | null,
  { hasDefaultLimit = false } = {},
): Promise<OwnTarget> {
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const [port, smtpPort] = twoFreePorts();
  const limit = hasDefaultLimit ? [] : ["--capture-max-messages", "0"];
  const args = ["--capture-smtp", `127.0.0.1:${smtpPort}`, "--api-rate", "0", ...limit];
  const server = await startServer({ binary, data, port, args });
  const authorization = `Bearer ${key}`;
  const call = (method: string, path: string, body?: unknown) =>
    requestJson(`http://127.0.0.1:${port}/inboxes/default${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const total = async (query: string) => {
    const path = `/messages?limit=1&query=${encodeURIComponent(query)}`;
    return parse(OwnList, await call("GET", path)).data.total;
  };
  return {
    name: "mailstead",
    pid: server.pid,
    smtpPort,
    port,
    authorization,
    call,
    total,
    count: (subject) => total(`subject:"${subject}"`),
    async stop() {
      await server.stop();
      removeFolder(data);
    },
  };
}

/** Starts Mailpit with an empty database, which is removed at the end. It keeps every message. */
export async function startMailpitServer(binary: string) {
  const data = temporaryFolder();
  const [smtpPort, port] = twoFreePorts();
  const program = await startProgram({
    command: [
      binary,
      `--smtp=127.0.0.1:${smtpPort}`,
      `--listen=127.0.0.1:${port}`,
      `--database=${join(data, "mailpit.db")}`,
      "--max=0",
      "--smtp-disable-rdns",
      "--disable-version-check",
      "--quiet",
    ],
    logFile: join(data, "server.log"),
    port,
  });
  return {
    pid: program.pid,
    url: `http://127.0.0.1:${port}`,
    smtpPort,
    async stop(): Promise<void> {
      await program.stop();
      removeFolder(data);
    },
  };
}

export async function startMailpit(binary: string): Promise<Target> {
  const { pid, url, smtpPort, stop } = await startMailpitServer(binary);
  return {
    name: "mailpit",
    pid,
    smtpPort,
    stop,
    async count(subject) {
      const query = encodeURIComponent(`subject:"${subject}"`);
      const found = await requestJson(`${url}/api/v1/search?limit=1&query=${query}`);
      return parse(MailpitList, found).messages_count;
    },
  };
}

async function requestJson(url: string, options: RequestInit = {}): Promise<unknown> {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
