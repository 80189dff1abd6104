/** What the table of known relays tells the operator. */

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

test("the limit and the reports of a relay are told, and that it reports no deliveries", () => {
  expect(describeRelay(relay("smtp.gmail.com"))).toMatchObject({
    limit: "Its limit is 500 messages a day for an account of Gmail, 2,000 for one of Workspace.",
    reports: expect.stringContaining("by mail to the account that sends"),
  });
  expect(describeRelay(relay("smtp.mailgun.org")).limit).toBe("Its limit is that of your plan.");
  for (const host of ["smtp.mailgun.org", "smtp.corp.example"]) {
    expect(describeRelay(relay(host)).reports).toContain("not report deliveries");
  }
});

test("only a relay that is not known passes our MAIL FROM on", () => {
  expect(["smtp.corp.example", "10.0.0.5", SES].map(keepsMailFrom)).toEqual([true, true, false]);
});
