/** The HTTP interface of an inbox, for commands. */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { AppError } from "../../lib/errors.ts";
import type { Input } from "../command.ts";

const DEFAULT_SERVER = "http://127.0.0.1:8025";
const PAGE = 100;

export const SERVER_FLAG = {
  name: "server",
  placeholder: "URL",
  help: `The server (default ${DEFAULT_SERVER}); a key may be in MAILSTEAD_API_KEY`,
};

export const INBOX_FLAGS = [
  SERVER_FLAG,
  { name: "inbox", placeholder: "NAME|ID", help: "Inbox (default: the one named “default”)" },
];

const Refused = Type.Object({ error: Type.Object({ message: Type.String() }) });
const Listed = Type.Object({
  data: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        receivedAt: Type.String(),
        read: Type.Boolean(),
        envelope: Type.Object({ from: Type.String() }),
      }),
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
  }),
});

export type Listed = { id: string; receivedAt: Date; isRead: boolean; sender: string };

export type InboxClient = ReturnType<typeof createInboxClient>;

/** The server that a command calls, and the key for it, which is empty if there is none. */
export function readServer({ flags, io }: Pick<Input, "flags" | "io">) {
  const server = (flags["server"] ?? DEFAULT_SERVER).replace(/\/$/, "");
  return { server, key: io.env["MAILSTEAD_API_KEY"] ?? "" };
}

export function createInboxClient(input: Input) {
  const { flags } = input;
  const { server, key } = readServer(input);
  const inbox = encodeURIComponent(flags["inbox"] ?? "default");
  const base = `${server}/inboxes/${inbox}/messages`;
  const headers: Record<string, string> = key === "" ? {} : { authorization: `Bearer ${key}` };

  async function request(url: string, init: RequestInit = { headers }): Promise<Response> {
    const response = await fetch(url, init).catch(() => {
      throw unreachable(server);
    });
    if (response.ok) return response;
    throw new AppError(response.status, "REFUSED", await reasonOf(response));
  }

  return {
    /** Stores a message. */
    async add(raw: Uint8Array<ArrayBuffer>): Promise<void> {
      const response = await request(base, {
        method: "POST",
        body: raw,
        headers: { ...headers, "content-type": "message/rfc822" },
      });
      await response.arrayBuffer();
    },

    /** All messages that match, the oldest first. */
    async list(query: string): Promise<Listed[]> {
      const all: Listed[] = [];
      let cursor: string | null = null;
      do {
        const parameters = new URLSearchParams({ limit: String(PAGE) });
        if (query !== "") parameters.set("query", query);
        if (cursor !== null) parameters.set("cursor", cursor);
        const response: Response = await request(`${base}?${parameters.toString()}`);
        const { data } = Value.Parse(Listed, await response.json());
        for (const { id, receivedAt, read, envelope } of data.items) {
          const sender = envelope.from;
          all.push({ id, receivedAt: new Date(receivedAt), isRead: read, sender });
        }
        cursor = data.nextCursor;
      } while (cursor !== null);
      return all.toReversed();
    },

    raw: async (id: string): Promise<Uint8Array> => (await request(`${base}/${id}/raw`)).bytes(),
  };
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    if (Value.Check(Refused, body)) return body.error.message;
  } catch {
    // The answer is not from this program; its status says enough.
  }
  return `The server answered with status ${response.status}.`;
}

function unreachable(server: string): AppError {
  return new AppError(503, "UNREACHABLE", `Nothing answers at ${server}.`, {
    suggestion: "Start mailstead dev, or name another server with --server URL.",
  });
}
