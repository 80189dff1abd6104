import { describe, expect, test } from "bun:test";
import { hasPlaceholder } from "../../../src/render/template/foreign-literals.ts";
import { checkTemplate, compileTemplate, render } from "../../../src/render/template/template.ts";

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

describe("names text that Liquid does not read, and its form:", () => {
  test.each([
    ["{{ name or 'x' }}", "{{ name ?? x }}"],
    ["{{ name or nickname }}", "{{ name ?? nickname }}"],
    ["{{ name and 1 }}", "and 1 is not Liquid"],
    ["{{ user->name }}", "{{ user.name }}"],
    ["{{ user-&gt;name }}", "{{ user.name }}"],
    ["{{ user?.name }}", "{{ user.name }}"],
    ["{{ User::name }}", "::name is not Liquid"],
    ["{{ name ? 'a':'b' }}", "{% if … %}"],
    ["{{ premium?'a':'b' }}", "is not Liquid"],
    ["{{ vip ? gold : silver }}", "{% if … %}"],
    ["{{ name ?: 'x' }}", "{{ name ?? x }}"],
    ["{{ name ~ 'x' }}", "{{ name | append: 'x' }}"],
    ['{{ name . "x" }}', "is the syntax of"],
    ["{{ name + 1 }}", "{{ name | plus: 1 }}"],
    ["{{ name+1 }}", "{{ name | plus: 1 }}"],
    ["{{ price * 2 }}", "{{ price | times: 2 }}"],
    ["{{ price*2 }}", "times"],
    ["{{ price / 2 }}", "divided_by"],
    ["{{ price - discount }}", "{{ price | minus: discount }}"],
    ["{{ price % 2 }}", "modulo"],
    ["{{ price ^ 2 }}", "is not Liquid"],
    ["{{ name = 'x' }}", "{% assign name = 'x' %}"],
    ["{{ a=b }}", 'data["a=b"]'],
    ["{{ name += 1 }}", "is not Liquid"],
    ["{{ name[0 }}", "{{ name[0] }}"],
    ["{{ name[] }}", "is not Liquid"],
    ["{{ [name] }}", "is the syntax of"],
    ["{{ items[i+1] }}", "is not Liquid"],
    ["{{ lower(name) }}", "no functions"],
    ["{{ user.full_name(short) }}", "no functions"],
    ["{{ name: 'x' }}", "is not Liquid"],
    ["{{ name, 'x' }}", "is not Liquid"],
    ["{{ name; }}", "{{ name }}"],
    ["{{ name if x }}", "{% if … %}"],
    ["{{ name unless x }}", "is not Liquid"],
    ["{{ x is defined }}", "{% if … %}"],
    ["{{ a gt b }}", "{% if … %}"],
    ["{{ name!'x' }}", "{{ name }}"],
    ["{{ name\\n }}", "is not Liquid"],
    ["{{ `name` }}", "is not Liquid"],
    ["{{ <b>name</b> }}", "is not Liquid"],
    ["{{ {name} }}", "Mustache"],
    ["{{ 1..5 }}", "is not Liquid"],
    ["{{ name - }}", "is not Liquid"],
    ["{{ 'abc }}", "is not Liquid"],
    ["{{ First Name || 'x' }}", "{{ name ?? text }}"],
    ["{{ name | upcase | }}", "is not Liquid"],
    ["{{ name | date: '%Y', }}", "is not Liquid"],
    ["{{ name ?? a + 1 ?? text }}", "{{ a | plus: 1 }}"],
    ["{% if name == 'x' junk %}{% endif %}", "junk"],
    ["{% if name is defined %}{% endif %}", "is defined is not Liquid"],
    ["{% if name && x %}{% endif %}", "conditions are joined by"],
    ["{% if a %}{% elsif a = b %}{% endif %}", "= b is not Liquid"],
    ["{% unless a junk %}{% endunless %}", "junk"],
    ["{% case a junk %}{% when 1 %}{% endcase %}", "junk"],
    ["{% case a %}{% when 1 junk, 2 %}{% endcase %}", "junk"],
    ["{% assign x = a + b %}", "+ b is not Liquid"],
    ["{% assign x = a junk %}", "junk"],
    ["{% echo a junk %}", "junk"],
    ["{% capture x junk %}{% endcapture %}", "junk"],
    ["{% cycle 'a', 'b' junk %}", "junk"],
    ["{% for x in items | sort %}{% endfor %}", "{% assign %} before"],
    ["{% for x in items if x %}{% endfor %}", "if x is not Liquid"],
    ["{% if a %}{% else if b %}{% endif %}", "{% elsif condition %}"],
    ["{% if a %}{% elif b %}{% endif %}", "{% elsif condition %}"],
    ["{% set x = 1 %}", "{% assign name = value %}"],
  ])("%s", (source, instead) => {
    expect(messageOf(source)).toContain(instead);
    expect(messageOf(`<p>\n  x ${source}</p>`)).toStartWith(
      "has a syntax error in line 2, column ",
    );
  });
});

describe("names a placeholder of another product:", () => {
  test.each(
    String.raw`
    {# a comment #}
    %%FIRSTNAME%%
    %%First Name%%
    %%=v(@name)=%%
    %%[ SET @x = 1 ]%%
    <?php echo $name ?>
    <?= $name ?>
    <% if (name) { %>
    <%= @user.name %>
    <%- name %>
    $\{name}
    $\{user.name!"x"}
    #\{name}
    [[name]]
    [[var:firstname:"x"]]
    [% member:first_name %]
    [NAME]
    [Name]
    [First Name]
    [FNAME]
    [firstname,fallback=there]
    [subscriber:firstname | default:reader]
    [UNSUBSCRIBE_URL]
    *|FNAME|*
    *|IF:NAME|*
    *|unsub|*
    %recipient.name%
    %recipient_email%
    %unsubscribe_url%
    %name%
    %FIRSTNAME%
    %email%
    {name}
    {first_name}
    {FIRSTNAME}
    {$name}
    {!firstname_fix}
    {!Contact.Name}
    {!! $name !!}
    {contactfield=firstname}
    {subscriber.name}
    {unsubscribe_url}
    {/if}
    -name-
    -first_name-
    @FIRSTNAME@
    $FIRST_NAME$
    ~Contact.FirstName~
    #NAME#
    ##name##
    $[FNAME|Friend]$
    &lt;&lt;First Name&gt;&gt;
    <#if name>
    @if (name)
    @Model.Name`
      .replaceAll("\\{", "{")
      .trim()
      .split("\n")
      .map((line) => line.trim()),
  )("%s", (source) => {
    expect(messageOf(`<p>Dear ${source}, hello</p>`)).toContain("is the syntax of");
    expect(checkTemplate(`Dear ${source}`, "subject", { kind: "header", isLenient: true })).toEqual(
      [],
    );
    expect(hasPlaceholder(source)).toBe(true);
  });
});

describe("accepts ordinary text:", () => {
  const bodies = [
    "100% off, 50%-75%, 5 % + 3 %, 100%% sure",
    '<a href="https://x.example/?q=%20name%20a&amp;b=%C3%A9%email">x</a>',
    "https://x.example/a%20b%2Fc?first_name=x#name",
    "See [1], [2] and [Order 4711], [email protected], [Email] [Web], [Unsubscribe]",
    "Price: $5, US$ 10, $name, 5$ – 10$, [$5]",
    "<!--[if mso]><table><tr><td width=50%><![endif]--><!--[if !mso]><!-- -->",
    "<style>a[name]{color:#fff} [name] , b{} @media print{#id{width:100%}} .x{background:url(%name%)}</style>",
    '<?xml version="1.0"?><p class="first-name- col-name-x --name-- -mso-name">a</p>',
    "a - name - b, first-name-last, user-name-, -5-, *name*, **bold**, _name_, __name__",
    "ada@name.example, @name, @media, #name, #1, name#5, ~5, 3<5>2, a << b",
    "{ } {} { name: 1 } {a} {color} {1} [x] [] [[]] [[1,2],[3,4]] {{ name }}",
    '<script type="application/ld+json">{"@type": "Person", "name": "Ada", "a": [{"name": 1}]}</script>',
    "*| a |* | b | c |* d",
    "%APPDATA%\\Mail %PATH% 20%2F %d %s %",
    "&lt;&lt; name &gt; &#35;name&#35; <b>name</b> «Name» ‹name›",
    "if (a) foreach @ home; for (x)",
    "{{ at | date: '%Y-%m-%d %H:%M' }} {{ '[' | append: name | append: ']' }} {{ a[name] }}",
    "{% raw %}[NAME] ${name} %%NAME%%{% endraw %}{% comment %}[NAME]{% endcomment %}",
    "Dear Name, your Email (name) is <name@x.example>; 'name' \"name\"",
  ];
  test.each(bodies)("%s", (body) => {
    expect(checkTemplate(body, "body", { kind: "html" })).toEqual([]);
  });

  test.each([
    ..."name first_name first-name firstName E-Mail Subscribed? Größe お名前 _id 1st C++ R&D 18+ utm:source".split(
      " ",
    ),
    "Amount(EUR)",
    "Amount [EUR]",
    "Order #",
    "Item #3",
    "Name *",
    "Email*",
    "Name, first",
    "Address - City",
    "Name / Company",
    "Discount %",
    "Discount (%)",
    "50% off",
    "Terms and Rules",
    "Terms & Rules",
    "Terms: Rules",
    "How are you?",
    "Quel âge ?",
    "Price in $",
    "Price (in $)",
    "price €",
    "Mother's name",
    "parents' name",
    "Mother’s name",
    'Screen 5"',
    "the '90s",
    "Straße (privat), Nr.",
    "birth date",
    "check in date",
    "contact.First Name",
    'data["name + 1"]',
    "items[0].name",
    "Age > 18",
    "not premium",
    "premium == true",
    "a and b",
    "(1..3)",
    "-5",
    "5.5",
    "🎉 name",
  ])("the field %s", (field) => {
    for (const source of [
      `{{ ${field} }}`,
      `{{${field}}}`,
      `{{ ${field} | default: "a|b, c" | upcase }}`,
      `{{ ${field} ?? it's 5 + 3 ? }}`,
    ]) {
      expect(checkTemplate(source, "body", { kind: "html" })).toEqual([]);
    }
  });

  test.each([
    "{% if a == 'x y' and b contains \"it's\" or c.size > 0 %}{% elsif not d %}{% else %}{% endif %}",
    "{% if a != blank and b[0].c <= 5 %}{% endif %}{% unless a %}{% endunless %}",
    "{% if name | size %}{% endif %}",
    "{% case a %}{% when 'x or y', 2 or b.c %}{% else %}{% endcase %}",
    "{% for x in (1..3) %}{% endfor %}{% for x in (1 .. n) reversed %}{% endfor %}",
    "{% for x in a.b['c d'] limit:2, offset: continue reversed %}{{ x }}{% else %}{% endfor %}",
    "{% tablerow x in items cols:2 limit : n %}{% endtablerow %}",
    "{% assign x = 'a = b | c' | split: ' ' | first %}{% assign y=5 %}",
    "{% capture 'My Key' %}x{% endcapture %}{% increment n %}{% decrement n %}",
    "{% cycle 'a: b', 'c d' %}{% cycle 'group': 1, 2 %}{% echo 'x' | upcase %}",
    "{% comment %}any text{% endcomment %}{% # also | this %}",
    "{%- if a -%}x{%- endif -%}",
  ])("%s", (source) => {
    expect(checkTemplate(source, "body", { kind: "html" })).toEqual([]);
  });
});

test("a field of any name has a form that is accepted and rendered", () => {
  for (const name of ["name + 1", "a=b", "email or phone", "lower(name)", '"b" ~ c']) {
    const message = messageOf(`{{ ${name} }}`);
    const form = /\{\{ data\[.*?\] \}\}/.exec(message)?.[0] ?? "";
    const compiled = compileTemplate(form, "text");
    expect(checkTemplate(form, "body", { kind: "html" })).toEqual([]);
    if (!compiled.ok) throw new Error(compiled.message);
    expect(render(compiled.template, { data: { [name]: "VALUE" } })).toMatchObject({
      text: "VALUE",
    });
  }
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
  for (const unit of "a |a.|<%|*|A|{{{|$x |a? |%%a|[[a|${a|{#a|<?php |%name|[name |{name, |-name|a 'b|(a|or |<style|{% echo a %}|%>".split(
    "|",
  )) {
    const text = unit.repeat(3_000);
    const before = process.cpuUsage();
    messageOf(`{{ ${text} }}`);
    messageOf(text);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500);
  }
});

describe("text of users in a mail that a program composes", () => {
  const texts = [
    "Edited: [[Main Page]]",
    "echo ${HOME}",
    "[First Name] please fill in",
    "Dear [customer name]",
    "%%CACHEBUSTER%%",
    "@if (you want)",
    "cout << name >> x",
    "<?php echo 1 ?>",
  ];
  test.each(texts)("is sent as it is: %s", (text) => {
    const origin = { kind: "html", isStored: false } as const;
    expect(checkTemplate(text, "body", origin)).toEqual([]);
  });

  test("has no foreign syntax in braces", () => {
    const origin = { kind: "html", isStored: false } as const;
    expect(checkTemplate("{{#if a}}b{{/if}}", "body", origin)).toHaveLength(1);
    expect(checkTemplate("${a} {{{ b }}}", "body", origin)).toHaveLength(1);
  });

  test("is refused in a template, with the way to keep it", () => {
    const [error] = checkTemplate("Dear ${name}", "body", { kind: "html" });
    expect(error?.message).toContain("put it between {% raw %} and {% endraw %}");
    for (const quiet of [
      "{%raw%}${HOME}{%endraw%}",
      "{%- comment -%}${HOME}{%- endcomment -%}",
      "<STYLE>a{b:${c}}</STYLE>",
      "{% raw %}${HOME}{% endraw %} and {% raw %}[[a]]{% endraw %}",
    ]) {
      expect(checkTemplate(quiet, "body", { kind: "html" })).toEqual([]);
    }
    const after = checkTemplate("{% raw %}${a}{% endraw %} ${b}", "body", { kind: "html" });
    expect(after[0]?.message).toContain("${b}");
  });
});
