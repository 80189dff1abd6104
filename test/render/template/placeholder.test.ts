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
    ["that begins with a number", "{{ 1st }} {{ 2024 Q1 }}", { "1st": "x", "2024 Q1": "y" }, "x y"],
    ["that is an operator of Liquid", "{{ and }}{{ contains }}", { and: "x", contains: "y" }, "xy"],
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

const UNUSUAL_KEYS = [
  "#1",
  "a=b",
  "@x",
  "a<b",
  "a < b",
  "a == b",
  "[x]",
  "x [y]",
  "[]",
  "x[",
  "x]",
  "(a..b)",
  "(9007199254740992..9007199254740994)",
  "(Name)",
  "😀 x",
  "😀",
  "x 😀",
  "€ 5",
  "🇩🇪",
  "a + b",
  "price * 2",
  "a..b",
  "..",
  ".a",
  "a.",
  "-x",
  "--",
  "!",
  "?",
  "a? b",
  "name ? 'a' : 'b'",
  "a 'b' 'c",
  "'a",
  '"a',
  '5" disk',
  '19" and 24" screens',
  "Rock 'n' Roll",
  "the '90s",
  "\\",
  "a\\'b",
  "<b>name</b>",
  "#if name",
  "/if",
  "{x}",
  "{x",
  "x}",
  "%",
  "{% if %}",
  "~",
  "`a`",
  "$",
  "a, b; c",
  "١",
  "_id",
  "$email",
  "1st choice",
  "What is your name?",
  "Straße (privat), Nr.",
  "__proto",
];

describe("a text that is not an expression is a key", () => {
  test.each(UNUSUAL_KEYS)("%s", (key) => {
    const data = { [key]: "VALUE" };
    expect(textOf(`<{{ ${key} }}>`, data)).toBe("<VALUE>");
    expect(textOf(`<{{ ${key} | downcase }}>`, data)).toBe("<value>");
    expect(textOf(`<{{ ${key} ?? none }}>`, data)).toBe("<VALUE>");
    expect(textOf(`<{{ none ?? ${key} ?? none }}>`, data)).toBe("<VALUE>");
    expect(textOf(`<{{ data.${key} }}>`, { data })).toBe("<VALUE>");
    // Text that comes after the placeholder is never a part of it.
    expect(textOf(`<{{ ${key} }}> it's "5" {{ x }}`, { ...data, x: 1 })).toBe(`<VALUE> it's "5" 1`);
  });

  const comparisons: [key: string, result: string][] = [
    ["a<b", "false"],
    ["a < b", "false"],
    ["a == b", "true"],
  ];

  test.each(comparisons)("%s is a comparison if there is no such key", (key, result) => {
    expect(textOf(`<{{ ${key} }}>`, {})).toBe(`<${result}>`);
  });

  const others = UNUSUAL_KEYS.filter((key) => !comparisons.some(([text]) => text === key));
  test.each(others)("%s renders as nothing if there is no such key", (key) => {
    expect(textOf(`<{{ ${key} }}>`, {})).toBe("<>");
  });
});

describe("an expression keeps its meaning", () => {
  const keys = {
    "5": "KEY",
    "-5": "KEY",
    "1.5": "KEY",
    true: "KEY",
    false: "KEY",
    nil: "KEY",
    null: "KEY",
    empty: "KEY",
    blank: "KEY",
    "'x'": "KEY",
    '"x"': "KEY",
    "items[0]": "KEY",
    "items[0].name": "KEY",
    "none[0]": "KEY",
  };
  const variables = { ...keys, items: [{ name: "Ada" }], a: 2, text: "x | y", map: { "b c": 3 } };
  const cases: [what: string, source: string, text: string][] = [
    ["a number", "{{ 5 }} {{ -5 }} {{ 1.5 }}", "5 -5 1.5"],
    ["a number with a filter", "{{ 5 | plus: 5 }}", "10"],
    ["true and false", "{{ true }} {{ false }}", "true false"],
    ["nil and null", "[{{ nil }}{{ null }}]", "[]"],
    ["empty and blank", "[{{ empty }}{{ blank }}]", "[]"],
    ["a fallback of nil", "{{ nil ?? x }}", "x"],
    ["a literal as an argument of a filter", "{{ none | default: true }}", "true"],
    ["a literal in a condition", "{% if a == nil %}nil{% elsif true %}true{% endif %}", "true"],
    ["a number in a condition", "{% if a < 5 %}less{% endif %}", "less"],
    ["a string", "{{ 'x' }}{{ \"x\" }}", "xx"],
    ["a string with a bar", "{{ 'a | b' }} {{ text == 'x | y' }}", "a | b true"],
    ["a string with braces", "{{ 'a }} b' }} {{ text == 'a }} b' }}", "a }} b false"],
    ["a string with two question marks", "{{ 'a ?? b' | upcase }}", "A ?? B"],
    ["a comparison", "{{ a < 3 }} {{ a==2 }} {{ a > 1 and a < 2 }}", "true true false"],
    ["a string before an operator", "{{ 'x }}' contains 'x' and 'x }}' == text }}", "false"],
    ["an index", "{{ items[0].name }}", "Ada"],
    ["an index of a variable that does not exist", "{{ none[0] }}", "KEY"],
    ["an index that is a string", "{{ map['b c'] }} {{ map['b }} c'] }}", "3 "],
    ["a range", "{{ (1..3) | join: '-' }}", "1-2-3"],
    ["braces in the argument of a filter", "{{ none | default: '}} | x' }}", "}} | x"],
  ];
  test.each(cases)("%s", (_, source, text) => {
    expect(textOf(source, variables)).toBe(text);
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
    ["{{ name", 1, /not closed/],
    ["{{ name ?? you", 1, /not closed/],
    ["{{ name | default: 'x }}", 1, /not closed/],
    ["{{ name | default 'x' }}", 19, /expected ":"/],
    ["{{ }}", 4, /invalid value expression/],
    ["{{ ?? you }}", 4, /invalid value expression/],
    ["{{ name ?? ?? you }}", 12, /invalid value expression/],
    ["{{ name }} {{ | upcase }}", 15, /invalid value expression/],
    [`{{ ${"#".repeat(256)} }}`, 4, /invalid value expression/],
    [`{{ a + ${"b".repeat(256)} }}`, 6, /expected "\|"/],
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
