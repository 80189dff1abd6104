/** The texts of the table of known relays for the operator. */

import { expect, test } from "bun:test";
import { describeRelay, keepsMailFrom } from "../../../src/protocols/smtp/known-relays.ts";
import type { Relay } from "../../../src/protocols/smtp/relay-url.ts";

const relay = (host: string, more: Partial<Relay> = {}): Relay => ({
  host,
  port: 587,
  tls: "starttls",
  ...more,
});
const SES = "email-smtp.eu-west-1.amazonaws.com";

test.each([
  [
    SES,
    {},
    "Amazon SES",
    /^It replaces Message-ID and Date and takes one DKIM-Signature at most, so it signs mail itself: set up Easy DKIM/,
  ],
  [SES, { sign: true }, "Amazon SES", /breaks the signatures of this server: remove sign=true/],
  ["smtp.sendgrid.net", {}, "SendGrid", /^It passes on the signatures of this server\.$/],
  ["smtp.sendgrid.net", { sign: false }, "SendGrid", /itself \(sign=false.*Domain Authentication/],
  ["smtp.corp.example", {}, "smtp.corp.example", /with the signatures of this server\.$/],
  ["smtp.corp.example", { sign: false }, "smtp.corp.example", /^It signs mail itself/],
])("%s %j is %s and signs or not", (host, more, name, signing) => {
  expect(describeRelay(relay(host, more))).toMatchObject({
    name,
    signing: expect.stringMatching(signing),
  });
});

test("the limit and the reports of a relay are told, and whether deliveries are reported", () => {
  expect(describeRelay(relay("smtp.gmail.com"))).toMatchObject({
    limit: "Its limit is 500 messages a day for an account of Gmail, 2,000 for one of Workspace.",
    reports: expect.stringContaining("by mail to the account that sends"),
  });
  expect(describeRelay(relay("smtp.mailgun.org")).limit).toBe("Its limit is that of your plan.");
  expect(describeRelay(relay("smtp.mailgun.org")).reports).toContain("docs/relay-reports.md");
  for (const host of ["smtp.mandrillapp.com", "smtp.corp.example"]) {
    expect(describeRelay(relay(host)).reports).toContain("not report deliveries");
  }
});

test.each([
  [
    SES,
    /sends to verified addresses only.*custom MAIL FROM/,
    /feedback-smtp\.eu-west-1\.amazonses\.com/,
  ],
  ["email-smtp-fips.us-gov-west-1.amazonaws.com", /MAIL FROM/, /feedback-smtp\.us-gov-west-1\./],
  ["smtp.postmarkapp.com", /account is approved.*Sender Signatures/, /CNAME to pm\.mtasv\.net/],
  ["smtp.sendgrid.net", /Sender Identity/, /Domain Authentication/],
  ["smtp.eu.mailgun.org", /five authorized recipients.*smtp\.eu\.mailgun\.org/, /SPF and DKIM/],
  ["smtp-relay.brevo.com", /verified senders/, /records that it shows/],
  ["in-v3.mailjet.com", /validated senders/, /SPF and DKIM/],
  ["smtp.resend.com", /verified domains only/, /MX and SPF records of its return path/],
  ["smtp.corp.example", /^$/, /^$/],
])("%s needs something before the first mail, and records", (host, needs, records) => {
  expect(describeRelay(relay(host))).toMatchObject({
    needs: expect.stringMatching(needs),
    records: expect.stringMatching(records),
  });
});

test("only a relay that is not known passes our MAIL FROM on", () => {
  expect(["smtp.corp.example", "10.0.0.5", SES].map(keepsMailFrom)).toEqual([true, true, false]);
});
