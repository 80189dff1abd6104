/** Routes for the mail of a support address, and what readers wrote to it. */

import { inboundRoutes } from "../../../src/db/schema/inbound.ts";
import { newId } from "../../../src/lib/id.ts";
import { createReceivedRows } from "../../../src/modules/inbound-routes/rows.ts";
import type { ReceivedContent } from "../../../src/modules/inbound-routes/record.ts";
import { DAY_MS } from "./people.ts";
import type { Setting } from "./settings.ts";

const DOMAIN = "in.harbourbooks.example";
const HOUR_MS = 3_600_000;
const TICKET = Buffer.from("order,total\nHB-20014,18.40\n").toString("base64");

type Letter = {
  name: string;
  from: string;
  to: string;
  subject: string;
  html: string;
  hoursAgo: number;
  dmarc: "pass" | "fail" | "none";
  hasFile?: true;
  isAutomatic?: true;
};

const LETTERS: readonly Letter[] = [
  {
    name: "Mary Shelley",
    from: "mary@reader.example",
    to: `support@${DOMAIN}`,
    subject: "Re: Your order HB-20007",
    html: "<p>Hello,</p><p>the book arrived, but its cover is torn. Could you send another one?</p><p>Mary</p>",
    hoursAgo: 70,
    dmarc: "pass",
  },
  {
    name: "Parcel service",
    from: "no-reply@parcels.example",
    to: `orders@${DOMAIN}`,
    subject: "You have unpaid duties",
    html: '<p>Pay <a href="https://parcels.example/pay">here</a> today.</p>',
    hoursAgo: 26,
    dmarc: "fail",
  },
  {
    name: "Kenji Miyazawa",
    from: "kenji@reader.example",
    to: `support@${DOMAIN}`,
    subject: "Out of office: Tide tables of the heart",
    html: "<p>I am back on Monday.</p>",
    hoursAgo: 9,
    dmarc: "none",
    isAutomatic: true,
  },
  {
    name: "Noor Inayat",
    from: "noor@reader.example",
    to: `support@${DOMAIN}`,
    subject: "Invoice for my school",
    html: "<p>Dear Harbour Books,</p><p>our order is attached. Could we have an invoice with the name of the school?</p><p>With kind regards<br>Noor</p>",
    hoursAgo: 2,
    dmarc: "pass",
    hasFile: true,
  },
];

export function addReceived({ db, projectSeq, untilMs }: Setting): void {
  const createdAt = untilMs - 40 * DAY_MS;
  for (const [local, forwardTo] of [
    ["support", "team@harbourbooks.example"],
    ["*", null],
  ] as const) {
    const address = `${local}@${DOMAIN}`;
    db.insert(inboundRoutes)
      .values({ id: newId(createdAt), projectSeq, address, domain: DOMAIN, forwardTo, createdAt })
      .run();
  }
  const rows = createReceivedRows(db);
  for (const letter of LETTERS) {
    const receivedAt = untilMs - letter.hoursAgo * HOUR_MS;
    const raw = Buffer.from(messageOf(letter, receivedAt));
    const seq = rows.begin(projectSeq, receivedAt);
    rows.insertPiece(seq, 0, Bun.zstdCompressSync(raw));
    rows.finish(seq, newId(receivedAt), {
      receivedAt,
      size: raw.length,
      sender: letter.from,
      content: contentOf(letter),
      emailSeq: null,
      contactSeq: null,
    });
  }
}

const messageId = ({ from, hoursAgo }: Letter): string => `<${hoursAgo}.${from}>`;

function messageOf(letter: Letter, at: number): string {
  const { name, from, to, subject, html, hasFile = false } = letter;
  const file = [
    "--part",
    "Content-Type: text/csv",
    'Content-Disposition: attachment; filename="order.csv"',
    "Content-Transfer-Encoding: base64",
    "",
    TICKET,
  ];
  const lines = [
    `From: ${name} <${from}>`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Date: ${new Date(at).toUTCString()}`,
    `Message-ID: ${messageId(letter)}`,
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="part"',
    "",
    "--part",
    "Content-Type: text/html; charset=utf-8",
    "",
    html,
    ...(hasFile ? file : []),
    "--part--",
    "",
  ];
  return lines.join("\r\n");
}

function contentOf(letter: Letter): ReceivedContent {
  const { name, from, to, subject, dmarc, hasFile = false, isAutomatic = false } = letter;
  const domain = from.split("@")[1] ?? "";
  const signature = dmarc === "pass" ? "pass" : "none";
  const file = { filename: "order.csv", contentType: "text/csv", size: 27, isInline: false };
  return {
    to: [to],
    from,
    fromName: name,
    subject,
    messageId: messageId(letter),
    isAutomatic,
    isReadable: true,
    parts: hasFile ? [{ ...file, partId: "2" }] : [],
    authentication: {
      spf: { result: dmarc === "fail" ? "softfail" : "pass", domain, info: "" },
      dkim: [{ result: signature, domain: signature === "pass" ? domain : null, info: "" }],
      dmarc: { result: dmarc, domain, info: dmarc === "none" ? "" : "p=quarantine" },
      arc: { result: "none", domain: null, info: "" },
    },
    forwarded: [],
  };
}
