/**
 * An SMTP server that ends one connection at a chosen position of a mail's commands, and behaves
 * correctly otherwise. It reads pipelined commands in the order in which they arrive, and ignores
 * those after the fault, as a server does that has closed the connection.
 */

import net from "node:net";
import { waitUntil } from "./eventually.ts";
import { closeServer, portOf } from "./smtp-sink.ts";

/**
 * Where the fault happens: instead of the reply to a command, after the first octets of the message,
 * instead of the reply to the final dot, or after that reply.
 */
export const FAULT_POSITIONS = ["mail", "rcpt", "data", "body", "dot", "between"] as const;
export type FaultPosition = (typeof FAULT_POSITIONS)[number];

/** 421: the reply 421, then the end of the connection; reset: RST instead of FIN. */
export const FAULT_KINDS = ["421", "close", "reset"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Iterations of the event loop between the final dot and its reply, in which commands may arrive. */
const STORING_TURNS = 3;

export type FaultServerOptions = {
  position: FaultPosition;
  kind: FaultKind;
  /** The fault happens once, at the first mail with this number in its connection, from 1. */
  mail: number;
  pipelining: boolean;
};

export type FaultServer = {
  port: number;
  /** Ends all connections and starts again: the fault happens once more, as these options say. */
  begin(options: FaultServerOptions): Promise<FaultRun>;
  close(): Promise<void>;
};

/** The messages and replies since `begin`. */
export type FaultRun = {
  /** Message-IDs of the messages that the server has, also if its reply was lost. */
  taken: string[];
  hasFaulted(): boolean;
  /** Number of final dots that were followed by commands of the next mail before their reply. */
  followed(): number;
};

const HARMLESS: FaultServerOptions = { position: "mail", kind: "421", mail: 0, pipelining: true };

const newState = (options: FaultServerOptions): State => ({
  options,
  taken: [],
  hasFaulted: false,
  followed: 0,
});

export async function startFaultServer(): Promise<FaultServer> {
  let state = newState(HARMLESS);
  const sockets = new Set<net.Socket>();
  // Half open, so that the end of the connection is a FIN and not a RST for commands in flight.
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    const connection = new FaultConnection(socket, state);
    socket.on("data", (chunk: Buffer) => connection.receive(chunk));
    socket.on("end", () => socket.end());
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.write("220 fault.test ESMTP\r\n");
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return {
    port: portOf(server),
    async begin(options) {
      for (const socket of sockets) socket.destroy();
      await waitUntil(() => sockets.size === 0);
      const run = newState(options);
      state = run;
      return {
        taken: run.taken,
        hasFaulted: () => run.hasFaulted,
        followed: () => run.followed,
      };
    },
    close: () => closeServer(server, sockets),
  };
}

type State = {
  options: FaultServerOptions;
  taken: string[];
  hasFaulted: boolean;
  followed: number;
};

class FaultConnection {
  readonly #socket: net.Socket;
  readonly #state: State;
  #pending = "";
  #isInData = false;
  #isOver = false;
  /** True while a message is being stored. */
  #isBusy = false;
  /** Number of the mail in this connection. */
  #mail = 0;

  constructor(socket: net.Socket, state: State) {
    this.#socket = socket;
    this.#state = state;
  }

  receive(chunk: Buffer): void {
    this.#pending += chunk.toString("latin1");
    this.#read();
  }

  #read(): void {
    while (!this.#isOver && !this.#isBusy) {
      if (!(this.#isInData ? this.#readMessage() : this.#readLine())) break;
    }
    if (this.#isOver) this.#pending = "";
  }

  /** Returns false if no complete line has arrived. */
  #readLine(): boolean {
    const end = this.#pending.indexOf("\r\n");
    if (end === -1) return false;
    const line = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end + 2);
    this.#answer(line.slice(0, 4).toUpperCase());
    return true;
  }

  #answer(verb: string): void {
    switch (verb) {
      case "EHLO":
        return this.#write(this.#ehlo());
      case "MAIL":
        this.#mail++;
        return this.#act("mail", "250 2.1.0 Ok");
      case "RCPT":
        return this.#act("rcpt", "250 2.1.5 Ok");
      case "DATA":
        this.#act("data", "354 Go ahead");
        this.#isInData = !this.#isOver;
        return;
      case "QUIT":
        this.#write("221 2.0.0 Bye");
        return this.#end();
      default:
        return this.#write("250 2.0.0 Ok");
    }
  }

  #ehlo(): string {
    const { pipelining } = this.#state.options;
    return `250-fault.test\r\n${pipelining ? "250-PIPELINING\r\n" : ""}250 8BITMIME`;
  }

  /** Returns false if the final dot has not arrived. */
  #readMessage(): boolean {
    if (this.#pending === "") return false;
    if (this.#isFaulty("body")) {
      this.#fault();
      return false;
    }
    const end = `\r\n${this.#pending}`.indexOf("\r\n.\r\n");
    if (end === -1) return false;
    const message = this.#pending.slice(0, end);
    this.#pending = this.#pending.slice(end + ".\r\n".length);
    this.#isInData = false;
    this.#isBusy = true;
    void this.#store(message);
    return true;
  }

  async #store(message: string): Promise<void> {
    for (let turn = 0; turn < STORING_TURNS; turn++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#isBusy = false;
    this.#answerMessage(message);
    this.#read();
  }

  #answerMessage(message: string): void {
    if (this.#pending !== "") this.#state.followed++;
    // A server that loses the connection after the final dot has the message; after 421 it has not.
    const isTaken = !(this.#isFaulty("dot") && this.#state.options.kind === "421");
    if (isTaken) this.#state.taken.push(/^Message-ID: (\S+)/im.exec(message)?.[1] ?? "");
    this.#act("dot", "250 2.0.0 Taken");
    if (!this.#isOver && this.#isFaulty("between")) this.#fault();
  }

  #isFaulty(position: FaultPosition): boolean {
    const { options, hasFaulted } = this.#state;
    return !hasFaulted && options.position === position && options.mail === this.#mail;
  }

  #act(position: FaultPosition, reply: string): void {
    if (this.#isFaulty(position)) this.#fault();
    else this.#write(reply);
  }

  #fault(): void {
    const { kind } = this.#state.options;
    this.#state.hasFaulted = true;
    if (kind === "reset") {
      this.#isOver = true;
      this.#socket.resetAndDestroy();
      return;
    }
    if (kind === "421") this.#write("421 4.3.2 Shutting down");
    this.#end();
  }

  #write(reply: string): void {
    this.#socket.write(`${reply}\r\n`);
  }

  #end(): void {
    this.#isOver = true;
    this.#socket.end();
  }
}
