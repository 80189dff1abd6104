/** Addresses, headers, HTML and whole messages. */

import {
  canonicalDomain,
  isHostname,
  parseAddress,
  storedSpellings,
} from "../../../src/protocols/mime/address.ts";
import { parseAddressFilter } from "../../../src/http/address-filter.ts";
import { isMediaType } from "../../../src/protocols/mime/content-type.ts";
import { contentTypeOf } from "../../../src/protocols/mime/file-types.ts";
import { relaxedBody, relaxedField, splitMessage } from "../../../src/protocols/dkim/canonical.ts";
import { hasUnsubscribeLink } from "../../../src/render/footer.ts";
import { addressLine, fold, rawLine, textLine } from "../../../src/protocols/mime/header-lines.ts";
import { checkHeaders, isContentId, isHeaderText } from "../../../src/protocols/mime/headers.ts";
import { chooseTexts } from "../../../src/render/language.ts";
import { openRedirect, openToken } from "../../../src/render/links.ts";
import { authorDomains, parseFrom } from "../../../src/protocols/mime/from-field.ts";
import { readImage } from "../../../src/protocols/images/read-image.ts";
import { PartsFault } from "../../../src/protocols/mime/part-reader.ts";
import { createPartEncoder, createPartSurvey } from "../../../src/protocols/mime/seven-bit.ts";
import { readSubmittedHeader } from "../../../src/protocols/mime/submitted-header.ts";
import { parseMailbox } from "../../../src/protocols/mime/mailbox.ts";
import { attachmentPart, textPart } from "../../../src/protocols/mime/parts.ts";
import { quotedPrintable } from "../../../src/protocols/mime/text-encoding.ts";
import { openReturnPath } from "../../../src/outbox/return-path.ts";
import { compileLetter } from "../../../src/render/letter/letter.ts";
import { SAMPLE_ID, sampleLinks } from "../../../src/render/letter/tokens.ts";
import { valueMark } from "../../../src/render/letter/values.ts";
import { rewriteHtml } from "../../../src/render/rewrite.ts";
import { checkSubject } from "../../../src/render/subject.ts";
import { htmlToText } from "../../../src/render/text.ts";
import { takeBodies } from "../../../src/modules/inboxes/parsing/encoded-bodies.ts";
import type { Aim } from "../../../scripts/bench/report.ts";
import { threadMs } from "../../support/growth.ts";
import { type Parser, samples } from "./linear.ts";

const KEY = Buffer.alloc(32, 1);
const LINK = "https://mail.test/unsubscribe/a";
const HTML_PUMPS = samples(
  "<p>§</p>§<div>§<a>§<a §<a href=\"§<a href='https://a.test'>b</a>§<!--§-->§<!§<?§</",
  "<table><tr><td>§<td>§<tr>§<li>§<ul>§<ol><li>§<br>§<hr>§<pre>§<blockquote>",
  "<img alt='a'>§<h1>§<b>§&amp;§&#§&#65;§&a§&copy§ a=b§ a=\"§<script>§<style>",
  "<textarea>§<title>§<svg>§<![CDATA[§]]>§<template>§<select><option>§<head>§<body>",
  "</body>§</html>§\u200c §\u00ad§<a><table>§<p><b>§</b></p>§<form>§<dl><dt>",
  "<ruby><rt>§<td><td§<x/>",
);

/** Stands for a value, which a mark replaces. */
const VALUE = "{{v}}";
const TOKEN_KEYS = {
  url: "https://m.test",
  linkKey: KEY,
  trackingUrl: "https://t.test",
  trackingKey: KEY,
};

function compileWithValues(text: string): void {
  let values = 0;
  const marked = text.replaceAll(VALUE, () => valueMark(values++ % 400));
  const links = sampleLinks(TOKEN_KEYS);
  const tracking = { url: TOKEN_KEYS.trackingUrl, key: KEY };
  const sample = { emailId: SAMPLE_ID, headers: [], links, marketing: null, tracking };
  const from = { name: null, address: "a@a.test" };
  const message = { from, replyTo: null, bounceHost: null, sample };
  compileLetter(marked, values, { message, keys: TOKEN_KEYS });
}

/** Reads a message of one part, or with parts, as a stream, and writes it with its parts encoded. */
function encodeParts(text: string): void {
  const message = Buffer.from(text);
  const survey = createPartSurvey();
  try {
    survey.add(message);
    const encoder = createPartEncoder(survey.end(), () => {});
    encoder.add(message);
    encoder.end();
  } catch (error) {
    // Many of the texts have a form that is refused.
    if (!(error instanceof PartsFault)) throw error;
  }
}

/** The header of a message with so many multiparts within each other, with the longest boundaries. */
function nested(depth: number): string {
  const levels = Array.from({ length: depth }, (_, n) => {
    const boundary = String(n).padStart(70, "b");
    return `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n--${boundary}\r\n`;
  });
  return `${levels.join("")}\r\n`;
}

const MAX_DEPTH = 29;
/** As long as a delimiter, but none. */
const ALMOST_DELIMITER = `--${"x".padStart(70, "b")}\r\n`;

/** The shortest processor time of several runs, in milliseconds. */
function fastest(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const before = threadMs();
    run();
    return threadMs() - before;
  });
  return Math.min(...times);
}

/** Lines that begin like delimiters, in nested parts, must take about as long as lines of text. */
export function nestedPartsAims(): Aim[] {
  return ["--\r\n", ALMOST_DELIMITER].map((line) => {
    const linesOf = (start: string) =>
      line.replace(/^--/, start).repeat(Math.floor((64 * 1024) / line.length));
    const head = `${nested(MAX_DEPTH)}\u00e4\r\n`;
    const ratio = () => {
      const expected = fastest(() => encodeParts(`${head}${linesOf("ab")}`));
      return fastest(() => encodeParts(`${head}${linesOf("--")}`)) / expected;
    };
    const measured = Math.min(ratio(), ratio());
    return {
      name: `lines of ${line.slice(0, 10).trim()} in nested parts`,
      isMet: measured < 3,
      measured: `${measured.toFixed(1)} times the time of text`,
      wanted: "< 3",
    };
  });
}

export const MAIL_PARSERS: readonly Parser[] = [
  { name: "the header From of submitted messages", run: parseFrom, maxCharacters: 2_000 },
  {
    name: "the header From of received messages",
    run: authorDomains,
    maxCharacters: 64 * 1024,
    pumps: ["@", "<@", ",", "(", '"\\', "<@>"],
  },
  {
    name: "headers of submitted messages",
    run: (text) => readSubmittedHeader(text, "own.test"),
    maxCharacters: 128 * 1024,
    frames: [
      ["", ""],
      ["From: a@b.test\r\nTo: ", "\u00e4"],
      ["From: a@b.test\r\nSubject: ", "\u00e4"],
      ["From: a@b.test\r\nContent-Type: a/b", "\u00e4"],
    ],
    pumps: ["X: a\r\n", "\r\n ", '"\u00e4', "(\u00e4", "<\u00e4", "; a=", "=?utf-8?q?a?="],
  },
  {
    name: "parts of submitted messages",
    run: encodeParts,
    frames: [
      ["", ""],
      ["Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n", "\u00e4"],
      ["Content-Type: text/plain\r\n\r\n\u00e4", ""],
      [`${nested(MAX_DEPTH)}\u00e4\r\n`, "\u00e4"],
    ],
    pumps: [ALMOST_DELIMITER, "\r\n--", "\r\n--a", "\r\n-", "--\r\n", "\u00e4", "a: b\r\n"],
  },
  {
    name: "bodies in base64",
    run: (text) => void takeBodies(Buffer.from(text)),
    frames: [
      ["", ""],
      ["Content-Transfer-Encoding: base64\r\n\r\n", "\r\n--"],
      ["content-transfer-encoding:", "base64\r\n"],
    ],
    pumps: [
      "Content-Transfer-Encoding: base64\r\n",
      "Content-Transfer-Encoding: base64\r\n\r\n",
      "base64\r\n",
      "content-transfer-encoding:",
      `${"QUFB".repeat(19)}\r\n`,
      "\nContent-Transfer-Encoding: base64\r\n\r\nQUFB\r\n--",
    ],
  },
  {
    name: "addresses",
    run: parseAddress,
    frames: [
      ["", ""],
      ["", "@a.test"],
      ['"', '"@a.test'],
      ['"', "@a.test"],
      ["a@", ""],
      ["a@a", "!"],
    ],
    pumps: ["a@", '\\"', "xn--", "a-"],
  },
  {
    name: "mailboxes",
    run: parseMailbox,
    frames: [
      ["", ""],
      ["", " <a@b.test>"],
      ['"', '" <a@b.test>'],
      ["a <", ">"],
    ],
    pumps: ["<", "\\a", "a <a@b.test>,"],
  },
  {
    name: "address filters of lists",
    run: parseAddressFilter,
    frames: [
      ["", ""],
      ["@", ""],
    ],
    pumps: ["@", "a."],
  },
  {
    name: "domains",
    run: (text) => [canonicalDomain(text), isHostname(text)],
    frames: [
      ["", ""],
      ["a", "!"],
    ],
    pumps: ["xn--", "a-", "a--", "ä.", "xn--a."],
  },
  {
    name: "parts of addresses to search for",
    run: storedSpellings,
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ["a@", "ä"],
    ],
    pumps: ["ä.", "xn--", "a@"],
  },
  {
    name: "header values",
    run: (text) => [isHeaderText(text), isContentId(text), checkHeaders({ "X-A": text })],
  },
  {
    name: "header names",
    run: (text) => checkHeaders({ [text]: "a" }),
    frames: [
      ["", ""],
      ["content-", ":"],
    ],
  },
  {
    name: "List-Unsubscribe",
    run: (text) => checkHeaders({ "List-Unsubscribe": text }),
    frames: [
      ["", ""],
      ["<https://a.test>", "x"],
      ["(", "<https://a.test>"],
      ["<https://a.test>,", "<"],
    ],
    pumps: ["<https://a.test>,", "<mailto:a@b>", "(a)", "( ", " ,", "<https://"],
  },
  {
    name: "header lines",
    run: (text) => [textLine("Subject", text), rawLine("X-A", text), fold(`X-A: ${text}`)],
    maxCharacters: 10_000,
    pumps: ["=?", "=?utf-8?q?a?=", "a ä "],
  },
  {
    name: "display names",
    run: (text) => addressLine("To", { name: text, address: "a@b.test" }),
    maxCharacters: 10_000,
    pumps: ["a ä ", "=?"],
  },
  { name: "subjects", run: checkSubject },
  {
    name: "media types",
    run: isMediaType,
    frames: [
      ["", ""],
      ["a/a", "!"],
      ["a/a;a=", "\u0001"],
      ['a/a;a="', "\u0001"],
    ],
    pumps: [";a=b", " ;", '\\"'],
  },
  {
    name: "file names",
    run: contentTypeOf,
    frames: [
      ["", ""],
      ["a.", "/"],
    ],
  },
  {
    name: "languages",
    run: (text) => chooseTexts(null, text),
    pumps: ["de;q=0.1,", "de,", ";q=1", "de-", "q=0."],
  },
  {
    name: "tokens in links",
    run: (text) => [openToken(KEY, text), openRedirect(KEY, text, text)],
  },
  {
    name: "return paths",
    run: (text) => openReturnPath(KEY, text),
    frames: [
      ["", ""],
      ["b+", "@a.test"],
    ],
  },
  {
    name: "HTML converted to text",
    run: htmlToText,
    maxCharacters: 512 * 1024,
    frames: [
      ["", ""],
      ["<table><tr><td>", "</td></tr></table>"],
    ],
    pumps: HTML_PUMPS,
  },
  {
    name: "text in quoted-printable",
    run: quotedPrintable,
    frames: [
      ["", ""],
      ["\r\n", "\r\n"],
    ],
    pumps: ["=", ".", "From ", " ", "\r\n", "é", "日", "😀", "a b"],
  },
  {
    name: "a body compiled to a letter",
    run: compileWithValues,
    maxCharacters: 96 * 1024,
    frames: [
      ["", ""],
      ["<a href='https://a.test'>", "</a>"],
    ],
    pumps: [...HTML_PUMPS, VALUE, `<p>${VALUE}`, `&${VALUE}`, `<a href='https://a.test'>${VALUE}`],
  },
  {
    name: "HTML with rewritten links",
    run: (text) => rewriteHtml(text, { redirect: (target) => `${target}?x`, ending: "<p>end</p>" }),
    maxCharacters: 256 * 1024,
    frames: [
      ["", ""],
      ['<a href="https://a.test/', '">a</a>'],
      ['<a href="https://', '.test">a</a>'],
    ],
    pumps: HTML_PUMPS,
  },
  {
    name: "the unsubscribe link in a body",
    run: (text) => hasUnsubscribeLink(text, LINK),
    frames: [
      ["", ""],
      ["<!--", ""],
      ["https://mail.test/unsubscribe/", ""],
    ],
    pumps: ["<!--", "-->", "<!-- -->", "https://", "https://mail.test/unsubscribe/"],
  },
  {
    name: "texts of a message",
    run: (text) => [textPart("plain", text), textPart("html", text)],
    maxCharacters: 64 * 1024,
    frames: [
      ["", ""],
      ["ä", ""],
    ],
    pumps: samples("From §\nFrom §=3D§ä=§=\n§ä §ä\n§ \n§äaaaaaaa"),
  },
  {
    name: "attached messages",
    run: (text) =>
      attachmentPart({
        filename: "a.eml",
        content: Buffer.from(text),
        contentType: "message/rfc822",
        contentId: null,
        disposition: "attachment",
      }),
    maxCharacters: 256 * 1024,
    pumps: [`${"a".repeat(998)}\r\n`, `${"a".repeat(997)}\n`],
  },
  {
    name: "headers of images",
    run: (text) => readImage(Buffer.from(text, "latin1")),
    frames: [
      ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\0\0\0\0", ""],
      ["\xff\xd8\xff\xda\0\x02", ""],
      ["\xff\xd8\xff\xe1\0\x0eExif\0\0MM\0*\0\0\0\x08", ""],
      ["GIF89a\x01\0\x01\0\0\0\0", ";"],
      ["RIFF\xff\xff\0\0WEBP", ""],
      ["", "<svg>"],
    ],
    pumps: samples(
      "\0\0\0\0IDAT\0\0\0\0§\xff\xe0\0\x02§\xff\xff§\xff\0§\xff\xd0§\xff\xda\0\x02§\xff\xc0\0\x0b",
      "!\xf9\0§!\xfe\x01a\0§,\0\0\0\0\x01\0\x01\0\0\x02\0§\x01a§ANMF\0\0\0\0§VP8L\0\0\0\0§ §\t",
    ),
  },
  {
    name: "canonicalised messages for signatures",
    run: (text) => {
      const { fields, body } = splitMessage(Buffer.from(text));
      return [fields.map((field) => relaxedField(field)), ...relaxedBody(body)];
    },
    maxCharacters: 256 * 1024,
    frames: [
      ["", ""],
      ["a: b\r\n\r\n", ""],
      ["a", ":b"],
      ["a:", "\r\n\r\nb"],
    ],
    pumps: ["a: b\r\n", "\r\n ", " \r\n", "\t\r\n"],
  },
];
