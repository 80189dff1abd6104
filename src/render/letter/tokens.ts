/**
 * The signed tokens in a message. A letter is made with the tokens of a mail that does not exist; they
 * are found again in the result and replaced by those of each mail, which have the same length.
 */

import {
  issueToken,
  openRedirect,
  type RecipientLinks,
  recipientLinks,
  redirectBase,
} from "../links.ts";
import { makeUnsubscribeAddress } from "../unsubscribe-address.ts";

/** Base URLs and keys of the recipient's pages and of tracked links. */
export type TokenKeys = {
  url: string;
  linkKey: Uint8Array;
  trackingUrl: string;
  trackingKey: Uint8Array;
};

/**
 * A token is one of the recipient's pages, of the pixel, or of a tracked link with a target. The
 * address for unsubscriptions by mail is replaced as a whole.
 */
export type Token =
  | { kind: "recipient" | "pixel" }
  | { kind: "link"; target: Buffer }
  | { kind: "address"; host: string };

/** No email has this id: it has the version and variant of no UUID. */
export const SAMPLE_ID = "ffffffff-ffff-ffff-ffff-fffffffffff0";

/** Most tokens of a letter. */
const MAX_TOKENS = 1_000;

export function sampleLinks({ url, linkKey }: TokenKeys): RecipientLinks {
  return recipientLinks(url, linkKey, SAMPLE_ID);
}

/** The token in the URLs of the recipient's pages. */
export function recipientToken({ unsubscribeUrl }: RecipientLinks): string {
  return unsubscribeUrl.slice(unsubscribeUrl.lastIndexOf("/") + 1);
}

/**
 * The tokens of the sample mail, by their text in it. Null if there are too many, or if the target of a
 * tracked link has a token itself.
 */
export function findTokens(
  html: string,
  keys: TokenKeys,
  { isTracked, bounceHost }: { isTracked: boolean; bounceHost: string | null },
): ReadonlyMap<string, Token> | null {
  const recipient = recipientToken(sampleLinks(keys));
  const tokens = new Map<string, Token>([[recipient, { kind: "recipient" }]]);
  if (bounceHost !== null) {
    const address = makeUnsubscribeAddress(keys.linkKey, SAMPLE_ID, bounceHost);
    if (address !== null) tokens.set(address, { kind: "address", host: bounceHost });
  }
  if (!isTracked) return tokens;
  const { trackingUrl, trackingKey } = keys;
  tokens.set(issueToken(trackingKey, SAMPLE_ID), { kind: "pixel" });
  const base = redirectBase(trackingUrl);
  for (let at = html.indexOf(base); at !== -1; at = html.indexOf(base, at + 1)) {
    const [, sample = "", encoded = ""] =
      LINK.exec(html.slice(at + base.length, at + base.length + LONGEST_LINK)) ?? [];
    const link = openRedirect(trackingKey, sample, encoded);
    if (link?.emailId !== SAMPLE_ID) continue;
    if (link.target.includes(recipient) || tokens.size >= MAX_TOKENS) return null;
    tokens.set(sample, { kind: "link", target: Buffer.from(link.target) });
  }
  return tokens;
}

/** A token and an encoded target of at most 2,000 UTF-16 units, each three octets in four characters. */
const LINK = /^([\w-]{38})\/([\w-]*)/;
const LONGEST_LINK = 40 + 3 * 2000 * 2;

/** The signed tokens of the sample mail begin with its id, in 21 characters without the last bits. */
const SAMPLE_TOKEN = new RegExp(
  `${issueToken(new Uint8Array(32), SAMPLE_ID).slice(0, 21)}[\\w-]{17}`,
  "g",
);

/** The text with each token replaced by the character of `markOf`, which gets the number of the token. */
export function markTokens(
  text: string,
  tokens: ReadonlyMap<string, Token>,
  markOf: (token: number) => string,
): string {
  let marked = text;
  const numbers = new Map<string, number>();
  for (const [sample, { kind }] of tokens) {
    if (kind === "address") marked = marked.replaceAll(sample, markOf(numbers.size));
    numbers.set(sample, numbers.size);
  }
  return marked.replace(SAMPLE_TOKEN, (sample) => {
    const number = numbers.get(sample);
    return number === undefined ? sample : markOf(number);
  });
}

/** Makes the token of a mail. */
export function makeToken(
  token: Token,
  keys: TokenKeys,
  mail: { emailId: string; links: RecipientLinks },
): string {
  switch (token.kind) {
    case "recipient":
      return recipientToken(mail.links);
    case "pixel":
      return issueToken(keys.trackingKey, mail.emailId);
    case "link":
      return issueToken(keys.trackingKey, mail.emailId, token.target);
    case "address":
      return makeUnsubscribeAddress(keys.linkKey, mail.emailId, token.host) ?? "";
  }
}
