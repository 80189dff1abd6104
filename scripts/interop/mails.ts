/** What is sent to every mail server, and must arrive as it was. */

import { randomBytes } from "node:crypto";

export type File = { filename: string; content: Buffer; contentType?: string };

export type InteropMail = {
  name: string;
  from: { email: string; name?: string };
  /** Display name and local part of the recipient. */
  to: { name?: string; local?: string };
  subject: string;
  html: string;
  headers?: Record<string, string>;
  attachments?: File[];
};

const FROM = { email: "hello@sender.example" };
const SUBJECT = "Interop";
const HTML = "<p>Hello</p>";

/** Sender domains that the mails come from. */
export const SENDER_DOMAINS = ["sender.example", "bücher.example"] as const;

export const PLAIN_MAIL = mail("a plain mail", {});

export const MAILS: readonly InteropMail[] = [
  PLAIN_MAIL,
  mail("words beyond ASCII everywhere", {
    from: { ...FROM, name: "Grüße & Söhne, “Ltd.” 株式会社" },
    to: { name: "Zoë Łącka" },
    subject: "Überraschung ✓ für Zoë — 祝你好運",
    html: "<p>Grüße, 日本語, emoji 🎉</p>",
  }),
  mail("a subject of 900 characters", { subject: "Größe 測試 ".repeat(90).trim() }),
  mail("an IDN sender", { from: { email: "hallo@bücher.example", name: "Bücher" } }),
  mail("a quoted name with specials", { from: { ...FROM, name: 'A "B" \\C <d@e.f>; g, h' } }),
  mail("lines of 990 octets", { html: `<p>${"x".repeat(983)}</p>\n<p>${"y z".repeat(327)}</p>\n` }),
  mail("a line of 5,000 octets beyond ASCII", { html: `<p>${"äöü ".repeat(700)}</p>` }),
  mail("dots in front of lines", { html: ".\n..\n.hidden\n<p>.</p>\n.\n" }),
  mail("From in front of lines", { html: "From here\n>From there\n<p>From</p>\nFrom" }),
  mail("an empty body", { html: "<div></div>" }),
  mail("blanks at line ends and blank lines", { html: "a  \nb\t\n\n \n<b>c</b>\n\n\n" }),
  mail("line ends of all kinds", { html: "<p>a</p>\r\n<p>b</p>\n<p>c</p>\r<p>d</p>" }),
  mail("headers of its own", {
    headers: {
      "List-Unsubscribe": "<https://sender.example/u/1>, <mailto:u@sender.example>",
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Feedback-ID": "1:2:3:sender",
      "X-Note":
        "Grüße an alle, mit vielen Worten, damit die Zeile gefaltet werden muss, ja wirklich",
    },
  }),
  mail("file names of all kinds", {
    attachments: [
      file("résumé ✓.pdf", randomBytes(3_000), "application/pdf"),
      file(`${"lang-ü-".repeat(30)}.txt`, Buffer.from("short"), "text/plain"),
      file('a "b"; c=d.csv', Buffer.from("a,b\r\n1,2\r\n"), "text/csv"),
      file("empty.bin", Buffer.alloc(0)),
      file("zeroes.bin", Buffer.alloc(2_000)),
      file("nächste.eml", Buffer.from("Subject: x\r\n\r\n.\r\nHello\r\n"), "text/plain"),
    ],
  }),
  mail("nine megabytes", {
    attachments: [file("large.bin", randomBytes(9 * 1024 * 1024))],
  }),
];

/** Needs SMTPUTF8 (RFC 6531). */
export const UTF8_MAIL = mail("a recipient beyond ASCII", { to: { local: "grüße" } });

function mail(name: string, parts: Partial<InteropMail>): InteropMail {
  return { name, from: FROM, to: {}, subject: SUBJECT, html: HTML, ...parts };
}

function file(filename: string, content: Buffer, contentType?: string): File {
  return { filename, content, ...(contentType === undefined ? {} : { contentType }) };
}
