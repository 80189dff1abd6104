import { expect, test } from "bun:test";
import { placeholdersOf } from "../../../src/render/template/placeholder-names.ts";

const needs = (name: string) => ({ name, isRequired: true, isProvided: false });
const reads = (name: string) => ({ name, isRequired: false, isProvided: false });

test.each([
  ["text", []],
  ["{{ name }}", [needs("name")]],
  ["{{ First&nbsp;Name }}", [needs("First Name")]],
  ["{{ name ?? friend }}", [reads("name")]],
  ["{{ nick ?? name ?? friend }}", [reads("nick"), reads("name")]],
  ["{{ name | default: 'x' }}", [reads("name")]],
  ["{{ name ?? friend }}{{ name }}", [needs("name")]],
  ["{{ a.b | upcase }}", [needs("a.b")]],
  ["{{ 'x' }}{{ 5 }}{{ true }}{{ '' }}", []],
  ["{{ email }}", [{ name: "email", isRequired: true, isProvided: true }]],
  ["{{ project.name }}", [{ name: "project.name", isRequired: true, isProvided: true }]],
  ["{% if vip and total > 5 %}{% endif %}", [reads("vip"), reads("total")]],
  ['{% if plan == "pro user" %}{% endif %}', [reads("plan")]],
  ["{% for item in items %}{{ item.title }}{% endfor %}", [reads("items")]],
  ["{% assign big = name | upcase %}{{ big }}", [reads("name")]],
  ["{% capture x %}{{ name }}{% endcapture %}{{ x }}", [needs("name")]],
  ["{% comment %}{{ secret }}{% endcomment %}{{ name }}", [needs("name")]],
  ["{% raw %}{{ secret }}{% endraw %}", []],
  ["{{ broken", []],
])("finds the variables of %s", (source, expected) => {
  expect(placeholdersOf([source])).toEqual(expected);
});

test("lists the variables of subject and body once, and at most 200", () => {
  expect(placeholdersOf(["{{ order }}", "{{ order }} {{ name }}"])).toEqual([
    needs("order"),
    needs("name"),
  ]);
  const many = Array.from({ length: 300 }, (_, i) => `{{ key${i} }}`).join("");
  expect(placeholdersOf([many]).length).toBe(200);
});
