/** Texts from remote servers: policies, DNS answers, SMTP replies. */

import { reverseName } from "../../../src/protocols/dns/client.ts";
import { NO_EXTENSIONS, readExtensions } from "../../../src/protocols/smtp/extensions.ts";
import { planEnvelope } from "../../../src/protocols/smtp/envelope.ts";
import { readReply } from "../../../src/protocols/smtp/classify-reply.ts";
import { quoteReply, ReplyParser, type Reply } from "../../../src/protocols/smtp/reply.ts";
import { parsePolicy, readRecordId } from "../../../src/protocols/mta-sts/policy.ts";
import { classifyReply } from "../../../src/protocols/smtp/classify-reply.ts";
import { hasPolicy, isDmarcRecord } from "../../../src/modules/domains/dmarc.ts";
import { evaluateRecord } from "../../../src/modules/domains/findings.ts";
import { allows, mergeSpf, needsTooMuch } from "../../../src/modules/domains/spf.ts";
import { isDkimRecord } from "../../../src/protocols/dkim/keys.ts";
import { type Parser, samples } from "./linear.ts";

/** Longest DNS message, and thus longest TXT record, in octets. */
const MAX_DNS_OCTETS = 65_535;
const POLICY = "version: STSv1\nmode: enforce\nmax_age: 1\n";

const reply = (text: string): Reply => ({
  kind: "reply",
  code: 450,
  enhanced: null,
  lines: text.split("\n"),
});

function read(text: string, size: number): void {
  const parser = new ReplyParser();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
}

export const DELIVERY_PARSERS: readonly Parser[] = [
  {
    name: "MTA-STS policies",
    run: parsePolicy,
    frames: [
      ["", ""],
      [POLICY, ""],
      [`${POLICY}mx:`, "\u2028\n"],
      [`${POLICY}mx: a`, "!"],
    ],
    pumps: ["mx: a.test\n", "mx:\n", "x:y\r\n", "a-", "*."],
  },
  {
    name: "MTA-STS TXT records",
    run: (text) => readRecordId([text]),
    maxCharacters: MAX_DNS_OCTETS,
    frames: [
      ["", ""],
      ["v=STSv1", "x"],
      ["v=STSv1;", "x"],
      ["v=STSv1; id=", "\u2028"],
    ],
    pumps: ["id=1;", "id=;", ";id", "v=STSv1;"],
  },
  {
    name: "many TXT records for MTA-STS",
    run: (text) => readRecordId(text.split("|")),
    maxCharacters: MAX_DNS_OCTETS,
    pumps: ["v=STSv1;|", "v=STSv1; id=1;|", "|"],
  },
  {
    name: "SPF records",
    run: (text) => {
      needsTooMuch(text);
      allows(text, "ip4:192.0.2.1");
      allows(text, "ip6:2001:db8::1");
      return mergeSpf([text], ["ip4:192.0.2.1"]);
    },
    maxCharacters: MAX_DNS_OCTETS,
    frames: [
      ["v=spf1 ", ""],
      ["v=spf1 ip4:", "/8"],
      ["v=spf1 ip4:1", "/8x"],
      ["v=spf1 ip6:", "/8"],
      ["v=spf1 ip6:1:", ":1/8"],
    ],
    pumps: ["include:a ", "ip4:1.1.1.1/8 ", "ip6:1::/8 ", "0:", "1.", "/1", "+all ", "redirect="],
  },
  {
    name: "DMARC records",
    run: (text) => [isDmarcRecord(text), hasPolicy(text)],
    maxCharacters: MAX_DNS_OCTETS,
    frames: [
      ["", ""],
      ["v", "=DMARC2"],
      ["v=DMARC1", "x"],
      ["v=DMARC1; rua=", " "],
      ["v=DMARC1; rua=mailto:", " "],
    ],
    pumps: ["p=none;", "rua=mailto:a,", "a:", "mailto:a "],
  },
  {
    name: "DKIM records",
    run: isDkimRecord,
    maxCharacters: MAX_DNS_OCTETS,
    frames: [
      ["", ""],
      ["v=DKIM1; p=", ";"],
    ],
    pumps: ["p=a;", "p =", "a= "],
  },
  {
    name: "findings about a domain",
    run: (text) =>
      evaluateRecord(
        {
          purpose: "RETURN_PATH",
          type: "MX",
          name: "a.test",
          value: "",
          required: false,
          note: "",
          expectation: { kind: "mx", host: "b.test" },
        },
        text.split("|"),
      ),
    maxCharacters: MAX_DNS_OCTETS,
    pumps: ["1 a|", "1|", "|", "1 "],
  },
  { name: "addresses to look up", run: reverseName, maxCharacters: 1_000, pumps: ["0:", "1."] },
  {
    name: "SMTP replies that arrive at once",
    run: (text) => read(text, 65_536),
    frames: [
      ["", ""],
      ["250-", "\r\n"],
      ["250-a\r\n", "250 a\r\n"],
    ],
    pumps: ["250 a\r\n", "250-a\r\n", "250-\n", "250 2.0.0 a\r\n"],
  },
  {
    name: "SMTP replies that arrive octet by octet",
    run: (text) => read(text, 1),
    maxCharacters: 16 * 1024,
    frames: [
      ["", ""],
      ["250-", "\r\n"],
    ],
    pumps: ["250 a\r\n", "250-a\r\n"],
  },
  {
    name: "replies to EHLO",
    run: (text) => readExtensions(reply(text)),
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ["a\nAUTH ", ""],
      ["a\nSIZE ", "x"],
    ],
    pumps: ["AUTH A\n", "AUTH=A\n", "A A A A\n", "SIZE 1\n", " A", "X\n"],
  },
  {
    name: "texts of SMTP replies",
    run: (text) => [quoteReply(reply(text)), readReply("rcpt", reply(text))],
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ["5.1.1 ", "x"],
      ["try again in ", " x"],
    ],
    pumps: samples("#5.1.1§5.1.1 §a@b §<a§<a@b>§1 minute §retry §again §greylist"),
  },
  {
    name: "the class of a reply",
    run: (text) => [
      classifyReply({ step: "rcpt", code: 550, enhanced: null, text }),
      classifyReply({ step: "dot", code: 554, enhanced: null, text }),
      classifyReply({ step: "data", code: 450, enhanced: "4.0.0", text }),
    ],
    maxCharacters: 65_536,
    frames: [
      ["", ""],
      ["delivery error: dd ", "x"],
      ["sender address ", "x"],
      ["wait ", " x"],
      ["user unknown (sender: ", "x"],
      ["sender ", " user unknown"],
    ],
    pumps: samples(
      "5.1.1 §250-§a@b§user §mailbox a §wait 1§1 min §size a §exceeds §sender address ",
      "domain of sender §blocked by §your ip §message is §sender §(sender §from= §from to §returned to ",
      "daily limit §monthly §exceeded §your account §account is pending §address a is §postfach a ",
      "no longer §host a §user for §recipient ",
    ),
  },
  {
    name: "envelope addresses",
    run: (text) =>
      planEnvelope(
        { envelope: { from: text, to: text }, message: Buffer.from("a\r\n\r\nb") },
        NO_EXTENSIONS,
      ),
    maxCharacters: 10_000,
    frames: [
      ["", ""],
      ['"', "x"],
      ["a@", " "],
      ["", "@a b"],
    ],
    pumps: ["a@", '\\"', '"@'],
  },
];
