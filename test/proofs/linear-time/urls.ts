/** URLs and addresses of hosts. */

import { clientAddressReader } from "../../../src/http/client-address.ts";
import { defineFormats } from "../../../src/http/formats.ts";
import { canonicalPath, routePath } from "../../../src/http/route-path.ts";
import { parseAddressRange } from "../../../src/lib/address-ranges.ts";
import { isPublicAddress } from "../../../src/lib/ip-addresses.ts";
import { locationOf } from "../../../src/protocols/fetch-guarded/request.ts";
import { objectToTarget } from "../../../src/protocols/fetch-guarded/target.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { parseWebOrigin } from "../../../src/lib/web-origin.ts";
import {
  isPrivateTarget,
  readWebhook,
} from "../../../src/modules/workflows/graph/config-webhook.ts";
import { parseUrl } from "../../../src/lib/url.ts";
import { type Parser, samples } from "./linear.ts";

/** Longest request line and headers that Bun's server accepts. */
const MAX_HEADERS = 16 * 1024;
const URL_PUMPS = samples("%41§%§a.§1.§0x1.§//§../§@§:1§xn--§[::§?a§#§\\");
const PERMISSIVE = { allowPrivateAddresses: true };
const clientOf = clientAddressReader({
  trusted: [parseAddressRange("127.0.0.0/8"), parseAddressRange("10.0.0.0/8")].filter(
    (range) => range !== null,
  ),
  log: silentLog,
});
defineFormats();

export const URLS_PARSERS: readonly Parser[] = [
  {
    name: "addresses of clients",
    run: (text) => clientOf({ peer: "127.0.0.1", forwardedFor: text }),
    maxCharacters: MAX_HEADERS,
    frames: [
      ["", ""],
      ["", ", 10.0.0.1"],
      ["[", "]:1"],
    ],
    pumps: ["10.0.0.1,", "[::1]:1,", "1.", "0:", ", "],
  },
  {
    name: "canonical paths of requests",
    run: (text) => [canonicalPath(`/${text}`), routePath(`http://a.test/${text}`)],
    maxCharacters: MAX_HEADERS,
    pumps: ["%41", "%", "%e0", "/a"],
  },
  {
    name: "origins of web pages",
    run: parseWebOrigin,
    maxCharacters: MAX_HEADERS,
    frames: [
      ["https://", ""],
      ["https://", ".test"],
    ],
    pumps: URL_PUMPS,
  },
  {
    name: "URLs of webhook requests",
    run: (text) => objectToTarget(text, PERMISSIVE),
    frames: [
      ["", ""],
      ["https://", ""],
      ["https://", ".test/"],
      ["https://a.test/", ""],
      ["https://a.test", ":"],
    ],
    pumps: URL_PUMPS,
  },
  {
    name: "URLs of workflow steps",
    run: (text) => [
      isPrivateTarget(text),
      readWebhook({ url: text, method: "POST", headers: { a: text }, body: text }, "config", []),
    ],
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ["https://", ""],
      ["https://a.test/", "{{ a }}"],
    ],
    pumps: [...URL_PUMPS, "{{", "{{ a }}"],
  },
  {
    name: "redirects",
    run: (text) => {
      const headers = new Headers({ location: encodeURI(text.toWellFormed()) });
      return parseUrl(locationOf("GET", { status: 302, headers }) ?? "", "https://a.test/");
    },
    maxCharacters: MAX_HEADERS,
    frames: [
      ["", ""],
      ["https://", ""],
    ],
    pumps: URL_PUMPS,
  },
  {
    name: "IP addresses",
    run: isPublicAddress,
    frames: [
      ["", ""],
      ["::", "1.1.1.1"],
    ],
    pumps: ["0:", "1.", "::1"],
  },
];
