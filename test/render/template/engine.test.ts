/** Templates are rendered as the library renders them. */

import { describe, expect, test } from "bun:test";
import { Context, toValueSync } from "liquidjs";
import { createRandom } from "../../../scripts/seed/random.ts";
import { liquidEngine, readTokens } from "../../../src/render/template/engine.ts";
import { BoundedEmitter } from "../../../src/render/template/limits.ts";
import { readVariable } from "../../../src/render/template/placeholder-key.ts";
import {
  compileTemplate,
  render,
  type TemplateKind,
  type Variables,
} from "../../../src/render/template/template.ts";

const ENGINES = { html: liquidEngine("html"), text: liquidEngine("text") };

/** Renders with the loop of the library. */
function renderByLibrary(source: string, kind: "html" | "text", variables: Variables): string {
  const engine = ENGINES[kind];
  const nodes = engine.parser.parseTokens(readTokens(engine, source));
  const emitter = new BoundedEmitter();
  const context = new Context({}, engine.options, { sync: true, globals: variables });
  toValueSync(engine.renderer.renderTemplates(nodes, context, emitter));
  return emitter.buffer;
}

function renderHere(source: string, kind: TemplateKind, variables: Variables): string {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) throw new Error(compiled.message);
  const rendered = render(compiled.template, variables);
  if (!rendered.ok) throw new Error(rendered.reason);
  return rendered.text;
}

const PIECES = [
  "text ",
  "<b>&amp;</b>\n",
  "{{ name }}",
  "{{- name -}} ",
  "{{ name | upcase | raw }}",
  "{{ missing ?? name ?? There }}",
  "{{ a.b }}{{ a['b'] }}{{ list[1] }}",
  "{{ First Name }}",
  "{{ constructor }}{{ toString }}{{ a.hasOwnProperty }}",
  "{{ list.size }}{{ list.first }}{{ a }}{{ list }}",
  "{% if name %}yes{% else %}no{% endif %}",
  "{% for i in list %}{{ i }}{{ forloop.index }}{% if i == 'y' %}{% break %}{% endif %}{% endfor %}",
  "{% assign name = 'set' %}",
  "{% capture a %}<i>{{ name }}</i>{% endcapture %}",
  "{% raw %}{{ name }}{% endraw %}{% comment %}no{% endcomment %}",
  "{% echo name %}{% cycle 'a', 'b' %}{% increment name %}",
];

/** Rare, because nothing after them is rendered. */
const STOPS = ["{% break %}", "{% if name %}{% continue %}{% endif %}"];

const VALUES = ["Ada", "<x> & y", "", null, 0, false, true, ["x", "y", "z"], [], { b: 1 }, {}];
const NAMES = ["name", "a", "list", "First Name", "a.b", "constructor", "toString", "__proto__"];

function randomVariables(random: ReturnType<typeof createRandom>): Variables {
  const names = NAMES.filter(() => random.integer(3) > 0);
  return Object.fromEntries(names.map((name) => [name, random.pick(VALUES)]));
}

describe("a template has the result of the library", () => {
  for (const kind of ["html", "text"] as const) {
    test(`as ${kind}, with random tags and variables`, () => {
      const random = createRandom(17);
      for (let round = 0; round < 500; round++) {
        const pool = random.integer(4) === 0 ? [...PIECES, ...STOPS] : PIECES;
        const count = 1 + random.integer(10);
        const source = Array.from({ length: count }, () => random.pick(pool)).join("");
        const variables = randomVariables(random);
        expect(renderHere(source, kind, variables)).toBe(renderByLibrary(source, kind, variables));
      }
    });
  }
});

test("a variable has the value that the library reads", () => {
  const random = createRandom(23);
  for (let round = 0; round < 500; round++) {
    const globals = randomVariables(random);
    const context = new Context({}, ENGINES.html.options, { sync: true, globals });
    for (let scopes = random.integer(3); scopes > 0; scopes--) {
      context.push(randomVariables(random));
    }
    for (const name of [...NAMES, "size", "first", "valueOf"]) {
      expect(readVariable(context, name)).toEqual(context.getSync([name]));
    }
  }
});
