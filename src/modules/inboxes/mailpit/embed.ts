/** HTML of a message as Mailpit shows it: inline parts have addresses that a browser can read. */

import { withPartLinks } from "../content/part-links.ts";
import type { Part } from "../messages/record.ts";

/** Longer HTML is not rewritten, because that would hold other requests. */
const MAX_CHARACTERS = 1024 * 1024;

export function htmlWithParts(html: string, id: string, parts: readonly Part[]): string {
  if (html.length > MAX_CHARACTERS) return html;
  return withPartLinks(html, parts, `/api/v1/message/${id}/part/`);
}

/** For a frame of another page: links open new pages. */
export function embeddedHtml(html: string, id: string, parts: readonly Part[]): string {
  if (html.length > MAX_CHARACTERS) return `${html}\n`;
  const shown = htmlWithParts(html, id, parts);
  const rewritten = new HTMLRewriter()
    .on("a[href], area[href]", {
      element(link) {
        link.setAttribute("target", "_blank");
        link.setAttribute("rel", "noreferrer noopener");
      },
    })
    .transform(shown);
  // Clients expect it to differ from the original, also without a link.
  return `${rewritten}\n`;
}
