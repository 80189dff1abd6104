/**
 * HTML pages for people who follow a link in a mail, or who sign up. They show the name, the logo and
 * the colour of the project (brand.ts), are readable on a phone and in dark mode, need no script, and
 * load nothing from other servers. Their addresses are secret, so the response headers forbid caches,
 * search engines and the Referer header.
 */

import { Type } from "@sinclair/typebox";
import type { Texts } from "../render/language.ts";
import { type Brand, brandHtml, brandStyle, CARD } from "./brand.ts";

export type Page = {
  /** A BCP 47 tag. */
  language: string;
  /** Text, not HTML, like all members. */
  title: string;
  text: string;
  /** The project of the mail; null if it is not known. */
  brand: Brand | null;
  /** A button that posts to the address of the page. */
  button: { label: string; name: string; value: string; isMain: boolean } | null;
  /** Another button in the same form, which is less prominent; null or absent for none. */
  secondButton?: { label: string; name: string; value: string } | null;
  /** A small text after the button. */
  note: string | null;
  /** A link below all; `href` is relative to the page. */
  link?: { href: string; label: string } | null;
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

/** A page with a title, a text and at most one button. */
export function pageResponse(page: Page, status: number): Response {
  const { title, text, note, link = null } = page;
  const parts = [
    `<h1>${Bun.escapeHTML(title)}</h1>\n<p>${Bun.escapeHTML(text)}</p>\n`,
    formOf(page),
    note === null ? "" : `<p class="note">${Bun.escapeHTML(note)}</p>\n`,
    link === null ? "" : linkHtml(link),
  ];
  const body = parts.join("");
  return documentResponse({ ...page, body, status });
}

const linkHtml = ({ href, label }: { href: string; label: string }): string =>
  `<p class="note"><a href="${Bun.escapeHTML(href)}">${Bun.escapeHTML(label)}</a></p>\n`;

/** A page whose body is HTML. Its styles are those below: it cannot have others, or scripts. */
export type HtmlPage = {
  /** A BCP 47 tag. */
  language: string;
  /** Text. */
  title: string;
  brand: Brand | null;
  /** HTML, which starts with the heading. */
  body: string;
  status?: number;
  headers?: Readonly<Record<string, string>>;
  /**
   * True if its form may lead to another site: browsers apply the policy of a form also to the
   * addresses to which its answer redirects.
   */
  mayLeave?: boolean;
};

export function documentResponse(page: HtmlPage): Response {
  const { language, brand, body, status = 200, headers = {}, mayLeave = false } = page;
  const title = Bun.escapeHTML(
    brand === null || brand.name === page.title ? page.title : `${page.title} – ${brand.name}`,
  );
  const colors = brandStyle(brand?.color ?? null);
  const html = `<!doctype html>
<html lang="${Bun.escapeHTML(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
${colors === "" ? "" : `<style>${colors}</style>\n`}</head>
<body>
<main>
${brand === null ? "" : brandHtml(brand, page.title)}${body}</main>
</body>
</html>
`;
  const isWithImage = brand !== null && brand.logo !== null;
  return new Response(html, {
    status,
    headers: { ...pageHeaders({ colors, isWithImage, mayLeave }), ...headers },
  });
}

/** The answer to a form: the browser loads this address, relative to that of the form. */
export function seeOther(location: string): Response {
  return new Response(null, {
    status: 303,
    headers: { Location: location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

/** A page with links to other pages of the server. The caller knows their paths. */
export function linksResponse(page: {
  language: string;
  title: string;
  brand: Brand | null;
  links: readonly { href: string; label: string; at: number }[];
}): Response {
  const { language, title, links } = page;
  const format = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
  const items = links.map(({ href, label, at }) => {
    const date = new Date(at);
    const time = `<time datetime="${date.toISOString()}">${Bun.escapeHTML(format.format(date))}</time>`;
    return `<li><a href="${Bun.escapeHTML(href)}">${Bun.escapeHTML(label)}</a> ${time}</li>`;
  });
  const body = `<h1>${Bun.escapeHTML(title)}</h1>\n<ul>\n${items.join("\n")}\n</ul>\n`;
  return documentResponse({ ...page, body, headers: { "Cache-Control": "public, max-age=60" } });
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
  return { language, title, text, brand: null, button: null, note: null };
}

/** The form has no `action`, so it posts to the address of the page, also behind a proxy. */
function formOf({ button, secondButton = null }: Page): string {
  if (button === null) return "";
  const second = secondButton === null ? "" : buttonHtml({ ...secondButton, isMain: false });
  return `<form method="post">${buttonHtml(button)}${second}</form>\n`;
}

function buttonHtml({ name, value, label, isMain }: NonNullable<Page["button"]>): string {
  return (
    `<button name="${name}" value="${value}"` +
    `${isMain ? "" : ' class="second"'}>${Bun.escapeHTML(label)}</button>`
  );
}

const STYLE = `
:root { color-scheme: light dark; --paper: #f3f4f7; --card: ${CARD.light}; --ink: #1b2230; --soft: #566072;
  --line: #dde1e9; --field: #8a93a3; --main: #1d56c4; --on-main: #fff; --edge: #1d56c4; --link: #1d56c4;
  --good: #e6f4ea; --on-good: #14532d; --bad: #fdecec; --on-bad: #8f1d1d }
@media (prefers-color-scheme: dark) {
  :root { --paper: #12151b; --card: ${CARD.dark}; --ink: #e9edf4; --soft: #a5afc0;
    --line: #313947; --field: #77839a; --main: #8fb6ff; --on-main: #0a1631; --edge: #8fb6ff; --link: #8fb6ff;
    --good: #173324; --on-good: #b5e6c7; --bad: #3a1c1f; --on-bad: #ffc2c2 }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; min-height: 100dvh; padding: 1.5rem 1rem;
  display: grid; place-items: center; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif }
main { width: 100%; max-width: 30rem; padding: 2.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 1rem; overflow-wrap: anywhere }
.sender { margin: 0 0 .5rem; color: var(--soft); font-size: .9375rem }
.logo { display: flex; align-items: center; gap: .75rem; margin-bottom: 1.25rem; font-weight: 600 }
.logo img { display: block; width: auto; height: auto; max-width: min(12rem, 100%); max-height: 3rem }
@media (prefers-color-scheme: dark) {
  .logo img { padding: .375rem; border-radius: .5rem; background: #fff }
}
h1 { margin: 0 0 1rem; font-size: 1.625rem; line-height: 1.25; text-wrap: balance }
h2 { margin: 0 0 .5rem; font-size: 1.125rem; line-height: 1.35 }
p { margin: 0 0 1rem }
form { margin: 1.75rem 0 0 }
button { width: 100%; min-height: 3rem; padding: .625rem 1.25rem; border: 1px solid var(--edge);
  border-radius: .625rem; background: var(--main); color: var(--on-main); font: inherit;
  font-weight: 600; cursor: pointer }
button + button { margin-top: .75rem }
button.second { border-color: var(--link); background: transparent; color: var(--link) }
button:hover { filter: brightness(1.08) }
:is(button, input, select, a, summary):focus-visible { outline: 3px solid var(--ink); outline-offset: 2px }
ul { margin: 0; padding: 0; list-style: none }
li { padding: .625rem 0; border-top: 1px solid var(--line) }
a { color: var(--link) }
time { display: block; color: var(--soft); font-size: .9375rem }
.note { margin: 1.25rem 0 0; color: var(--soft); font-size: .9375rem }
.hint { display: block; color: var(--soft); font-size: .9375rem; line-height: 1.45 }
.done, .fault { margin: 0 0 1.5rem; padding: .75rem 1rem; border-radius: .625rem;
  background: var(--good); color: var(--on-good) }
.done:focus { outline: none }
.fault { background: var(--bad); color: var(--on-bad) }
:is(.done, .fault) > * { margin: 0; padding: .125rem 0; border: 0 }
fieldset { min-width: 0; margin: 0 0 1.75rem; padding: 0; border: 0 }
legend { padding: 0; margin: 0 0 .5rem; font-size: 1.125rem; font-weight: 650; line-height: 1.35 }
.field { margin: 0 0 1.25rem }
.field > label { display: block; margin: 0 0 .375rem; font-weight: 600 }
input:not([type=checkbox], [type=radio]), select, textarea { width: 100%; min-height: 2.75rem; padding: .5rem .75rem;
  border: 1px solid var(--field); border-radius: .5rem; background: var(--card); color: var(--ink); font: inherit }
[aria-invalid=true] { border-color: var(--on-bad) }
.error { display: block; margin: .375rem 0 0; color: var(--on-bad); font-size: .9375rem }
.choice { display: grid; grid-template-columns: 1.25rem 1fr; gap: 0 .75rem; align-items: start;
  padding: .625rem 0; border-top: 1px solid var(--line); cursor: pointer }
legend + .choice, .choices > .choice:first-child { border-top: 0 }
.choice input { width: 1.25rem; height: 1.25rem; margin: .1875rem 0 0; accent-color: var(--edge) }
.choice .hint { grid-column: 2 }
.optional { color: var(--soft); font-weight: 400 }
.choices { margin: 0 0 1rem }
.day { display: none; margin: .5rem 0 0 2rem }
.choices:has([value=until]:checked) .day { display: block }
@supports not selector(:has(a)) { .day { display: block } }
fieldset > .hint { margin: 0 0 .5rem }
.field > .hint { margin: .375rem 0 0 }
.field:has(> .title) { margin-bottom: 1.75rem }
.title { font-size: 1.125rem; font-weight: 650; line-height: 1.35 }
.more { margin: 1.75rem 0 0 }
details { border-top: 1px solid var(--line) }
summary { padding: .875rem 0; font-weight: 650; cursor: pointer }
details form { margin: 0 0 1rem }
section { margin: 1.75rem 0 0; padding: 1.5rem 0 0; border-top: 1px solid var(--line) }
section form { margin: 1rem 0 0 }
main > :last-child { margin-bottom: 0 }
main:lang(ja) { word-break: auto-phrase }
@media (max-width: 26rem) { main { padding: 1.5rem } }
`;

const digestOf = (style: string): string =>
  `'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`;

const STYLE_DIGEST = digestOf(STYLE);

/** `colors` are the styles of the project. */
const pageHeaders = ({
  colors,
  isWithImage,
  mayLeave,
}: {
  colors: string;
  isWithImage: boolean;
  mayLeave: boolean;
}): Readonly<Record<string, string>> => ({
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src ${STYLE_DIGEST}${colors === "" ? "" : ` ${digestOf(colors)}`}; ` +
    `img-src ${isWithImage ? "'self' " : ""}data:; ` +
    `form-action 'self'${mayLeave ? " https: http:" : ""}; base-uri 'none'; frame-ancestors 'none'`,
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex, nofollow",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
});
