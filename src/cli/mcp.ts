/**
 * The command `mailstead mcp`: serves the Model Context Protocol on standard input and output, as
 * agents start it. Its tools call the HTTP interface of a running server with the key of the command.
 */

import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { systemClock } from "../lib/clock.ts";
import { describeError } from "../lib/log.ts";
import { type SendToApi, ToolRefusal } from "../modules/mcp/api-client.ts";
import { createConfirmations } from "../modules/mcp/confirmations.ts";
import { type Command, readSettings, UsageError } from "./command.ts";
import { readServer, SERVER_FLAG } from "./inbox/client.ts";
import type { Output } from "./io.ts";

export const mcp: Command = {
  name: "mcp",
  summary: "Serve the Model Context Protocol on standard input and output, for agents",
  details:
    "An agent starts it. Its tools call the HTTP interface of a server that runs. Without a key it has\n" +
    "only the tools for inboxes, which need none on the machine of mailstead dev. A server also has\n" +
    "/mcp, for agents that speak the protocol over HTTP.",
  positionals: [],
  flags: [SERVER_FLAG],
  settings: ["mcpChanges"],
  run: async (input) => {
    const { io } = input;
    const { mcpChanges } = readSettings(input, { names: ["mcpChanges"] });
    const { server, key } = readServer(input);
    if (!URL.canParse(server)) throw new UsageError("--server: expected a URL");
    // Loaded only by this command, because they take 50 ms.
    const { createMcpServer } = await import("../modules/mcp/mcp-server.ts");
    const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
    const access = {
      send: senderTo(server, key),
      confirmations: createConfirmations(systemClock)(server),
      hasKey: key !== "",
      mayChange: mcpChanges,
      onFault: (error: unknown) => io.stderr.line(describeError(error)),
    };
    const stdin = Readable.from(buffersOf(io.stdin.stream()));
    const transport = new StdioServerTransport(stdin, writableTo(io.stdout));
    const connection = serveStdio(() => createMcpServer(access), {
      transport,
      onerror: access.onFault,
    });
    await Promise.race([once(stdin, "close"), io.untilStopped()]);
    await connection.close();
    return 0;
  },
};

function senderTo(server: string, key: string): SendToApi {
  const authorization: Record<string, string> =
    key === "" ? {} : { authorization: `Bearer ${key}` };
  return async (path, { headers, ...init }) => {
    try {
      return await fetch(server + path, { ...init, headers: { ...headers, ...authorization } });
    } catch (error) {
      if (init.signal.aborted) throw error;
      throw new ToolRefusal(
        `Nothing answers at ${server}. Start mailstead dev, or name another server with --server URL.`,
      );
    }
  };
}

/** The package searches a line end in the pieces as a Buffer does. */
async function* buffersOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

function writableTo(output: Output): Writable {
  return Writable.fromWeb(
    new WritableStream<Uint8Array>({ write: (text) => output.write(Buffer.from(text).toString()) }),
  );
}
