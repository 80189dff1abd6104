/** Phrases about the DNS mean the same in reports and in replies (docs/bounces.md). */

import { describe, expect, test } from "bun:test";
import { diagnose } from "../../../src/protocols/dsn/classify.ts";
import { readReport } from "../../../src/protocols/dsn/read-report.ts";
import { classifyReply } from "../../../src/protocols/smtp/classify-reply.ts";

const RECIPIENT = "bob@gone.example";

/** The DNS gave no answer: nothing is known about the recipient. */
const FAILURES: readonly string[] = [
  "Host or domain name not found. Name service error for name=gone.example type=MX: Host not found, try again",
  "Name service error for name=gone.example type=MX: Malformed or unexpected name server reply",
  "Name service error for name=gone.example type=MX: SERVFAIL",
  "Name service error for name=gone.example type=MX: server failure",
  "DNS Error: DNS type 'mx' lookup of gone.example responded with code SERVFAIL",
  "DNS Error: DNS type 'mx' lookup of gone.example responded with code REFUSED",
  "SERVFAIL looking up gone.example",
  "DNS lookup failed",
  "DNS query for gone.example failed",
  "DNS server failure",
  "DNS timeout",
  "DNS resolution timed out",
  "MX lookup failure",
  "MX records could not be looked up: DNS error",
  "unable to resolve gone.example",
  "Can't resolve domain",
  "Could not resolve host gone.example",
  "host lookup did not complete",
  "all host address lookups failed temporarily",
  "Temporary failure in name resolution",
  "getaddrinfo EAI_AGAIN gone.example",
  "getaddrinfo ENOTFOUND gone.example",
  "CNAME lookup failed temporarily. (#4.4.3)",
  "Domain not found: DNS server failure",
  "5.4.4 [internal] Domain Lookup Failed",
  "no name servers could be reached",
];

/** The domain of the recipient does not exist, or takes no mail. */
const MISSING: readonly string[] = [
  "Host or domain name not found. Name service error for name=gone.example type=MX: Host not found",
  "Name service error for name=gone.example type=MX: NXDOMAIN",
  "type=MX: NXDOMAIN",
  "DNS Error: DNS type 'mx' lookup of gone.example responded with code NXDOMAIN Domain name not found: gone.example",
  "DNS Error: DNS type 'mx' lookup of gone.example responded with code NOERROR DNS type 'mx' lookup of gone.example had no relevant answers.",
  "Host unknown (Name server: gone.example: host not found)",
  "Sorry, I couldn't find any host named gone.example. (#5.1.2)",
  "lookup gone.example: no such host",
  "Unrouteable mail domain gone.example",
  "Domain not found",
  "recipient domain does not exist",
  "Domain gone.example does not accept mail (nullMX)",
  "no MX record found for gone.example",
  "5.4.310 DNS domain gone.example does not exist",
];

/** Another name was not found: the relay of the reporting server, or a host of the domain. */
const OTHER_HOSTS: readonly string[] = [
  "Host or domain name not found. Name service error for name=relay.internal.example type=A: Host not found",
  "Host or domain name not found. Name service error for name=mx.gone.example type=AAAA: Host not found",
  "Host unknown (Name server: relay.example.: host not found)",
  "dial tcp: lookup smtp.relay.example on 192.0.2.53:53: no such host",
  "Sorry, I couldn't find any host named relay.example. (#5.1.2)",
];

const classIn = (text: string, status: string | null = null) =>
  diagnose(status, text, { recipient: RECIPIENT }).class;

describe.each([
  ["infrastructure", FAILURES],
  ["no_such_recipient", MISSING],
] as const)("%s", (expected, texts) => {
  test.each([...texts])("%s", (text) => {
    for (const status of [null, "5.0.0", "5.1.2", "5.4.4"]) {
      expect([status, classIn(text, status)]).toEqual([status, expected]);
    }
    expect(classIn(`host mx.example.net said: 550 ${text}`)).toBe(expected);
    for (const enhanced of [null, "5.1.2", "5.4.4"]) {
      const reply = classifyReply({ step: "rcpt", code: 550, enhanced, text });
      expect([enhanced, reply.kind, reply.class]).toEqual([enhanced, "bounced", expected]);
    }
  });

  test("in reports without a delivery status", () => {
    for (const text of texts) expect([text, classOfReport(text)]).toEqual([text, expected]);
  });
});

test.each([...OTHER_HOSTS])("no address is suppressed for another host: %s", (text) => {
  expect(classIn(text)).toBe("infrastructure");
  expect(classIn(text, "5.1.2")).toBe("infrastructure");
});

test.each([
  ["rcpt", "Recipient not found by SMTP address lookup", "no_such_recipient"],
  ["rcpt", "No such user here", "no_such_recipient"],
  ["rcpt", "User unknown in virtual mailbox table", "no_such_recipient"],
  ["rcpt", "Sender address rejected: Domain not found", "infrastructure"],
  ["rcpt", "Sender domain gone.example does not exist", "infrastructure"],
  ["rcpt", "Helo command rejected: Host not found", "infrastructure"],
  ["rcpt", "Unknown host [192.0.2.1]", "reputation"],
  ["rcpt", "The recipient's mailbox is full", "mailbox_full"],
  ["dot", "The domain link.example does not exist in DNS", "policy"],
] as const)("%s: %s is %s", (step, text, expected) => {
  expect(classifyReply({ step, code: 550, enhanced: null, text }).class).toBe(expected);
});

/** The class that a report without a delivery status gives its recipient. */
function classOfReport(reason: string): string | null {
  const lines = [
    "From: MAILER-DAEMON@mx.example.net",
    "To: b@shop.example",
    "Subject: Undelivered Mail Returned to Sender",
    "Content-Type: text/plain",
    "",
    "This is the mail system at host mx.example.net.",
    "",
    "I'm sorry to have to inform you that your message could not",
    "be delivered to one or more recipients.",
    "",
    `<${RECIPIENT}>: ${reason}`,
    "",
  ];
  const report = readReport(Buffer.from(lines.join("\r\n")));
  if (report.clues === null || report.complaint !== null) return report.kind;
  return report.delivery.findings[0]?.class ?? null;
}
