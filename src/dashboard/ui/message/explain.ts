/** Explains the outcome of an attempt and the replies of mail servers in plain sentences. */

import type { Tone } from "../status.tsx";

export type Explained = { title: string; text: string };

/** The classes of outcomes (docs/delivery.md#R1). */
const CLASSES: Readonly<Record<string, Explained>> = {
  accepted: {
    title: "Accepted",
    text: "The mail server accepted the mail and is now responsible for it.",
  },
  greylisted: {
    title: "Greylisted",
    text: "The server asks unknown senders to come back later; the next attempt usually succeeds.",
  },
  rate_limited: {
    title: "Rate limited",
    text: "The server accepts fewer mails from you at present, so sending to it slows down.",
  },
  mailbox_full: {
    title: "Mailbox full",
    text: "The mailbox of the recipient has no space left.",
  },
  temporary: {
    title: "Temporary problem",
    text: "The server could not accept the mail just now and gave no precise reason.",
  },
  no_such_recipient: {
    title: "No such recipient",
    text: "The address does not exist, so the project sends it no further mail.",
  },
  content: {
    title: "Content refused",
    text: "The mail itself was refused: its size, its form, or what it says.",
  },
  policy: {
    title: "Refused by policy",
    text: "A rule of the receiving server forbids this mail.",
  },
  reputation: {
    title: "Poor reputation",
    text: "The server distrusts the address or the domain that the mail comes from.",
  },
  authentication: {
    title: "Not authenticated",
    text: "The server could not confirm with SPF, DKIM or DMARC that the mail is yours.",
  },
  infrastructure: {
    title: "Connection or set-up",
    text: "The fault is in the connection or in the settings of a server, not in the mail.",
  },
};

export function explainClass(name: string): Explained {
  const words = name.replaceAll("_", " ");
  return CLASSES[name] ?? { title: words.charAt(0).toUpperCase() + words.slice(1), text: "" };
}

const DOMAIN_ADVICE =
  "Check the DNS records of your sender domain, under Domains; the transcript of the mail has the details.";
/** The advice for a mail that was refused for good, by the class of the failure. */
const ADVICE: Readonly<Record<string, string>> = {
  no_such_recipient: "Ask the person for the right address.",
  mailbox_full: "Ask the person to make space in the mailbox, then send the mail again.",
  content: "Change the mail: its transcript shows what the server refuses.",
  policy: DOMAIN_ADVICE,
  reputation: DOMAIN_ADVICE,
  authentication: DOMAIN_ADVICE,
};

export const adviceFor = (name: string): string =>
  ADVICE[name] ?? "The transcript of the mail shows the conversation with the server.";

/** Meanings of enhanced status codes without their first digit (RFC 3463, RFC 7372, RFC 7505). */
const DETAILS: Readonly<Record<string, string>> = {
  "1.1": "the mailbox does not exist",
  "1.2": "the domain of the address does not exist or receives no mail",
  "1.3": "the form of the recipient's address is not accepted",
  "1.6": "the mailbox has moved and left no new address",
  "1.7": "the form of the sender's address is not accepted",
  "1.8": "the domain of the sender does not exist or cannot be answered",
  "1.10": "the recipient does not exist, or its domain accepts no mail",
  "2.1": "the mailbox is disabled",
  "2.2": "the mailbox is full",
  "2.3": "the mail is larger than the mailbox allows",
  "3.2": "the server is not accepting mail at the moment",
  "3.4": "the mail is too large for this server",
  "4.1": "the next server does not answer",
  "4.2": "the connection to the next server broke",
  "4.5": "the server is overloaded",
  "4.7": "the mail waited too long on the way",
  "5.3": "there are too many recipients",
  "6.0": "the content cannot be processed",
  "7.0": "a security rule of the server applies",
  "7.1": "the server does not allow this mail to be delivered",
  "7.8": "the user name or the password of the relay is wrong",
  "7.20": "no DKIM signature passed",
  "7.23": "SPF does not allow this server to send for the domain",
  "7.25": "the IP address of the sender has no matching reverse DNS entry",
  "7.26": "neither SPF nor DKIM passed",
  "7.27": "the domain of the sender accepts no mail",
  "7.28": "too much mail came from the sender in a short time",
};

/** Meanings of basic codes (RFC 5321 §4.2.3). */
const CODES: Readonly<Record<number, string>> = {
  421: "the server is closing the connection and asks to try again later",
  450: "the mailbox is not available at the moment",
  451: "the server had an error while it processed the mail",
  452: "the server has too little space or too many mails at the moment",
  454: "the server cannot log in or encrypt at the moment",
  500: "the server did not understand the command",
  501: "the server did not understand the parameters of the command",
  502: "the server does not have the command",
  503: "the commands came in the wrong order",
  530: "the server requires a log-in first",
  535: "the user name or the password is wrong",
  550: "the mailbox is not available or the server refuses the mail",
  551: "the recipient is not at this server",
  552: "the mail is larger than the mailbox or the server allows",
  553: "the address is not allowed",
  554: "the server refused the mail",
  556: "the domain accepts no mail",
};

type Reply = { code: number | null; enhanced: string | null };

/** One sentence about a reply, such as "550 5.1.1 is permanent: the mailbox does not exist." */
export function explainReply({ code, enhanced }: Reply): string {
  if (code === null) return "There was no reply: the connection failed or the time ran out.";
  const name = enhanced === null ? String(code) : `${code} ${enhanced}`;
  if (code < 400) return `${name} means that the server agreed.`;
  const [, ...rest] = (enhanced ?? "").split(".");
  const meaning = DETAILS[rest.join(".")] ?? CODES[code] ?? "the server gave no known reason";
  return `${name} is ${code < 500 ? "temporary" : "permanent"}: ${meaning}.`;
}

/** Says what the server does after each outcome, by its name in the interface. */
export const OUTCOMES: Readonly<Record<string, { tone: Tone; word: string }>> = {
  accepted: { tone: "good", word: "Accepted" },
  deferred: { tone: "held", word: "Deferred" },
  bounced: { tone: "failed", word: "Bounced" },
  failed: { tone: "failed", word: "Failed" },
};
