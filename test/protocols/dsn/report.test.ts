/** Reports in unusual and hostile forms. */

import { describe, expect, test } from "bun:test";
import { type DsnReport, readDsn } from "../../../src/protocols/dsn/report.ts";
import { readMessage } from "../../../src/protocols/mime/read-parts.ts";
import { MESSAGE_ID, ORIGINAL, plain, RECIPIENT, standard } from "./corpus/build.ts";

const read = (raw: string | Uint8Array) =>
  readDsn(readMessage(typeof raw === "string" ? Buffer.from(raw) : raw));

function delivery(raw: string | Uint8Array): DsnReport & { kind: "delivery" } {
  const report = read(raw);
  if (report.kind !== "delivery") throw new Error(`it was read as ${report.kind}`);
  return report;
}

describe("a standard report", () => {
  test("yields every field of every recipient", () => {
    const report = delivery(
      standard({
        general: ["Reporting-MTA: dns; mx.example.net", "Original-Envelope-Id: 4711+3D1"],
        groups: [
          [
            "Original-Recipient: rfc822;bob+3Dorders@example.org",
            "Final-Recipient: rfc822;bob@example.net",
            "Action: failed",
            "Status: 5.1.1",
            "Remote-MTA: dns; mx2.example.net",
            "Diagnostic-Code: smtp; 550 5.1.1 User",
            "    unknown",
          ],
          ["Final-Recipient: rfc822;eve@example.net", "Action: delayed", "Status: 4.2.2"],
        ],
      }),
    );
    expect(report).toMatchObject({
      form: "standard",
      envelopeId: "4711=1",
      reportingMta: "mx.example.net",
      original: { messageIds: [MESSAGE_ID], to: RECIPIENT },
    });
    expect(report.findings).toMatchObject([
      {
        action: "failed",
        class: "no_such_recipient",
        isPermanent: true,
        status: "5.1.1",
        text: "550 5.1.1 User unknown",
        recipient: "bob@example.net",
        originalRecipient: "bob=orders@example.org",
        remoteMta: "mx2.example.net",
      },
      { action: "delayed", class: "mailbox_full", recipient: "eve@example.net" },
    ]);
  });

  test("keeps a subaddress, and decodes the form of internationalised addresses", () => {
    const groups = [
      ["Final-Recipient: rfc822;bob+42@example.net", "Action: failed", "Status: 5.1.1"],
      ["Final-Recipient: utf-8;\\x{4F60}\\x{597D}@example.net", "Action: failed", "Status: 5.1.1"],
      ["Final-Recipient: utf-8;\\x{D800}\\x{FFFFFF}@a", "Action: failed", "Status: 5.1.1"],
    ];
    expect(delivery(standard({ groups })).findings.map(({ recipient }) => recipient)).toEqual([
      "bob+42@example.net",
      "你好@example.net",
      "\\x{D800}\\x{FFFFFF}@a",
    ]);
  });

  test("with 600 recipients yields the first 500", () => {
    const groups = Array.from({ length: 600 }, (_, i) => [
      `Final-Recipient: rfc822;user${i}@example.net`,
      "Action: failed",
      "Status: 5.1.1",
    ]);
    const { findings } = delivery(standard({ groups }));
    expect(findings).toHaveLength(500);
    expect(findings.at(-1)?.recipient).toBe("user499@example.net");
  });

  test("is read although it is in base64, or its groups are not separated", () => {
    const body = `Reporting-MTA: dns; a\n\nFinal-Recipient: rfc822; a@b.test\nStatus: 5.1.1\nAction: failed\nFinal-Recipient: rfc822; c@d.test\nStatus: 4.2.2\nAction: failed\n`;
    const raw = standard({
      statusType: "message/delivery-status\r\nContent-Transfer-Encoding: base64",
      general: [Buffer.from(body).toString("base64")],
      groups: [],
    });
    expect(delivery(raw).findings.map(({ recipient }) => recipient)).toEqual([
      "a@b.test",
      "c@d.test",
    ]);
  });

  test.each([
    ["does not name its boundary", (raw: string) => raw.replace(/; boundary="[^"]*"/, "")],
    ["names another boundary", (raw: string) => raw.replace('boundary="', 'boundary="x')],
    ["lost its type", (raw: string) => raw.replace(/^Content-Type: multipart.*\r\n/m, "")],
    ["ends its lines with CR only", (raw: string) => raw.replaceAll("\r\n", "\r")],
  ])("is read although the message %s", (_, change) => {
    const raw = standard({ diagnostic: "smtp; 550 5.1.1 User unknown" });
    expect(change(raw)).not.toBe(raw);
    expect(delivery(change(raw))).toMatchObject({
      form: "standard",
      findings: [{ class: "no_such_recipient", recipient: RECIPIENT }],
    });
  });

  test("is read if a gateway attached it to a message of its own", () => {
    const inner = standard({ diagnostic: "smtp; 550 5.1.1 User unknown" });
    const raw = `From: postmaster@gate.example\r\nSubject: Delivery Status Notification (Failure)\r\nContent-Type: multipart/mixed; boundary=g\r\n\r\n--g\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--g--\r\n`;
    expect(delivery(raw)).toMatchObject({
      form: "standard",
      findings: [{ class: "no_such_recipient", recipient: RECIPIENT }],
      original: { messageIds: [MESSAGE_ID] },
    });
  });

  test.each([
    ['rfc822; "Bob" <bob@example.net>', "bob@example.net"],
    ["rfc822; Bob <bob@example.net>", "bob@example.net"],
    ['rfc822; "Bob, a <b> c" <bob@example.net>', "bob@example.net"],
    ["rfc822; <bob@example.net>;", "bob@example.net"],
    ["rfc822; <bob@example.net> (Bob)", "bob@example.net"],
    ["rfc822; Bob Smith<bob@example.net>", "bob@example.net"],
    ["rfc822; bob@example.net", "bob@example.net"],
    ['rfc822; "a b"@example.net', '"a b"@example.net'],
    ['rfc822; "a <b@c>"@example.net', '"a <b@c>"@example.net'],
    ['rfc822; <"a b"@example.net>', '"a b"@example.net'],
  ])("names its recipient without a display name: %s", (field, expected) => {
    for (const name of ["Final-Recipient", "Original-Recipient"]) {
      const groups = [[`${name}: ${field}`, "Action: failed", "Status: 5.1.1"]];
      const [finding] = delivery(standard({ groups })).findings;
      expect(finding?.recipient ?? finding?.originalRecipient).toBe(expected);
    }
  });

  test("that quotes a reply about the address to which it goes is about the sender", () => {
    const about = (address: string) => {
      const diagnostic = `smtp; 550 5.1.1 <${address}>: User unknown`;
      const raw = standard({ diagnostic }).replace(
        /^To: .*\r\n/m,
        "To: <b+7@bounce.shop.example>\r\n",
      );
      return delivery(raw).findings[0]?.class;
    };
    expect(about("b+7@bounce.shop.example")).toBe("infrastructure");
    expect(about(RECIPIENT)).toBe("no_such_recipient");
    expect(about("forwarded@example.com")).toBe("no_such_recipient");
  });

  test("names the mailbox of an X.400 address", () => {
    const group = ["Action: failed", "Status: 5.1.1"];
    const addresses = [
      "x400; /RFC-822=bob(a)example.net/ADMD= /C=WW/",
      "x400; c=US;a= ;dda:SMTP=bob@example.net;",
    ];
    for (const address of addresses) {
      const groups = [[`Final-Recipient: ${address}`, ...group]];
      expect(delivery(standard({ groups })).findings).toMatchObject([{ recipient: RECIPIENT }]);
    }
  });

  test("that is a receipt of a mailbox which refused the message is a bounce", () => {
    const receipt = standard({
      from: "Mail Delivery Subsystem <postmaster@mx.example.net>",
      subject: "Automatically rejected mail",
      text: `Your message to <${RECIPIENT}> was automatically rejected:\r\nQuota exceeded`,
      statusType: "message/disposition-notification",
      general: ["Reporting-UA: mx.example.net; Dovecot Mail Delivery Agent"],
      groups: [["Disposition: automatic-action/MDN-sent-automatically; deleted"]],
    }).replace("delivery-status;", "disposition-notification;");
    expect(delivery(receipt).findings).toMatchObject([
      { class: "mailbox_full", recipient: RECIPIENT },
    ]);
    expect(
      read(receipt.replace("MDN-sent-automatically; deleted", "MDN-sent-automatically; displayed"))
        .kind,
    ).toBe("automatic");
  });

  test("of a read receipt, or without any recipient, is no bounce", () => {
    expect(read(standard({ groups: [["X-Nothing: 1"]] })).kind).not.toBe("delivery");
  });
});

describe("the mail that a report is about", () => {
  test.each([
    ["qmail", "--- Below this line is a copy of the message."],
    ["Exim", "------ This is a copy of the message, including all the headers. ------"],
  ])("is found in the copy that %s quotes", (_, copy) => {
    const text = `I'm afraid I wasn't able to deliver your message to the following addresses.\n<${RECIPIENT}>:\nno mailbox here by that name (#5.1.1)`;
    const report = delivery(plain({ subject: "failure notice", text, copy }));
    expect(report.original).toMatchObject({ messageIds: [MESSAGE_ID], to: RECIPIENT });
  });

  test("is found by In-Reply-To if nothing is returned", () => {
    const report = delivery(standard({ returned: null, headers: [`In-Reply-To: ${MESSAGE_ID}`] }));
    expect(report.original.messageIds).toEqual([MESSAGE_ID]);
  });

  test("is found by our own fields", () => {
    const fields = ["X-Mailstead-ID: abc", "List-Unsubscribe: <https://mail.test/unsubscribe/t>"];
    const report = delivery(
      standard({ returned: ["text/rfc822-headers", [...ORIGINAL, ...fields]] }),
    );
    expect(report.original).toMatchObject({
      ownId: "abc",
      listUnsubscribe: "<https://mail.test/unsubscribe/t>",
    });
  });
});

describe("hostile input", () => {
  const NOT_A_REPORT = ["unknown", "automatic", "delivery"];

  test("a large returned message does not hide the report", () => {
    const big = Buffer.alloc(4 * 1024 * 1024, "All work and no play makes Jack a dull boy.\r\n");
    const [head = "", tail = ""] = standard({ diagnostic: "smtp; 550 5.1.1 unknown" }).split(
      "Thank you.",
    );
    const raw = Buffer.concat([Buffer.from(head), big, Buffer.from(tail)]);
    const report = delivery(raw);
    expect(report.findings).toMatchObject([{ class: "no_such_recipient" }]);
    expect(report.original.messageIds).toEqual([MESSAGE_ID]);
  });

  test("parts that are nested 10,000 deep end the reading", () => {
    const nested = Array.from(
      { length: 10_000 },
      (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
    ).join("");
    expect(NOT_A_REPORT).toContain(read(`From: a@b.test\r\n${nested}`).kind);
  });

  test.each([
    ["no bytes", ""],
    ["only a line end", "\r\n"],
    ["only NUL", "\0".repeat(1_000)],
    ["a header without end", `Subject: ${"a".repeat(300_000)}`],
    ["a boundary that never occurs", "Content-Type: multipart/report; boundary=x\r\n\r\ntext"],
    ["an empty boundary", 'Content-Type: multipart/report; boundary=""\r\n\r\n--\r\n--\r\n--'],
    [
      "a million boundaries",
      `Content-Type: multipart/mixed; boundary=x\r\n\r\n${"--x\r\n".repeat(200_000)}`,
    ],
    [
      "a wrong charset",
      plain({ subject: "failure notice", type: "text/plain; charset=klingon", text: "ÿþ" }),
    ],
    [
      "UTF-16",
      plain({ subject: "failure notice", type: "text/plain; charset=utf-16le", text: "a\0b\0" }),
    ],
    ["a million fields", "X: 1\r\n".repeat(200_000)],
    ["broken encoded words", "Subject: =?utf-8?B?////?= =?x?Q?=ZZ?=\r\nFrom: =?=?=?\r\n\r\n"],
    ["broken base64", "Content-Transfer-Encoding: base64\r\n\r\n====!!!"],
    ["XML entities", "Content-Type: text/html\r\n\r\n<!DOCTYPE a [<!ENTITY b 'c'>]>&b;&b;<<<<<>"],
  ])("%s is read without an error", (_, raw) => {
    expect(NOT_A_REPORT).toContain(read(raw).kind);
  });

  test("random changes of reports are read without an error", () => {
    const forms = [
      standard({}),
      plain({
        subject: "failure notice",
        text: `I'm afraid I wasn't able to deliver your message to the following addresses.\n<${RECIPIENT}>: 550 no`,
      }),
    ];
    let seed = 7;
    const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 500; round++) {
      const bytes = Buffer.from(forms[round % 2] ?? "");
      for (let i = 0; i < 8; i++) bytes[next(bytes.length)] = next(256);
      expect(NOT_A_REPORT).toContain(read(bytes).kind);
    }
  });

  test("the excerpt has no control characters and at most 4,000 characters", () => {
    const { excerpt } = delivery(
      standard({ fields: [`X-Long: \u0007\u001b[31m${"a".repeat(10_000)}`] }),
    );
    expect(excerpt).not.toMatch(/[^\P{Cc}\n\t]/u);
    expect(excerpt.length).toBeLessThanOrEqual(4_000);
  });
});
