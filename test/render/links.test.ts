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

describe("a token", () => {
  test("is short, fit for a path, and gives back the email", () => {
    expect(TOKEN).toMatch(/^[\w-]{38}$/);
    expect(openToken(KEY, TOKEN)).toBe(EMAIL);
  });

  test("is the same every time", () => {
    expect(issueToken(KEY, EMAIL)).toBe(TOKEN);
  });

  const faults: [what: string, token: string][] = [
    ["empty", ""],
    ["of one character", "a"],
    ["cut off by one", TOKEN.slice(0, -1)],
    ["cut off in the middle", TOKEN.slice(0, 20)],
    ["longer by one", `${TOKEN}A`],
    ["with padding", `${TOKEN}==`],
    ["with a full stop", `${TOKEN}.`],
    ["with a blank", `${TOKEN.slice(0, 10)} ${TOKEN.slice(10)}`],
    ["in plain base64", TOKEN.replaceAll("-", "+").replaceAll("_", "/").padEnd(40, "=")],
    ["with another last bit", flipLastBit(TOKEN)],
    ["of another installation", issueToken(OTHER_KEY, EMAIL)],
    ["with another email", issueToken(KEY, EMAIL.replace("01890c4e", "01890c4f")).slice(0, 22)],
    ["with the signature of another", TOKEN.slice(0, 22) + issueToken(OTHER_KEY, EMAIL).slice(22)],
    ["of a redirect", issueToken(KEY, EMAIL, Buffer.from("https://example.com/"))],
    ["that is no text at all", "\0".repeat(38)],
    ["beyond ASCII", "ü".repeat(38)],
    ["of a megabyte", "A".repeat(1_000_000)],
  ];

  for (const [what, token] of faults) {
    test(`${what} opens nothing`, () => {
      expect(openToken(KEY, token)).toBeNull();
    });
  }

  test("altered in any place opens nothing", () => {
    for (let i = 0; i < TOKEN.length; i++) {
      const other = TOKEN[i] === "A" ? "B" : "A";
      expect(openToken(KEY, TOKEN.slice(0, i) + other + TOKEN.slice(i + 1))).toBeNull();
    }
  });
});

describe("links for recipients", () => {
  test("share one token", () => {
    expect(recipientLinks(BASE, KEY, EMAIL)).toEqual({
      unsubscribeUrl: `${BASE}/unsubscribe/${TOKEN}`,
      subscribeUrl: `${BASE}/subscribe/${TOKEN}`,
      manageUrl: `${BASE}/manage/${TOKEN}`,
    });
  });
});

describe("a pixel", () => {
  test("carries a token", () => {
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
    test(`leads back to ${target.slice(0, 40)}`, () => {
      const [token, encoded] = partsOf(redirectUrl(BASE, KEY, { emailId: EMAIL, target }));
      expect(`${token}/${encoded}`).toMatch(/^[\w-]+\/[\w-]+$/);
      expect(openRedirect(KEY, token, encoded)).toEqual({ emailId: EMAIL, target });
    });
  }

  const [token, encoded] = partsOf(
    redirectUrl(BASE, KEY, { emailId: EMAIL, target: "https://example.com/" }),
  );
  const elsewhere = Buffer.from("https://evil.example/").toString("base64url");
  const faults: [what: string, token: string, target: string][] = [
    ["with another target", token, elsewhere],
    ["without a target", token, ""],
    ["with a target cut off", token, encoded.slice(0, -2)],
    ["with more after its target", token, `${encoded}A`],
    ["with the token of a pixel", TOKEN, encoded],
    ["with the token of a pixel and no target", TOKEN, "."],
    ["with a target that is not base64url", token, "https://evil.example/"],
    ["without a token", "", encoded],
  ];

  for (const [what, faulty, target] of faults) {
    test(`${what} leads nowhere`, () => {
      expect(openRedirect(KEY, faulty, target)).toBeNull();
    });
  }

  test("of another installation leads nowhere", () => {
    expect(openRedirect(OTHER_KEY, token, encoded)).toBeNull();
  });
});

function partsOf(url: string): [token: string, encoded: string] {
  const [token = "", encoded = ""] = url.slice(`${BASE}/c/`.length).split("/");
  return [token, encoded];
}

/** 28 bytes leave four bits of the last character unused: a decoder does not look at them. */
function flipLastBit(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const index = alphabet.indexOf(token.at(-1) ?? "");
  return token.slice(0, -1) + alphabet.charAt(index ^ 1);
}
