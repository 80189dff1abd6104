import { describe, expect, test } from "bun:test";
import { assembleBody, assembledFault } from "../../src/render/layout.ts";
import { htmlToText } from "../../src/render/text.ts";

/** The assembled source, with [text] for the preheader. */
const assemble = (body: string, layout: string | null = null, preheader: string | null = "text") =>
  assembleBody({ body, layout, preheader }).replaceAll(
    /<div data-skip-in-text="true"[^>]*>(.*?)(?:&#847;&zwnj;&nbsp;)+<\/div>/g,
    "[$1]",
  );

describe("the preheader is put at the start of the visible part", () => {
  const bodies: [body: string, assembled: string][] = [
    ["<p>x</p>", "[text]<p>x</p>"],
    ["", "[text]"],
    ["<body>x", "<body>[text]x"],
    [
      "<BODY\n class='a>b' data-x=\"{{ '>' }}\">x",
      "<BODY\n class='a>b' data-x=\"{{ '>' }}\">[text]x",
    ],
    ["<body {% if a > 1 %}b{% endif %}>x", "<body {% if a > 1 %}b{% endif %}>[text]x"],
    ["<!-- <body> --><body>x", "<!-- <body> --><body>[text]x"],
    [
      "<style>a:after{content:'<body>'}</style><body>x",
      "<style>a:after{content:'<body>'}</style><body>[text]x",
    ],
    ["{{ '<body>' }}<body>x", "{{ '<body>' }}<body>[text]x"],
    [
      "<!doctype html><html><head><title><body></title></head>x",
      "<!doctype html><html><head><title><body></title></head>[text]x",
    ],
    ["<!DOCTYPE html><p>x", "<!DOCTYPE html>[text]<p>x"],
    ["<html lang=en><p>x", "<html lang=en>[text]<p>x"],
    ["<bodyguard>x", "[text]<bodyguard>x"],
    ["<body class=", "[text]<body class="],
    ["<!-- never closed <body>", "[text]<!-- never closed <body>"],
  ];
  test.each(bodies)("%s", (body, assembled) => expect(assemble(body)).toBe(assembled));

  test("in the layout, if that has the body", () => {
    expect(assemble("<p>x</p>", "<body>a{{content}}b</body>")).toBe(
      "<body>[text]a<p>x</p>b</body>",
    );
    expect(assemble("<body>x</body>", "a{{- content -}}b")).toBe("a<body>[text]x</body>b");
  });

  test("its text is escaped, and its Liquid is not", () => {
    const preheader = `Tom & "Jerry" <3 {{ a | default: "<b>" }}{% if a > 1 %}>{% endif %}`;
    expect(assemble("x", null, preheader)).toBe(
      `[Tom &amp; &quot;Jerry&quot; &lt;3 {{ a | default: "<b>" }}{% if a > 1 %}&gt;{% endif %}]x`,
    );
  });

  test("the text alternative does not have it", () => {
    const html = assembleBody({ body: "<p>Hello</p>", layout: null, preheader: "Soon" });
    expect(htmlToText(html)).toBe("Hello");
  });
});

test("a body without layout and preheader is not changed", () => {
  expect(assemble("<p>{{ content }}</p>", null, null)).toBe("<p>{{ content }}</p>");
});

test("a placeholder named content in a body is a field", () => {
  expect(assemble("{{ content }}", "<b>{{ content }}</b>", null)).toBe("<b>{{ content }}</b>");
});

test("the limits of a template hold for the assembled one", () => {
  const large = "x".repeat(1024 * 1024);
  expect(assembledFault({ body: large, layout: null, preheader: null })).toBeNull();
  expect(assembledFault({ body: large, layout: null, preheader: "x" })).toContain("1 MiB");
  const tags = "{{a}}".repeat(10_000);
  expect(assembledFault({ body: tags, layout: "{{b}}{{content}}", preheader: null })).toContain(
    "more than 10,000 outputs and tags",
  );
});
