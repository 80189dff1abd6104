/**
 * Makes a document of a mail that is safe to show in a frame. Scripts, forms and frames do not run
 * because of the headers; what a policy cannot stop, such as a base address or the preparation of
 * connections to other hosts, is removed from the HTML.
 */

import { decodeHTMLAttribute } from "entities/decode";
import { withoutNoScript } from "./without-preparation.ts";

/** `link` also prepares connections to other hosts (`dns-prefetch`), which no policy forbids. */
const REMOVED =
  "script, noscript, base, link, meta[http-equiv], iframe, frame, object, embed, portal, applet";
/** Schemes that a link may have. A link without a scheme leads nowhere. */
const LINK = /^\s*(?:https?:|mailto:|tel:|#)/i;
const INLINE_IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i;
/** Longest HTML that is shown, in UTF-16 units. */
const MAX_CHARACTERS = 512 * 1024;
/** Characters of an address that are read to find its scheme. */
const MAX_SCHEME_CHARACTERS = 512;
/** Bytes of all inline images together; the others are not shown. */
const MAX_INLINE_BYTES = 5 * 1024 * 1024;
/** Inline images that are shown: the message is parsed again for each. */
const MAX_IMAGES = 20;

type ImagePart = { contentId: string; contentType: string; size: number };
export type InlineImage = { contentId: string; contentType: string; content: Uint8Array };

/** A mail with styles of its own for dark mode (CSS Media Queries 5 §12.5). */
const HAS_DARK_STYLES = /prefers-color-scheme/i;

/**
 * The headers of a document. `images` names the schemes by which the browser loads images of other
 * hosts: none, https, or also http, which mail of a developer uses for images of the own machine.
 * Images below `ownImages`, the address of the images of this server, are always loaded.
 */
export function previewHeaders(
  type: "text/html" | "text/plain",
  images: "" | "https:" | "https: http:" = "",
  ownImages = "",
) {
  const policy = [
    "sandbox allow-popups allow-popups-to-escape-sandbox",
    "default-src 'none'",
    `img-src data: ${ownImages} ${images}`.trimEnd().replace("  ", " "),
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ];
  return {
    "Content-Type": `${type}; charset=utf-8`,
    "Content-Security-Policy": policy.join("; "),
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
  };
}

/** Inverts all colours but those of images, as mail programs do with mails without dark styles. */
const DARK_STYLE = `<style>
html { min-height: 100%; background: #fff; filter: invert(0.92) hue-rotate(180deg); }
img, picture, video, svg, [background], [style*="url("] {
  filter: invert(1) hue-rotate(180deg) !important;
}
:is(picture, [background], [style*="url("]) :is(img, svg) { filter: none !important; }
</style>`;

/**
 * The HTML of a mail as a document: its links open new tabs, and its inline images are in it. With
 * `isDark` it looks as in a mail program with a dark theme. A mail with styles for dark themes is not
 * changed: they apply if the frame has a dark `color-scheme`.
 */
export function previewDocument(
  html: string,
  images: readonly InlineImage[],
  { isDark = false }: { isDark?: boolean } = {},
): string {
  const shown = new HTMLRewriter()
    .on(REMOVED, { element: (element) => void element.remove() })
    .on("a, area", { element: secureLink })
    .transform(withoutNoScript(html.slice(0, MAX_CHARACTERS)));
  const isInverted = isDark && !HAS_DARK_STYLES.test(html);
  // At the end: before the document type, it would change the mode of the document.
  return withInlineImages(shown, images) + (isInverted ? DARK_STYLE : "");
}

function secureLink(link: HTMLRewriterTypes.Element): void {
  const start = (link.getAttribute("href") ?? "").slice(0, MAX_SCHEME_CHARACTERS);
  if (!LINK.test(decodeHTMLAttribute(start))) link.removeAttribute("href");
  link.removeAttribute("xlink:href");
  link.removeAttribute("ping");
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer");
}

/** The parts that are inline images, as many as fit. */
export function shownImages<Part extends ImagePart>(parts: readonly Part[]): Part[] {
  let left = MAX_INLINE_BYTES;
  const shown = parts.filter(({ contentId, contentType, size }) => {
    const isShown = contentId !== "" && INLINE_IMAGE.test(contentType) && size <= left;
    if (isShown) left -= size;
    return isShown;
  });
  return shown.slice(0, MAX_IMAGES);
}

/** Replaces references to inline images (`cid:`, RFC 2392) by the images. */
export function withInlineImages(html: string, inline: readonly InlineImage[]): string {
  const images = new Map(
    inline.map(({ contentId, contentType, content }) => [
      contentId.replace(/^<|>$/g, ""),
      `data:${contentType};base64,${Buffer.from(content).toString("base64")}`,
    ]),
  );
  if (images.size === 0) return html;
  let length = 0;
  return html.replace(/\bcid:([^\s"'<>()]{1,998})/gi, (whole, id: string) => {
    const image = images.get(id);
    if (image === undefined) return whole;
    length += image.length;
    // An image may be referred to many times.
    return length > 2 * MAX_INLINE_BYTES ? whole : image;
  });
}
