/** Templates for the tests of letters. */

import { assembleBody } from "../../../src/render/layout.ts";

export type Sample = {
  name: string;
  body: string;
  /** False if its mails are rendered in full, and null if that depends on the mail. */
  isLetter: boolean | null;
};

const LOREM =
  "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut " +
  "labore et dolore magna aliqua. ";

const page = (content: string) =>
  `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{{ name }}</title>` +
  `<style>p { color: #222; } a:hover { color: red }</style></head>\n<body>\n${content}\n</body></html>\n`;

const LINK = '<a href="https://example.com/a?b=1&amp;c=2">Read more</a>';

const sample = (name: string, body: string, isLetter: boolean | null = true): Sample => ({
  name,
  body,
  isLetter,
});

export const SAMPLES: readonly Sample[] = [
  sample("plain", "<p>Hello {{ name }}, welcome.</p>"),
  sample("text without elements", "Hello {{ name }},\n\nyour order {{ order }} is on its way."),
  sample("without values", `<p>${LOREM.repeat(4)}</p>${LINK}`),
  sample("a long paragraph", `<p>${LOREM}{{ name }} ${LOREM}{{ city }}, ${LOREM}</p>`),
  sample("a page", page(`<h1>Dear {{ name }}</h1><p>${LOREM}</p><p>{{ order }}</p>${LINK}`)),
  sample(
    "a preheader and a layout",
    assembleBody({
      body: `<h1>Dear {{ name }}</h1><p>${LOREM}{{ order }}</p>${LINK}`,
      preheader: "Hello {{ name }} & {{ city }}",
      layout: page(`<p>Acme</p>{{ content }}<p>${LOREM} {{ city }}</p>`),
    }),
  ),
  sample(
    "lists",
    `<ul><li>{{ name }} ${LOREM}</li><li>x<ul><li>${LOREM}{{ city }}</li></ul></li></ul>` +
      `<ol start="9"><li>{{ order }}</li><li>${LOREM}{{ name }} ${LOREM}</li></ol>`,
  ),
  sample(
    "a list at the beginning",
    `<ul><li>{{ name }} ${LOREM}{{ city }}</li></ul><p>{{ order }}</p>`,
  ),
  sample(
    "quotes",
    `<blockquote>{{ name }}: ${LOREM}<blockquote><p>${LOREM}{{ city }} ${LOREM}</p><ul><li>{{ order }} ${LOREM}</li></ul></blockquote></blockquote>`,
  ),
  sample(
    "deep quotes",
    `${"<blockquote>".repeat(40)}${LOREM}{{ name }} ${LOREM}${"</blockquote>".repeat(40)}`,
  ),
  sample(
    "tables",
    `<table><tr><th>Item</th><th>{{ name }}</th></tr><tr><td>{{ order }}</td><td>${LOREM}</td></tr></table>` +
      `<table><tr><td><div>{{ city }}</div></td><td><p>${LOREM}{{ name }}</p></td></tr></table>`,
  ),
  sample(
    "conditions",
    page(
      "{% if count > 2 %}<p>Many: {{ count }}</p>{% elsif city %}<p>{{ city }}</p>{% else %}<p>None</p>{% endif %}" +
        '{% unless name == "Ada" %}<p>Not Ada but {{ name }}</p>{% endunless %}',
    ),
  ),
  sample(
    "loops",
    "{% for item in items %}<p>{{ forloop.index }}. {{ item.title }}: {{ item.price }} €</p>{% else %}<p>empty</p>{% endfor %}",
  ),
  sample(
    "a loop in a table",
    page(
      "<table>{% for item in items %}<tr><td>{{ item.title }}</td><td>{{ item.price }}</td></tr>\n{% endfor %}</table>",
    ),
  ),
  sample(
    "case",
    "{% case count %}{% when 1 %}one{% when 2 %}two{% else %}{{ count }}{% endcase %} {{ name }}",
  ),
  sample(
    "right-to-left",
    `<div dir="rtl"><p>שלום {{ name }}, ברוך הבא</p><p>مرحبا {{ city }}</p></div>`,
    null,
  ),
  sample(
    "Japanese",
    `<p>{{ name }} 様</p><p>いつもお世話になっております。${"ご注文".repeat(30)}{{ order }}</p>`,
    false,
  ),
  sample("Chinese in English", `<p>${LOREM.repeat(6)}</p><p>你好 {{ name }}</p>`),
  sample(
    "emoji",
    `<h2>🎉 {{ name }} 🎉</h2><p>${"👍".repeat(60)}{{ city }}${"é".repeat(90)}</p>`,
    false,
  ),
  sample(
    "filters",
    "<p>{{ name | upcase }} {{ city | default: 'nowhere' }} {{ name | append: '!' }}</p>",
  ),
  sample(
    "a captured value",
    "{% capture full %}{{ name }} of {{ city }}{% endcapture %}<p>{{ full }}</p>",
  ),
  sample("an assigned value", "{% assign who = name | capitalize %}<p>{{ who }} and {{ who }}</p>"),
  sample(
    "values in links",
    `<a href="https://example.com/x">See {{ order }}</a> <a href="mailto:a@example.com">{{ name }}</a>`,
    null,
  ),
  sample(
    "recipient links",
    `<p>{{ name }} <a href="{{ unsubscribeUrl }}">off</a> {{ manageUrl }}</p><p>{{ subscribeUrl }}</p>`,
  ),
  sample(
    "many links",
    page(
      `<p>{{ name }}</p>${Array.from({ length: 8 }, (_, i) => `<p><a href="https://example.com/${i}">${i}</a></p>`).join("")}`,
    ),
  ),
  sample(
    "a preview with padding",
    page(
      `<div style="display:none">{{ name }}, news${"&zwnj;&nbsp;".repeat(40)}</div><p>${LOREM}{{ city }}</p>`,
    ),
  ),
  sample(
    "fixed padding",
    page(
      `<div style="display:none">News${"&zwnj;&nbsp;".repeat(40)}</div><p>${LOREM}{{ city }}</p>`,
    ),
  ),
  sample(
    "images and rules",
    `<img src="https://example.com/a.png" alt="Logo"><hr><p>{{ name }}</p><hr><blockquote><hr>{{ city }}</blockquote>`,
  ),
  sample(
    "line breaks",
    `{{ name }}<br>{{ city }}<br><br><br>${LOREM}{{ order }}<br>\nFrom {{ name }}\n.{{ city }}`,
  ),
  sample("carriage returns", `<p>{{ name }}</p>\r\n<p>${LOREM}\r\n{{ city }}\r</p>`),
  sample("adjacent values", "<p>{{ name }}{{ city }} {{ order }}{{ name }}</p>"),
  sample(
    "a value between inline elements",
    `<p>${LOREM}<b>{{ name }}</b>, <i>x{{ city }}</i>y ${LOREM}</p>`,
  ),
  sample("malformed markup", `<p>{{ name }}<div><b>${LOREM}{{ city }}</p></i><td>{{ order }}`),
  sample(
    "cycle and increment",
    "{% for item in items %}{% cycle 'a', 'b' %}{% increment n %}{{ item.title }} {% endfor %}",
  ),
  sample(
    "a line of 20,000 characters",
    `<div>${LOREM.repeat(80)}{{ name }}${LOREM.repeat(80)}{{ city }}</div>`,
  ),
  sample("a value in an attribute", `<p title="{{ name }}">x</p>`, false),
  sample("a value in a link's target", `<a href="https://example.com/{{ order }}">x</a>`, false),
  sample("a value in a style", `<style>p { color: {{ city }} }</style><p>x</p>`, false),
  sample("a value in a script", `<script>const x = "{{ name }}"</script>`, false),
  sample("a value in a comment", `<!-- {{ name }} --><p>x</p>`, false),
  sample("a value in preformatted text", `<pre>a  {{ name }}  b</pre>`, false),
  sample("a value after an ampersand", `<p>R&{{ name }}; and &#{{ count }};</p>`, false),
  sample("a value after a sign", `<p>a <{{ name }} b</p>`, false),
  sample("a link with its own URL as a value", `<a href="tel">{{ name }}</a>`, false),
  sample("a value with a break opportunity", `<p>${LOREM}{{ name }}<wbr>{{ city }}</p>`),
  sample("a private-use character", `<p>\ue000 {{ name }}</p>`, false),
  sample("a link in another text", `<p>{{ name }} {{ unsubscribeUrl | append: "?x" }}</p>`, false),
  sample(
    "a tracked link to a recipient's page",
    `<p>{{ name }} <a href="https://x.test/?u={{ unsubscribeUrl }}">x</a></p>`,
    null,
  ),
];
