/**
 * The part of POP3 (RFC 1939) that reading reports needs: log in, list the messages with their unique
 * ids, read one and delete one. The server deletes at QUIT, which must be answered.
 */

import { nextIteration } from "../../lib/yield.ts";
import { DotStuffedText } from "./dot-stuffed.ts";
import { isGone, MailboxFault, quoteServer } from "./mailbox-fault.ts";
import type { MailboxWire } from "./mailbox-wire.ts";

type Pop3Login = { username: string; password: string };

/** `number` is valid in this session only, `uid` for good. */
type ListedMessage = { number: number; uid: string };

/** Messages of a mailbox; all of them are listed each time. */
const MAX_LISTED = 10_000;
/** RFC 1939 §3 allows 512 octets. */
const MAX_LINE = 2_048;
/** Octets of a message that are received. */
const MAX_MESSAGE = 25 * 1024 * 1024;

export async function openPop3(wire: MailboxWire, login: Pop3Login): Promise<Pop3Session> {
  const session = new Pop3Session(wire, login);
  await session.open();
  return session;
}

export class Pop3Session {
  readonly #wire: MailboxWire;
  readonly #login: Pop3Login;
  isSpent = false;

  constructor(wire: MailboxWire, login: Pop3Login) {
    this.#wire = wire;
    this.#login = login;
  }

  async open(): Promise<void> {
    const { username, password } = this.#login;
    await this.#readStatus("the connection");
    const user = await this.#ask(`USER ${username}`);
    const answer = user.isOk ? await this.#ask(`PASS ${password}`) : user;
    if (answer.isOk) return;
    throw new MailboxFault("login", `the server refused the login: ${this.#quote(answer.text)}`);
  }

  /** All messages, oldest first. */
  async list(): Promise<ListedMessage[]> {
    await this.#require("UIDL");
    const listed: ListedMessage[] = [];
    for (;;) {
      const line = await this.#wire.readLine(MAX_LINE);
      if (line === ".") return listed;
      const [, number, uid] = /^(\d{1,10}) +([\x21-\x7e]{1,200})$/.exec(line) ?? [];
      if (number === undefined || uid === undefined) throw this.#unexpected(line);
      listed.push({ number: Number(number), uid });
      if (listed.length > MAX_LISTED) {
        const message = `the mailbox has more than ${MAX_LISTED} messages: empty it, or use IMAP`;
        throw new MailboxFault("protocol", message);
      }
    }
  }

  /**
   * The first `maxBytes` of a message; null if it is gone. If it is longer than 25 MiB, the rest is not
   * received, so the session is of no use afterwards (`isSpent`). Throws a fault "unreadable" if the
   * message is refused.
   */
  async read(number: number, maxBytes: number): Promise<Uint8Array | null> {
    const { isOk, text } = await this.#ask(`RETR ${number}`);
    if (!isOk) {
      if (isGone(text)) return null;
      const message = `message ${number} was refused: ${this.#quote(text)}`;
      throw new MailboxFault("unreadable", message);
    }
    const message = new DotStuffedText(maxBytes);
    while (message.octets <= MAX_MESSAGE) {
      await this.#wire.readBlock((block) => message.read(block));
      if (message.isEnded) return message.text();
      // Octets that have arrived are read without a wait, which would hold the event loop.
      await nextIteration();
    }
    this.isSpent = true;
    return message.text();
  }

  async remove(number: number): Promise<void> {
    await this.#require(`DELE ${number}`);
  }

  /** Deletes what was removed, and ends the session. */
  async quit(): Promise<void> {
    await this.#require("QUIT");
  }

  async #require(command: string): Promise<void> {
    const { isOk, text } = await this.#ask(command);
    if (!isOk) throw new MailboxFault("refused", `${command} was refused: ${this.#quote(text)}`);
  }

  async #ask(command: string): Promise<{ isOk: boolean; text: string }> {
    this.#wire.write(`${command}\r\n`);
    const text = await this.#wire.readLine(MAX_LINE);
    if (text.startsWith("+OK")) return { isOk: true, text };
    if (text.startsWith("-ERR")) return { isOk: false, text };
    throw this.#unexpected(text);
  }

  async #readStatus(what: string): Promise<void> {
    const text = await this.#wire.readLine(MAX_LINE);
    if (text.startsWith("+OK")) return;
    if (!text.startsWith("-ERR")) throw this.#unexpected(text);
    throw new MailboxFault("refused", `${what} was refused: ${this.#quote(text)}`);
  }

  #unexpected(text: string): MailboxFault {
    return new MailboxFault("protocol", `this is no answer of POP3: ${this.#quote(text)}`);
  }

  #quote(text: string): string {
    return quoteServer(text, [this.#login.password]);
  }
}
