/**
 * Rewrites the HTML of a mail before it is sent, in one streaming pass: web links become tracked
 * links, and the footer and the pixel are added at the end of the body (docs/delivery.md#C7).
 *
 * Links inside comments, including Outlook's conditional comments, are not rewritten.
 */

import { decodeHTMLAttribute } from "entities/decode";
import { parseUrl } from "../lib/url.ts";

type Rewriting = {
  /** Returns the replacement of a web URL, or null to keep that link; null to keep all links. */
  redirect: ((target: string) => string | null) | null;
  /** HTML to add at the end of the body; empty to add nothing. */
  ending: string;
};

/** Longest target that is tracked, in UTF-16 units: some mail clients break longer encoded URLs. */
const LONGEST_TARGET = 2000;

const LINKS = "a[href], area[href]";
const UNTRACKED = "data-no-track";

/** Applies `rewriting` to the HTML. It accepts malformed HTML and never throws. */
export function rewriteHtml(html: string, rewriting: Rewriting): string {
  const { redirect, ending } = rewriting;
  if (redirect === null && ending === "") return html;
  const rewriter = new HTMLRewriter();
  if (redirect !== null) {
    rewriter.on(LINKS, { element: (link) => rewriteLink(link, redirect) });
  }
  if (ending !== "") appendToBody(rewriter, ending);
  return rewriter.transform(html);
}

function rewriteLink(link: HTMLRewriterTypes.Element, redirect: (target: string) => string | null) {
  if (link.hasAttribute(UNTRACKED)) return;
  const target = webUrl(link.getAttribute("href") ?? "");
  const replacement = target === null ? null : redirect(target);
  if (replacement !== null) link.setAttribute("href", replacement);
}

/**
 * The normalized web URL of an `href`. Null for anchors, mailto, tel and relative URLs, and for
 * URLs that are too long to track.
 */
function webUrl(attribute: string): string | null {
  const text = attribute.includes("&") ? decodeHTMLAttribute(attribute) : attribute;
  if (!/^\s*https?:/i.test(text)) return null;
  const href = parseUrl(text)?.href;
  return href === undefined || href.length > LONGEST_TARGET ? null : href;
}

/**
 * Inserts before the end tag of the body, or at the end of the document if there is no such tag.
 */
function appendToBody(rewriter: HTMLRewriter, ending: string): void {
  let isAppended = false;
  rewriter.on("body", {
    element(body) {
      body.onEndTag((tag) => {
        if (!isAppended) tag.before(ending, { html: true });
        isAppended = true;
      });
    },
  });
  rewriter.onDocument({
    end(end) {
      if (!isAppended) end.append(ending, { html: true });
    },
  });
}
