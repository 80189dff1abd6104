/** Builds the commands of a transaction, or finds out why the server can never accept the mail. */

import { isAscii } from "node:buffer";
import type { MailObject } from "./stream.ts";
import type { Extensions } from "./extensions.ts";

export type Plan = {
  kind: "plan";
  /** MAIL, RCPT and DATA, without line ends. */
  commands: readonly [mail: string, rcpt: string, data: string];
  /** All commands in one string, for PIPELINING. */
  group: string;
};

export type Unsendable = {
  kind: "unsendable";
  /** The step that the server would refuse; `code` and `enhanced` are the reply (RFC 3463). */
  step: "mail" | "rcpt";
  code: 501 | 552 | 553 | 554;
  enhanced: "5.1.3" | "5.1.7" | "5.3.4" | "5.6.3" | "5.6.7";
  message: string;
};

export function planEnvelope(object: MailObject, extensions: Extensions): Plan | Unsendable {
  const isUtf8 = needsUtf8(object);
  return findObstacle(object, extensions, isUtf8) ?? planCommands(object, extensions, isUtf8);
}

function planCommands(object: MailObject, extensions: Extensions, isUtf8: boolean): Plan {
  const { envelope, message } = object;
  const size = extensions.size ? ` SIZE=${message.length}` : "";
  const utf8 = isUtf8 ? " SMTPUTF8" : "";
  const body = object.isEightBit === true ? " BODY=8BITMIME" : "";
  const mail = `MAIL FROM:<${envelope.from}>${size}${body}${utf8}`;
  const rcpt = `RCPT TO:<${envelope.to}>`;
  return {
    kind: "plan",
    commands: [mail, rcpt, "DATA"],
    group: `${mail}\r\n${rcpt}\r\nDATA\r\n`,
  };
}

function findObstacle(
  object: MailObject,
  extensions: Extensions,
  isUtf8: boolean,
): Unsendable | null {
  const { envelope, message } = object;
  const { from, to } = envelope;
  if (from !== "" && !isPath(from)) {
    return unsendable("mail", 501, "5.1.7", "the sender is not a valid SMTP address");
  }
  if (!isPath(to))
    return unsendable("rcpt", 501, "5.1.3", "the recipient is not a valid SMTP address");
  // Without SMTPUTF8 the server accepts only ASCII (RFC 6531 §3.5).
  if (isUtf8 && !extensions.smtpUtf8) {
    return unsendable(
      "mail",
      553,
      "5.6.7",
      "the server does not accept addresses with non-ASCII characters",
    );
  }
  // RFC 6152 §3: without 8BITMIME, a message with 8-bit text may not be sent.
  if (object.isEightBit === true && !extensions.eightBitMime) {
    const text = "the server does not accept the 8-bit text of the message";
    return unsendable("mail", 554, "5.6.3", text);
  }
  const limit = extensions.maxSizeBytes;
  if (limit !== null && message.length > limit) {
    const text = `the message has ${message.length} octets, the server accepts ${limit}`;
    return unsendable("mail", 552, "5.3.4", text);
  }
  return null;
}

function unsendable(
  step: Unsendable["step"],
  code: Unsendable["code"],
  enhanced: Unsendable["enhanced"],
  message: string,
): Unsendable {
  return { kind: "unsendable", step, code, enhanced, message };
}

const DOT_STRING = String.raw`[^\s"<>\p{Cc}]+`;
const QUOTED_STRING = String.raw`"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*"`;
const PATH = new RegExp(String.raw`^(?:${DOT_STRING}|${QUOTED_STRING})@[^\s"<>@\p{Cc}]+$`, "u");

/** Checks only that the address cannot end the path or the line early, not that it is valid. */
function isPath(address: string): boolean {
  return PATH.test(address);
}

/** SMTPUTF8 is needed for non-ASCII in the envelope (RFC 6531 §3.1) or in the header (RFC 6532). */
function needsUtf8({ envelope, message }: MailObject): boolean {
  if (NON_ASCII.test(envelope.from) || NON_ASCII.test(envelope.to)) return true;
  return !isAscii(message) && isUtf8Header(message);
}

const NON_ASCII = /[^\p{ASCII}]/u;
const CR = 0x0d;
const LF = 0x0a;

function isUtf8Header(message: Uint8Array): boolean {
  for (let i = 0; i < message.length; i++) {
    const octet = message[i] ?? 0;
    if (octet > 0x7f) return true;
    if (octet === LF && message[i + 1] === CR && message[i + 2] === LF) return false;
  }
  return false;
}
