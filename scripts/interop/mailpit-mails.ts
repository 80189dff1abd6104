/** Mails of many forms for the comparison with Mailpit, as they are sent over SMTP. */

export type SentMail = { from: string; to: readonly string[]; raw: Buffer };

/** Joins lines with CR LF. */
const lines = (...parts: readonly string[]): Buffer =>
  Buffer.from(`${parts.join("\r\n")}\r\n`, "latin1");

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const utf8 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** Header fields that most mails have. `number` makes the Message-ID. */
function head(number: number, subject: string, ...more: readonly string[]): string[] {
  const minute = String(number).padStart(2, "0");
  return [
    `Message-ID: <mail-${number}@shop.example>`,
    `Date: Mon, 02 Mar 2026 10:${minute}:00 +0000`,
    "From: Shop <shop@shop.example>",
    "To: Ada Lovelace <ada@example.com>",
    `Subject: ${subject}`,
    ...more,
    "MIME-Version: 1.0",
  ];
}

function mail(raw: Buffer, to: readonly string[] = ["ada@example.com"]): SentMail {
  return { from: "bounces@shop.example", to, raw };
}

const PLAIN = mail(
  lines(
    ...head(1, "Order 1 has been shipped", "X-Tags: orders, signup"),
    "Content-Type: text/plain; charset=utf-8",
    "",
    "Hello Ada, your order has been shipped: https://shop.example/orders/1",
  ),
);

const ALTERNATIVE = mail(
  lines(
    ...head(2, "=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus_K=C3=B6ln?="),
    "Cc: =?utf-8?Q?J=C3=B6rg?= <joerg@example.com>, grace@example.com",
    "Reply-To: Help <help@shop.example>",
    'Content-Type: multipart/alternative; boundary="b1"',
    "",
    "--b1",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Gr=C3=BC=C3=9Fe",
    "--b1",
    "Content-Type: text/html; charset=utf-8",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    '<p style=3D"display:flex">Gr=C3=BC=C3=9Fe</p><a href=3D"https://shop.example/?a=3D1&amp;b=3D2">x</a>',
    "--b1--",
  ),
  ["ada@example.com", "joerg@example.com", "grace@example.com", "hidden@example.com"],
);

const ATTACHED = mail(
  lines(
    ...head(3, "Your invoice"),
    'Content-Type: multipart/mixed; boundary="b2"',
    "",
    "--b2",
    'Content-Type: multipart/related; boundary="b3"',
    "",
    "--b3",
    "Content-Type: text/html; charset=utf-8",
    "",
    '<p>Invoice</p><img src="cid:logo@shop.example" alt="Logo">',
    "--b3",
    'Content-Type: image/png; name="logo.png"',
    "Content-Transfer-Encoding: base64",
    "Content-ID: <logo@shop.example>",
    'Content-Disposition: inline; filename="logo.png"',
    "",
    PNG,
    "--b3--",
    "--b2",
    'Content-Type: text/csv; name="orders.csv"',
    'Content-Disposition: attachment; filename="orders.csv"',
    "",
    "a,b",
    "1,2",
    "--b2",
    "Content-Type: application/octet-stream",
    "Content-Transfer-Encoding: base64",
    "Content-Disposition: attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.bin",
    "",
    Buffer.from([0, 1, 2, 253, 254, 255]).toString("base64"),
    "--b2--",
  ),
);

const LIST_MAIL = mail(
  lines(
    ...head(4, "Order 4: newsletter of March"),
    "List-Unsubscribe: <https://shop.example/u/1>, <mailto:u@shop.example>",
    "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    "X-Long: one",
    "  two",
    "X-Twice: first",
    "X-Twice: second",
    "Content-Type: text/html; charset=utf-8",
    "",
    "<!doctype html><html><head><style>p{display:grid}</style></head><body><p>News</p></body></html>",
  ),
);

const LATIN1 = mail(
  lines(
    ...head(5, "=?iso-8859-1?Q?Caf=E9?="),
    "Content-Type: text/plain; charset=iso-8859-1",
    "Content-Transfer-Encoding: 8bit",
    "",
    "Un caf\u00e9",
  ),
);

const RAW_UTF8 = mail(
  lines(
    ...head(6, utf8("Grüße ohne Kodierung")),
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    utf8("日本語 👋"),
  ),
);

const BARE = mail(lines("From: plain@example.net", "", "A mail with almost no header."));

const EMPTY_SUBJECT = mail(
  lines(...head(8, ""), "Content-Type: text/plain", "", "No subject, and no character set."),
  ["ada+tag@example.com"],
);

const ENCLOSED = mail(
  lines(
    ...head(9, "Fwd: Order 1"),
    'Content-Type: multipart/mixed; boundary="b4"',
    "",
    "--b4",
    "Content-Type: text/plain; charset=utf-8",
    "",
    "See the enclosed message.",
    "--b4",
    "Content-Type: message/rfc822",
    'Content-Disposition: attachment; filename="order.eml"',
    "",
    PLAIN.raw.toString("latin1").trimEnd(),
    "--b4--",
  ),
);

export const MAILS: readonly SentMail[] = [
  PLAIN,
  ALTERNATIVE,
  ATTACHED,
  LIST_MAIL,
  LATIN1,
  RAW_UTF8,
  BARE,
  EMPTY_SUBJECT,
  ENCLOSED,
];
