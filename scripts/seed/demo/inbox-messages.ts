/** Captured messages of many kinds, as a developer's inbox collects them from an application. */

import type { Random } from "../random.ts";
import { layout, SITE } from "./template-texts.ts";

type Part = { type: string; body: string | Uint8Array; filename?: string; contentId?: string };

type Draft = {
  from: string;
  to: string;
  subject: string;
  parts: readonly Part[];
  headers?: readonly [name: string, value: string][];
  /** multipart/alternative unless it says otherwise. */
  kind?: "alternative" | "mixed" | "related" | "report";
};

type Context = { number: number; random: Random; at: number };
type Kind = (context: Context) => Draft;

const BOUNDARY = "part-of-harbour-books";
const SHOP = "Harbour Books <orders@harbourbooks.example>";
/** A red square of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 144]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
);
const READERS = [
  "ada",
  "grace",
  "linus",
  "mary",
  "noor",
  "kenji",
  "zofia",
  "iñaki",
  "eleni",
] as const;

const to = ({ random }: Context) => {
  const name = random.pick(READERS);
  const local = name.normalize("NFD").replaceAll(/[^a-z]/g, "");
  return `${name === "iñaki" ? "=?utf-8?Q?I=C3=B1aki?=" : name} <${local}@reader.example>`;
};
const text = (body: string): Part => ({ type: "text/plain; charset=utf-8", body });
const html = (body: string): Part => ({ type: "text/html; charset=utf-8", body });
const orderOf = ({ number }: Context) => `HB-${20_000 + number * 7}`;

const receipt: Kind = (context) => {
  const order = orderOf(context);
  const total = (5 + context.random.integer(8_000) / 100).toFixed(2);
  const rows = `<table border="0" cellpadding="6"><tr><td>Tide Tables of the Heart</td><td>£${total}</td></tr></table>`;
  const plain = `Thank you for order ${order}.\n\nTide Tables of the Heart  £${total}\n\n${SITE}/orders/${order}\n`;
  const body = layout(
    "Thank you for your order",
    [`Order ${order}`, rows],
    ["View the order", `${SITE}/orders/${order}`],
  );
  return {
    from: SHOP,
    to: to(context),
    subject: `Your order ${order} at Harbour Books`,
    parts: [text(plain), html(body)],
  };
};

const passwordReset: Kind = (context) => {
  const link = `${SITE}/account/reset?code=${context.random.bits().toString(36)}`;
  return {
    from: "Harbour Books Accounts <accounts@harbourbooks.example>",
    to: to(context),
    subject: "Reset your password",
    parts: [
      text(`You asked for a new password.\n\n${link}\n\nThe link is valid for one hour.\n`),
      html(
        layout(
          "Reset your password",
          ["The link is valid for one hour."],
          ["Choose a password", link],
        ),
      ),
    ],
  };
};

const signInCode: Kind = (context) => {
  const code = String(100_000 + context.random.integer(900_000));
  return {
    from: "Harbour Books Accounts <accounts@harbourbooks.example>",
    to: to(context),
    subject: `${code} is your sign-in code`,
    parts: [text(`Your sign-in code is ${code}.\nIt is valid for ten minutes.\n`)],
  };
};

const newsletter: Kind = (context) => ({
  from: "Harbour Books <news@harbourbooks.example>",
  to: to(context),
  subject: `New this week: ${context.random.pick(["crime", "poetry", "maps", "travel"])}`,
  kind: "related",
  headers: [
    ["List-Unsubscribe", `<${SITE}/unsubscribe?reader=${context.number}>`],
    ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
  ],
  parts: [
    html(
      layout(
        "New this week",
        [
          '<img src="cid:cover" alt="Cover of the book" width="120" height="180">',
          '<img src="https://images.harbourbooks.example/banner.jpg" alt="Books on a quay" width="536">',
          "Three books kept us up at night.",
        ],
        ["See them all", `${SITE}/new`],
      ),
    ),
    { type: "image/png", body: PIXEL, filename: "cover.png", contentId: "cover" },
  ],
});

const invoice: Kind = (context) => ({
  from: SHOP,
  to: to(context),
  subject: `Invoice for order ${orderOf(context)}`,
  kind: "mixed",
  parts: [
    text(`The invoice for your order ${orderOf(context)} is attached.\n`),
    { type: "application/pdf", body: PDF, filename: `invoice-${orderOf(context)}.pdf` },
    {
      type: "text/csv; charset=utf-8",
      body: "title,price\nTide Tables,12.50\n",
      filename: "lines.csv",
    },
  ],
});

const arabic: Kind = (context) => ({
  from: "Harbour Books <news@harbourbooks.example>",
  to: to(context),
  subject: "كتب جديدة هذا الأسبوع",
  parts: [
    text("مرحبا،\n\nوصلت ثلاثة كتب جديدة إلى المتجر.\n"),
    html(
      '<!doctype html><html dir="rtl" lang="ar"><body style="font-family:sans-serif"><h1>كتب جديدة</h1>' +
        `<p>وصلت ثلاثة كتب جديدة إلى المتجر.</p><p><a href="${SITE}/ar">تصفح الرفوف</a></p></body></html>`,
    ),
  ],
});

const emoji: Kind = (context) => ({
  from: "Harbour Books 📚 <news@harbourbooks.example>",
  to: to(context),
  subject: "🎉 Your parcel is out for delivery 🚚",
  parts: [
    text("It arrives today between 9 and 12. 📦\n"),
    html("<p>It arrives <b>today</b> 📦🌊</p>"),
  ],
});

const japanese: Kind = (context) => ({
  from: "Harbour Books <news@harbourbooks.example>",
  to: to(context),
  subject: "ご注文ありがとうございます",
  parts: [text(`ご注文番号 ${orderOf(context)} を承りました。\n`)],
});

const calendar: Kind = (context) => {
  const day = new Date(context.at + 7 * 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
  const event =
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Harbour Books//Readings//EN\r\nMETHOD:REQUEST\r\n" +
    `BEGIN:VEVENT\r\nUID:reading-${context.number}@harbourbooks.example\r\nDTSTAMP:${day}T120000Z\r\n` +
    `DTSTART:${day}T180000Z\r\nDTEND:${day}T200000Z\r\nSUMMARY:Reading on the upper deck\r\n` +
    "LOCATION:4 Quay Street\\, Bristol\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
  return {
    from: "Harbour Books Events <events@harbourbooks.example>",
    to: to(context),
    subject: "Invitation: Reading on the upper deck",
    parts: [
      text("You are invited to a reading on the upper deck.\n"),
      { type: "text/calendar; charset=utf-8; method=REQUEST", body: event },
    ],
  };
};

const bounce: Kind = ({ number }) => ({
  from: "Mail Delivery System <MAILER-DAEMON@mx.post.example>",
  to: "bounces@mail.harbourbooks.example",
  subject: "Undelivered Mail Returned to Sender",
  kind: "report",
  headers: [["Auto-Submitted", "auto-replied"]],
  parts: [
    text(`<reader${number}@post.example>: host mx.post.example said: 550 5.1.1 User unknown\n`),
    {
      type: "message/delivery-status",
      body:
        "Reporting-MTA: dns; mx.post.example\r\n\r\n" +
        `Final-Recipient: rfc822; reader${number}@post.example\r\nAction: failed\r\nStatus: 5.1.1\r\n` +
        "Diagnostic-Code: smtp; 550 5.1.1 User unknown\r\n",
    },
  ],
});

const plainAlert: Kind = (context) => ({
  from: "monitoring@harbourbooks.example",
  to: "ops@harbourbooks.example",
  subject: `[${context.random.pick(["OK", "WARN", "CRIT"])}] disk of shop-${1 + context.random.integer(4)}`,
  parts: [text(`The disk is ${60 + context.random.integer(39)} % full.\n\n-- \nmonitoring\n`)],
});

/** Kinds with their weights. */
const KINDS: readonly (readonly [kind: Kind, weight: number])[] = [
  [receipt, 24],
  [passwordReset, 14],
  [signInCode, 14],
  [newsletter, 10],
  [invoice, 10],
  [plainAlert, 8],
  [emoji, 6],
  [calendar, 4],
  [arabic, 4],
  [japanese, 3],
  [bounce, 3],
];
const byWeight = KINDS.flatMap(([kind, weight]) => Array<Kind>(weight).fill(kind));

/** The message with this number; the first ones have one of each kind. */
export function inboxMessage(context: Context): Buffer<ArrayBuffer> {
  const kind = KINDS[context.number]?.[0] ?? context.random.pick(byWeight);
  return compose(kind(context), context);
}

function compose(draft: Draft, { number, at }: Context): Buffer<ArrayBuffer> {
  const headers: [string, string][] = [
    ["From", encodedAddress(draft.from)],
    ["To", draft.to],
    ["Subject", encoded(draft.subject)],
    ["Date", new Date(at).toUTCString().replace("GMT", "+0000")],
    ["Message-ID", `<demo-${number}-${at.toString(36)}@harbourbooks.example>`],
    ["MIME-Version", "1.0"],
    ...(draft.headers ?? []),
  ];
  const [only] = draft.parts;
  if (draft.parts.length === 1 && only !== undefined) {
    return Buffer.from(`${lines(headers)}\r\n${partOf(only)}`);
  }
  const kind = draft.kind === "report" ? 'report; report-type="delivery-status"' : draft.kind;
  headers.push(["Content-Type", `multipart/${kind ?? "alternative"}; boundary="${BOUNDARY}"`]);
  const parts = draft.parts.map((part) => `--${BOUNDARY}\r\n${partOf(part)}`).join("\r\n");
  return Buffer.from(`${lines(headers)}\r\n\r\n${parts}\r\n--${BOUNDARY}--\r\n`);
}

function lines(headers: readonly [string, string][]): string {
  return headers.map(([name, value]) => `${name}: ${value}`).join("\r\n");
}

function partOf({ type, body, filename, contentId }: Part): string {
  const encodedBody = (
    Buffer.from(body)
      .toString("base64")
      .match(/.{1,76}/g) ?? []
  ).join("\r\n");
  const place = contentId === undefined ? "attachment" : "inline";
  return [
    `Content-Type: ${type}`,
    "Content-Transfer-Encoding: base64",
    ...(filename === undefined ? [] : [`Content-Disposition: ${place}; filename="${filename}"`]),
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    "",
    encodedBody,
  ].join("\r\n");
}

/** An encoded word (RFC 2047), if the text needs one. */
function encoded(value: string): string {
  const isPlain = /^[ -~]*$/.test(value);
  return isPlain ? value : `=?utf-8?B?${Buffer.from(value).toString("base64")}?=`;
}

function encodedAddress(value: string): string {
  const at = value.indexOf(" <");
  return at === -1 ? value : `${encoded(value.slice(0, at))}${value.slice(at)}`;
}
