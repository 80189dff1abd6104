/**
 * A letter: the message of all mails whose renders have the same marked body (`trace.ts`), as fixed
 * octets with slots. It is compiled once, in this order: the ordinary rendering runs with a
 * private-use character for each value and with the tokens of a sample mail (`tokens.ts`);
 * `positions.ts` checks that the values stand in text; each value, each token and the recipient's
 * header fields become a slot; the text between them is encoded in quoted-printable. Each slot of a
 * body has lines of its own, between soft line breaks, so that no other octet depends on its value.
 *
 * A letter has the headers of the ordinary rendering, and its decoded parts. No line of it begins
 * with a dot, so that it is sent as it is.
 */

import {
  alternativeBody,
  callerFields,
  type MessageInput,
  senderFields,
} from "../../protocols/mime/message.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { encodedTextPart } from "../../protocols/mime/parts.ts";
import { allocateWithTailroom } from "../../protocols/mime/tailroom.ts";
import {
  chooseEncoding,
  quotedPrintable,
  SOFT_BREAK,
  survey,
  withLineEnds,
} from "../../protocols/mime/text-encoding.ts";
import { hasUnsubscribeLink } from "../footer.ts";
import type { RecipientLinks } from "../links.ts";
import { type OutgoingInput, outgoingHeaders, outgoingHtml, withFooter } from "../outgoing.ts";
import { htmlToText, MAX_TEXT_LENGTH } from "../text.ts";
import { checkPositions, type LinkRule } from "./positions.ts";
import { findTokens, markTokens, type Token, type TokenKeys, makeToken } from "./tokens.ts";
import type { TraceEmitter } from "./trace.ts";
import { markedValue, marksIn, replaceMarks, splitAtMarks, valueMark } from "./values.ts";

/** The parts that the mails of a letter share, other than their marked body. */
export type LetterMessage = {
  from: MessageInput["from"];
  replyTo: string | null;
  /** The host that receives unsubscriptions by mail; null if there is none. */
  bounceHost: string | null;
  /** The parts of the sample mail. */
  sample: Omit<OutgoingInput, "html">;
};

/**
 * The slots have these numbers: first the values in HTML, then the same values in text, then the
 * recipient's header fields, then the tokens.
 */
export type Letter = {
  /** The octets before each slot, and those after the last one. */
  fixed: readonly Buffer[];
  slots: readonly number[];
  values: number;
  tokens: readonly Token[];
  rules: readonly LinkRule[];
  /** True if the footer has the link to unsubscribe, because the body has none. */
  hasFooter: boolean;
  /** Estimated memory in octets. */
  bytes: number;
};

/** Most tags of a body that has a letter. */
const MAX_TAGS = 10_000;
const BYTES_PER_SLOT = 200;

/** Compiles a letter; null if its mails must be rendered in full. */
export function compileLetter(
  marked: string,
  values: number,
  { message, keys }: { message: LetterMessage; keys: TokenKeys },
): Letter | null {
  const { from, replyTo, bounceHost, sample } = message;
  const rules = checkPositions(marked, values);
  if (rules === null || marked.split("<").length > MAX_TAGS) return null;
  const { html, footer } = outgoingHtml({ ...sample, html: marked });
  const text = withFooter(htmlToText(marked), footer);
  const tokens = findTokens(html, keys, { isTracked: sample.tracking !== null, bounceHost });
  const before = senderFields(message);
  const after = callerFields({ headers: outgoingHeaders(sample), replyTo });
  if (tokens === null || !before.ok || !after.ok) return null;
  const isSafe =
    marksIn(html) === marksIn(marked) &&
    marksIn(before.lines + after.lines) === "" &&
    // A name of a header may begin with a dot.
    !/^\./m.test(after.lines) &&
    text.length < MAX_TEXT_LENGTH / 2 &&
    ![html, text].some(isForBase64);
  if (!isSafe) return null;

  const markSlots = (unmarked: string) =>
    markTokens(unmarked, tokens, (token) => valueMark(2 * values + 1 + token));
  const textWithSlots = replaceMarks(markSlots(text), (slot) =>
    valueMark(slot < values ? values + slot : slot),
  );
  const parts = [textPart("plain", textWithSlots), textPart("html", markSlots(html))];
  const whole =
    before.lines +
    valueMark(2 * values) +
    markSlots(after.lines) +
    alternativeBody(messageIdOf(sample.emailId, from.address), parts).join("");
  const slots = Array.from(marksIn(whole), markedValue);
  return {
    fixed: splitAtMarks(whole).flatMap((piece, i) => (i % 2 === 0 ? [Buffer.from(piece)] : [])),
    slots,
    values,
    tokens: [...tokens.values()],
    rules,
    hasFooter: footer !== null,
    bytes: whole.length + BYTES_PER_SLOT * slots.length,
  };
}

/** True if a text is mostly not ASCII. Its values are not known yet. */
function isForBase64(text: string): boolean {
  const usual = Buffer.from(replaceMarks(text, () => USUAL_VALUE));
  return chooseEncoding(survey(usual)) === "base64";
}

const USUAL_VALUE = "Ada Lovelace";

/** A text part in quoted-printable whose slots stand alone in their lines. */
function textPart(subtype: "plain" | "html", text: string): readonly string[] {
  const encoded: string[] = [];
  let previous = "\r\n";
  for (const piece of splitAtMarks(withLineEnds(text))) {
    if (piece === "") continue;
    if (!previous.endsWith("\r\n") && !piece.startsWith("\r\n")) encoded.push(SOFT_BREAK);
    encoded.push(marksIn(piece) === piece ? piece : quotedPrintable(piece));
    previous = piece;
  }
  return encodedTextPart(subtype, { encoding: "quoted-printable", body: encoded });
}

type Trace = Pick<TraceEmitter, "values" | "texts" | "buffer">;

/** False if the values of a mail do not fit into the letter of its marked body. */
export function fitsLetter(
  { values, rules, hasFooter }: Letter,
  trace: Trace,
  links: RecipientLinks,
): boolean {
  return (
    // Fixed text with a private-use character looks like a value.
    trace.values.length === values &&
    rules.every((rule) => isAllowed(rule, trace.texts)) &&
    // Several values may be the link together.
    !(hasFooter && hasUnsubscribeLink(trace.buffer, links.unsubscribeUrl))
  );
}

function isAllowed({ values, character }: LinkRule, texts: readonly string[]): boolean {
  return values.every((value) => texts[value]?.includes(character) !== true);
}

/**
 * Writes the message of a mail. `recipient` are its header fields. The memory has room behind the
 * message (tailroom.ts).
 */
export function writeLetter(
  { fixed, slots, tokens }: Letter,
  { values, texts }: Trace,
  mail: { recipient: string; emailId: string; links: RecipientLinks; keys: TokenKeys },
): Buffer {
  const fillings = values.map(encodeValue);
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] ?? "";
    fillings.push(text === values[i] ? (fillings[i] ?? "") : encodeValue(text));
  }
  fillings.push(oneCharacterPerOctet(mail.recipient));
  for (const token of tokens) fillings.push(makeToken(token, mail.keys, mail));

  let length = 0;
  for (const octets of fixed) length += octets.length;
  for (const slot of slots) length += fillings[slot]?.length ?? 0;
  const message = allocateWithTailroom(length);
  let at = 0;
  for (let i = 0; i < fixed.length; i++) {
    const octets = fixed[i];
    if (octets === undefined) break;
    message.set(octets, at);
    at += octets.length;
    const slot = slots[i];
    if (slot !== undefined) at += message.write(fillings[slot] ?? "", at, "latin1");
  }
  return message;
}

/** A plain value that quoted-printable writes as it is. */
const SIMPLE_VALUE = /^(?!\.|From )[ -<>-~]{1,75}$/;

function encodeValue(value: string): string {
  return SIMPLE_VALUE.test(value) ? value : quotedPrintable(value);
}

/** A local part of an address may be not ASCII. */
function oneCharacterPerOctet(text: string): string {
  return /^[\r\n -~]*$/.test(text) ? text : Buffer.from(text).toString("latin1");
}
