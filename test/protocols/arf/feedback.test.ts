/** Complaints in the Abuse Reporting Format and in the forms of two providers. */

import { describe, expect, test } from "bun:test";
import { readComplaint } from "../../../src/protocols/arf/feedback.ts";
import { readMessage } from "../../../src/protocols/mime/read-parts.ts";
import { MESSAGE_ID, ORIGINAL, plain, RECIPIENT, standard } from "../dsn/corpus/build.ts";

const read = (raw: string) => readComplaint(readMessage(Buffer.from(raw)));

const arf = (fields: readonly string[], from = "fbl@provider.example"): string =>
  standard({
    from,
    subject: "FW: Your order 1001",
    statusType: "message/feedback-report",
    general: ["Feedback-Type: abuse", "User-Agent: Feedback/1.0", "Version: 1", ...fields],
    groups: [],
  }).replace("report-type=delivery-status", "report-type=feedback-report");

describe("a complaint", () => {
  test("is read with its recipient and the mail", () => {
    expect(read(arf([`Original-Rcpt-To: <${RECIPIENT}>`]))).toMatchObject({
      form: "ARF",
      feedbackType: "abuse",
      userAgent: "Feedback/1.0",
      recipients: [RECIPIENT],
      original: { messageIds: [MESSAGE_ID] },
    });
  });

  test("of Yahoo is recognised by its sender", () => {
    expect(
      read(arf([], "Yahoo! Mail AntiSpam Feedback <feedback@arf.mail.yahoo.com>")),
    ).toMatchObject({
      form: "Yahoo",
      recipients: [],
    });
  });

  test("of Microsoft's programme has no feedback report", () => {
    const attached = [`X-HmXmrOriginalRecipient: ${RECIPIENT}`, ...ORIGINAL, "", "Text"].join(
      "\r\n",
    );
    const raw = [
      "From: staff@hotmail.com",
      "Subject: complaint about message from 192.0.2.9",
      'Content-Type: multipart/mixed; boundary="x"',
      "",
      "--x",
      "Content-Type: message/rfc822",
      "",
      attached,
      "--x--",
    ].join("\r\n");
    expect(read(raw)).toMatchObject({
      form: "JMRP",
      recipients: [RECIPIENT],
      original: { messageIds: [MESSAGE_ID] },
    });
  });

  test("that is a bounce or a mail of a person is none", () => {
    expect(read(standard({}))).toBeNull();
    expect(read(plain({ from: "staff@hotmail.com", subject: "Hello", text: "Text" }))).toBeNull();
  });
});
