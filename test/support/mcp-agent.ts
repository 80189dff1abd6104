/** An agent that speaks the Model Context Protocol, over HTTP or over the streams of a command. */

import { main } from "../../src/cli/run.ts";
import { testStreams } from "./command-line.ts";
import { waitUntil } from "./eventually.ts";
import { listAt, stringAt, valueAt } from "./json.ts";

export type McpAgent = Awaited<ReturnType<typeof createMcpAgent>>;

type ToolAnswer = { isError: boolean; text: string };
/** Sends a message and resolves to its answer; to undefined for a notification. */
export type SendMessage = (message: { id?: number; method: string }) => Promise<unknown>;

const PROTOCOL = "2025-11-25";

/** Connects. `call` throws if the tool refuses. */
export async function createMcpAgent(send: SendMessage) {
  let last = 0;

  async function request(method: string, params: unknown): Promise<unknown> {
    const message = { jsonrpc: "2.0", id: ++last, method, params };
    const answer = await send(message);
    if (valueAt(answer, "error") !== undefined) throw new Error(stringAt(answer, "error.message"));
    return valueAt(answer, "result");
  }

  async function use(name: string, args: object = {}): Promise<ToolAnswer> {
    const result = await request("tools/call", { name, arguments: args });
    return {
      isError: valueAt(result, "isError") === true,
      text: stringAt(result, "content.0.text"),
    };
  }

  const clientInfo = { name: "test agent", version: "1.0.0" };
  const start = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo };
  const greeting = await request("initialize", start);
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  await send(initialized);
  return {
    greeting,
    use,
    async tools(): Promise<unknown[]> {
      return listAt(await request("tools/list", {}), "tools");
    },
    async call(name: string, args: object = {}): Promise<unknown> {
      const { isError, text } = await use(name, args);
      if (isError) throw new Error(text);
      return JSON.parse(text);
    },
  };
}

/** Sends messages to `/mcp` by `post`, which returns the text of the answer. */
export function overHttp(
  post: (body: object, headers: Record<string, string>) => Promise<string>,
): SendMessage {
  const headers = {
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": PROTOCOL,
  };
  return async (message) => {
    const text = await post(message, headers);
    if (message.id === undefined) return undefined;
    const [, data = text] = /^data: (.*)$/m.exec(text) ?? [];
    return JSON.parse(data);
  };
}

/** Sends messages over streams. `written` returns all lines that were received so far. */
export function overLines(write: (line: string) => void, written: () => string): SendMessage {
  return async (message) => {
    write(`${JSON.stringify(message)}\n`);
    if (message.id === undefined) return undefined;
    const find = () =>
      written()
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .map((line): unknown => JSON.parse(line))
        .find((answer) => valueAt(answer, "id") === message.id);
    await waitUntil(() => find() !== undefined);
    return find();
  };
}

/** Runs `mailstead mcp` in this process. */
export function startMcpCommand(words: readonly string[], env: Record<string, string> = {}) {
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const writer = input.writable.getWriter();
  const streams = testStreams({ env, stdin: input.readable });
  const ended = main(["mcp", ...words], streams.io).finally(streams.end);
  return {
    send: overLines(
      (line) => void writer.write(new TextEncoder().encode(line)),
      () => streams.written.stdout,
    ),
    written: streams.written,
    /** Ends its standard input, and resolves to its exit code. */
    async close(): Promise<number> {
      await writer.close();
      return ended;
    },
    /** Asks it to stop, as a signal does. */
    async stop(): Promise<number> {
      streams.stop();
      return ended;
    },
  };
}
