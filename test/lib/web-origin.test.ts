import { expect, test } from "bun:test";
import { parseWebOrigin } from "../../src/lib/web-origin.ts";

const origins: [text: string, origin: string][] = [
  ["https://shop.example", "https://shop.example"],
  ["https://shop.example/", "https://shop.example"],
  ["HTTPS://Shop.Example", "https://shop.example"],
  ["https://shop.example:443", "https://shop.example"],
  ["http://shop.example:80", "http://shop.example"],
  ["http://shop.example:443", "http://shop.example:443"],
  ["http://localhost:5173", "http://localhost:5173"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["http://[::1]:8080", "http://[::1]:8080"],
  ["https://bücher.example", "https://xn--bcher-kva.example"],
];
test.each(origins)("%s is the origin %s", (text, origin) => {
  expect(parseWebOrigin(text)).toBe(origin);
});

test.each([
  "",
  "null",
  "*",
  "shop.example",
  "//shop.example",
  "https:shop.example",
  "https://",
  "https://*.example",
  "https://shop.example/page",
  "https://shop.example//",
  "https://shop.example?",
  "https://shop.example/#a",
  "https://user@shop.example",
  "https://user:pass@shop.example",
  "https://shop.example:99999",
  "https://shop .example",
  "ftp://shop.example",
  "file:///tmp",
  "javascript:alert(1)",
  "data:text/html,x",
  "https://shop.example https://b.example",
])("%j is not an origin", (text) => {
  expect(parseWebOrigin(text)).toBeNull();
});
