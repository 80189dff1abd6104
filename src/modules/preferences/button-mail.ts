/** A mail of the service with a text and at most one button, in the colours of the project. Pure. */

import { type Brand, textOn } from "../../http/brand.ts";
import type { JsonObject } from "../contacts/data.ts";

/** The members of a mail for `sendProjectMail`. */
export type ButtonMail = { subject: string; html: string; variables: JsonObject };

type Content = {
  language: string;
  /** Text, like all members. */
  subject: string;
  text: string;
  button: { label: string; link: string } | null;
  note: string | null;
};

/** The colour of a project without its own, which is that of the pages. */
const PLAIN_COLOR = "#1d56c4";

/**
 * All mails of a project share this body; their differences are in the variables, which are escaped.
 */
const HTML = `<!doctype html>
<html lang="{{ mail.language }}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"></head>
<body style="margin: 0; padding: 24px 12px">
<div style="max-width: 480px; margin: 0 auto; font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif">
<p style="margin: 0 0 16px; font-size: 14px">{{ mail.sender }}</p>
<h1 style="margin: 0 0 16px; font-size: 22px; line-height: 1.3">{{ mail.title }}</h1>
<p style="margin: 0 0 24px">{{ mail.text }}</p>
{% if mail.link %}<p style="margin: 0 0 24px"><a href="{{ mail.link }}" style="display: inline-block; padding: 12px 24px; border-radius: 8px; background: {{ mail.color }}; color: {{ mail.textColor }}; font-weight: 600; text-decoration: none">{{ mail.button }}</a></p>
{% endif %}{% if mail.note %}<p style="margin: 0; font-size: 14px">{{ mail.note }}</p>{% endif %}
</div>
</body>
</html>`;

export function buttonMail(
  brand: Pick<Brand, "name" | "color">,
  { language, subject, text, button, note }: Content,
): ButtonMail {
  const color = brand.color ?? PLAIN_COLOR;
  const mail: JsonObject = {
    language,
    sender: brand.name,
    title: subject,
    text,
    button: button?.label ?? null,
    link: button?.link ?? null,
    note,
    color,
    textColor: textOn(color),
  };
  return { subject, html: HTML, variables: { mail } };
}
