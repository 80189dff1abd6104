/** Links and one-time codes of messages as applications send them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findCodes } from "../../../src/modules/inboxes/extract/codes.ts";
import { findLinks } from "../../../src/checks/find-links.ts";
import { type InboxApp, inboxApp } from "../../support/inbox.ts";
import { expectError } from "../../support/refusal.ts";

describe("codes", () => {
  const cases: [subject: string, text: string, codes: string[]][] = [
    ["Your code", "Your verification code is 482913.", ["482913"]],
    ["123456 is your login code", "It expires in 10 minutes.", ["123456"]],
    [
      "Sign in",
      "Enter this code to sign in:\n\n  904 118\n\nIt is valid for 15 minutes.",
      ["904118"],
    ],
    ["Google", "G-739201 is your Google verification code.", ["739201"]],
    ["[GitHub] Please verify your device", "Verification code: 552817\n\nOrder 998877", ["552817"]],
    ["Device login", "Enter the code below:\n\nWDJB-MJHT\n", ["WDJB-MJHT"]],
    [
      "Confirm",
      "Your confirmation code: K7P2Q9\n© 2026 Shop Inc., 94107 San Francisco",
      ["K7P2Q9"],
    ],
    ["PIN", "Ihr Einmal-Code lautet 7391. Er gilt 5 Minuten.", ["7391"]],
    ["Votre code", "Votre code de vérification est 20 26 : 204-883", ["204883"]],
    ["Код", "Ваш код подтверждения: 60413", ["60413"]],
    ["验证码", "您的验证码是 847261,请在5分钟内输入。", ["847261"]],
    ["認証コード", "認証コード: 330912", ["330912"]],
    ["OTP", "OTP for your payment of $1,250.00 at SHOP is 118273", ["118273"]],
    ["Two codes", "Your code is 111222. Your backup code is 333444.", ["111222", "333444"]],
    ["Two-step", "**384756**\n\nis the verification code for your account", ["384756"]],
  ];
  test.each(cases)("%s: %s", (subject, text, codes) => {
    expect(findCodes({ subject, text }).map(({ code }) => code)).toEqual(codes);
  });

  const none: [text: string][] = [
    ["Your order 123456 has shipped."],
    ["Invoice 20260302 over 1234.56 EUR is due on 2026-03-31."],
    ["Call us: +1 415 555 0100, Mon-Fri 0800-1700."],
    ["See https://shop.example/verify/code/482913 for your verification."],
    ["The meeting is in room 4012 at 10:30, in 2026."],
    ["WELCOME TO OUR SHOP, THANKS FOR JOINING"],
    ["Use promo code SAVE2026 and get 20% off."],
    [""],
  ];
  test.each(none)("none in: %s", (text) => {
    expect(findCodes({ subject: "News", text })).toEqual([]);
  });

  test("the context shows the words around the code", () => {
    const [found] = findCodes({ subject: "Hi", text: "Your code is\n 482913 \nBye" });
    expect(found?.context).toBe("Hi Your code is 482913 Bye");
  });

  test("the result for a long hostile text is limited", () => {
    // This would take minutes if the time were not linear.
    const text = "code 123456 ".repeat(50_000) + "A".repeat(500_000) + "1-".repeat(200_000);
    expect(findCodes({ subject: "", text }).length).toBeLessThanOrEqual(20);
    const many = Array.from({ length: 1_000 }, (_, i) => `code ${100_000 + i}`).join("\n");
    expect(findCodes({ subject: "", text: many })).toHaveLength(20);
  });
});

describe("links", () => {
  const TOKEN = "eyJhbGciOiJIUzI1NiJ9abcdef0123456789";
  const a = (url: string, text: string) => `<a href="${url}">${text}</a>`;
  const first: [name: string, html: string, url: string][] = [
    [
      "a magic link before the logo and the footer",
      a("https://app.example/", "<img src=x>") +
        a(`https://app.example/auth/callback?token=${TOKEN}&amp;next=%2F`, "Sign in to App") +
        a("https://app.example/unsubscribe?u=1", "Unsubscribe"),
      `https://app.example/auth/callback?token=${TOKEN}&next=%2F`,
    ],
    [
      "a confirmation whose URL is tracked",
      a("https://app.example/blog/2026/how-we-work", "Read our blog") +
        a(`https://click.mail.example/ls/click?upn=${TOKEN}`, "Confirm your email"),
      `https://click.mail.example/ls/click?upn=${TOKEN}`,
    ],
    [
      "a password reset of Django",
      a("https://shop.example/help", "Help") +
        a("https://shop.example/reset/MQ/c5f1a2-8e1b5b7b1b2d3f4a5c6e7d8f/", "here"),
      "https://shop.example/reset/MQ/c5f1a2-8e1b5b7b1b2d3f4a5c6e7d8f/",
    ],
    [
      "an invitation",
      a("https://team.example/about", "About us") +
        a("https://team.example/i/9f86d081884c7d65", "Accept invitation"),
      "https://team.example/i/9f86d081884c7d65",
    ],
    [
      "a German confirmation",
      a("https://laden.example/", "Laden") +
        a("https://laden.example/k/4f2a9c", "E-Mail-Adresse bestätigen"),
      "https://laden.example/k/4f2a9c",
    ],
  ];
  test.each(first)("%s comes first", (_, html, url) => {
    expect(findLinks({ html, text: "" })[0]?.url).toBe(url);
  });

  test("have text, position, part and kind, and each URL occurs once", () => {
    const login = `https://a.example/login?token=${TOKEN}`;
    const html = `${a("https://a.example/x", " The <b>x</b> &amp; y ")}${a(login, "Log in")}`;
    const text = `Log in (${login}).\nOr see https://a.example/only-text, https://a.example/a_(b)`;
    expect(findLinks({ html, text })).toEqual([
      { url: login, text: "Log in", position: 1, part: "HTML", kind: "MAGIC" },
      { url: "https://a.example/x", text: "The x & y", position: 0, part: "HTML", kind: "OTHER" },
      { url: "https://a.example/only-text", text: "", position: 1, part: "TEXT", kind: "OTHER" },
      { url: "https://a.example/a_(b)", text: "", position: 2, part: "TEXT", kind: "OTHER" },
    ]);
  });

  test("to unsubscribe come last; other schemes are left out", () => {
    const html =
      a("https://a.example/unsubscribe", "x") +
      a("mailto:a@b.co", "mail") +
      a("javascript:alert(1)", "js") +
      a("#top", "top") +
      a("https://", "broken") +
      a("https://a.example/y", "y");
    expect(findLinks({ html, text: "" }).map(({ url, kind }) => [url, kind])).toEqual([
      ["https://a.example/y", "OTHER"],
      ["https://a.example/unsubscribe", "UNSUBSCRIBE"],
    ]);
  });

  test("of a hostile message are limited", () => {
    // This would take minutes if the time were not linear.
    const html =
      a("https://a.example/", "x".repeat(1_000)).repeat(5_000) + "<a href=".repeat(9_999);
    const text = Array.from({ length: 3_000 }, (_, i) => `https://a.example/${i}`).join(" ");
    expect(findLinks({ html, text: `${text} https://${")".repeat(200_000)}` })).toHaveLength(500);
  });
});

describe("over HTTP", () => {
  let t: InboxApp;
  beforeAll(async () => {
    t = await inboxApp();
  });
  afterAll(() => t.close());

  test("…/links and …/codes read the parts of the message", async () => {
    await t.mail({
      subject: "Sign in",
      text: "Your code is 482913",
      html: '<p>Your code is <b>482913</b></p><a href="https://a.example/login?token=0123456789abcdef0">Sign in</a>',
    });
    const path = "/inboxes/default/messages/latest";
    const link = { url: "https://a.example/login?token=0123456789abcdef0", kind: "MAGIC" };
    expect((await t.call("GET", `${path}/links`)).at("data")).toMatchObject([link]);
    expect((await t.call("GET", `${path}/codes`)).at("data")).toMatchObject({
      codes: [{ code: "482913" }],
      magicLinks: [link],
    });
    const none = { status: 404, code: "MESSAGE_NOT_FOUND" };
    expectError(await t.call("GET", "/inboxes/default/messages/none/links"), none);
    expectError(await t.call("GET", "/inboxes/default/messages/none/codes"), none);
  });
});
