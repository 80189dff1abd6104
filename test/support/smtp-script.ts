/**
 * An SMTP server with scripted faults. A script has an action for some steps of the session; at all
 * other steps the server behaves correctly. Actions may differ by occurrence and by connection.
 */

import net from "node:net";
import tls from "node:tls";
import { closeServer, portOf } from "./smtp-sink.ts";

export type ScriptStep =
  | "connect"
  | "greeting"
  | "ehlo"
  | "helo"
  | "starttls"
  | "auth"
  | "mail"
  | "rcpt"
  | "data"
  | "body"
  | "dot"
  | "rset"
  | "quit";

/**
 * Behaviour of the server at a step:
 * - an object: it sends this reply (`text` may have several lines) or these bytes.
 * - close: it closes the connection without a reply. reset: it resets the connection with RST.
 * - hang: it reads and sends nothing more.
 * - garbage: it sends a line that is not an SMTP reply.
 * - closing: it replies 421 and closes the connection (RFC 5321 §3.8).
 * - trickle, multiline, huge: it sends the correct reply in single bytes, 20 lines or 64 KiB.
 * - oversized: it sends a reply of more than 64 KiB.
 */
export type Action =
  | { code: number; text?: string }
  | { raw: string }
  | "close"
  | "reset"
  | "hang"
  | "garbage"
  | "closing"
  | "trickle"
  | "multiline"
  | "huge"
  | "oversized";

/**
 * A list has the actions of the first, second … occurrence in a connection; null is correct
 * behaviour. A function is asked at each occurrence.
 */
export type Script = {
  [step in ScriptStep]?: Action | (Action | null)[] | (() => Action | null);
};

export type ScriptOptions = {
  /**
   * A list has the scripts of the first, second … connection; the last one also serves all others.
   */
  script?: Script | Script[];
  /** Keywords in the reply to EHLO; STARTTLS is added if `tls` is given. */
  extensions?: readonly string[];
  tls?: { key: string; cert: string; implicit?: boolean };
  /** Address and port to listen on; the default is 127.0.0.1 and a free port. */
  address?: string;
  port?: number;
};

export type ScriptServer = {
  port: number;
  /** Lines that the client sent on each connection, without the message. */
  transcripts: string[][];
  /** The messages as sent, dot-stuffed and with the final dot. */
  bodies: string[];
  /** The client address of each connection. */
  peers: string[];
  /** The server name (SNI, RFC 6066 §3) of each TLS handshake after STARTTLS. */
  serverNames: string[];
  /** Number of connections that either side has closed. */
  ended: number;
  /** Number of connections on which the script has begun to hang. */
  hanging: number;
  /** Returns the number of received lines that were not read because the script hangs. */
  pendingLines(): number;
  /** Writes this text on all connections, without waiting for a command. */
  say(words: string): void;
  /** Closes all connections. */
  drop(): void;
  close(): Promise<void>;
};

const DEFAULT_EXTENSIONS = ["PIPELINING", "8BITMIME", "SIZE 50000000", "AUTH PLAIN LOGIN"];

export async function startScript(options: ScriptOptions = {}): Promise<ScriptServer> {
  const sockets = new Set<net.Socket>();
  const connections: ScriptConnection[] = [];
  const state: ScriptServer = {
    port: 0,
    transcripts: [],
    bodies: [],
    peers: [],
    serverNames: [],
    ended: 0,
    hanging: 0,
    pendingLines: () => connections.reduce((sum, each) => sum + each.pendingLines, 0),
    say: (words) => {
      for (const socket of sockets) socket.write(words);
    },
    drop: () => {
      for (const socket of sockets) socket.end();
    },
    close: () => closeServer(server, sockets),
  };
  const accept = (socket: net.Socket): void => {
    sockets.add(socket);
    socket.on("close", () => {
      sockets.delete(socket);
      state.ended++;
    });
    socket.on("error", () => socket.destroy());
    state.peers.push(socket.remoteAddress ?? "");
    const script = scriptOf(options, state.transcripts.length);
    const connection = new ScriptConnection(socket, { options, script, state });
    connections.push(connection);
    void connection.begin();
  };
  const server =
    options.tls?.implicit === true
      ? tls.createServer({ key: options.tls.key, cert: options.tls.cert }, accept)
      : net.createServer(accept);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options.port ?? 0, options.address ?? "127.0.0.1", resolve);
  await promise;
  state.port = portOf(server);
  return state;
}

function scriptOf({ script = {} }: ScriptOptions, connection: number): Script {
  return Array.isArray(script) ? (script[connection] ?? script.at(-1) ?? {}) : script;
}

type Context = { options: ScriptOptions; script: Script; state: ScriptServer };

class ScriptConnection {
  #socket: net.Socket;
  readonly #context: Context;
  readonly #transcript: string[] = [];
  readonly #occurrences = new Map<ScriptStep, number>();
  #pending = Buffer.alloc(0);
  #isPumping = false;
  #isOver = false;
  #isSecure = false;
  #phase: "commands" | "login" | "data" = "commands";
  #loginLines = 0;
  #hasRecipient = false;
  #hasBody = false;

  constructor(socket: net.Socket, context: Context) {
    this.#socket = socket;
    this.#context = context;
    this.#isSecure = context.options.tls?.implicit === true;
    context.state.transcripts.push(this.#transcript);
  }

  get pendingLines(): number {
    return this.#pending.toString("latin1").split("\n").length - 1;
  }

  async begin(): Promise<void> {
    this.#socket.setNoDelay(true);
    this.#socket.on("data", this.#receive);
    const action = this.#next("connect");
    if (action !== null) await this.#perform(action, "220 script.test ESMTP");
    await this.#act("greeting", "220 script.test ESMTP");
  }

  readonly #receive = (chunk: Buffer): void => {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    void this.#pump();
  };

  /** Processes one line after another, so that slow replies keep their order. */
  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (!this.#isOver && (await this.#advance()));
    this.#isPumping = false;
  }

  /** Processes the next line or message; returns false if it is not complete yet. */
  async #advance(): Promise<boolean> {
    if (this.#phase === "data") return this.#advanceData();
    const end = this.#pending.indexOf("\n");
    if (end === -1) return false;
    const line = this.#pending.toString("utf8", 0, end).trimEnd();
    this.#pending = this.#pending.subarray(end + 1);
    this.#transcript.push(line);
    await (this.#phase === "login" ? this.#continueLogin() : this.#answer(line));
    return true;
  }

  async #answer(line: string): Promise<void> {
    const [verb = ""] = line.toLowerCase().split(" ");
    switch (verb) {
      case "ehlo":
        return this.#act("ehlo", this.#ehlo());
      case "helo":
        return this.#act("helo", "250 script.test");
      case "starttls":
        return this.#startTls();
      case "auth":
        return this.#login(line);
      case "mail":
        this.#hasRecipient = false;
        return this.#act("mail", "250 2.1.0 Ok");
      case "rcpt":
        return this.#recipient();
      case "data":
        return this.#data();
      case "rset":
        return this.#act("rset", "250 2.0.0 Ok");
      case "quit":
        await this.#act("quit", "221 2.0.0 Bye");
        this.#end();
        return;
      default:
        return this.#write("500 5.5.2 What?");
    }
  }

  #ehlo(): string {
    const { options } = this.#context;
    const extensions = [...(options.extensions ?? DEFAULT_EXTENSIONS)];
    if (options.tls !== undefined && !this.#isSecure) extensions.push("STARTTLS");
    return multiline(250, ["script.test", ...extensions]);
  }

  async #startTls(): Promise<void> {
    const { tls: certificate } = this.#context.options;
    const isGranted = await this.#decide("starttls", "220 2.0.0 Go ahead");
    if (!isGranted || certificate === undefined) return;
    this.#socket.off("data", this.#receive);
    this.#pending = Buffer.alloc(0);
    const { key, cert } = certificate;
    const secureContext = tls.createSecureContext({ key, cert });
    const SNICallback: tls.TlsOptions["SNICallback"] = (name, use) => {
      this.#context.state.serverNames.push(name);
      use(null, secureContext);
    };
    this.#socket = new tls.TLSSocket(this.#socket, { isServer: true, secureContext, SNICallback });
    this.#socket.on("data", this.#receive);
    this.#socket.on("error", () => this.#socket.destroy());
    this.#isSecure = true;
  }

  async #login(line: string): Promise<void> {
    if (!/^auth login$/i.test(line)) return this.#act("auth", "235 2.7.0 Welcome");
    this.#loginLines = 0;
    if (await this.#decide("auth", "334 VXNlcm5hbWU6")) this.#phase = "login";
  }

  async #continueLogin(): Promise<void> {
    this.#loginLines++;
    if (this.#loginLines === 1) return this.#write("334 UGFzc3dvcmQ6");
    this.#phase = "commands";
    return this.#write("235 2.7.0 Welcome");
  }

  async #recipient(): Promise<void> {
    if (await this.#decide("rcpt", "250 2.1.5 Ok")) this.#hasRecipient = true;
  }

  async #data(): Promise<void> {
    const usual = this.#hasRecipient ? "354 Go ahead" : "554 5.5.1 No valid recipients";
    if (!(await this.#decide("data", usual))) return;
    this.#phase = "data";
    this.#hasBody = false;
  }

  async #advanceData(): Promise<boolean> {
    if (this.#pending.length === 0) return false;
    if (!this.#hasBody) {
      this.#hasBody = true;
      const action = this.#next("body");
      if (action === null) return true;
      // Until the reply is written nothing more is read, so that it arrives before the final dot.
      this.#socket.pause();
      await this.#perform(action, "250 2.0.0 Too early");
      if (!this.#isOver) this.#socket.resume();
      return true;
    }
    const isLoneDot = this.#pending.indexOf(".\r\n") === 0;
    const end = isLoneDot ? 3 : this.#pending.indexOf("\r\n.\r\n") + 5;
    if (end < 5 && !isLoneDot) return false;
    this.#context.state.bodies.push(this.#pending.toString("latin1", 0, end));
    this.#pending = this.#pending.subarray(end);
    this.#phase = "commands";
    await this.#act(
      "dot",
      this.#hasRecipient ? "250 2.0.0 Taken" : "554 5.5.1 No valid recipients",
    );
    return true;
  }

  #next(step: ScriptStep): Action | null {
    const scripted = this.#context.script[step] ?? null;
    const occurrence = this.#occurrences.get(step) ?? 0;
    this.#occurrences.set(step, occurrence + 1);
    if (typeof scripted === "function") return scripted();
    return Array.isArray(scripted) ? (scripted[occurrence] ?? null) : scripted;
  }

  async #act(step: ScriptStep, usual: string): Promise<void> {
    await this.#decide(step, usual);
  }

  /**
   * Performs a step; returns true if the reply was positive, so that the server has to act on it.
   */
  async #decide(step: ScriptStep, usual: string): Promise<boolean> {
    if (this.#isOver) return false;
    const action = this.#next(step);
    if (action === null) this.#write(usual);
    else await this.#perform(action, usual);
    if (this.#isOver) return false;
    if (action !== null && typeof action === "object") {
      return "code" in action && action.code < 400;
    }
    return action !== "garbage" && !/^[45]/.test(usual);
  }

  async #perform(action: Action, usual: string): Promise<void> {
    if (typeof action === "object") {
      if ("raw" in action) this.#socket.write(action.raw, "latin1");
      else this.#write(multiline(action.code, (action.text ?? "As told").split("\n")));
      return;
    }
    const code = Number(usual.slice(0, 3));
    switch (action) {
      case "close":
        return this.#end();
      case "reset":
        this.#isOver = true;
        this.#socket.resetAndDestroy();
        return;
      case "hang":
        this.#isOver = true;
        this.#socket.pause();
        this.#context.state.hanging++;
        return;
      case "garbage":
        return this.#write("\u0001\u0002 what is SMTP?");
      case "closing":
        this.#write("421 4.3.2 Shutting down");
        return this.#end();
      case "trickle":
        return this.#trickle(`${usual}\r\n`);
      case "multiline":
        return this.#write(multiline(code, [...textsOf(usual), ...padding(20, 20)]));
      case "huge":
        return this.#write(multiline(code, fill(textsOf(usual), 122)));
      case "oversized":
        return this.#write(multiline(code, fill(textsOf(usual), 123)));
      default:
        throw new Error(`unknown action: ${String(action)}`);
    }
  }

  async #trickle(text: string): Promise<void> {
    for (const byte of Buffer.from(text)) {
      this.#socket.write(Buffer.of(byte));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #write(reply: string): void {
    this.#socket.write(`${reply}\r\n`);
  }

  #end(): void {
    this.#isOver = true;
    this.#socket.end();
  }
}

function multiline(code: number, lines: readonly string[]): string {
  const last = lines.length - 1;
  return lines.map((line, i) => `${code}${i === last ? " " : "-"}${line}`).join("\r\n");
}

function textsOf(reply: string): string[] {
  return reply.split("\r\n").map((line) => line.slice(4));
}

/** Returns 512 lines of `length` characters; code, hyphen and CRLF add six octets to each. */
function fill(texts: readonly string[], length: number): string[] {
  const first = texts.map((text) => text.padEnd(length));
  return [...first, ...padding(512 - first.length, length)];
}

function padding(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, i) => `X-${i} `.padEnd(length, "x"));
}
