/**
 * The signed tokens in a body. A shape is made with the tokens of a mail that does not exist; they are
 * found again in the result and replaced by those of each mail, which have the same length.
 */

import {
  issueToken,
  openRedirect,
  type RecipientLinks,
  recipientLinks,
  redirectBase,
} from "../links.ts";

/** Base URLs and keys of the recipient's pages and of tracked links. */
export type TokenKeys = {
  url: string;
  linkKey: Uint8Array;
  trackingUrl: string;
  trackingKey: Uint8Array;
};

/** A token is one of the recipient's pages, of the pixel, or of a tracked link with a target. */
export type Token = { sample: string; kind: "recipient" | "pixel" } | TrackedLink;

type TrackedLink = { sample: string; kind: "link"; target: Buffer };

/** No email has this id: it has the version and variant of no UUID. */
export const SAMPLE_ID = "ffffffff-ffff-ffff-ffff-fffffffffff0";

export function sampleLinks({ url, linkKey }: TokenKeys): RecipientLinks {
  return recipientLinks(url, linkKey, SAMPLE_ID);
}

/** The token in the URLs of the recipient's pages. */
export function recipientToken({ unsubscribeUrl }: RecipientLinks): string {
  return unsubscribeUrl.slice(unsubscribeUrl.lastIndexOf("/") + 1);
}

/**
 * Finds the tokens of the sample mail in its HTML, each once. Null if the target of a tracked link
 * has a token itself.
 */
export function findTokens(html: string, keys: TokenKeys, isTracked: boolean): Token[] | null {
  const recipient = recipientToken(sampleLinks(keys));
  const tokens: Token[] = [{ sample: recipient, kind: "recipient" }];
  if (!isTracked) return tokens;
  const { trackingUrl, trackingKey } = keys;
  tokens.push({ sample: issueToken(trackingKey, SAMPLE_ID), kind: "pixel" });
  const base = redirectBase(trackingUrl);
  for (let at = html.indexOf(base); at !== -1; at = html.indexOf(base, at + 1)) {
    const [, sample = "", encoded = ""] =
      LINK.exec(html.slice(at + base.length, at + base.length + LONGEST_LINK)) ?? [];
    const link = openRedirect(trackingKey, sample, encoded);
    if (link?.emailId !== SAMPLE_ID || tokens.some((token) => token.sample === sample)) continue;
    if (link.target.includes(recipient)) return null;
    tokens.push({ sample, kind: "link", target: Buffer.from(link.target) });
  }
  return tokens;
}

/** A token and an encoded target of at most 2,000 UTF-16 units, each three octets in four characters. */
const LINK = /^([\w-]{38})\/([\w-]*)/;
const LONGEST_LINK = 40 + 3 * 2000 * 2;

/** The tokens of one mail, in the same order. */
export function issueTokens(
  tokens: readonly Token[],
  keys: TokenKeys,
  mail: { emailId: string; links: RecipientLinks },
): string[] {
  return tokens.map((token) => {
    if (token.kind === "recipient") return recipientToken(mail.links);
    const covered = token.kind === "link" ? token.target : undefined;
    return issueToken(keys.trackingKey, mail.emailId, covered);
  });
}
