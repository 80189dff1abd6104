import { describe, expect, test } from "bun:test";
import {
  compileTemplate,
  render,
  type TemplateKind,
} from "../../../src/render/template/template.ts";

type Variables = Record<string, unknown>;

function textOf(source: string, variables: Variables, kind: TemplateKind = "text"): string {
  const compiled = compileTemplate(source, kind);
  if (!compiled.ok) throw new Error(compiled.message);
  const rendered = render(compiled.template, variables);
  if (!rendered.ok) throw new Error(rendered.reason);
  return rendered.text;
}

describe("a placeholder that is a key renders the value of the key", () => {
  const cases: [what: string, source: string, variables: Variables, text: string][] = [
    ["with a blank", "{{ First Name }}", { "First Name": "Ada" }, "Ada"],
    ["without blanks around it", "{{First Name}}", { "First Name": "Ada" }, "Ada"],
    ["with trimmed blanks around it", "a {{- First Name -}} b", { "First Name": "Ada" }, "aAdab"],
    ["with a dot", "{{ a.b }}", { "a.b": 1 }, "1"],
    ["with a dot, before the path", "{{ a.b }}", { "a.b": 1, a: { b: 2 } }, "1"],
    ["a path if there is no such key", "{{ a.b }}", { a: { b: 2 } }, "2"],
    ["the item of a list", "{{ a.0.b }} {{ a[0].b }}", { a: [{ b: 2 }] }, "2 2"],
    ["with the value null, before the path", "[{{ a.b }}]", { "a.b": null, a: { b: 2 } }, "[]"],
    ["with dots and blanks", "{{ a.b c.d }}", { "a.b c.d": 1 }, "1"],
    ["with a dash", "{{ first-name }}", { "first-name": "Ada" }, "Ada"],
    ["with spaced dashes", "{{ A - B – C }}", { "A - B – C": 1 }, "1"],
    ["with an apostrophe", "{{ Mother's Name }} it's", { "Mother's Name": "Eve" }, "Eve it's"],
    ["with parentheses", "{{ Amount (EUR) }}", { "Amount (EUR)": 5 }, "5"],
    ["with a colon", "{{ utm:source }}", { "utm:source": "x" }, "x"],
    ["with a comma", "{{ Name, first }}", { "Name, first": "x", Name: "y" }, "x"],
    ["with symbols", "{{ 18+ / C++ & C#, 50% @ 5€ }}", { "18+ / C++ & C#, 50% @ 5€": 1 }, "1"],
    ["with a question mark", "{{ How are you? }}", { "How are you?": "well" }, "well"],
    ["that is a number", "{{ 2024 }} {{ 5 }}", { 2024: "x" }, "x 5"],
    ["that is a literal of Liquid", "{{ empty }}{{ nil }}", { empty: "x", nil: "y" }, "xy"],
    ["with keywords of Liquid", "{{ Terms and Rules }}", { "Terms and Rules": "x" }, "x"],
    ["in other scripts", "{{ Имя клиента }}{{ お名前 }}", { "Имя клиента": 1, お名前: 2 }, "12"],
    ["over two lines", "{{ First\n    Name }}", { "First Name": "Ada" }, "Ada"],
    ["with two blanks", "{{ A  B }}", { "A  B": 2, "A B": 1 }, "2"],
    ["within data", "{{ data.First Name }}", { data: { "First Name": "Ada" } }, "Ada"],
    ["with a dot, within data", "{{ data.a.b }}", { data: { "a.b": 1, a: { b: 2 } } }, "1"],
    ["deep within data", "{{ x.y z.First Name }}", { x: { "y z": { "First Name": 1 } } }, "1"],
    ["with a filter", "{{ First Name | upcase }}", { "First Name": "Ada" }, "ADA"],
    ["with a fallback", "{{ First Name ?? friend }}", { "First Name": "Ada" }, "Ada"],
    ["missing, with a fallback", "{{ First Name ?? friend }}", { First: "x" }, "friend"],
    ["missing, with a filter", "{{ First Name | default: 'friend' }}", {}, "friend"],
    ["missing", "[{{ First Name }}]", { First: "x", Name: "y" }, "[]"],
    ["missing, with parentheses", "[{{ Amount (EUR) }}]", { Amount: 1 }, "[]"],
    [
      "of a variable of the template",
      "{% for p in people %}{{ p.First Name }}{{ p.a.b }}{% endfor %}",
      { people: [{ "First Name": "Ada", "a.b": 1 }], "p.a.b": 2, p: { "a.b": 3 } },
      "Ada1",
    ],
    ["captured", "{% capture 'My Key' %}x{% endcapture %}{{ My Key }}", { "My Key": 1 }, "x"],
  ];

  test.each(cases)("%s", (_, source, variables, text) => {
    expect(textOf(source, variables)).toBe(text);
  });
});

describe("entities that an HTML editor writes are read as their characters", () => {
  const cases: [what: string, source: string, variables: Variables, html: string][] = [
    ["no-break spaces around a key", "{{&nbsp;name&nbsp;}}", { name: "Ada" }, "Ada"],
    ["no-break spaces as characters", "{{\u00a0name\u00a0}}", { name: "Ada" }, "Ada"],
    ["zero-width characters", "{{\u200bFirst Name\ufeff}}", { "First Name": "Ada" }, "Ada"],
    ["numeric entities of no-break spaces", "{{&#160;name&#xA0;}}", { name: "Ada" }, "Ada"],
    ["a no-break space within a key", "{{ First&nbsp;Name }}", { "First Name": "Ada" }, "Ada"],
    ["a key with a no-break space", "{{ a&nbsp;b }}", { "a\u00a0b": 1, "a b": 2 }, "1"],
    ["an ampersand", "{{ R&amp;D }}", { "R&D": "x" }, "x"],
    ["a plain ampersand", "{{ R&D }}", { "R&D": "x" }, "x"],
    ["an apostrophe", "{{ Mother&#39;s Name }}", { "Mother's Name": "Eve" }, "Eve"],
    ["a letter", "{{ gr&ouml;&szlig;e }}", { größe: 1 }, "1"],
    ["quotes of a filter", "{{ name | default: &quot;a | b&quot; }}", {}, "a | b"],
    ["quotes of a fallback", "{{ name ?? &quot;you&quot; }}", {}, "you"],
    ["one quote of a fallback", "{{ name ?? &quot;you }}", {}, "&quot;you"],
    ["an ampersand in a fallback", "{{ name ?? you &amp; me }}", {}, "you &amp; me"],
    ["encoded braces do not close the placeholder", "{{ name ?? &#125;&#125; }}", {}, "}}"],
    ["a comparison", "{{ a &gt; 1 }}", { a: 2 }, "true"],
    ["an entity in a string is not decoded", "{{ 'a &amp; b' }}", {}, "a &amp;amp; b"],
    ["a value is escaped once", "{{&nbsp;First Name&nbsp;}}", { "First Name": "<&" }, "&lt;&amp;"],
    ["raw", "{{&nbsp;First Name | raw }}", { "First Name": "<b>" }, "<b>"],
  ];

  test.each(cases)("%s", (_, source, variables, html) => {
    expect(textOf(source, variables, "html")).toBe(html);
  });
});

describe("inherited properties of the data are not rendered", () => {
  const sources = [
    "{{ constructor }}{{ __proto__ }}{{ toString }}",
    "{{ a.constructor }}{{ a.__proto__ }}{{ a.__proto__.toString }}",
    "{{ constructor.name }}{{ __proto__.constructor.name }}",
    "{{ data.constructor name }}{{ a.b c.constructor }}",
    "{{ list.constructor.name }}{{ list.at }}{{ text.at }}{{ text.constructor name }}",
  ];
  test.each(sources)("%s", (source) => {
    const variables = { a: { "b c": {} }, data: {}, list: [1], text: "x" };
    expect(textOf(source, variables)).toBe("");
  });
});

describe("a text that could be a key is not a syntax error", () => {
  const keys = [
    "{{ First Name }}",
    "{{ Straße (privat), Nr. }}",
    "{{ What is your name? }}",
    "{{ price in € }}",
    "{{ $email }}",
    "{{ _id }}",
    "{{ 1st choice }}",
    "{{ a. }}",
  ];
  test.each(keys)("%s", (source) => {
    expect(textOf(`[${source}]`, {})).toBe("[]");
  });
});

describe("syntax errors in Liquid are reported with line and column", () => {
  const mistakes: [source: string, column: number, message: RegExp][] = [
    ["{{ name | upcas }}", 1, /undefined filter: upcas/],
    ["{{ First Name | upcas }}", 1, /undefined filter: upcas/],
    ["{{ name ?? you | upcas }}", 1, /undefined filter: upcas/],
    ["{{ name | upcas ?? you }}", 1, /undefined filter: upcas/],
    ["{{ name | constructor }}", 1, /undefined filter: constructor/],
    ["{{&nbsp;name | upcas }}", 1, /^undefined filter: upcas$/],
    ["{{&nbsp;name[ }}", 1, /^\[ not closed$/],
    ["{{ name", 1, /not closed/],
    ["{{ name ?? you", 1, /not closed/],
    ["{{ 'name }}", 1, /not closed/],
    ["{{ }}", 4, /invalid value expression/],
    ["{{ ?? you }}", 4, /invalid value expression/],
    ["{{ name ?? ?? you }}", 12, /invalid value expression/],
    ["{{ name | }} {{ | upcase }}", 17, /invalid value expression/],
    ["{{ name[ }}", 10, /not closed/],
    ["{{ name 'x' 'y }}", 1, /not closed/],
    ["{{ price * 2 }}", 10, /expected "\|"/],
    ["{{ a + b }}", 6, /expected "\|"/],
    ["{{ a..b }}", 5, /expected "\|"/],
    ["{{ #if name }}", 4, /invalid value expression/],
    ["{{ /if }}", 4, /invalid value expression/],
    ["{{ <b>name</b> }}", 12, /expected "\|"/],
    ["{{ name ? 'a' : 'b' }}", 15, /expected "\|"/],
  ];
  test.each(mistakes)("%s", (source, column, message) => {
    expect(compileTemplate(`a\n${source}`, "html")).toEqual({
      ok: false,
      line: 2,
      column,
      message: expect.stringMatching(message),
    });
  });
});

test("a text of more than 255 characters is read as Liquid and not as a key", () => {
  const variables = (key: string) => ({ [key]: "key", a: "Liquid" });
  const short = "a b".padEnd(255, "b");
  expect(textOf(`{{ ${short} }}`, variables(short))).toBe("key");
  expect(textOf(`{{ ${short}b }}`, variables(`${short}b`))).toBe("Liquid");
});

test("a compiled template looks its keys up at each render", () => {
  const compiled = compileTemplate("{{ First Name ?? a.b ?? none }}", "text");
  if (!compiled.ok) throw new Error(compiled.message);
  const texts = [{ "First Name": "Ada" }, { "a.b": "1" }, { a: { b: "2" } }, {}].map((variables) =>
    render(compiled.template, variables),
  );
  expect(texts).toEqual(["Ada", "1", "2", "none"].map((text) => ({ ok: true, text })));
});
