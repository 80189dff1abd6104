/**
 * The input of a session: commands as the package smtp-server reads them, and messages by a scanner
 * of our own. The package writes each message into a stream, copies pieces and looks at each byte;
 * here a message goes to a function piece by piece, in the memory in which the socket received it.
 */

import { PassThrough } from "node:stream";
import { SMTPStream } from "smtp-server/lib/smtp-stream.js";
import { freeMemory } from "../lib/free-memory.ts";
import { createDotScanner } from "./dots.ts";

/** Takes a piece of a message; the promise is null if the next piece may follow at once. */
type TakePiece = (piece: Buffer) => Promise<void> | null;

/** The package takes the code for a client that disconnected. */
export class DisconnectedError extends Error {
  readonly code = "ECONNECTION";

  constructor() {
    super("The connection was closed before the message was answered");
  }
}

/**
 * The message of a transaction. The package needs a stream, and asks whether it is destroyed; no data
 * flows through it.
 */
export class MessageStream extends PassThrough {
  byteLength = 0;
  sizeExceeded = false;
  #take: TakePiece | null = null;
  #isComplete = false;
  readonly #end = Promise.withResolvers<void>();

  /**
   * Gives the message to `take`, and resolves at its end. It has to be called before the function
   * returns that gets the stream. Rejects if the client disconnects, if the stream is destroyed with
   * an error, or if `take` fails; the rest of the message is then read and lost.
   */
  readInto(take: TakePiece): Promise<void> {
    this.#take = take;
    return this.#end.promise;
  }

  /** The promise is null if the next piece may follow at once. */
  give(piece: Buffer): Promise<void> | null {
    if (this.destroyed || this.#take === null || piece.byteLength === 0) return null;
    try {
      const taken = this.#take(piece);
      return taken === null ? null : taken.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  complete(): void {
    this.#isComplete = true;
    this.#end.resolve();
    this.destroy();
  }

  #fail(error: unknown): void {
    this.destroy(error instanceof Error ? error : new Error(String(error)));
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#isComplete) this.#end.reject(error ?? new DisconnectedError());
    // The error is not emitted: the promise has it.
    callback();
  }
}

export class SmtpInput extends SMTPStream {
  #scan = createDotScanner();
  #message: MessageStream | null = null;

  override startDataMode(maxBytes?: number | string | null): MessageStream {
    const message = new MessageStream();
    this.#scan = createDotScanner();
    this.#message = message;
    this._dataMode = true;
    this._maxBytes = Number(maxBytes ?? 0) || Infinity;
    this.dataBytes = 0;
    this._dataStream = message;
    return message;
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const message = this.#message;
    if (message === null) return done();
    const { held, content, end } = this.#scan(chunk);
    this._countDataBytes(held.byteLength + content.byteLength);
    const rest = end === -1 ? null : Buffer.from(chunk.subarray(end));
    const finish = () => {
      // The socket's buffers are large, and are found late by the collector.
      freeMemory(chunk);
      if (rest === null) done();
      else this.#endMessage(message, rest, done);
    };
    const taken = giveBoth(message, held, content);
    if (taken === null) finish();
    else void taken.then(finish);
  }

  /** Reads what follows the message after its reply, for which the package calls `continue`. */
  #endMessage(message: MessageStream, rest: Buffer, done: (error?: Error | null) => void): void {
    const goOn = () => this._write(rest, "buffer", done);
    const isAnswered = this._continueCallback === true;
    this._continueCallback = isAnswered ? false : goOn;
    this._dataMode = false;
    this._remainder = "";
    this._dataStream = null;
    this.#message = null;
    message.complete();
    if (isAnswered) goOn();
  }
}

function giveBoth(message: MessageStream, held: Buffer, content: Buffer): Promise<void> | null {
  const taken = message.give(held);
  if (taken === null) return message.give(content);
  return taken.then(() => message.give(content) ?? undefined);
}
