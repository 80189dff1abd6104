/** The templates of scripts/content.ts, and the projects that send them. */

import type { TrackingMode } from "../../src/db/schema/projects.ts";
import { SAMPLES } from "../../test/render/letter/templates.ts";

export type ContentTemplate = {
  name: string;
  subject: string;
  body: string;
  /** Null if the mails have no Reply-To. */
  replyTo: string | null;
};

export type ContentProject = {
  name: string;
  domain: string;
  fromName: string;
  language: string;
  tracking: TrackingMode;
};

/** Each project has a footer in its language, and its own choice of mails with tracked links. */
export const PROJECTS: readonly ContentProject[] = [
  project("Acme & Söhne", "de", "ENABLED"),
  project("Acme", "en", "MARKETING_ONLY"),
  project("山田商店", "ja", "MARKETING_ONLY"),
  project('Sklep "Zażółć"', "pl", "DISABLED"),
  project("O'Neill <Ltd>", "fr", "ENABLED"),
];

function project(name: string, language: string, tracking: TrackingMode): ContentProject {
  const domain = `content-${language}.test`;
  return { name, domain, fromName: `${name} News`, language, tracking };
}

const WORDS = "All work and no play makes Jack a dull boy. ";
const PARAGRAPH = `<p style="margin:0 0 16px;line-height:1.5">${WORDS.repeat(5)}</p>\n`;

const page = (content: string) =>
  `<!DOCTYPE html>\n<html><head><title>{{ name }}</title><style>p{color:#222}</style></head>` +
  `<body>\n${content}\n</body></html>\n`;

const OWN: readonly (readonly [name: string, body: string])[] = [
  [
    "a newsletter",
    page(
      `<h1>Hello {{ name }}</h1>\n${PARAGRAPH.repeat(4)}` +
        "{% if order %}<p>Your last order was {{ order }}.</p>{% endif %}<table>" +
        "{% for item in items %}<tr><td>{{ item.title }}</td><td>{{ item.price }} €</td></tr>{% endfor %}" +
        `</table>${Array.from({ length: 8 }, (_, i) => `${PARAGRAPH}<p><a href="https://shop.example.com/offers/${i}?a=1&amp;b=2">Offer ${i}</a></p>`).join("")}` +
        '<p><a href="{{ unsubscribeUrl }}">Unsubscribe</a> {{ name }}</p>',
    ),
  ],
  ["an order confirmation", "<h1>Thank you, {{ name }}!</h1><p>Your order <b>{{ order }}</b></p>"],
  [
    "long words",
    `<p>${"x".repeat(300)}{{ name }}${"y".repeat(300)}</p><p>{{ order }} ${"-".repeat(1000)}</p>`,
  ],
  [
    "dots and From at line starts",
    ".\n..\n.{{ name }}\n<p>.</p>\n.\nFrom here\n>From there\n<p>From {{ city }}</p>\nFrom",
  ],
  ["blanks at line ends", "<p>a  \nb\t\n\n \n{{ name }} \n</p>\n\n\n<b>c</b>  \n\n\n"],
  ["equals signs", "<p>a=b =3D =\n={{ name }}= ==</p>\n=20\n"],
  [
    "a right-to-left page",
    page('<div dir="rtl"><h1>{{ name }}</h1><p>أهلا {{ city }} مرحبا</p></div>'),
  ],
  [
    "a page in Cyrillic",
    page(`<p>Здравствуйте, {{ name }}!</p><p>${"Заказ ".repeat(40)}{{ order }}</p>`),
  ],
  [
    "nested loops",
    "{% for a in items %}{% for b in items %}<p>{{ a.title }} {{ b.title }}</p>{% endfor %}{% endfor %}",
  ],
  ["only a value", "{{ name }}"],
];

const SUBJECT = "{{ nick }}: news {{ count }}";

/** All samples of the tests of letters, and mails as projects send them. */
export const TEMPLATES: readonly ContentTemplate[] = [
  ...[...OWN, ...SAMPLES.map(({ name, body }) => [name, body] as const)].map(([name, body], i) => ({
    name,
    subject: SUBJECT,
    body,
    replyTo: i % 3 === 0 ? "replies@example.net" : null,
  })),
  // Its mails fail if the name is empty: no other mail may.
  { name: "a value alone as subject", subject: "{{ name }}", body: "<p>x</p>", replyTo: null },
];
