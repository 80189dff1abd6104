/** Tests which templates are certainly cheap to render. */

import { describe, expect, test } from "bun:test";
import { cheapTags } from "../../../src/render/template/cheap.ts";

describe("a cheap template", () => {
  test.each<[string, number]>([
    ["<p>Hello</p>", 0],
    ["<p>{{ name }}</p>", 1],
    ["{{ name | default: 'friend' | upcase }} {{ order.total }}", 2],
    ["{{ name ?? 'it is you' }}", 1],
    ["{% if a contains 'x' %}{{ a }}{% elsif b %}{{ b }}{% else %}c{% endif %}", 6],
    ["{%- unless a -%}b{%- endunless -%}", 2],
    ["{% case a %}{% when 1 %}x{% endcase %}", 3],
    ["{{ body | raw }}", 1],
    ["100 % {0} } a | b", 0],
  ])("%s", (source, tags) => {
    expect(cheapTags(source)).toBe(tags);
  });
});

describe("a template that may be expensive", () => {
  test.each([
    ["a loop", "{% for i in items %}{{ i }}{% endfor %}"],
    ["a loop that ends in a string", '{{ "{% if" }} {% for i in items %}{% endfor %}'],
    ["a tablerow", "{% tablerow i in items %}{{ i }}{% endtablerow %}"],
    ["several statements in one tag", "{% liquid for i in items\n endfor %}"],
    ["text that is collected", "{% capture a %}x{% endcapture %}"],
    ["a variable that grows", "{% assign a = a | append: a %}"],
    ["a range", "{{ (1..999999) }}"],
    ["a range in a condition", "{% if (1..999999) contains 5 %}{% endif %}"],
    ["a range after a string", "{% if '%}' contains (1..999999) %}{% endif %}"],
    ["a filter that sorts", "{{ items | sort | first }}"],
    ["a filter after a string with braces", "{{ '}}' | sort }}"],
    ["a filter after an entity", "{{ items &#124; sort }}"],
    ["an output within raw text", "{% raw %}{{ {% endraw %}{{ items | sort }}"],
    ["an open output", "{{ name"],
    ["an open tag", "{% if"],
    ["many outputs", "{{ a }}".repeat(201)],
    ["many filters", `{{ a ${"| upcase".repeat(60)} }}`],
    ["much code", `{{ ${"a".repeat(9_000)} }}`],
    ["many HTML tags", "<b>".repeat(2_001)],
    ["a long body", "x".repeat(64 * 1024 + 1)],
  ])("%s", (_, source) => {
    expect(cheapTags(source)).toBeNull();
  });
});
