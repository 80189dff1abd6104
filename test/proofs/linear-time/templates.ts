/** Compiling templates, and rendering them with values of any form. */

import { filters } from "liquidjs";
import {
  compileTemplate,
  render,
  renderUrl,
  type TemplateKind,
} from "../../../src/render/template/template.ts";
import { placeholdersOf } from "../../../src/render/template/placeholder-names.ts";
import { cheapTags } from "../../../src/render/template/cheap.ts";
import { assembleBody, layoutFault } from "../../../src/render/layout.ts";
import { buildUrl } from "../../../src/render/webhook-url.ts";
import { type Parser, samples } from "./linear.ts";

const PUMPS = samples(
  '{{§{%§}}§%}§{{a}}§{{ a ?? b }}§{{ a ??§{{a??"§??§{{\'§{{"§{% if a %}§{%raw%}',
  "{% endraw %}§{% comment %}§{%-§{% # §|a§| default: a §a.§[a§[0]§(1..2)§{{(",
  "{%liquid\n§\necho a§{% assign a = b %}§and §a == §{% case a %}§{% when 1 %}",
  "{% for a in b %}§{% capture a %}§{% tablerow a in b %}§&nbsp;§&amp;§a b §?? § ?? a",
  "??'a'§| a: 'b' §* §%a§+§a's §{{\\'}}§\\\"§{{ 'a }}b§{{ \"§'a == ' §{{ #a }}§{{ a=b }}§😀",
);

/** Compiles a source and, if that succeeds, renders it with values of several kinds. */
function renderAll(source: string, kind: TemplateKind): unknown {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) return compiled;
  const data = { a: "b", b: { a: "c" }, "a b": "d", "a.a": { a: 1 } };
  return kind === "url" ? renderUrl(compiled.template, data) : render(compiled.template, data);
}

/** The assembled body, if its parts compile as those of a stored template do. */
function assembled(body: string, layout: string): string {
  const isStored = compileTemplate(body, "html").ok && layoutFault(layout) === null;
  return isStored ? assembleBody({ body, preheader: body, layout }) : "";
}

export const TEMPLATES_PARSERS: readonly Parser[] = [
  {
    name: "templates of bodies",
    run: (text) => renderAll(text, "html"),
    maxCharacters: 64 * 1024,
    frames: [
      ["", ""],
      ["{{ a ?? x", "y }}"],
      ["{% if ", " %}{% endif %}"],
    ],
    pumps: PUMPS,
  },
  {
    name: "layouts of templates",
    run: (text) => [
      layoutFault(text),
      assembled(text, "<p>{{ content }}</p>"),
      assembled("x", text),
    ],
    maxCharacters: 64 * 1024,
    frames: [
      ["", ""],
      ["{{ content }}", ""],
      ["<html><head><style>", "</style></head><body a='{{ b }}'>"],
      ["<body ", ">"],
    ],
    pumps: [
      ...PUMPS,
      ...samples("<!--§-->§<body§<body >§<title>§</title>§\"§'§</head>§{{content}}"),
    ],
  },
  {
    name: "variables of templates",
    run: (text) => placeholdersOf([text]),
    maxCharacters: 64 * 1024,
    frames: [
      ["", ""],
      ["{{ a", "}}"],
      ["{% if ", " %}{% endif %}"],
    ],
    pumps: PUMPS,
  },
  {
    name: "templates that may be cheap",
    run: cheapTags,
    maxCharacters: 64 * 1024,
    frames: [
      ["", ""],
      ["{{ a", "}}"],
      ["{% if ", " %}"],
    ],
    pumps: PUMPS,
  },
  {
    name: "tags of templates",
    run: (text) => renderAll(text, "text"),
    maxCharacters: 64 * 1024,
    frames: [
      ["{% # ", "%}"],
      ["{% liquid ", "%}"],
      ["{{ a | default: ", " }}"],
      ["{{ a&amp;", "}}"],
    ],
    pumps: PUMPS,
  },
  {
    name: "templates of URLs",
    run: (text) => renderAll(text, "url"),
    maxCharacters: 4_096,
    frames: [
      ["https://a.test/", ""],
      ["https://a.test/{{ a", "}}"],
    ],
    pumps: [...PUMPS, "/{{ a }}", "&a={{ a }}"],
  },
  {
    name: "rendered URLs",
    run: (text) =>
      buildUrl([
        { kind: "literal", text: "https://a.test/" },
        { kind: "encoded", text: encodeURIComponent(text.toWellFormed()), value: text },
        { kind: "literal", text: "/" },
        { kind: "raw", text, value: text },
      ]),
    pumps: ["../", "%2e", "%252e", "%25", "/", "&"],
  },
];

const TEXTS = samples(" §a §\n§<§0§<script§</script>§<!--§&amp;§%41§a.");
const USES = [
  "{{ x | NAME }}",
  '{{ x | NAME: "a", "b" }}',
  "{{ x | NAME: 5, 5 }}",
  '{{ x | split: "" | NAME: "a.a", "a" | join: "a" }}',
];

/** A filter cannot be interrupted, so no filter may hold the event loop. */
export const FILTER_PARSERS: readonly Parser[] = Object.keys(filters).flatMap((name) =>
  USES.flatMap((use) => {
    const compiled = compileTemplate(use.replace("NAME", name), "text");
    if (!compiled.ok) return [];
    return [
      {
        name: use.replace("NAME", name),
        run: (x: string) => render(compiled.template, { x }),
        maxCharacters: use.includes("split") ? 2_048 : 16_384,
        pumps: TEXTS,
        hasOwnPumpsOnly: true,
      },
    ];
  }),
);
