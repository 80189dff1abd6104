import { describe, expect, test } from "bun:test";
import { compileTemplate, renderJson } from "../../../src/render/template/template.ts";

function rendered(source: string, variables: Record<string, unknown>) {
  const compiled = compileTemplate(source, "json");
  if (!compiled.ok) throw new Error(compiled.message);
  const result = renderJson(compiled.template, variables);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

const VALUES = {
  name: 'Ada "The Countess"',
  note: "line1\nline2\\",
  n: 5,
  yes: true,
  none: null,
  list: [1, "b"],
  object: { a: '"' },
};

describe("an output is a valid part of JSON:", () => {
  const cases: [source: string, value: unknown][] = [
    ['{"a":"New: {{ name }}"}', { a: `New: ${VALUES.name}` }],
    ['{"a":"{{ note }}","b":"\\"{{ name }}\\""}', { a: VALUES.note, b: `"${VALUES.name}"` }],
    [
      '{"a":{{ n }},"b":{{ yes }},"c":{{ none }},"d":{{ missing }}}',
      { a: 5, b: true, c: null, d: null },
    ],
    ['{"a":{{ name }}}', { a: VALUES.name }],
    ['{"a":{{ name | json }},"b":{{ object | json }}}', { a: VALUES.name, b: VALUES.object }],
    ['{"a":"{{ object | json }}"}', { a: JSON.stringify(VALUES.object) }],
    ['{"a":{{ list }},"b":"{{ list }}"}', { a: VALUES.list, b: "1b" }],
    ['{{ "{" | raw }}"a":1}', { a: 1 }],
    [
      "[{% for x in list %}{{ x }}{% unless forloop.last %},{% endunless %}{% endfor %}]",
      VALUES.list,
    ],
    ['{% capture x %}{{ name }}{% endcapture %}{"a":"{{ x }}"}', { a: VALUES.name }],
    ['{"{{ name }}":"{% echo note %}"}', { [VALUES.name]: VALUES.note }],
    ['{"a":"{{ name ?? x }}","b":"{{ missing ?? x }}"}', { a: VALUES.name, b: "x" }],
  ];
  test.each(cases)("%s", (source, value) => {
    expect(JSON.parse(rendered(source, VALUES).text)).toEqual(value);
  });
});

test("a template that is one output has its value, another one has none", () => {
  expect(rendered("{{ n }}", VALUES).only).toEqual({ value: 5 });
  expect(rendered("{{ n | plus: 1 }}", VALUES).only).toEqual({ value: 6 });
  expect(rendered("{{ list }}", VALUES).only).toEqual({ value: VALUES.list });
  expect(rendered("{{ missing }}", VALUES).only).toEqual({ value: undefined });
  for (const source of ["n", " {{ n }}", "{{ n }}{{ n }}", "{% if n %}x{% endif %}"]) {
    expect(rendered(source, VALUES).only).toBeNull();
  }
});
