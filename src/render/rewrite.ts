/**
 * Rewrites the HTML of a mail as it leaves, in one pass: links lead through our redirect, and
 * footer and pixel stand at the end of the body (docs/delivery.md#C7).
 *
 * Links inside comments stay as they are, those in Outlook's conditional comments among them.
 */

import { decodeHTMLAttribute } from "entities/decode";
import { parseUrl } from "../lib/url.ts";

export type Rewriting = {
  /** The address to put in place of a web address, null to leave that link; null: all stay. */
  redirect: ((target: string) => string | null) | null;
  /** HTML for the end of the body. */
  ending: string;
};

/** Longer ones would not survive every mail client once they are encoded. */
const LONGEST_TARGET = 2000;

const LINKS = "a[href], area[href]";
const UNTRACKED = "data-no-track";

/** The same HTML with `rewriting` applied; never throws, whatever the HTML is. */
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
  const target = webAddress(link.getAttribute("href") ?? "");
  const replacement = target === null ? null : redirect(target);
  if (replacement !== null) link.setAttribute("href", replacement);
}

/**
 * The address that a browser would go to, or null where it is none of the web: anchors, mailto,
 * tel, and what is relative to nothing.
 */
function webAddress(attribute: string): string | null {
  const text = attribute.includes("&") ? decodeHTMLAttribute(attribute) : attribute;
  if (!/^\s*https?:/i.test(text)) return null;
  const href = parseUrl(text)?.href;
  return href === undefined || href.length > LONGEST_TARGET ? null : href;
}

/** Before the end tag of the body; at the end of the document where there is none. */
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
