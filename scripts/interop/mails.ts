/** The mails that are sent to each mail server and must arrive unchanged. */

import { randomBytes } from "node:crypto";

export type AttachedFile = { filename: string; content: Buffer; contentType?: string };

export type InteropMail = {
  name: string;
  from: { email: string; name?: string };
  /** Display name and local part of the recipient. */
  to: { name?: string; local?: string };
  subject: string;
  html: string;
  headers?: Record<string, string>;
  attachments?: AttachedFile[];
};

const FROM = { email: "hello@sender.example" };
const SUBJECT = "Interop";
const HTML = "<p>Hello</p>";

/** Domains of the senders of the mails. */
export const SENDER_DOMAINS = ["sender.example", "bücher.example"] as const;

export const PLAIN_MAIL = mail("a plain mail", {});

export const MAILS: readonly InteropMail[] = [
  PLAIN_MAIL,
  mail("non-ASCII text in all fields", {
    from: { ...FROM, name: "Grüße & Söhne, “Ltd.” 株式会社" },
    to: { name: "Zoë Łącka" },
    subject: "Überraschung ✓ für Zoë — 祝你好運",
    html: "<p>Grüße, 日本語, emoji 🎉</p>",
  }),
  mail("a subject of 900 characters", { subject: "Größe 測試 ".repeat(90).trim() }),
  mail("an IDN sender", { from: { email: "hallo@bücher.example", name: "Bücher" } }),
  mail("a display name with special characters", {
    from: { ...FROM, name: 'A "B" \\C <d@e.f>; g, h' },
  }),
  mail("lines of 990 octets", { html: `<p>${"x".repeat(983)}</p>\n<p>${"y z".repeat(327)}</p>\n` }),
  mail("a line of 5,000 non-ASCII octets", { html: `<p>${"äöü ".repeat(700)}</p>` }),
  mail("lines that begin with dots", { html: ".\n..\n.hidden\n<p>.</p>\n.\n" }),
  mail("lines that begin with From", { html: "From here\n>From there\n<p>From</p>\nFrom" }),
  mail("an empty body", { html: "<div></div>" }),
  mail("trailing spaces and blank lines", { html: "a  \nb\t\n\n \n<b>c</b>\n\n\n" }),
  mail("mixed line endings", { html: "<p>a</p>\r\n<p>b</p>\n<p>c</p>\r<p>d</p>" }),
  mail("custom headers", {
    headers: {
      "List-Unsubscribe": "<https://sender.example/u/1>, <mailto:u@sender.example>",
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Feedback-ID": "1:2:3:sender",
      "X-Note":
        "Grüße an alle, mit vielen Worten, damit die Zeile gefaltet werden muss, ja wirklich",
    },
  }),
  mail("unusual file names", {
    attachments: [
      file("résumé ✓.pdf", randomBytes(3_000), "application/pdf"),
      file(`${"lang-ü-".repeat(30)}.txt`, Buffer.from("short"), "text/plain"),
      file('a "b"; c=d.csv', Buffer.from("a,b\r\n1,2\r\n"), "text/csv"),
      file("empty.bin", Buffer.alloc(0)),
      file("zeroes.bin", Buffer.alloc(2_000)),
      file("nächste.eml", Buffer.from("Subject: x\r\n\r\n.\r\nHello\r\n"), "text/plain"),
    ],
  }),
  mail("an attachment of 9 MiB", {
    attachments: [file("large.bin", randomBytes(9 * 1024 * 1024))],
  }),
];

/** A mail that is sent to many recipients at once, so that sessions send one after another. */
export const BATCH_MAIL = mail("one of a batch", {});

/** A mail that needs SMTPUTF8 (RFC 6531). */
export const UTF8_MAIL = mail("a non-ASCII recipient", { to: { local: "grüße" } });

function mail(name: string, parts: Partial<InteropMail>): InteropMail {
  return { name, from: FROM, to: {}, subject: SUBJECT, html: HTML, ...parts };
}

function file(filename: string, content: Buffer, contentType?: string): AttachedFile {
  return { filename, content, ...(contentType === undefined ? {} : { contentType }) };
}
