/** HTML of a message for a frame of another page: links open new pages, inline parts are shown. */

import { withPartLinks } from "../content/part-links.ts";
import type { Part } from "../messages/record.ts";

/** Longer HTML is not rewritten, because that would hold other requests. */
const MAX_CHARACTERS = 1024 * 1024;

export function embeddedHtml(html: string, id: string, parts: readonly Part[]): string {
  if (html.length > MAX_CHARACTERS) return `${html}\n`;
  const shown = withPartLinks(html, parts, `/api/v1/message/${id}/part/`);
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
