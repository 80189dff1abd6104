/**
 * The package smtp-server with six changes: a connection is greeted at once (the package waits
 * 100 ms for clients that speak too early), a reply may bring its own enhanced status code
 * (RFC 3463), the lines of a session can be recorded, messages are read by `SmtpInput`, local
 * parts may be quoted, and sockets count against the limits from the moment at which they are accepted.
 */

import type { Socket } from "node:net";
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js";
import { isLoopback } from "../protocols/smtp/relay-url.ts";
import { createClientSockets } from "./network-counts.ts";
import { splitQuotedPath } from "./quoted-path.ts";
import { SmtpInput } from "./message-stream.ts";

/** "C": a line of the client, without credentials. "S": a line of the server. */
type Direction = "C" | "S";

/** Called with each line of a session; `line` makes it, if it is recorded at all. */
export type RecordLine = (sessionId: string, direction: Direction, line: () => string) => void;

const ENHANCED_CODE = /^[245]\.\d{1,3}\.\d{1,3} /;
const LINE_LIMIT = 2_048;
/** Time for the TLS handshake of a listener that begins with it. */
const HANDSHAKE_MS = 30_000;

type Limits = {
  /** Sockets at the same time; one more gets 421, or is closed if it begins with TLS. */
  maxClients: number;
  /** Sockets of one IPv4 address or IPv6 /64, likewise. This machine has no limit. */
  maxPerAddress: number;
  /** Whether clients that are not on this machine may authenticate only with TLS. */
  needsTlsForAuth: boolean;
  /** Called before DATA is answered with 354. An error refuses the command. */
  beforeData: BeforeData;
};

export type BeforeData = (
  session: SMTPServerSession,
  callback: (error?: Error | null) => void,
) => void;

class Connection extends SMTPConnection {
  readonly #recordLine: RecordLine;
  readonly #isRefused: (peer: string) => boolean;
  readonly #beforeData: BeforeData;
  readonly #needsTlsForAuth: boolean;

  constructor(
    args: ConstructorParameters<typeof SMTPConnection>,
    recordLine: RecordLine,
    hooks: Pick<Limits, "beforeData" | "needsTlsForAuth"> & {
      isRefused: (peer: string) => boolean;
    },
  ) {
    super(...args);
    this.#recordLine = recordLine;
    this.#isRefused = hooks.isRefused;
    this.#beforeData = hooks.beforeData;
    this.#needsTlsForAuth = hooks.needsTlsForAuth;
  }

  #mayAuthenticate(): boolean {
    return this.secure || !this.#needsTlsForAuth || isLoopback(this.remoteAddress);
  }

  override handler_AUTH(command: Buffer, callback: () => void): void {
    if (this.#mayAuthenticate()) return super.handler_AUTH(command, callback);
    this.send(538, "5.7.11 Use STARTTLS before AUTH");
    callback();
  }

  override _createParser(): SmtpInput {
    const { maxCommandLength } = this._server.options;
    const input = new SmtpInput(maxCommandLength === undefined ? {} : { maxCommandLength });
    input.oncommand = (command, callback) => this._onCommand(command, callback);
    input.on("error", (error) => this.send(421, `Error: ${error.message}`));
    return input;
  }

  override _parseAddressCommand(
    ...[name, command]: Parameters<SMTPConnection["_parseAddressCommand"]>
  ): ReturnType<SMTPConnection["_parseAddressCommand"]> {
    const quoted = splitQuotedPath(command.toString());
    if (quoted === null) return super._parseAddressCommand(name, command);
    const parsed = super._parseAddressCommand(name, Buffer.from(quoted.plain));
    if (parsed === false) return false;
    const { address } = parsed;
    return { ...parsed, address: quoted.local + address.slice(address.lastIndexOf("@")) };
  }

  override handler_DATA(command: Buffer, callback: () => void): void {
    if (this.session.envelope.rcptTo.length === 0) return super.handler_DATA(command, callback);
    this.#beforeData(this.session, (error) => {
      if (error === undefined || error === null) return super.handler_DATA(command, callback);
      if (error instanceof SmtpRefusal) this.send(error.responseCode, error.message);
      callback();
    });
  }

  override init(): void {
    this._setListeners(() => {
      if (this.#isRefused(this.remoteAddress))
        this.send(421, "4.7.0 Too many connections, try again later");
      else this.connectionReady();
    });
  }

  override send(code: number, data: string | string[], context?: string | false): void {
    const hasOwnCode = typeof data === "string" && ENHANCED_CODE.test(data);
    // A rule may delay a reply until after the client has left.
    if (!this._socket.destroyed) {
      this.#recordLine(
        this.id,
        "S",
        () => `${code} ${Array.isArray(data) ? data.join(" | ") : data}`,
      );
    }
    const lines =
      Array.isArray(data) && !this.#mayAuthenticate()
        ? data.filter((line) => !line.startsWith("AUTH "))
        : data;
    super.send(code, lines, hasOwnCode ? false : context);
  }

  override _onCommand(command: Buffer, callback?: () => void): void {
    this.#recordLine(this.id, "C", () => {
      const text = command.toString().slice(0, LINE_LIMIT);
      const [name = ""] = text.split(" ", 1);
      return this._redactCredentials(name.toUpperCase(), text).line;
    });
    if (!command.includes("\r")) return super._onCommand(command, callback);
    this.send(500, "5.5.2 A command must not contain a bare CR");
    setImmediate(() => callback?.());
  }
}

export class SmtpServer extends SMTPServer {
  readonly #recordLine: RecordLine;
  readonly #limits: Limits;
  readonly #sockets: ReturnType<typeof createClientSockets>;

  constructor(options: SMTPServerOptions, recordLine: RecordLine, limits: Limits) {
    super(options);
    this.#recordLine = recordLine;
    this.#limits = limits;
    this.#sockets = createClientSockets(limits);
  }

  /** The package calls this for each accepted socket. Returns false if the socket is refused. */
  override _acceptSocket(socket: Socket, hasHandshake: boolean): (() => void) | false {
    this.#sockets.add(socket);
    if (hasHandshake && this.#sockets.isBeyond(socket.remoteAddress ?? "")) {
      socket.on("error", () => {});
      socket.destroy();
      return false;
    }
    const release = super._acceptSocket(socket, hasHandshake);
    if (!hasHandshake || release === false) return release;
    const timer = setTimeout(() => this._pendingSockets.get(socket)?.destroy(), HANDSHAKE_MS);
    return () => {
      clearTimeout(timer);
      release();
    };
  }

  /** Replaces the package's function, which it calls when a session can begin. */
  override connect(...[socket, options]: Parameters<SMTPServer["connect"]>): void {
    const { beforeData, needsTlsForAuth } = this.#limits;
    const { isBeyond } = this.#sockets;
    const hooks = { isRefused: isBeyond, beforeData, needsTlsForAuth };
    const connection = new Connection([this, socket, options], this.#recordLine, hooks);
    this.connections.add(connection);
    connection.on("error", (error: unknown) => this.emit("error", error));
    connection.on("connect", (data: unknown) => this.emit("connect", data));
    connection.init();
  }
}

/** A refusal with its reply code and enhanced status code, for the callbacks of the package. */
export class SmtpRefusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}
