/**
 * An SMTP server that accepts every mail. It is optimized for speed: it uses raw sockets and parses
 * only what it needs. It announces PIPELINING, 8BITMIME, SIZE and SMTPUTF8.
 */

import net from "node:net";

export type SunkMessage = {
  /** Address in MAIL FROM, without the angle brackets; `to` has the addresses in RCPT TO. */
  from: string;
  to: string[];
  /** The message without dot-stuffing, including the last line ending. */
  data: Uint8Array;
  /** Time of arrival, in milliseconds since the epoch. */
  at: number;
};

export type SinkOptions = {
  onMessage?: (message: SunkMessage) => void;
  /** True if messages are only counted: they are not stored, and `onMessage` is not called. */
  countOnly?: boolean;
  maxSizeBytes?: number;
  pipelining?: boolean;
  /** Delay of the reply to the final dot, in milliseconds. */
  answerAfterMs?: number;
  /** Address and port to listen on; the default is 127.0.0.1 and a free port. */
  address?: string;
  port?: number;
};

export type Sink = {
  port: number;
  /** All received messages, oldest first; empty if they are only counted. */
  messages: SunkMessage[];
  counts: { messages: number; connections: number };
  close(): Promise<void>;
};

export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const sink: SinkState = {
    options,
    messages: [],
    counts: { messages: 0, connections: 0 },
    ehlo: ehloReply(options),
  };
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sink.counts.connections++;
    sockets.add(socket);
    socket.setNoDelay(true);
    const connection = new SinkConnection(socket, sink);
    socket.on("data", (chunk: Buffer) => connection.receive(chunk));
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.write("220 sink.test ESMTP\r\n");
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options.port ?? 0, options.address ?? "127.0.0.1", resolve);
  await promise;
  return {
    port: portOf(server),
    messages: sink.messages,
    counts: sink.counts,
    close: () => closeServer(server, sockets),
  };
}

export function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("the server does not listen on TCP");
  return address.port;
}

export function closeServer(server: net.Server, sockets: Iterable<net.Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}

type SinkState = {
  options: SinkOptions;
  messages: SunkMessage[];
  counts: { messages: number; connections: number };
  ehlo: string;
};

function ehloReply({ maxSizeBytes = 0, pipelining = true }: SinkOptions): string {
  const lines = ["sink.test", `SIZE ${maxSizeBytes}`, "8BITMIME", "SMTPUTF8"];
  if (pipelining) lines.push("PIPELINING");
  lines.push("ENHANCEDSTATUSCODES");
  return lines.map((line, i) => `250${i === lines.length - 1 ? " " : "-"}${line}\r\n`).join("");
}

const LF = 0x0a;
const DOT = 0x2e;
const END_OF_DATA = Buffer.from("\r\n.\r\n");
const NOTHING = Buffer.alloc(0);

class SinkConnection {
  readonly #socket: net.Socket;
  readonly #sink: SinkState;
  #from = "";
  #to: string[] = [];
  /** The beginning of a command that is not complete yet. */
  #partial: Buffer = NOTHING;
  #isInData = false;
  #blocks: Buffer[] = [];
  /**
   * The last bytes of the data so far, since the end marker may be split across chunks. It starts as
   * CRLF, so that a message may consist of the final dot alone.
   */
  #tail: Buffer = NOTHING;

  constructor(socket: net.Socket, sink: SinkState) {
    this.#socket = socket;
    this.#sink = sink;
  }

  /** Sends all replies to one chunk in one write, as a server should (RFC 2920 §3.2). */
  receive(chunk: Buffer): void {
    let rest = chunk;
    let replies = "";
    while (rest.length > 0) {
      if (this.#isInData) {
        const after = this.#readData(rest);
        if (after === null) break;
        replies += this.#replyToMessage();
        rest = after;
        continue;
      }
      const end = rest.indexOf(LF);
      if (end === -1) {
        this.#partial = Buffer.concat([this.#partial, rest]);
        break;
      }
      replies += this.#answer(this.#completeLine(rest.subarray(0, end)));
      rest = rest.subarray(end + 1);
    }
    if (replies !== "") this.#socket.write(replies);
  }

  /** Returns the reply to the final dot; a delayed reply is sent later, and "" is returned. */
  #replyToMessage(): string {
    const { answerAfterMs = 0 } = this.#sink.options;
    const reply = "250 2.0.0 Ok: taken\r\n";
    if (answerAfterMs === 0) return reply;
    setTimeout(() => this.#socket.write(reply), answerAfterMs);
    return "";
  }

  #completeLine(bytes: Buffer): string {
    const line = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    this.#partial = NOTHING;
    return line.toString("utf8").trimEnd();
  }

  #answer(line: string): string {
    switch (line.slice(0, 4).toUpperCase()) {
      case "EHLO":
        return this.#sink.ehlo;
      case "MAIL":
        this.#from = pathOf(line);
        return "250 2.1.0 Ok\r\n";
      case "RCPT":
        this.#to.push(pathOf(line));
        return "250 2.1.5 Ok\r\n";
      case "DATA":
        this.#isInData = true;
        this.#tail = END_OF_DATA.subarray(0, 2);
        return "354 End data with <CR><LF>.<CR><LF>\r\n";
      case "QUIT":
        this.#socket.end("221 2.0.0 Bye\r\n");
        return "";
      case "RSET":
        this.#reset();
        return "250 2.0.0 Ok\r\n";
      default:
        return "250 2.0.0 Ok\r\n";
    }
  }

  /** Reads message data; returns the bytes after the final dot, or null if the message continues. */
  #readData(chunk: Buffer): Buffer | null {
    const end = this.#endOfData(chunk);
    const isCounted = this.#sink.options.countOnly === true;
    if (!isCounted) this.#blocks.push(end === -1 ? chunk : chunk.subarray(0, end));
    if (end === -1) {
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-4)]).subarray(-4);
      return null;
    }
    this.#sink.counts.messages++;
    if (!isCounted) this.#deliver();
    this.#reset();
    return chunk.subarray(end);
  }

  /** Returns the position after the line with the final dot, or -1; that line may span two chunks. */
  #endOfData(chunk: Buffer): number {
    const boundary = Buffer.concat([this.#tail, chunk.subarray(0, 4)]);
    const atBoundary = boundary.indexOf(END_OF_DATA);
    if (atBoundary !== -1) return atBoundary + END_OF_DATA.length - this.#tail.length;
    const inside = chunk.indexOf(END_OF_DATA);
    return inside === -1 ? -1 : inside + END_OF_DATA.length;
  }

  #deliver(): void {
    const stuffed = Buffer.concat(this.#blocks);
    const data = unstuff(stuffed.subarray(0, stuffed.length - ".\r\n".length));
    const message: SunkMessage = { from: this.#from, to: this.#to, data, at: Date.now() };
    this.#sink.messages.push(message);
    this.#sink.options.onMessage?.(message);
  }

  #reset(): void {
    this.#isInData = false;
    this.#from = "";
    this.#to = [];
    this.#blocks = [];
  }
}

function pathOf(line: string): string {
  return /<(.*)>/.exec(line)?.[1] ?? "";
}

/**
 * Removes dot-stuffing (RFC 5321 §4.5.2). It shares no code with the client's dot-stuffing, so that it
 * can check it.
 */
function unstuff(data: Buffer): Uint8Array {
  if (data[0] !== DOT && !data.includes("\r\n.")) return data;
  const out = Buffer.allocUnsafe(data.length);
  let length = 0;
  for (let i = 0; i < data.length; i++) {
    const byte = data[i] ?? 0;
    const isLineStart = i === 0 || (data[i - 1] === LF && data[i - 2] === 0x0d);
    if (byte === DOT && isLineStart) continue;
    out[length++] = byte;
  }
  return out.subarray(0, length);
}
