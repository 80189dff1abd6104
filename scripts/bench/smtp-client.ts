/** A small SMTP client for load: it keeps its connection, and sends one command after another. */

type Waiting = { resolve: (reply: string) => void; reject: (error: Error) => void };

export type SmtpClient = {
  /** Sends the envelope; resolves when the server waits for the message. */
  begin(envelope: { from: string; to: string }): Promise<void>;
  /** Sends the message with its final dot, and resolves to the reply, which is a 250. */
  finish(message: Uint8Array): Promise<string>;
  close(): void;
};

/** Connects, says EHLO, and authenticates if there is a password. All functions reject if the server refuses or the connection ends. */
export async function connectSmtp(port: number, password?: string): Promise<SmtpClient> {
  let received = "";
  let waiting: Waiting | null = null;
  let unsent: Uint8Array = new Uint8Array();
  let failure: Error | null = null;

  function fail(error: Error): void {
    failure ??= error;
    waiting?.reject(error);
    waiting = null;
  }

  /** A reply ends with a line that has a space after its code (RFC 5321 §4.2.1). */
  function takeReply(): void {
    const reply = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(received)?.[0];
    if (reply === undefined || waiting === null) return;
    received = received.slice(reply.length);
    const { resolve } = waiting;
    waiting = null;
    resolve(reply.trimEnd());
  }

  function flush(): void {
    const written = socket.write(unsent);
    unsent = unsent.subarray(Math.max(written, 0));
  }

  function reply(code: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    if (failure !== null) return Promise.reject(failure);
    waiting = { resolve, reject };
    takeReply();
    return promise.then((text) => {
      if (text.startsWith(code)) return text;
      throw new RefusedError(text);
    });
  }

  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, chunk) {
        received += chunk.toString("latin1");
        takeReply();
      },
      drain: flush,
      error: (_, error) => fail(error),
      close: () => fail(new Error("the connection was closed")),
    },
  });

  function ask(text: string | Uint8Array, code: string): Promise<string> {
    unsent = typeof text === "string" ? Buffer.from(text) : text;
    flush();
    return reply(code);
  }

  await reply("220");
  await ask("EHLO load.test\r\n", "250");
  if (password !== undefined) {
    const token = Buffer.from(`\0load\0${password}`).toString("base64");
    await ask(`AUTH PLAIN ${token}\r\n`, "235");
  }
  return {
    async begin({ from, to }) {
      await ask(`MAIL FROM:<${from}>\r\n`, "250");
      await ask(`RCPT TO:<${to}>\r\n`, "250");
      await ask("DATA\r\n", "354");
    },
    finish: (message) => ask(message, "250"),
    close: () => void socket.end(),
  };
}

/** The server answered with another code than the one that the dialogue expects. */
export class RefusedError extends Error {}
