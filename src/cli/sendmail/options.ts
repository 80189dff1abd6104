/** The command line of sendmail, as languages and programs call it. */

import { UsageError } from "../command.ts";

export type SendmailOptions = {
  /** -t: recipients are also read from To, Cc and Bcc. */
  readsRecipients: boolean;
  /** -i: a line with a single dot does not end the message. */
  ignoresDots: boolean;
  /** -f: the envelope's sender; null for the user of this system. */
  from: string | null;
  /** -F: the name of the sender, for a message without From. */
  fullName: string | null;
  /** -S: the server; null for the listener that catches mail. */
  server: { host: string; port: number } | null;
  recipients: string[];
};

const SMTP_PORT = 25;
/** Options whose value follows in the same word or in the next one, and that change nothing here. */
const IGNORED_WITH_VALUE = "BCDLNOQRVXhp";
const IGNORED = "GUmnv";
/** Options whose value, if there is one, is in the same word: `-em` (errors), `-Ac` (submission). */
const IGNORED_WORD = "Aed";

/** Options that programs for mail catchers have, such as `mailpit sendmail` and `mhsendmail`. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  from: "f",
  "smtp-addr": "S",
};
const IGNORED_LONG_NAMES: ReadonlySet<string> = new Set(["quiet", "verbose"]);

/** Reads `-t -i -f ADDRESS -F NAME -S HOST:PORT`, in one word or several. Throws UsageError. */
export function parseSendmail(words: readonly string[]): SendmailOptions {
  const options: SendmailOptions = {
    readsRecipients: false,
    ignoresDots: false,
    from: null,
    fullName: null,
    server: null,
    recipients: [],
  };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") options.recipients.push(...rest.splice(0));
    else if (word.startsWith("--")) readLongName(word.slice(2), options, rest);
    else if (!word.startsWith("-") || word === "-") options.recipients.push(word);
    else readWord(word, options, rest);
  }
  return options;
}

/** `--name=value`, or the value in the next word. */
function readLongName(text: string, options: SendmailOptions, rest: string[]): void {
  const equals = text.indexOf("=");
  const name = equals === -1 ? text : text.slice(0, equals);
  if (IGNORED_LONG_NAMES.has(name)) return;
  const letter = LONG_NAMES[name];
  if (letter === undefined) throw new UsageError(`unknown option --${name}`);
  readWord(`-${letter}${equals === -1 ? "" : text.slice(equals + 1)}`, options, rest);
}

function readWord(word: string, options: SendmailOptions, rest: string[]): void {
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] ?? "";
    const valueOf = () => word.slice(at + 1) || nextValue(letter, rest);
    if (letter === "t") options.readsRecipients = true;
    else if (letter === "i") options.ignoresDots = true;
    else if (letter === "o") return readLongOption(word.slice(at + 1), options);
    else if (letter === "b") return readMode(word.slice(at + 1));
    else if (letter === "f" || letter === "r") return void (options.from = bare(valueOf()));
    else if (letter === "F") return void (options.fullName = valueOf());
    else if (letter === "S") return void (options.server = parseServer(valueOf()));
    else if (IGNORED_WORD.includes(letter)) return;
    else if (IGNORED_WITH_VALUE.includes(letter)) return void valueOf();
    else if (!IGNORED.includes(letter)) throw new UsageError(`unknown option -${letter}`);
  }
}

/** `-oi` means `-i`; all others, such as `-oem`, are ignored. */
function readLongOption(text: string, options: SendmailOptions): void {
  if (text === "i") options.ignoresDots = true;
}

/** `-bm` sends a message, which is what this command does; other modes are those of a mail server. */
function readMode(mode: string): void {
  if (mode !== "m") throw new UsageError(`the mode -b${mode} is not available`);
}

function nextValue(letter: string, rest: string[]): string {
  const value = rest.shift();
  if (value === undefined) throw new UsageError(`-${letter} needs a value`);
  return value;
}

/** `<>` and an empty text are the null sender. A line end would begin another header field. */
function bare(address: string): string {
  if (/\p{Cc}/u.test(address)) throw new UsageError("-f has a control character");
  return address.replace(/^<([^<>]*)>$/, "$1");
}

function parseServer(text: string): { host: string; port: number } {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([^:\s]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? name;
  const number = port === undefined ? SMTP_PORT : Number(port);
  if (host === undefined || number < 1 || number > 65_535) {
    throw new UsageError(`-S expects HOST:PORT, got "${text}"`);
  }
  return { host, port: number };
}
