/** Requests with a session cookie that pages of other sites may have made are refused. */

import { describe, expect, test } from "bun:test";
import { requireSameOrigin } from "../../src/http/same-origin.ts";
import { AppError } from "../../src/lib/errors.ts";

const OWN = "https://mail.example";
const MARK = { "x-requested-with": "mailstead" };

function statusOf(headers: Record<string, string>, url = OWN): number {
  try {
    requireSameOrigin({ headers: new Headers(headers) }, url);
    return 200;
  } catch (error) {
    return error instanceof AppError ? error.status : 500;
  }
}

describe("a request that may change something", () => {
  const accepted: [name: string, headers: Record<string, string>, url?: string][] = [
    ["of the origin of --url", { origin: OWN, host: "127.0.0.1:3000", ...MARK }],
    ["of the origin of --url, without a Host header", { origin: OWN, ...MARK }],
    ["of the host, over https", { origin: "https://b.example", host: "b.example", ...MARK }],
    ["of the host, over http", { origin: "http://b.example:80", host: "b.example:80", ...MARK }],
    [
      "of the host of --url over https, though --url says http",
      { origin: OWN, host: "mail.example", ...MARK },
      "http://mail.example",
    ],
  ];
  for (const [name, headers, url] of accepted) {
    test(`is accepted: ${name}`, () => expect(statusOf(headers, url)).toBe(200));
  }

  const refused: [name: string, headers: Record<string, string>][] = [
    ["without Origin", { host: "mail.example", ...MARK }],
    ["with the opaque origin", { origin: "null", host: "mail.example", ...MARK }],
    ["of another origin", { origin: "https://evil.example", host: "mail.example", ...MARK }],
    ["of another port", { origin: "https://mail.example:8443", host: "mail.example", ...MARK }],
    [
      "of the host over http, if --url says https",
      { origin: "http://mail.example", host: "mail.example", ...MARK },
    ],
    ["of a host that begins alike", { origin: `${OWN}.evil`, host: "mail.example", ...MARK }],
    ["without X-Requested-With", { origin: OWN, host: "mail.example" }],
    [
      "with another X-Requested-With",
      { origin: OWN, host: "mail.example", "x-requested-with": "XMLHttpRequest" },
    ],
  ];
  for (const [name, headers] of refused) {
    test(`is refused: ${name}`, () => expect(statusOf(headers)).toBe(403));
  }
});
