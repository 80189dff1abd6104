/**
 * HTML pages for people who follow a link in a mail. They are readable on a phone and in dark mode,
 * and load nothing from other servers. Their addresses are secret, so the response headers forbid
 * caches, search engines and the Referer header.
 */

import { Type } from "@sinclair/typebox";
import type { Texts } from "../render/language.ts";

export type Page = {
  /** A BCP 47 tag. */
  language: string;
  /** Text, not HTML, like all members. */
  title: string;
  text: string;
  /** The sender of the mail; null if it is not known. */
  sender: string | null;
  /** A button that posts to the address of the page. */
  button: { label: string; name: string; value: string; isMain: boolean } | null;
  /** A small text after the button. */
  note: string | null;
};

/** The response schema of a route that returns a page. */
export const Html = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/html",
    description: "A page in the language of the project or the browser",
    examples: ['<!doctype html><html lang="en">…</html>'],
  }),
);

export function pageResponse(page: Page, status: number): Response {
  return new Response(htmlOf(page), { status, headers: PAGE_HEADERS });
}

/** A page with links to other pages of the server. The caller knows their paths. */
export function linksResponse(page: {
  language: string;
  title: string;
  links: readonly { href: string; label: string; at: number }[];
}): Response {
  const { language, links } = page;
  const title = Bun.escapeHTML(page.title);
  const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  const items = links.map(({ href, label, at }) => {
    const date = new Date(at);
    const time = `<time datetime="${date.toISOString()}">${Bun.escapeHTML(format.format(date))}</time>`;
    return `<li><a href="${Bun.escapeHTML(href)}">${Bun.escapeHTML(label)}</a> ${time}</li>`;
  });
  const html = `${headOf(language, title)}<h1>${title}</h1>
<ul>
${items.join("\n")}
</ul>
${TAIL}`;
  return new Response(html, {
    headers: { ...PAGE_HEADERS, "Cache-Control": "public, max-age=60" },
  });
}

/** The page for a link with an invalid signature. */
export function badLinkPage(texts: Texts): Page {
  return plainPage(texts, texts.invalidLink);
}

/** The page for an internal error. */
export function errorPage(texts: Texts): Page {
  return plainPage(texts, texts.serverError);
}

function plainPage({ language }: Texts, { title, text }: { title: string; text: string }): Page {
  return { language, title, text, sender: null, button: null, note: null };
}

function htmlOf(page: Page): string {
  const { language, sender } = page;
  const title = Bun.escapeHTML(page.title);
  const from = sender === null ? "" : Bun.escapeHTML(sender);
  return `${headOf(language, from === "" ? title : `${title} – ${from}`)}${from === "" ? "" : `<p class="sender">${from}</p>\n`}<h1>${title}</h1>
<p>${Bun.escapeHTML(page.text)}</p>
${formOf(page)}${page.note === null ? "" : `<p class="note">${Bun.escapeHTML(page.note)}</p>\n`}${TAIL}`;
}

/** The start of a page. `title` is HTML. */
const headOf = (language: string, title: string): string => `<!doctype html>
<html lang="${Bun.escapeHTML(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
`;

const TAIL = `</main>
</body>
</html>
`;

/** The form has no `action`, so it posts to the address of the page, also behind a proxy. */
function formOf({ button }: Page): string {
  if (button === null) return "";
  const { name, value, label, isMain } = button;
  return (
    `<form method="post"><button name="${name}" value="${value}"` +
    `${isMain ? "" : ' class="second"'}>${Bun.escapeHTML(label)}</button></form>\n`
  );
}

const STYLE = `
:root { color-scheme: light dark; --paper: #f3f4f7; --card: #fff; --ink: #1b2230; --soft: #566072;
  --line: #dde1e9; --main: #1d56c4; --on-main: #fff }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12151b; --card: #1b2028; --ink: #e9edf4; --soft: #a5afc0;
    --line: #313947; --main: #8fb6ff; --on-main: #0a1631 }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; min-height: 100dvh; padding: 1.5rem 1rem;
  display: grid; place-items: center; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif }
main { width: 100%; max-width: 30rem; padding: 2.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 1rem; overflow-wrap: anywhere }
.sender { margin: 0 0 .5rem; color: var(--soft); font-size: .9375rem }
h1 { margin: 0 0 1rem; font-size: 1.625rem; line-height: 1.25; text-wrap: balance }
p { margin: 0 0 1rem }
form { margin: 1.75rem 0 0 }
button { width: 100%; min-height: 3rem; padding: .625rem 1.25rem; border: 1px solid var(--main);
  border-radius: .625rem; background: var(--main); color: var(--on-main); font: inherit;
  font-weight: 600; cursor: pointer }
button.second { background: transparent; color: var(--main) }
button:hover { filter: brightness(1.08) }
button:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px }
ul { margin: 0; padding: 0; list-style: none }
li { padding: .625rem 0; border-top: 1px solid var(--line) }
a { color: var(--main) }
time { display: block; color: var(--soft); font-size: .9375rem }
.note { margin: 1.25rem 0 0; color: var(--soft); font-size: .9375rem }
main > :last-child { margin-bottom: 0 }
main:lang(ja) { word-break: auto-phrase }
@media (max-width: 26rem) { main { padding: 1.5rem } }
`;

const STYLE_HASH = new Bun.CryptoHasher("sha256").update(STYLE).digest("base64");

const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; ` +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex, nofollow",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};
