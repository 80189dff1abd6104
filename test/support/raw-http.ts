/** HTTP as bytes on a socket, for what a well-behaved client never sends. */

import { connect } from "node:net";

const LIMIT_MS = 20_000;

export type RawOptions = {
  port: number;
  /** Everything up to the blank line, without `Host`. */
  head: readonly string[];
  /** Sent piece by piece until the server answers. */
  body?: Iterable<string | Uint8Array>;
  /** Address to come from. */
  localAddress?: string;
};

/** Sends a request and resolves to what came back until the first answer was complete. */
export function rawRequest(options: RawOptions): Promise<string> {
  const { port, head, body = [], localAddress = "127.0.0.1" } = options;
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  const pieces = body[Symbol.iterator]();
  let received = "";
  const deadline = setTimeout(() => finish(`nothing within ${LIMIT_MS} ms: ${received}`), LIMIT_MS);

  function finish(answer: string): void {
    clearTimeout(deadline);
    socket.destroy();
    resolve(answer);
  }

  function send(): void {
    for (let next = pieces.next(); next.done !== true; next = pieces.next()) {
      if (!socket.write(next.value)) return;
    }
  }

  socket.on("connect", () => {
    socket.write([...head, "Host: localhost", "", ""].join("\r\n"));
    send();
  });
  socket.on("drain", send);
  socket.on("data", (data) => {
    received += data.toString("latin1");
    if (isComplete(received)) finish(received);
  });
  socket.on("error", () => finish(received));
  socket.on("close", () => finish(received));
  return promise;
}

function isComplete(text: string): boolean {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  return length !== undefined && rest.join("\r\n\r\n").length >= Number(length);
}

/** Status and parsed JSON body of a raw answer. */
export function readRaw(answer: string): { status: number; headers: Headers; body: unknown } {
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const [name = "", ...value] = line.split(":");
      return [name, value.join(":").trim()];
    }),
  );
  const body: unknown = JSON.parse(rest.join("\r\n\r\n"));
  return { status: Number(statusLine.split(" ")[1]), headers, body };
}
