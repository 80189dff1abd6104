/** The images in a received message that its HTML refers to by `cid:` (RFC 2392). */

import { type InlineImage, shownImages } from "../../render/preview-document.ts";
import type { MailParser, ParsedMail } from "./read-mail.ts";

export async function inlineImages(
  parser: Pick<MailParser, "part">,
  { raw, parsed, sender }: { raw: Uint8Array; parsed: ParsedMail; sender: string },
): Promise<InlineImage[]> {
  const { html, parts } = parsed;
  if (!/\bcid:/i.test(html)) return [];
  const found = await Promise.all(
    shownImages(parts).map(async ({ partId, contentId, contentType }) => ({
      contentId,
      contentType,
      content: await parser.part(raw, partId, sender),
    })),
  );
  return found.flatMap(({ content, ...image }) => (content === null ? [] : { ...image, content }));
}
