/** Passes SMTP sessions on to a server, and records the messages that clients send. */

import { connect, createServer, type Server } from "node:net";

export type Recorder = {
  port: number;
  /** The messages in the order of their ends, without dot-stuffing. */
  messages: Buffer[];
  close(): void;
};

const END = Buffer.from("\r\n.\r\n");

/** Listens on loopback. The client must not use TLS. */
export async function startRecorder(target: number): Promise<Recorder> {
  const messages: Buffer[] = [];
  const server: Server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    const sent: Buffer[] = [];
    let isData = false;
    upstream.on("data", (bytes) => {
      if (/(?:^|\n)354 /.test(bytes.toString("latin1"))) {
        isData = true;
        sent.splice(0);
      }
      client.write(bytes);
    });
    client.on("data", (bytes) => {
      if (isData) {
        sent.push(Buffer.from(bytes));
        const all = Buffer.concat(sent);
        const end = all.indexOf(END);
        if (end !== -1) {
          messages.push(unstuffed(all.subarray(0, end + 2)));
          isData = false;
        }
      }
      upstream.write(bytes);
    });
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.on("close", () => upstream.end());
    upstream.on("close", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the recorder has no port");
  return { port: address.port, messages, close: () => void server.close() };
}

/** RFC 5321 §4.5.2: the first dot of a line was added by the client. */
function unstuffed(message: Buffer): Buffer {
  return Buffer.from(message.toString("latin1").replace(/^\./gm, ""), "latin1");
}
