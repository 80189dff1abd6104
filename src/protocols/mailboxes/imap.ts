/**
 * The part of IMAP4rev1 (RFC 3501) that reading reports needs: log in, select a folder, find messages
 * by UID, read the beginning of one, and mark it as seen. Nothing is deleted.
 */

import { createYield } from "../../lib/yield.ts";
import { isGone, MailboxFault, quoteServer } from "./mailbox-fault.ts";
import type { MailboxWire } from "./mailbox-wire.ts";

type ImapLogin = { username: string; password: string; folder: string };

/** A message keeps its UID while the folder keeps its UIDVALIDITY (RFC 3501 §2.3.1.1). */
type Folder = { uidValidity: number; messages: number; isReadOnly: boolean };

/** `text` has `{n}` where a literal stood. */
type Response = { text: string; literals: Buffer[] };
/** `text` is the final response without its tag. */
type Answer = { isOk: boolean; text: string; untagged: Response[] };

/** Octets of the responses to a command. */
const MAX_ANSWER = 256 * 1024;
/** A search answers with one line of UIDs: a folder may have about 400,000 messages. */
const MAX_SEARCH = 4 * 1024 * 1024;
/** Characters of a line that are read at once. */
const PIECE_LENGTH = 32 * 1024;
/** Memory of a response besides its octets. */
const RESPONSE_COST = 100;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"].concat([
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
]);

/** Logs in and selects the folder. */
export async function openImap(wire: MailboxWire, login: ImapLogin): Promise<ImapSession> {
  const session = new ImapSession(wire, login);
  await session.open();
  return session;
}

export class ImapSession {
  readonly #wire: MailboxWire;
  readonly #login: ImapLogin;
  /** The answer to AUTHENTICATE PLAIN (RFC 4616 §2). */
  readonly #plain: string;
  #commands = 0;
  folder: Folder = { uidValidity: 0, messages: 0, isReadOnly: false };

  constructor(wire: MailboxWire, login: ImapLogin) {
    this.#wire = wire;
    this.#login = login;
    const { username, password } = login;
    this.#plain = Buffer.from(`\0${username}\0${password}`).toString("base64");
  }

  async open(): Promise<void> {
    const { text } = await this.#readResponse({ octets: MAX_ANSWER });
    if (/^\* PREAUTH\b/i.test(text)) return this.#select();
    if (isBye(text)) throw this.#ended(text);
    if (!/^\* OK\b/i.test(text)) throw this.#unexpected(text);
    await this.#logIn();
    await this.#select();
  }

  /** UIDs above `afterUid` of messages that arrived on `since` or later, in ascending order. */
  async findUids(afterUid: number, since: Date): Promise<number[]> {
    const day = `${since.getUTCDate()}-${MONTHS[since.getUTCMonth()]}-${since.getUTCFullYear()}`;
    const { untagged } = await this.#require(`UID SEARCH UID ${afterUid + 1}:* SINCE ${day}`, {
      octets: MAX_SEARCH,
    });
    const answers = untagged.filter(({ text }) => /^\* SEARCH\b/i.test(text));
    const found = await readNumbers(
      answers.map(({ text }) => text.slice("* SEARCH".length)).join(" "),
    );
    // A typed array sorts numbers without calls of a function, so much faster.
    const sorted = Float64Array.from(found).sort();
    // The range 8:* contains the last message even if its UID is lower (RFC 3501 §6.4.8).
    return Array.from(sorted).filter((uid, n) => uid > afterUid && uid !== sorted[n - 1]);
  }

  /**
   * The first `maxBytes` of a message, which stays unseen; null if it is gone. A UID that does not exist
   * is answered with OK and without data (RFC 3501 §6.4.8). Throws a fault "unreadable" if it is refused.
   */
  async read(uid: number, maxBytes: number): Promise<Uint8Array | null> {
    const command = `UID FETCH ${uid} (UID BODY.PEEK[]<0.${maxBytes}>)`;
    const answer = await this.#run(command, { octets: maxBytes + MAX_ANSWER });
    if (!answer.isOk) {
      if (isGone(answer.text)) return null;
      const message = `message ${uid} was refused: ${this.#quote(answer.text)}`;
      throw new MailboxFault("unreadable", message);
    }
    const fetched = answer.untagged.find(
      ({ text, literals }) =>
        literals.length > 0 && Number(/\bUID (\d{1,10})\b/i.exec(text)?.[1]) === uid,
    );
    return fetched?.literals[0] ?? null;
  }

  async markSeen(uid: number): Promise<void> {
    if (!this.folder.isReadOnly) await this.#require(`UID STORE ${uid} +FLAGS.SILENT (\\Seen)`);
  }

  async logOut(): Promise<void> {
    try {
      await this.#run("LOGOUT", { isLeaving: true });
    } catch (error) {
      // The messages have been read: how the session ends changes nothing.
      if (!(error instanceof MailboxFault)) throw error;
    }
  }

  async #logIn(): Promise<void> {
    const { untagged } = await this.#require("CAPABILITY");
    const words = untagged.filter(({ text }) => /^\* CAPABILITY /i.test(text));
    const capabilities = new Set(words.flatMap(({ text }) => text.toUpperCase().split(" ")));
    const answer = capabilities.has("AUTH=PLAIN")
      ? await this.#run("AUTHENTICATE PLAIN", { continuation: this.#plain })
      : await this.#logInByCommand(capabilities);
    if (answer.isOk) return;
    throw new MailboxFault("login", `the server refused the login: ${this.#quote(answer.text)}`);
  }

  async #logInByCommand(capabilities: ReadonlySet<string>): Promise<Answer> {
    if (capabilities.has("LOGINDISABLED")) {
      throw new MailboxFault("login", "the server takes no password over this connection");
    }
    const { username, password } = this.#login;
    if (!/^[\x20-\x7e]*$/.test(username + password)) {
      throw new MailboxFault("login", "the server takes only ASCII in names and passwords");
    }
    return this.#run(`LOGIN ${quoted(username)} ${quoted(password)}`);
  }

  async #select(): Promise<void> {
    const { folder } = this.#login;
    // An ampersand would begin a shift to UTF-7 (RFC 3501 §5.1.3).
    const { isOk, text, untagged } = await this.#run(
      `SELECT ${quoted(folder.replaceAll("&", "&-"))}`,
    );
    if (!isOk) throw this.#refused(`SELECT ${folder}`, text);
    const lines = untagged.map((response) => response.text).join("\n");
    const uidValidity = /^\* OK \[UIDVALIDITY (\d{1,10})\]/im.exec(lines)?.[1];
    if (uidValidity === undefined) {
      throw new MailboxFault("protocol", "the server names no UIDVALIDITY of the folder");
    }
    this.folder = {
      uidValidity: Number(uidValidity),
      messages: Number(/^\* (\d{1,10}) EXISTS/im.exec(lines)?.[1] ?? 0),
      isReadOnly: /^OK \[READ-ONLY\]/i.test(text),
    };
  }

  async #require(command: string, options: { octets?: number } = {}): Promise<Answer> {
    const answer = await this.#run(command, options);
    if (!answer.isOk) throw this.#refused(command, answer.text);
    return answer;
  }

  /** Sends a command, and gathers the responses until its own (RFC 3501 §7). */
  async #run(
    command: string,
    options: { octets?: number; continuation?: string; isLeaving?: boolean } = {},
  ): Promise<Answer> {
    const tag = `m${++this.#commands}`;
    const budget = { octets: options.octets ?? MAX_ANSWER };
    let { continuation } = options;
    const untagged: Response[] = [];
    this.#wire.write(`${tag} ${command}\r\n`);
    for (;;) {
      const response = await this.#readResponse(budget);
      const { text } = response;
      if (text.startsWith(`${tag} `)) {
        const said = text.slice(tag.length + 1);
        return { isOk: /^OK\b/i.test(said), text: said, untagged };
      }
      if (text.startsWith("+") && continuation !== undefined) {
        this.#wire.write(`${continuation}\r\n`);
        continuation = undefined;
        continue;
      }
      if (isBye(text) && options.isLeaving !== true) throw this.#ended(text);
      if (!text.startsWith("* ")) throw this.#unexpected(text);
      untagged.push(response);
    }
  }

  #ended(text: string): MailboxFault {
    return new MailboxFault("closed", `the server ended the session: ${this.#quote(text)}`);
  }

  #refused(command: string, text: string): MailboxFault {
    return new MailboxFault("refused", `${command} was refused: ${this.#quote(text)}`);
  }

  #unexpected(text: string): MailboxFault {
    return new MailboxFault("protocol", `this is no answer of IMAP: ${this.#quote(text)}`);
  }

  #quote(text: string): string {
    const { password } = this.#login;
    return quoteServer(text, [this.#plain, quoted(password), password]);
  }

  async #readResponse(budget: { octets: number }): Promise<Response> {
    const literals: Buffer[] = [];
    let text = "";
    for (;;) {
      const line = await this.#wire.readLine(budget.octets);
      text += line;
      const size = Number(/\{(\d{1,10})\}$/.exec(line)?.[1] ?? -1);
      budget.octets -= line.length + RESPONSE_COST + Math.max(size, 0);
      if (budget.octets < 0) {
        throw new MailboxFault("protocol", "the server sent more than was asked for");
      }
      if (size === -1) return { text, literals };
      literals.push(await this.#wire.readBytes(size));
    }
  }
}

/** The words of a line that are numbers. A long line is read in pieces, between which other work runs. */
async function readNumbers(line: string): Promise<number[]> {
  const numbers: number[] = [];
  const yieldIfBusy = createYield();
  for (let begin = 0; begin < line.length;) {
    await yieldIfBusy();
    const blank = line.indexOf(" ", begin + PIECE_LENGTH);
    const end = blank === -1 ? line.length : blank;
    for (const word of line.slice(begin, end).split(" ")) {
      if (/^\d{1,10}$/.test(word)) numbers.push(Number(word));
    }
    begin = end;
  }
  return numbers;
}

const isBye = (text: string): boolean => /^\* BYE\b/i.test(text);

/** A quoted string (RFC 3501 §9). */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
