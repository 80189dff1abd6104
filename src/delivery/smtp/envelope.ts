/** The commands that announce a mail, or why a server with these extensions can never take it. */

import type { Dispatch } from "../outcome.ts";
import type { Extensions } from "./extensions.ts";

export type Plan = {
  kind: "plan";
  commands: readonly { step: "mail" | "rcpt" | "data"; command: string }[];
  /** All of them as one write. */
  group: string;
};

export type Unsendable = {
  kind: "unsendable";
  /** The step that would have been refused, and how (RFC 3463). */
  step: "mail" | "rcpt";
  code: 501 | 552 | 553;
  enhanced: "5.1.3" | "5.1.7" | "5.3.4" | "5.6.7";
  message: string;
};

export function planEnvelope(dispatch: Dispatch, extensions: Extensions): Plan | Unsendable {
  const isUtf8 = needsUtf8(dispatch);
  return findObstacle(dispatch, extensions, isUtf8) ?? planCommands(dispatch, extensions, isUtf8);
}

function planCommands(
  { envelope, message }: Dispatch,
  extensions: Extensions,
  isUtf8: boolean,
): Plan {
  const size = extensions.size ? ` SIZE=${message.length}` : "";
  const utf8 = isUtf8 ? " SMTPUTF8" : "";
  const mail = `MAIL FROM:<${envelope.from}>${size}${utf8}`;
  const rcpt = `RCPT TO:<${envelope.to}>`;
  return {
    kind: "plan",
    commands: [
      { step: "mail", command: mail },
      { step: "rcpt", command: rcpt },
      { step: "data", command: "DATA" },
    ],
    group: `${mail}\r\n${rcpt}\r\nDATA\r\n`,
  };
}

function findObstacle(
  { envelope, message }: Dispatch,
  extensions: Extensions,
  isUtf8: boolean,
): Unsendable | null {
  const { from, to } = envelope;
  if (from !== "" && !isPath(from)) {
    return unsendable("mail", 501, "5.1.7", "the sender is no SMTP address");
  }
  if (!isPath(to)) return unsendable("rcpt", 501, "5.1.3", "the recipient is no SMTP address");
  // RFC 6531 §3.5.
  if (isUtf8 && !extensions.smtpUtf8) {
    return unsendable("mail", 553, "5.6.7", "the server takes no addresses beyond ASCII");
  }
  const limit = extensions.maxSizeBytes;
  if (limit !== null && message.length > limit) {
    const text = `the message has ${message.length} octets, the server takes ${limit}`;
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

/** Not a judgement about the address, only that it cannot end the path or the line early. */
function isPath(address: string): boolean {
  return PATH.test(address);
}

/** RFC 6531 §3.1: for addresses of the envelope as for those in the header (RFC 6532). */
function needsUtf8({ envelope, message }: Dispatch): boolean {
  return (
    BEYOND_ASCII.test(envelope.from) || BEYOND_ASCII.test(envelope.to) || isUtf8Header(message)
  );
}

const BEYOND_ASCII = /[^\p{ASCII}]/u;
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
