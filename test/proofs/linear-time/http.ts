/** Requests: bodies, forms, headers and query strings. */

import { Type } from "@sinclair/typebox";
import { createArrivals } from "../../../src/http/body-arrivals.ts";
import { readForm } from "../../../src/http/form.ts";
import { refuseUnstorable } from "../../../src/http/json-checks.ts";
import { createCursors } from "../../../src/http/cursor.ts";
import { defineFormats } from "../../../src/http/formats.ts";
import { createJsonBounds } from "../../../src/http/json-checks.ts";
import { receiveFile } from "../../../src/http/multipart.ts";
import { fieldErrors } from "../../../src/http/validation.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { SendInput } from "../../../src/modules/emails/model.ts";
import { isMachine } from "../../../src/modules/tracking/machines.ts";
import { parseRetryAfter } from "../../../src/lib/backoff.ts";
import { webhookInputs } from "../../../src/modules/webhooks/model.ts";
import type { TestApp } from "../../support/app.ts";
import { type Parser, samples, tried } from "./linear.ts";

/** Longest request line and headers that Bun's server accepts. */
const MAX_HEADERS = 16 * 1024;
const URL_PUMPS = samples("%41§%§a.§1.§0x1.§//§../§@§:1§xn--§[::§?a§#§\\");
const PLAIN = " \ta0.,;:=-/\"'(%+&<".split("");
const cursors = createCursors(Buffer.alloc(32, 1));
const { WebhookInput } = webhookInputs(false);
defineFormats();

const post = (body: string | Uint8Array, type: string) =>
  new Request("http://localhost/", {
    method: "POST",
    headers: { "content-type": type },
    body: Buffer.from(body),
  });

async function* whole(body: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(body);
}

const arrivals = createArrivals(systemClock);
const upload = (body: string, boundary: string) =>
  receiveFile(
    {
      request: post(body, `multipart/form-data; boundary=${boundary}`),
      pieces: async () => whole(body),
    },
    { name: "file", maxBytes: 1024 * 1024, store: async () => {} },
  );

const HEADERS = samples(
  "authorization§accept-language§cookie§content-type§idempotency-key§origin",
  "x-forwarded-for§x-request-id§user-agent§if-none-match§content-encoding",
);

/** Whole requests. */
export const requestParsers = (t: TestApp): Parser[] => [
  {
    name: "the headers of a request",
    run: tried((text) =>
      t.call("GET", "/contacts", undefined, {
        headers: Object.fromEntries(HEADERS.map((name) => [name, text])),
      }),
    ),
    maxCharacters: MAX_HEADERS,
    frames: [
      ["a", "a"],
      ["Bearer ", "\u0080"],
      ["https://", ".test"],
    ],
    pumps: [...PLAIN, "Bearer ", "a=b; ", "a=b&", "de;q=0.1,", "[{", "1.1.1.1, ", "[::1]:1,", "W/"],
    hasOwnPumpsOnly: true,
  },
  {
    name: "the headers of a request with a session",
    run: tried((text) =>
      t.call("POST", "/app/api/logout", undefined, {
        headers: {
          ...Object.fromEntries(HEADERS.map((name) => [name, text])),
          origin: `http://${text}`,
          host: text,
          "x-requested-with": "mailstead",
        },
      }),
    ),
    maxCharacters: MAX_HEADERS,
    frames: [
      ["a", "a"],
      ["mailstead=", ";"],
    ],
    pumps: [...PLAIN, "a=b; ", "mailstead=", "mailstead=a; ", ";mailstead", "; "],
    hasOwnPumpsOnly: true,
  },
  {
    name: "the path of a request",
    run: tried((text) => t.call("GET", `/${text}`)),
    maxCharacters: MAX_HEADERS,
    frames: [
      ["", ""],
      ["contacts/", "/"],
      ["o/", ".gif"],
      ["c/a/", ""],
      ["unsubscribe/", ""],
    ],
    pumps: [...PLAIN, ...URL_PUMPS],
    hasOwnPumpsOnly: true,
  },
  {
    name: "the query of a request",
    run: tried((text) => t.call("GET", `/contacts?${text}`)),
    maxCharacters: MAX_HEADERS,
    frames: [
      ["", ""],
      ["search=", ""],
      ["cursor=", ""],
    ],
    pumps: [
      ...PLAIN,
      ...URL_PUMPS,
      "a=b&",
      "a&",
      "limit=1&",
      "a[]=1&",
      "a[b]=1&",
      "&a=",
      "search=a&",
      "=&",
      "&&",
    ],
    hasOwnPumpsOnly: true,
  },
];

export const HTTP_PARSERS: readonly Parser[] = [
  { name: "cursors", run: tried((text) => cursors.open("a", text)) },
  {
    name: "JSON bodies",
    run: tried((text) => {
      const bytes = Buffer.from(text);
      const bounds = createJsonBounds(1_000_000);
      for (let at = 0; at < bytes.length; at += 1_000) bounds.add(bytes.subarray(at, at + 1_000));
      refuseUnstorable(JSON.parse(text));
    }),
    maxCharacters: 256 * 1024,
    frames: [
      ["", ""],
      ['{"a":"', '"}'],
      ['{"a":[', "1]}"],
      ["{", '"a":1}'],
    ],
    pumps: samples('[§{"a":§{"a":[§{},§1,§"a",§"a":1,§1e9§\\u0000§[],§null,'),
  },
  {
    name: "violations in JSON bodies",
    run: tried((text) => {
      const value: unknown = JSON.parse(text);
      return [fieldErrors(SendInput, value), fieldErrors(WebhookInput, value)];
    }),
    maxCharacters: 256 * 1024,
    frames: [
      ['{"to":[', "1]}"],
      ['{"to":{"email":"', '"}}'],
      ['{"attachments":[', "1]}"],
      ['{"attachments":[{"content":"', '="}]}'],
      ['{"headers":{', '"a":1}}'],
      ['{"events":[', '"a"]}'],
      ['{"url":"', '"}'],
      ['{"subject":"', '","body":1}'],
    ],
    pumps: samples('{},§1,§"a",§"a@b.test",§{"email":"a"},§[],§"a":1,§"a":"b",§null,'),
  },
  {
    name: "base64 of attachments",
    run: (text) => fieldErrors(SendInput, { attachments: [{ filename: "a", content: text }] }),
    maxCharacters: 256 * 1024,
    frames: [
      ["", ""],
      ["a", "!"],
    ],
    pumps: ["aaaa", "=="],
  },
  {
    name: "date-times",
    run: (text) => fieldErrors(Type.String({ format: "date-time" }), text),
    frames: [
      ["", ""],
      ["2026-01-01T00:00:00.", "Z"],
      ["2026-01-01", "Z"],
    ],
    pumps: ["T00", "-01"],
  },
  {
    name: "uploaded files",
    run: tried((text) => upload(text, "b")),
    maxCharacters: 128 * 1024,
    frames: [
      ["--b\r\n", ""],
      ['--b\r\nContent-Disposition: form-data; name="file"; filename="', ""],
      ['--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n', "\r\n--b--\r\n"],
      ['--b\r\nContent-Disposition: form-data; name="', '"\r\n\r\na\r\n--b--\r\n'],
      ["--b\r\nContent-Type: ", "\r\n\r\n"],
    ],
    pumps: samples('--b\r\n§\r\n--§\r\n--b§\r\n-§\r§a: b\r\n§; a=b§%41§\\"§a: b\r\n c\r\n'),
  },
  {
    name: "boundaries of uploads",
    run: tried((text) => upload("--a\r\n", text)),
    maxCharacters: MAX_HEADERS,
    pumps: ["; boundary=", "a="],
  },
  {
    name: "forms of recipients",
    run: (text) => readForm(post(text, "application/x-www-form-urlencoded"), arrivals),
    maxCharacters: 4_096,
    pumps: ["a=b&", "%41", "+"],
  },
  {
    name: "Retry-After",
    run: (text) => [parseRetryAfter(text, 0), parseRetryAfter(`${text} GMT`, 0)],
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ["Mon, ", " GMT"],
      ["Mon, 01 Jan ", " GMT"],
    ],
    pumps: ["Mon, ", "Jan ", "(a)", "(", "00:", "+00"],
  },
  {
    name: "programs that fetch links",
    run: (text) => {
      const value = Buffer.from(text, "latin1")
        .toString("latin1")
        .replaceAll(/[^\x20-\x7e]/g, " ");
      return isMachine({
        method: "GET",
        headers: new Headers({ "user-agent": value, purpose: value }),
      });
    },
    maxCharacters: MAX_HEADERS,
    pumps: samples("cisco §google-§bot§cubot§trend §vade §python-§Chrome/42.0.§node"),
  },
];
