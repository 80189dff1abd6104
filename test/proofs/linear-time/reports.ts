/** Reports about earlier mail: bounces and complaints. */

import { readComplaint } from "../../../src/protocols/arf/feedback.ts";
import { diagnose } from "../../../src/protocols/dsn/classify.ts";
import { parseDeliveryStatus } from "../../../src/protocols/dsn/delivery-status.ts";
import { readDsn } from "../../../src/protocols/dsn/report.ts";
import { readFields } from "../../../src/protocols/mime/read-fields.ts";
import { decodeWords, plainOfHtml, readMessage } from "../../../src/protocols/mime/read-parts.ts";
import { type Parser, samples } from "./linear.ts";

const HEAD = "From: MAILER-DAEMON@a.test\r\nSubject: failure notice\r\n";
const OPENING = "I'm afraid I wasn't able to deliver your message to the following addresses.\n";
const PARTS = 'Content-Type: multipart/report; boundary="b"\r\n\r\n';

export const REPORTS_PARSERS: readonly Parser[] = [
  {
    name: "whole reports",
    run: (text) => {
      const message = readMessage(Buffer.from(text));
      return [readDsn(message), readComplaint(message)];
    },
    maxCharacters: 1024 * 1024,
    frames: [
      ["", ""],
      [`${HEAD}\r\n${OPENING}`, ""],
      [`${HEAD}${PARTS}`, "\r\n--b--"],
      [`${HEAD}${PARTS}--b\r\nContent-Type: message/delivery-status\r\n\r\n`, "\r\n--b--"],
      [`${HEAD}Content-Type: text/html\r\n\r\n`, ""],
      [`${HEAD}Content-Transfer-Encoding: base64\r\n\r\n`, ""],
      [`${HEAD}Content-Type: `, "\r\n\r\n"],
    ],
    pumps: [
      "--b\r\n",
      "--b\r\n\r\n",
      "\r\n",
      "X: y\r\n",
      " y\r\n",
      "<a@b.test>:\n",
      "a@b.test 550 no\n",
      "Final-Recipient: rfc822; a@b.test\r\nAction: failed\r\n\r\n",
      "Message-ID:\r\n <a@b>\r\n",
      ";a=b",
      '="',
      "=?a?b?",
      "your message to ",
      "mailbox ",
      "<p>",
    ],
  },
  {
    name: "delivery status",
    run: parseDeliveryStatus,
    frames: [
      ["", ""],
      ["Final-Recipient: rfc822;", "\nStatus: 5.1.1"],
    ],
    pumps: samples("Status: 5.1.1\n§Action: failed\n\n§+3D§\\x{41}§\\x{§5.1.§ ;"),
  },
  {
    name: "diagnostics",
    run: (text) => diagnose(null, text),
    pumps: samples("550 §550-5.1.1 §mailbox §user §domain §the domain a§over §recipient "),
  },
  {
    name: "header fields of reports",
    run: readFields,
    frames: [
      ["", ""],
      ["a:", ""],
    ],
    pumps: ["a: b\n", "\n ", "\r\n\t"],
  },
  {
    name: "encoded words",
    run: decodeWords,
    frames: [
      ["", ""],
      ["=?utf-8?q?", "?="],
    ],
    pumps: ["=?a?b?c?= ", "=?", "?= =?", "=41"],
  },
  {
    name: "HTML of reports",
    run: plainOfHtml,
    pumps: ["<p", "<br", "<br ", "&lt;", "</div>", "<"],
  },
];
