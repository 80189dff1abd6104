/**
 * Parses the body of message/delivery-status and message/global-delivery-status (RFC 3464 §2,
 * RFC 6533 §4): fields about the message, then a group of fields for each recipient.
 */

import { withoutComments } from "../mime/comments.ts";
import { linesOf, readFields, type ReadField, valueOf } from "../mime/read-fields.ts";

export type DsnAction = "failed" | "delayed" | "delivered" | "relayed" | "expanded";

/** The fields of a report about one recipient. */
export type RecipientStatus = {
  action: DsnAction;
  /** `x.y.z` (RFC 3463); null if there is none. */
  status: string | null;
  diagnostic: { type: string; text: string } | null;
  remoteMta: string | null;
  originalRecipient: string | null;
  finalRecipient: string | null;
};

export type DeliveryStatus = {
  /** The ENVID of the mail (RFC 3461 §4.4). */
  envelopeId: string | null;
  reportingMta: string | null;
  recipients: readonly RecipientStatus[];
};

/** Groups of recipients that are read; the rest is ignored. */
const MAX_GROUPS = 500;
const MAX_LINES = 20_000;
const MAX_VALUE = 1_000;

/** Returns null if the text has no group that names a recipient or a status. */
export function parseDeliveryStatus(text: string): DeliveryStatus | null {
  const ofMessage: ReadField[] = [];
  const groups: ReadField[][] = [];
  for (const section of sectionsOf(text)) {
    for (const fields of separate(readFields(section))) {
      if (!fields.some(({ name }) => OF_RECIPIENT.has(name))) ofMessage.push(...fields);
      else if (groups.length < MAX_GROUPS) groups.push(fields);
    }
  }
  // Some servers leave out the empty line after the fields of the message.
  const general = [...ofMessage, ...(groups[0] ?? [])];
  const all = groups.map(statusOf).filter((status) => status !== null);
  const named = all.filter(namesRecipient);
  const recipients = named.length > 0 ? named : all;
  if (recipients.length === 0) return null;
  const mta = valueOf(general, "reporting-mta");
  const envelopeId = valueOf(general, "original-envelope-id");
  return {
    envelopeId: envelopeId === null ? null : limited(unxtext(envelopeId)),
    reportingMta: mta === null ? null : typedValue(mta).value,
    recipients,
  };
}

const OF_RECIPIENT: ReadonlySet<string> = new Set([
  "original-recipient",
  "final-recipient",
  "action",
  "status",
]);

function* sectionsOf(text: string): Generator<string> {
  let lines: string[] = [];
  for (const line of linesOf(text, MAX_LINES)) {
    if (line.trim() !== "") {
      lines.push(line);
      continue;
    }
    if (lines.length > 0) yield lines.join("\n");
    lines = [];
  }
  if (lines.length > 0) yield lines.join("\n");
}

/** Some servers write no empty line between two recipients: a repeated field begins a group. */
function separate(fields: readonly ReadField[]): ReadField[][] {
  const groups: ReadField[][] = [];
  let seen = new Set<string>();
  for (const field of fields) {
    const isNext = OF_RECIPIENT.has(field.name) && seen.has(field.name);
    if (groups.length === 0 || isNext) {
      groups.push([]);
      seen = new Set();
    }
    seen.add(field.name);
    groups.at(-1)?.push(field);
  }
  return groups;
}

const STATUS = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

/** The value of a field without comments, or with them if nothing else is there. */
function plainValue(fields: readonly ReadField[], name: string): string {
  const value = valueOf(fields, name) ?? "";
  const plain = withoutComments(value);
  return plain === "" ? value : plain;
}

function statusOf(fields: readonly ReadField[]): RecipientStatus | null {
  const status = STATUS.exec(plainValue(fields, "status"))?.[0] ?? null;
  const diagnostic = diagnosticOf(fields);
  const action = actionOf(plainValue(fields, "action"), status ?? diagnostic?.text ?? "");
  if (action === null) return null;
  const mta = valueOf(fields, "remote-mta");
  return {
    action,
    status,
    diagnostic,
    remoteMta: mta === null ? null : typedValue(mta).value,
    originalRecipient: addressOf(valueOf(fields, "original-recipient")),
    finalRecipient: addressOf(valueOf(fields, "final-recipient")),
  };
}

function namesRecipient({ finalRecipient, originalRecipient }: RecipientStatus): boolean {
  return finalRecipient !== null || originalRecipient !== null;
}

/** The action; if it is absent or not one of RFC 3464 §2.3.3, the code decides. */
function actionOf(text: string, code: string): DsnAction | null {
  const word = /[a-z]+/.exec(text.toLowerCase())?.[0] ?? "";
  if (/^(?:fail|bounce|error|expire|reject|undeliver)/.test(word)) return "failed";
  if (/^(?:delay|defer|warn)/.test(word)) return "delayed";
  if (word === "delivered" || word === "relayed" || word === "expanded") return word;
  if (code.startsWith("5")) return "failed";
  if (code.startsWith("4")) return "delayed";
  return code.startsWith("2") ? "delivered" : null;
}

/** IBM and Axway name the reply of the other server in X-Supplementary-Info. */
const DIAGNOSTICS: ReadonlySet<string> = new Set([
  "diagnostic-code",
  "x-diagnostic-code",
  "x-supplementary-info",
]);

/** The diagnostic code of the other server is worth more than one of the reporting server. */
function diagnosticOf(fields: readonly ReadField[]): { type: string; text: string } | null {
  const all = fields
    .filter(({ name, value }) => DIAGNOSTICS.has(name) && value !== "")
    .map(({ value }) => typedValue(value))
    .map(({ type, value }) => ({ type, text: value }));
  return all.find(({ type }) => type === "smtp") ?? all[0] ?? null;
}

/** Splits `type; value`. */
function typedValue(text: string): { type: string; value: string } {
  const type = /^\s*([\w.-]{1,40})\s*;/.exec(text)?.[0] ?? "";
  return { type: type.slice(0, -1).trim().toLowerCase(), value: limited(text.slice(type.length)) };
}

function limited(text: string): string {
  return text.slice(0, MAX_VALUE).trim();
}

function addressOf(field: string | null): string | null {
  if (field === null) return null;
  const { type, value } = typedValue(field);
  const bare = mailboxOfX400(value) ?? withoutDisplayName(withoutComments(value).trim());
  const decoded = type.startsWith("utf-8") ? unicodeOf(bare) : unxtext(bare);
  return decoded === "" ? null : decoded.slice(0, 320);
}

/** The address in `"Ada" <ada@example.org>`, which is not allowed in this field, but occurs. */
function withoutDisplayName(text: string): string {
  const [, address] = /^(?:"(?:[^"\\]|\\.)*"|[^"<>])*<([^<>]*)>[^\w"@]*$/.exec(text) ?? [];
  return (address ?? text.replace(/^<|>$/g, "")).trim();
}

/** The mailbox in an X.400 address of a gateway (RFC 2156 §4.3.3); null if it names none. */
function mailboxOfX400(text: string): string | null {
  const [, value = ""] = /(?:rfc-?822|dda:smtp)=([^;/]{3,320})/i.exec(text) ?? [];
  const mailbox = value.replace("(a)", "@").trim();
  return mailbox.includes("@") ? mailbox : null;
}

/** Decodes xtext, in which `+` and two digits stand for a character (RFC 3461 §4). */
function unxtext(text: string): string {
  return text.replace(/\+([0-9A-F]{2})/g, (whole, hex: string) => {
    const code = parseInt(hex, 16);
    // A subaddress such as bob+42@example.com is not xtext, which encodes only these characters.
    return code < 0x21 || code > 0x7e || code === 0x2b || code === 0x3d
      ? String.fromCharCode(code)
      : whole;
  });
}

/** Decodes `\x{4E00}` of utf-8-addr-xtext (RFC 6533 §3). */
function unicodeOf(text: string): string {
  return text.replace(/\\x\{([0-9A-Fa-f]{1,6})\}/g, (whole, hex: string) => {
    const code = parseInt(hex, 16);
    const isValid = code <= 0x10_ff_ff && (code < 0xd800 || code > 0xdfff);
    return isValid ? String.fromCodePoint(code) : whole;
  });
}
