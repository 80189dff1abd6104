import { describe, expect, test } from "bun:test";
import { checkTemplate, compileTemplate } from "../../../src/render/template/template.ts";

const messageOf = (source: string): string =>
  checkTemplate(source, "body", { kind: "html" })[0]?.message ?? "";

describe("names a construct of another language and its form in Liquid:", () => {
  const cases: [source: string, instead: string][] = [
    [
      "{{{ name }}}",
      "{{{ name }}} is the syntax of Mustache or Handlebars; write {{ name | raw }}",
    ],
    ["{{& name}}", "{{ name | raw }}"],
    ["{{#if premium}}a{{else}}b{{/if}}", "{% if premium %} … {% endif %}"],
    ["{{#unless x}}a{{/unless}}", "{% unless x %} … {% endunless %}"],
    ["{{#each items}}a{{/each}}", "{% for item in items %} … {% endfor %}"],
    ["{{#items}}a{{/items}}", "{% for item in items %}"],
    ["{{^items}}a{{/items}}", "{% unless items %}"],
    ["a{{else}}b", "{% else %}"],
    ["{{else if x}}b", "{% else %}"],
    ["{{/if}}", "{% endif %}"],
    ["{{> footer}}", "put the text of the partial in its place"],
    ["{{! note}}", "{% comment %}"],
    ["{{!-- note --}}", "{% comment %}"],
    ["{{this.name}}", "{{ item.name }}"],
    ["{{@index}}", "{{ forloop.index }}"],
    ["{{../name}}", "{{ name }}"],
    ["{{ .Subscriber.Name }}", "{{ name }}"],
    ["{{ .Subscriber.Attribs.city }}", "{{ city }}"],
    ['{{ TrackLink "https://x.example" . }}', "write only the address"],
    ["{{ TrackLink &quot;https://x.example&quot; . }}", "write only the address"],
    ["{{ UnsubscribeURL }}", "{{ unsubscribeUrl }}"],
    ["{{ TrackView }}", "leave it out"],
    ["{{ .Name | Safe }}", "{{ Name }}"],
    ["{{ if .X }}a{{ end }}", "{% if X %}"],
    ["{{ range .Items }}a{{ end }}", "{% for item in Items %}"],
    ["{{ $x := 5 }}", "{% assign"],
    ['{{ printf "%d" x }}', "filters and no functions"],
    ["{{ name if name else 'you' }}", "{% if … %}"],
    ["{{ for x in items }}", "{% for item in items %}"],
    ["{{ name || 'you' }}", "{{ name ?? text }}"],
    ["{{ premium ? 'a' : 'b' }}", "{% if … %}"],
    ["{{ a && b }}", "{% if … %}"],
    ["{{ name.toUpperCase() }}", "use a filter"],
    ["{{ 'Dear ' + name }}", "each part"],
    ["Dear *|FNAME|*", "{{ fname }}"],
    ["Dear <%= name %>", "{{ name }}"],
    ["Dear %recipient.name%", "{{ name }}"],
  ];
  test.each(cases)("%s", (source, instead) => {
    expect(messageOf(source)).toContain(instead);
    expect(messageOf(`<p>\n  x ${source}</p>`)).toStartWith(
      "has a syntax error in line 2, column ",
    );
  });
});

describe("accepts what may be Liquid or the name of a variable:", () => {
  test.each([
    "{{ name }}",
    "{{- name -}}",
    "{{ First Name }}",
    "{{ Mother's name }}",
    "{{ Amount (EUR) }}",
    "{{ Größe }}",
    "{{ a.b[0].c }}",
    '{{ a["b"] }}',
    "{{ name ?? friend }}",
    "{{ name ?? 'Are you? Yes : no' }}",
    "{{ name | default: 'you' }}",
    "{{ tags contains 'x' }}",
    "{{ end }}",
    "{{ For Sale }}",
    "{{ Price in $ }}",
    "{{ a &gt; b }}",
    "{{&nbsp;name&nbsp;}}",
    "{{ &quot;text&quot; }}",
    "{% raw %}{{{ name }}} {{#if x}}{% endraw %}",
    "{% comment %}{{#if x}}{% endcomment %}",
    '{"a":{"b":{{ n }}}}',
    "{% for item in items %}{{ item.name }}{{ forloop.index }}{% endfor %}",
    "{% if a %}b{% else %}c{% endif %}",
    "100 % of *all* <b>5 %</b> |",
  ])("%s", (source) => {
    expect(checkTemplate(source, "body", { kind: "html" })).toEqual([]);
  });
});

test("a source whose writer means it is accepted, and a stored one is rendered as before", () => {
  const source = "{{#if premium}}";
  expect(checkTemplate(source, "body", { kind: "html", isLenient: true })).toEqual([]);
  expect(compileTemplate(source, "html").ok).toBe(true);
});

test("a construct of hostile length takes linear time", () => {
  for (const unit of ["a ", "a.", "<%", "*|A", "{{{", "$x ", "a? "]) {
    const text = unit.repeat(50_000);
    const before = performance.now();
    messageOf(`{{ ${text} }}`);
    messageOf(text);
    expect(performance.now() - before).toBeLessThan(500);
  }
});
