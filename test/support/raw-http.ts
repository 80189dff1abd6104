/** Sends HTTP as raw bytes on a socket, for requests that a correct client never sends. */

import { connect } from "node:net";

const LIMIT_MS = 20_000;

export type RawOptions = {
  port: number;
  /** The request line and the header lines, without `Host`. */
  head: readonly string[];
  /** Parts of the body, sent one after another until the server responds. */
  body?: Iterable<string | Uint8Array>;
  /** Source address of the connection. */
  localAddress?: string;
};

/** Sends a request and resolves to the received text once the first response is complete. */
export function rawRequest(options: RawOptions): Promise<string> {
  const { port, head, body = [], localAddress = "127.0.0.1" } = options;
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ port, host: "127.0.0.1", localAddress });
  const parts = body[Symbol.iterator]();
  let received = "";
  const deadline = setTimeout(
    () => finish(`no complete response within ${LIMIT_MS} ms: ${received}`),
    LIMIT_MS,
  );

  function finish(answer: string): void {
    clearTimeout(deadline);
    socket.destroy();
    resolve(answer);
  }

  function send(): void {
    for (let next = parts.next(); next.done !== true; next = parts.next()) {
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

/** A connection on which a test sends a request in parts. */
export type OpenRequest = {
  write(data: string | Uint8Array): void;
  /** Resolves to the next response, or to the received part of it if the connection is closed. */
  next(): Promise<string>;
  /** Resolves when the connection is closed. */
  closed: Promise<void>;
  /** Reads nothing more. */
  pause(): void;
  /** Closes the connection from the side of the client. */
  destroy(): void;
};

/** Opens a connection and sends the head of a request; `head` excludes `Host`, null sends nothing. */
export function openRequest(options: {
  port: number;
  head: readonly string[] | null;
}): OpenRequest {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const socket = connect({ port: options.port, host: "127.0.0.1" });
  let received = "";
  const connection = { isClosed: false };
  let wake = () => {};

  if (options.head !== null) {
    socket.write([...options.head, "Host: localhost", "", ""].join("\r\n"));
  }
  socket.on("data", (data) => {
    received += data.toString("latin1");
    wake();
  });
  socket.on("error", () => undefined); // The socket then emits "close" as well.
  socket.on("close", () => {
    connection.isClosed = true;
    close();
    wake();
  });
  return {
    closed,
    write: (data) => void socket.write(data),
    async next() {
      while (!isComplete(received) && !connection.isClosed) {
        await new Promise<void>((resolve) => (wake = resolve));
      }
      const length = lengthOf(received);
      const answer = received.slice(0, length);
      received = received.slice(length);
      return answer;
    },
    pause: () => void socket.pause(),
    destroy: () => void socket.destroy(),
  };
}

/** Returns the length of the first response in a text, including its head. */
function lengthOf(text: string): number {
  const bodyAt = text.indexOf("\r\n\r\n") + 4;
  const length = /^content-length: (\d+)$/im.exec(text.slice(0, bodyAt))?.[1];
  return bodyAt + Number(length ?? 0);
}

function isComplete(text: string): boolean {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const length = /^content-length: (\d+)$/im.exec(head)?.[1];
  return length !== undefined && rest.join("\r\n\r\n").length >= Number(length);
}

/** Parses the status, the headers and the JSON body of a raw response. */
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
