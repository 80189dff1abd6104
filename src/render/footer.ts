/**
 * Footer of marketing mail: why the recipient gets it, and the unsubscribe link
 * (docs/interface.md#tracking).
 */

import { chooseTexts, fillPlaceholders } from "./language.ts";
import { topicTexts } from "./topic-texts.ts";

export type Footer = { html: string; text: string };

/** The footer as HTML and as text, in the project's language. */
export function unsubscribeFooter(mail: {
  unsubscribeUrl: string;
  projectName: string;
  /** Null or absent for a mail without a topic. */
  topicName?: string | null;
  language: string;
}): Footer {
  const texts = chooseTexts(mail.language, null);
  const url = mail.unsubscribeUrl;
  const { projectName: project, topicName: topic = null } = mail;
  const sentence = topic === null ? texts.footer : topicTexts(texts).footer;
  const reason = fillPlaceholders(sentence, {
    project: Bun.escapeHTML(project),
    topic: Bun.escapeHTML(topic ?? ""),
  });
  return {
    html:
      `<div lang="${texts.language}" style="${BLOCK_STYLE}">${reason} ` +
      `<a href="${Bun.escapeHTML(url)}" style="${LINK_STYLE}">${texts.unsubscribe}</a></div>`,
    text: `${fillPlaceholders(sentence, { project, topic: topic ?? "" })}\n${texts.unsubscribe}: ${url}`,
  };
}

/**
 * True if the body contains the unsubscribe link itself, plain or HTML-escaped. A link inside an
 * HTML comment does not count, because the recipient cannot see it.
 */
export function hasUnsubscribeLink(html: string, unsubscribeUrl: string): boolean {
  const escaped = Bun.escapeHTML(unsubscribeUrl);
  const isIn = (text: string) =>
    text.includes(unsubscribeUrl) || (escaped !== unsubscribeUrl && text.includes(escaped));
  if (!isIn(html) || !html.includes("<!--")) return isIn(html);
  return isIn(html.replace(/<!--.*?(?:-->|$)/gs, ""));
}

/**
 * Inline, because many mail programs ignore style sheets; `clear` puts it below floats of the body.
 */
const BLOCK_STYLE =
  "clear:both;margin:32px 0 0;padding:16px;border-top:1px solid #cccccc;text-align:center;" +
  "font-family:sans-serif;font-size:13px;line-height:1.5;color:#666666";
const LINK_STYLE = "color:#666666;text-decoration:underline";
