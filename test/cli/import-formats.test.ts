/** The ZIP archives and the templates of other products. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertBrevo } from "../../src/cli/import/convert-brevo.ts";
import { convertHandlebars } from "../../src/cli/import/convert-handlebars.ts";
import { convertResendTemplate, convertTemplate } from "../../src/cli/import/convert-template.ts";
import { readZip } from "../../src/cli/import/zip.ts";
import { checkTemplate, compileTemplate, render } from "../../src/render/template/template.ts";
import { zipArchive, type ZipMember } from "../support/zip.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-zip-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const archive = (member: ZipMember) => zipArchive([member]);

function read(bytes: Uint8Array, maxBytes = 1000) {
  const path = join(folder, "a.zip");
  writeFileSync(path, bytes);
  const found = [...readZip(path, { isWanted: (name) => name.endsWith(".csv"), maxBytes })];
  return found.map((file) => [file.name, Buffer.from(file.bytes).toString()]);
}

describe("a ZIP archive", () => {
  test.each([0, 8])("with the compression %i is read", (method) => {
    expect(read(archive({ name: "a/b.csv", text: "email\n".repeat(20), method }))).toEqual([
      ["a/b.csv", "email\n".repeat(20)],
    ]);
  });

  test("gives only wanted files", () => {
    expect(read(archive({ name: "photo.png", text: "x", flags: 1 }))).toEqual([]);
  });

  const text = "email\n".repeat(50);
  test.each<[string, Uint8Array]>([
    ["no ZIP archive", Buffer.from("email\n")],
    ["is encrypted", archive({ name: "a.csv", text, flags: 1 })],
    ["unknown compression", archive({ name: "a.csv", text, method: 12 })],
    ["a.csv is damaged", archive({ name: "a.csv", text, size: 10 })],
    ["a.csv is too large", archive({ name: "a.csv", text: "x".repeat(2000) })],
    ["cut off", archive({ name: "a.csv", text }).subarray(40)],
  ])("is refused if it is %s", (reason, bytes) => {
    expect(() => read(bytes)).toThrow(reason);
  });
});

describe("placeholders", () => {
  test.each([
    ["*|FNAME|* *|LNAME|*", "{{ First Name }} {{ Last Name }}"],
    ['<a href="*|UNSUB|*">', '<a href="{{ unsubscribeUrl }}">'],
    ["*|IF:MC_PREVIEW_TEXT|*<b>*|MC_PREVIEW_TEXT|*</b>*|END:IF|*x", "x"],
    ["*|IF:PLAN|*x*|END:IF|*", "*|IF:PLAN|*x*|END:IF|*"],
  ])("of Mailchimp: %s", (source, liquid) => {
    expect(convertTemplate("mailchimp", source)).toBe(liquid);
  });

  test.each([
    ['{{ template "content" . }}', "{{ content }}"],
    ["{{.Subscriber.Attribs.address.city}}", "{{ address.city }}"],
    ['{{ TrackLink "https://a.example/?b=1" . }}', "https://a.example/?b=1"],
    ["{{ if .Subscriber.Name }}x{{ end }}", "{{ if .Subscriber.Name }}x{{ end }}"],
  ])("of listmonk: %s", (source, liquid) => {
    expect(convertTemplate("listmonk", source)).toBe(liquid);
  });

  test.each([
    ["{{{NAME}}}", "{{ NAME }}"],
    ["{{{PRODUCT}}}", String.raw`{{ PRODUCT ?? 'it\'s' }}`],
    ["{{{contact.first_name|you}}}", "{{ firstName ?? 'you' }}"],
    ["{{{constructor}}}", "{{ constructor }}"],
    ["{{NAME}}", "{{NAME}}"],
  ])("of Resend: %s", (source, liquid) => {
    expect(convertResendTemplate(source, new Map([["PRODUCT", "it's"]]))).toBe(liquid);
  });
});

const DATA = {
  "first-name": "Grace",
  name: "Ada <3",
  none: "",
  zero: 0,
  list: [],
  vip: true,
  plan: "pro",
  total: 12,
  order: { id: 7 },
  html: "<b>x</b>",
  items: [
    { name: "Pen", price: 2, tags: ["a", "b"] },
    { name: "Ink", price: 9, tags: [] },
  ],
};

/** The converted source, rendered as a mail is; the check of templates has no objection to it. */
function rendered(liquid: string | null): string {
  expect(
    checkTemplate(liquid ?? "", "body", { kind: "html", isLenient: false, isStored: true }),
  ).toEqual([]);
  const compiled = compileTemplate(liquid ?? "", "html");
  if (!compiled.ok) throw new Error(compiled.message);
  const result = render(compiled.template, DATA);
  return result.ok ? result.text : result.reason;
}

describe("Handlebars of SendGrid gives the same text in Liquid:", () => {
  test.each([
    ["{{name}} {{ order.id }}", "Ada &lt;3 7"],
    ["{{{html}}}{{html}}", "<b>x</b>&lt;b&gt;x&lt;/b&gt;"],
    ['{{insert plan "default=free"}} {{insert missing "default=free"}}', "pro free"],
    ["{{#if vip}}a{{else}}b{{/if}}{{#if none}}a{{else}}b{{/if}}", "ab"],
    ["{{#if zero}}a{{/if}}{{#if list}}b{{/if}}{{#if missing}}c{{/if}}{{#if order}}d{{/if}}", "d"],
    ["{{#unless none}}a{{/unless}}{{#unless vip}}b{{else}}c{{/unless}}", "ac"],
    ['{{#equals plan "pro"}}a{{else}}b{{/equals}}{{#notEquals plan "pro"}}c{{/notEquals}}', "a"],
    ["{{#greaterThan total 10}}a{{/greaterThan}}{{#lessThan total 10}}b{{/lessThan}}", "a"],
    ["{{#and vip plan}}a{{/and}}{{#and vip none}}b{{/and}}", "a"],
    ['{{#if none}}a{{else if zero}}b{{else equals plan "pro"}}c{{else}}d{{/if}}', "c"],
    [
      "{{#each items}}{{name}} {{this.price}}{{#unless @last}}, {{/unless}}{{/each}}",
      "Pen 2, Ink 9",
    ],
    ["{{#each items}}{{@index}}{{../plan}}{{@root.total}};{{/each}}", "0pro12;1pro12;"],
    ["{{#each items}}{{#each tags}}{{this}}{{../name}} {{/each}}{{/each}}", "aPen bPen "],
    ["{{#each list}}x{{else}}none {{plan}}{{/each}}", "none pro"],
    ["{{first-name}}{{#if first-name}} and {{items.0.name}}{{/if}}", "Grace and Pen"],
    ["a{{! b }}{{!-- {{#if c}} --}}d", "ad"],
    ["{{~#if vip~}}a{{~/if~}}", "a"],
  ])("%s", (source, text) => {
    const { liquid, fault } = convertHandlebars(source);
    expect(fault).toBeNull();
    expect(rendered(liquid)).toBe(text);
  });

  test.each([
    ["{{{unsubscribe}}}", "{{ unsubscribeUrl }}"],
    ["<%asm_group_unsubscribe_raw_url%>", "{{ unsubscribeUrl }}"],
    ["<% asm_preferences_raw_url %>", "{{ manageUrl }}"],
  ])("%s is a link of this server", (source, liquid) => {
    expect(convertHandlebars(source).liquid).toBe(liquid);
  });

  test.each([
    ["a\n{{formatDate time format}}", "line 2: the helper formatDate has no equal here"],
    ["{{#or a b}}x{{/or}}", "line 1: {{#or a b}} has no equal here"],
    ["{{#if (length items)}}x{{/if}}", "line 1: a call in parentheses has no equal here"],
    ["{{#with order}}{{id}}{{/with}}", "line 1: {{#with order}} has no equal here"],
    [
      "{{#each items as |item|}}x{{/each}}",
      "line 1: a name for the items of each has no equal here",
    ],
    ["{{> footer}}", "line 1: the helper > has no equal here"],
    ["{{weblink}}", "line 1: weblink has no equal here"],
    ["{{this}}", "line 1: this has no equal here"],
    ["{{../name}}", "line 1: ../name leads out of the data"],
    ["{{#if vip}}x", "line 1: {{#if}} has no end"],
    ["{{#if vip}}x{{/each}}", "line 1: {{/each}} closes another block"],
    ["{{else}}", "line 1: {{else}} is in no block"],
    [
      "{{#each items}}{{../item.id}}{{/each}}",
      "line 1: item.id has the name of an item of each here",
    ],
    ["\n{% if %}", "line 2: {% is text there, and begins a tag here"],
    ["{{#each items}}{{else if vip}}{{/each}}", "line 1: {{else if}} is in {{#each}}"],
  ])("%j is refused", (source, fault) => {
    expect(convertHandlebars(source)).toEqual({ liquid: null, fault });
  });

  test("a large source of unfinished placeholders is read to its end", () => {
    for (const part of ["{{", "{{!--", "{{#if a}}", "<%", "{{{a", "{{a b "]) {
      const { fault } = convertHandlebars(part.repeat(500_000 / part.length));
      expect(fault === null || fault.startsWith("line 1: ")).toBe(true);
    }
  });
});

describe("templates of Brevo", () => {
  test.each([
    ["{{ contact.name }} {{ params.order.id }} {{params.total}}", "Ada &lt;3 7 12"],
    ['{{ contact.missing | default : "you" }} {{ contact.plan|upper }}', "you PRO"],
    ["{{ params.html | safe }}", "<b>x</b>"],
    ["{% if contact.none %}a{% elif contact.zero %}b{% else %}c{% endif %}", "c"],
    ['{% if contact.plan == "params.pro" %}a{% elif contact.total > 10 %}b{% endif %}', "b"],
    [
      "{% for item in params.items %}{{ item.name }}{{ forloop.Counter }} {% endfor %}",
      "Pen1 Ink2 ",
    ],
    ["{% for item in params.list %}x{% empty %}none{% endfor %}", "none"],
  ])("%s gives the same text", (source, text) => {
    const { liquid, fault } = convertBrevo(source);
    expect(fault).toBeNull();
    expect(rendered(liquid)).toBe(text);
  });

  test.each([
    [
      "<a href='{{ unsubscribe }}'>[UPDATE_PROFILE]",
      "<a href='{{ unsubscribeUrl }}'>{{ manageUrl }}",
    ],
    ["{{ contact.EMAIL }} {{ params.unsubscribe }}", "{{ email }} {{ unsubscribe }}"],
  ])("%s is written in Liquid", (source, liquid) => {
    expect(convertBrevo(source)).toEqual({ liquid, fault: null });
  });

  test.each([
    ["\n[MIRROR]", "line 2: mirror has no equal here"],
    ['{{ contact.BORN | date:"d-m-Y" }}', "line 1: date has no equal here"],
    ["{{ feed.title }}", "line 1: feed.title has no equal here"],
  ])("%j is refused", (source, fault) => {
    expect(convertBrevo(source)).toEqual({ liquid: null, fault });
  });

  test.each(["{{ contact.A | title }}", '{% if "x" in contact.A %}x{% endif %}', "{% with a=b %}"])(
    "%s is found by the check of the template",
    (source) => {
      const liquid = convertBrevo(source).liquid ?? "";
      const origin = { kind: "html", isLenient: false, isStored: true } as const;
      expect(checkTemplate(liquid, "body", origin)).toHaveLength(1);
    },
  );
});
