/** HTML of mails that makes a browser connect to other hosts before anything is clicked. */

import { describe, expect, test } from "bun:test";
import { previewDocument } from "../../src/render/preview-document.ts";
import { withoutPreparation } from "../../src/render/without-preparation.ts";

const EVIL = "https://evil.example";
const hostile = [
  `<link rel="preconnect" href="${EVIL}">`,
  `<link rel=dns-prefetch href=//evil.example>`,
  `<LINK REL='stylesheet PREFETCH' HREF='${EVIL}/a'>`,
  `<link rel="modulepreload" href="${EVIL}/a">`,
  `<link rel="pre&#99;onnect" href="${EVIL}">`,
  `<link href="${EVIL}" rel="icon\npreconnect">`,
  `<noscript><link rel="preconnect" href="${EVIL}"></noscript>`,
  `<noscript a="<"><link rel="preconnect" href="${EVIL}"></noscript>`,
  `<noscript><noscript><link rel="preconnect" href="${EVIL}"></noscript></noscript>`,
  `<noscript><style><noscript></style><link rel="preconnect" href="${EVIL}"></noscript>`,
  `<svg><title><link rel="preconnect" href="${EVIL}"></title></svg>`,
  `<meta http-equiv="Refresh" content="0; url=${EVIL}">`,
  `<script type="speculationrules">{"prefetch": [{"urls": ["${EVIL}"]}]}</script>`,
];

describe("nothing prepares a connection to another host:", () => {
  test.each(hostile)("%s", (html) => {
    const document = `<p>Hello</p>${html}<p>Bye</p>`;
    for (const shown of [withoutPreparation(document), previewDocument(document, [])]) {
      expect(shown).not.toContain("evil.example");
      expect(shown).toStartWith("<p>Hello</p>");
      expect(shown).toEndWith("<p>Bye</p>");
    }
  });
});

test("other content stays as it is, byte by byte", () => {
  const html =
    '<!doctype html><head><meta charset="utf-8"><META http-equiv=Content-Type content="text/html">\n' +
    `<link rel="stylesheet" href="/a.css"><link rel='Alternate' href=x></head><p a = b>é &amp; <b>x`;
  expect(withoutPreparation(html)).toBe(html);
  expect(withoutPreparation("<p>no link")).toBe("<p>no link");
  expect(withoutPreparation("a<noscript>b<i>c</i></noscript >d")).toBe("ab<i>c</i>d");
});
