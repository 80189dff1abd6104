/**
 * What a rendered body becomes when it leaves (docs/delivery.md#C6, docs/delivery.md#C7): marketing mail gets its
 * footer and list headers, tracked mail its redirects and pixel. Pure, so that every attempt
 * carries the same bytes; before signing, so that the signature covers all of it.
 *
 * The text alternative shows the links as they were written: people read them there.
 */

import { type Footer, offersUnsubscribe, unsubscribeFooter } from "./footer.ts";
import { pixelUrl, type RecipientLinks, redirectBase, redirectUrl } from "./links.ts";
import { type Header, withListHeaders } from "./list-unsubscribe.ts";
import { rewriteHtml } from "./rewrite.ts";
import { htmlToText } from "./text.ts";

export type OutgoingInput = {
  emailId: string;
  /** The rendered body. */
  html: string;
  /** The caller's headers. */
  headers: readonly Header[];
  links: RecipientLinks;
  /** Null: mail that was asked for; it gets neither footer nor list headers. */
  marketing: { projectName: string; language: string; feedbackId: string } | null;
  /** Null: links stay, and there is no pixel. */
  tracking: { url: string; key: Uint8Array } | null;
};

export type Outgoing = { html: string; text: string; headers: readonly Header[] };

export function prepareOutgoing(input: OutgoingInput): Outgoing {
  const { html, headers, links, marketing } = input;
  const { unsubscribeUrl } = links;
  const footer =
    marketing === null || offersUnsubscribe(html, unsubscribeUrl)
      ? null
      : unsubscribeFooter({ unsubscribeUrl, ...marketing });
  return {
    html: rewriteHtml(html, {
      redirect: redirecting(input),
      ending: (footer?.html ?? "") + pixel(input),
    }),
    text: textOf(html, footer),
    headers:
      marketing === null
        ? headers
        : withListHeaders(headers, { unsubscribeUrl, feedbackId: marketing.feedbackId }),
  };
}

function textOf(html: string, footer: Footer | null): string {
  const text = htmlToText(html);
  if (footer === null) return text;
  return text === "" ? footer.text : `${text}\n\n--\n${footer.text}`;
}

/** The way out is never tracked, and what is a redirect of ours already stays one. */
function redirecting({ emailId, links, tracking }: OutgoingInput) {
  if (tracking === null) return null;
  const { url, key } = tracking;
  const untouched = [...Object.values(links), redirectBase(url)].map(asWritten);
  return (target: string): string | null =>
    untouched.some((start) => target.startsWith(start))
      ? null
      : redirectUrl(url, key, { emailId, target });
}

/** As the targets are written, which a parser has been through. */
function asWritten(url: string): string {
  return URL.parse(url)?.href ?? url;
}

/** Not hidden: programs do not load images that are. */
function pixel({ emailId, tracking }: OutgoingInput): string {
  if (tracking === null) return "";
  const source = Bun.escapeHTML(pixelUrl(tracking.url, tracking.key, emailId));
  return `<img src="${source}" width="1" height="1" alt="" style="display:block;border:0">`;
}
