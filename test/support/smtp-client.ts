/** A raw SMTP client: it sends exactly the given bytes, and reads whole replies. */

import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";

export type RawSmtp = {
  /** Sends bytes and returns the next reply, with lines joined by "\n". */
  say(text: string | Uint8Array): Promise<string>;
  /** Sends bytes and waits for nothing. */
  write(text: string | Uint8Array): void;
  /** Returns the next reply. */
  reply(): Promise<string>;
  /** Resolves when the server closed the connection. */
  closed: Promise<void>;
  socket: Socket;
  end(): void;
};

/** An IPv4 address of this machine that is not loopback; undefined if it has none. */
export const [networkAddress] = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .filter(({ family, internal }) => family === "IPv4" && !internal)
  .map(({ address }) => address);

/** Connects and reads the greeting. */
export async function rawSmtp(port: number, host = "127.0.0.1"): Promise<RawSmtp> {
  const socket = connect(port, host);
  const replies: string[] = [];
  const waiting: ((reply: string) => void)[] = [];
  let text = "";
  let lines: string[] = [];
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n")) {
      const line = text.slice(0, at);
      text = text.slice(at + 2);
      lines.push(line);
      if (line[3] === "-") continue;
      const whole = lines.join("\n");
      lines = [];
      const next = waiting.shift();
      if (next === undefined) replies.push(whole);
      else next(whole);
    }
  });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => {
      for (const next of waiting) next("closed");
      resolve();
    });
  });
  const reply = (): Promise<string> => {
    const known = replies.shift();
    if (known !== undefined) return Promise.resolve(known);
    if (socket.destroyed) return Promise.resolve("closed");
    return new Promise((resolve) => waiting.push(resolve));
  };
  const client: RawSmtp = {
    say(bytes) {
      socket.write(bytes);
      return reply();
    },
    write: (bytes) => void socket.write(bytes),
    reply,
    closed,
    socket,
    end: () => socket.destroy(),
  };
  await reply();
  return client;
}

/** Sends one message and returns the reply after the final dot. */
export async function sendRaw(
  client: RawSmtp,
  message: string | Uint8Array,
  { from = "a@example.com", to = ["b@example.com"] } = {},
): Promise<string> {
  await client.say(`MAIL FROM:<${from}>\r\n`);
  for (const address of to) await client.say(`RCPT TO:<${address}>\r\n`);
  await client.say("DATA\r\n");
  client.write(message);
  return client.say("\r\n.\r\n");
}
