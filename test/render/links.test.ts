import { describe, expect, test } from "bun:test";
import {
  issueToken,
  openRedirect,
  openToken,
  pixelUrl,
  recipientLinks,
  redirectUrl,
} from "../../src/render/links.ts";

const KEY = new Uint8Array(32).fill(1);
const OTHER_KEY = new Uint8Array(32).fill(2);
const EMAIL = "01890c4e-1234-7abc-8def-0123456789ab";
const TOKEN = issueToken(KEY, EMAIL);
const BASE = "https://mail.example.com";

function linkOf(url: string) {
  const [token = "", target = ""] = url.split("/").slice(-2);
  return openRedirect(KEY, token, target) ?? { emailId: null, target: null };
}

describe("a token", () => {
  test("is short, contains only characters for a path, and opens to the email id", () => {
    expect(TOKEN).toMatch(/^[\w-]{38}$/);
    expect(openToken(KEY, TOKEN)).toBe(EMAIL);
  });

  test("is the same for the same email id, also after tokens of others", () => {
    expect(issueToken(KEY, EMAIL)).toBe(TOKEN);
    const others = Array.from({ length: 20 }, (_, i) => EMAIL.replace("ab", String(10 + i)));
    for (const other of others) {
      expect(openToken(KEY, issueToken(KEY, other))).toBe(other);
      const { emailId, target } = linkOf(redirectUrl(BASE, KEY, { emailId: EMAIL, target: BASE }));
      expect([emailId, target]).toEqual([EMAIL, BASE]);
      expect(issueToken(KEY, EMAIL)).toBe(TOKEN);
    }
  });

  const invalid: [what: string, token: string][] = [
    ["empty", ""],
    ["of one character", "a"],
    ["one character too short", TOKEN.slice(0, -1)],
    ["cut off in the middle of the signature", TOKEN.slice(0, 20)],
    ["one character too long", `${TOKEN}A`],
    ["with padding", `${TOKEN}==`],
    ["with a full stop", `${TOKEN}.`],
    ["with a blank", `${TOKEN.slice(0, 10)} ${TOKEN.slice(10)}`],
    ["in plain base64", TOKEN.replaceAll("-", "+").replaceAll("_", "/").padEnd(40, "=")],
    ["with another last bit", flipLastBit(TOKEN)],
    ["of another installation", issueToken(OTHER_KEY, EMAIL)],
    ["of another email", issueToken(KEY, EMAIL.replace("01890c4e", "01890c4f")).slice(0, 22)],
    [
      "with the signature of another installation",
      TOKEN.slice(0, 22) + issueToken(OTHER_KEY, EMAIL).slice(22),
    ],
    ["of a redirect", issueToken(KEY, EMAIL, Buffer.from("https://example.com/"))],
    ["of NUL characters", "\0".repeat(38)],
    ["with characters outside of ASCII", "ü".repeat(38)],
    ["of a megabyte", "A".repeat(1_000_000)],
  ];

  for (const [what, token] of invalid) {
    test(`${what} is refused`, () => {
      expect(openToken(KEY, token)).toBeNull();
    });
  }

  test("with any one character changed is refused", () => {
    for (let i = 0; i < TOKEN.length; i++) {
      const other = TOKEN[i] === "A" ? "B" : "A";
      expect(openToken(KEY, TOKEN.slice(0, i) + other + TOKEN.slice(i + 1))).toBeNull();
    }
  });
});

describe("links for recipients", () => {
  test("contain the same token", () => {
    expect(recipientLinks(BASE, KEY, EMAIL)).toEqual({
      unsubscribeUrl: `${BASE}/unsubscribe/${TOKEN}`,
      subscribeUrl: `${BASE}/subscribe/${TOKEN}`,
      manageUrl: `${BASE}/manage/${TOKEN}`,
    });
  });
});

describe("a pixel", () => {
  test("contains a token", () => {
    expect(pixelUrl(BASE, KEY, EMAIL)).toBe(`${BASE}/o/${TOKEN}.gif`);
  });
});

describe("a redirect", () => {
  const targets = [
    "https://example.com/",
    "http://example.com/a?b=c&d=%20#e",
    "https://xn--mnchen-3ya.de/%C3%BC",
    "https://example.com/?q=😀",
    `https://example.com/${"x".repeat(1900)}`,
  ];

  for (const target of targets) {
    test(`opens to its target ${target.slice(0, 40)}`, () => {
      const [token, encoded] = partsOf(redirectUrl(BASE, KEY, { emailId: EMAIL, target }));
      expect(`${token}/${encoded}`).toMatch(/^[\w-]+\/[\w-]+$/);
      expect(openRedirect(KEY, token, encoded)).toEqual({ emailId: EMAIL, target });
    });
  }

  const [token, encoded] = partsOf(
    redirectUrl(BASE, KEY, { emailId: EMAIL, target: "https://example.com/" }),
  );
  const elsewhere = Buffer.from("https://evil.example/").toString("base64url");
  const invalid: [what: string, token: string, target: string][] = [
    ["with another target", token, elsewhere],
    ["without a target", token, ""],
    ["with a truncated target", token, encoded.slice(0, -2)],
    ["with a character after its target", token, `${encoded}A`],
    ["with the token of a pixel", TOKEN, encoded],
    ["with the token of a pixel and no target", TOKEN, "."],
    ["with a target that is not base64url", token, "https://evil.example/"],
    ["without a token", "", encoded],
  ];

  for (const [what, invalidToken, target] of invalid) {
    test(`${what} is refused`, () => {
      expect(openRedirect(KEY, invalidToken, target)).toBeNull();
    });
  }

  test("of another installation is refused", () => {
    expect(openRedirect(OTHER_KEY, token, encoded)).toBeNull();
  });
});

function partsOf(url: string): [token: string, encoded: string] {
  const [token = "", encoded = ""] = url.slice(`${BASE}/c/`.length).split("/");
  return [token, encoded];
}

/** Changes an unused bit: 28 bytes leave four bits of the last character that a decoder ignores. */
function flipLastBit(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const index = alphabet.indexOf(token.at(-1) ?? "");
  return token.slice(0, -1) + alphabet.charAt(index ^ 1);
}
