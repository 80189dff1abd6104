/** The end of a marketing mail: why it came, and the way out (docs/interface.md#tracking). */

import { chooseTexts, fill } from "./language.ts";

export type Footer = { html: string; text: string };

/** In the project's language. */
export function unsubscribeFooter(mail: {
  unsubscribeUrl: string;
  projectName: string;
  language: string;
}): Footer {
  const texts = chooseTexts(mail.language, null);
  const url = mail.unsubscribeUrl;
  const project = mail.projectName;
  const reason = fill(texts.footer, { project: Bun.escapeHTML(project) });
  return {
    html:
      `<div lang="${texts.language}" style="${BLOCK_STYLE}">${reason} ` +
      `<a href="${Bun.escapeHTML(url)}" style="${LINK_STYLE}">${texts.unsubscribe}</a></div>`,
    text: `${fill(texts.footer, { project })}\n${texts.unsubscribe}: ${url}`,
  };
}

/** Whether the body offers the link itself, written as a template writes it; nobody sees a comment. */
export function offersUnsubscribe(html: string, unsubscribeUrl: string): boolean {
  const seen = html.includes("<!--") ? html.replace(/<!--.*?(?:-->|$)/gs, "") : html;
  return seen.includes(unsubscribeUrl) || seen.includes(Bun.escapeHTML(unsubscribeUrl));
}

/** Mail programs know no style sheets; clear of floats and tables left open above. */
const BLOCK_STYLE =
  "clear:both;margin:32px 0 0;padding:16px;border-top:1px solid #cccccc;text-align:center;" +
  "font-family:sans-serif;font-size:13px;line-height:1.5;color:#666666";
const LINK_STYLE = "color:#666666;text-decoration:underline";
