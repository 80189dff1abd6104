import { describe, expect, test } from "bun:test";
import { recipientLinks, redirectUrl } from "../../src/render/links.ts";
import { type OutgoingInput, prepareOutgoing } from "../../src/render/outgoing.ts";

const EMAIL = "01890c4e-1234-7abc-8def-0123456789ab";
const LINK_KEY = new Uint8Array(32).fill(1);
const TRACKING_KEY = new Uint8Array(32).fill(2);
const LINKS = recipientLinks("https://m.test", LINK_KEY, EMAIL);
const MARKETING = { projectName: "Acme & <Sons>", language: "en", feedbackId: "1:2:marketing:me" };
const TRACKING = { url: "https://t.test", key: TRACKING_KEY };

function prepare(html: string, change: Partial<OutgoingInput> = {}) {
  return prepareOutgoing({
    emailId: EMAIL,
    html,
    headers: [["X-A", "1"]],
    links: LINKS,
    marketing: MARKETING,
    tracking: TRACKING,
    ...change,
  });
}

const redirectTo = (target: string) =>
  redirectUrl(TRACKING.url, TRACKING_KEY, { emailId: EMAIL, target });

describe("transactional mail that is not tracked", () => {
  test("is sent exactly as it was rendered", () => {
    const html = `<p><a href="https://example.com/">x</a></p>`;
    const outgoing = prepare(html, { marketing: null, tracking: null });
    expect(outgoing.html).toBe(html);
    expect(outgoing.text).toBe("x [https://example.com/]");
    expect(outgoing.headers).toEqual([["X-A", "1"]]);
  });
});

describe("the text alternative", () => {
  test("shows the original links", () => {
    const { html, text } = prepare(`<p><a href="https://example.com/a">x</a></p>`);
    expect(html).toContain(redirectTo("https://example.com/a"));
    expect(text).toStartWith("x [https://example.com/a]\n");
    expect(text).not.toContain("t.test");
  });

  test("ends with the footer", () => {
    expect(prepare("<p>Hi</p>").text).toBe(
      "Hi\n\n--\nYou receive this email because you subscribed to newsletters from " +
        `Acme & <Sons>.\nUnsubscribe: ${LINKS.unsubscribeUrl}`,
    );
  });

  test("is only the footer if the body has no text", () => {
    expect(prepare("<img src=x>").text).toStartWith("You receive this email");
  });
});

describe("the footer", () => {
  test("is in the language of the project, and escapes its name", () => {
    const { html } = prepare("<body>x</body>", { marketing: { ...MARKETING, language: "de" } });
    expect(html).toContain(`<div lang="de"`);
    expect(html).toContain("Newsletter von Acme &amp; &lt;Sons&gt; abonniert");
    expect(html).toMatch(/<a href="https:\/\/m\.test\/unsubscribe\/[^"]+"[^>]*>Abbestellen<\/a>/);
    expect(html).toEndWith("</body>");
  });

  const offers: [what: string, html: string, hasFooter: boolean][] = [
    ["the unsubscribe link", `<a href="${LINKS.unsubscribeUrl}">off</a>`, false],
    ["the unsubscribe link as text", `<p>${LINKS.unsubscribeUrl}</p>`, false],
    ["only the manage link", `<a href="${LINKS.manageUrl}">manage</a>`, true],
    [
      "the unsubscribe link of another mail",
      `<a href="https://m.test/unsubscribe/x">off</a>`,
      true,
    ],
    [
      "the unsubscribe link in a comment",
      `<!-- <a href="${LINKS.unsubscribeUrl}">off</a> --><p>x</p>`,
      true,
    ],
    [
      "the unsubscribe link between comments",
      `<!-- a --><p>${LINKS.unsubscribeUrl}</p><!-- b -->`,
      false,
    ],
    ["no link", "<p>x</p>", true],
  ];

  for (const [what, html, hasFooter] of offers) {
    test(`is ${hasFooter ? "added to" : "left out of"} a body with ${what}`, () => {
      expect(prepare(html).html.includes("You receive this email")).toBe(hasFooter);
      expect(prepare(html).text.includes("You receive this email")).toBe(hasFooter);
    });
  }

  test("is not added to transactional mail", () => {
    expect(prepare("<p>x</p>", { marketing: null }).html).not.toContain("You receive");
  });
});

describe("tracking", () => {
  const untracked = [
    LINKS.unsubscribeUrl,
    LINKS.subscribeUrl,
    LINKS.manageUrl,
    `${LINKS.manageUrl}?from=mail`,
    redirectTo("https://example.com/"),
  ];

  for (const url of untracked) {
    test(`does not rewrite ${url.slice(0, 30)}…`, () => {
      expect(prepare(`<a href="${url}">x</a>`).html).toContain(`<a href="${url}">x</a>`);
    });
  }

  test("does not rewrite recipient links whose base a URL parser would normalize", () => {
    const links = recipientLinks("http://M.test:80", LINK_KEY, EMAIL);
    const { html } = prepare(`<a href="${links.manageUrl}">x</a>`, { links });
    expect(html).toContain(`<a href="${links.manageUrl}">x</a>`);
  });

  test("adds one visible pixel at the end of the body", () => {
    const { html } = prepare("<body>x</body>");
    expect(html).toMatch(
      /<\/div><img src="https:\/\/t\.test\/o\/[\w-]{38}\.gif" width="1" height="1" alt="" style="[^"]*"><\/body>$/,
    );
    expect(html).not.toContain("display:none");
  });

  test("does not affect the footer when it is off", () => {
    const { html } = prepare(`<a href="https://example.com/">x</a>`, { tracking: null });
    expect(html).toContain(`<a href="https://example.com/">x</a>`);
    expect(html).toContain("You receive this email");
    expect(html).not.toContain("<img");
  });

  test("also rewrites transactional mail", () => {
    const { html, headers } = prepare(`<a href="https://example.com/">x</a>`, { marketing: null });
    expect(html).toContain(redirectTo("https://example.com/"));
    expect(html).toContain(".gif");
    expect(headers).toEqual([["X-A", "1"]]);
  });

  test("returns the same result for the same mail", () => {
    const html = `<body><a href="https://example.com/">x</a></body>`;
    expect(prepare(html)).toEqual(prepare(html));
  });
});
