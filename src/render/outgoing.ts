/**
 * From a template to the parts of a mail. In this order: `template/` compiles the subject and the
 * body and renders them with the recipient's variables (`variables.ts`), within the time limit of a
 * request (`render-budget.ts`); the rendered subject is checked (`subject.ts`); then
 * `prepareOutgoing` adds the footer to marketing mail (`footer.ts`), rewrites links and adds the
 * tracking pixel (`rewrite.ts`, `links.ts`), makes the text alternative (`text.ts`) and adds the
 * list headers (`list-headers.ts`; docs/delivery.md#C6, docs/delivery.md#C7).
 *
 * The function is pure, so that every attempt sends the same bytes. It runs before the mail is
 * signed, so that the DKIM signature covers its result. The text alternative keeps the original
 * links, because recipients can see the URLs there.
 */

import { type Footer, hasUnsubscribeLink, unsubscribeFooter } from "./footer.ts";
import { type LinkParameters, withParameters } from "./link-parameters.ts";
import { archiveBase, pixelUrl, type RecipientLinks, redirectBase, redirectUrl } from "./links.ts";
import { type Header, withListHeaders } from "./list-headers.ts";
import { rewriteHtml } from "./rewrite.ts";
import { htmlToText } from "./text.ts";

export type OutgoingInput = {
  emailId: string;
  /** The rendered body. */
  html: string;
  /** The rendered text of a mail that has one of its own; absent: it is made from the HTML. */
  text?: string | null;
  /** The caller's headers. */
  headers: readonly Header[];
  links: RecipientLinks;
  /** Null for transactional mail, which gets neither footer nor list headers. */
  marketing: {
    projectName: string;
    /** The topic of the mail, which the footer names; null or absent for none. */
    topicName?: string | null;
    language: string;
    feedbackId: string;
    /** Identifies the topic to mail programs; null or absent for none. */
    listId?: string | null;
    /** Null or absent if no server receives unsubscriptions by mail. */
    unsubscribeAddress?: string | null;
  } | null;
  /** Null if the mail is not tracked: links are not rewritten and no pixel is added. */
  tracking: { url: string; key: Uint8Array } | null;
  /** Added to all links but those of the service; none if absent. */
  parameters?: LinkParameters;
};

type Outgoing = { html: string; text: string; headers: readonly Header[] };

export function prepareOutgoing(input: OutgoingInput): Outgoing {
  const { html, footer } = outgoingHtml(input);
  return {
    html,
    text: withFooter(input.text ?? htmlToText(input.html), footer),
    headers: outgoingHeaders(input),
  };
}

/** The HTML with its links rewritten, and the footer that it ends with. */
export function outgoingHtml(input: Omit<OutgoingInput, "headers" | "text">): {
  html: string;
  footer: Footer | null;
} {
  const { html, links, marketing } = input;
  const { unsubscribeUrl } = links;
  const footer =
    marketing === null || hasUnsubscribeLink(html, unsubscribeUrl)
      ? null
      : unsubscribeFooter({ unsubscribeUrl, ...marketing });
  const redirect = createRedirect(input);
  const ending = (footer?.html ?? "") + pixelHtml(input);
  return { html: rewriteHtml(html, { redirect, ending }), footer };
}

/** The caller's headers, and for marketing mail the list headers. */
export function outgoingHeaders(input: Omit<OutgoingInput, "html">): readonly Header[] {
  const { headers, links, marketing } = input;
  if (marketing === null) return headers;
  const { unsubscribeUrl } = links;
  const { feedbackId, listId = null, unsubscribeAddress = null } = marketing;
  return withListHeaders(headers, { unsubscribeUrl, unsubscribeAddress, feedbackId, listId });
}

/** The text alternative with the footer, if there is one. */
export function withFooter(text: string, footer: Footer | null): string {
  if (footer === null) return text;
  return text === "" ? footer.text : `${text}\n\n--\n${footer.text}`;
}

/**
 * Maps a target to the link that is written instead: with its parameters, and tracked. Null for
 * recipient links and for links that are tracked already.
 */
function createRedirect({
  emailId,
  links,
  tracking,
  parameters = [],
}: Omit<OutgoingInput, "headers">) {
  if (tracking === null && parameters.length === 0) return null;
  const bases = tracking === null ? [] : [redirectBase(tracking.url)];
  const ownPrefixes = [...Object.values(links), ...bases].map(normalizeUrl);
  const archive = normalizeUrl(archiveBase(links));
  return (target: string): string | null => {
    if (ownPrefixes.some((prefix) => target.startsWith(prefix))) return null;
    const extended = target.startsWith(archive) ? target : withParameters(target, parameters);
    if (tracking === null) return extended === target ? null : extended;
    return redirectUrl(tracking.url, tracking.key, { emailId, target: extended });
  };
}

/** The URL in the form in which a parser writes it, because the targets were parsed too. */
function normalizeUrl(url: string): string {
  return URL.parse(url)?.href ?? url;
}

/** The tracking pixel. It is not hidden, because mail programs do not load hidden images. */
function pixelHtml({ emailId, tracking }: Pick<OutgoingInput, "emailId" | "tracking">): string {
  if (tracking === null) return "";
  const source = Bun.escapeHTML(pixelUrl(tracking.url, tracking.key, emailId));
  return `<img src="${source}" width="1" height="1" alt="" style="display:block;border:0">`;
}
