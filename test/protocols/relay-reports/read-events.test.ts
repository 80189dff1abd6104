/** The meanings of the types of events of each provider, other than those that all providers have. */

import { describe, expect, test } from "bun:test";
import { classifyReported } from "../../../src/protocols/relay-reports/classify-reported.ts";
import { PROVIDERS } from "../../../src/protocols/relay-reports/providers.ts";
import type { RelayReport } from "../../../src/protocols/relay-reports/report.ts";
import { PAYLOADS } from "./payloads.ts";

const SUBJECT = {
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e10",
  to: "bob@example.net",
  at: Date.parse("2026-03-02T10:00:00.000Z"),
};

/** The kind of a report, with the class of a bounce. */
function meaning(report: RelayReport): string {
  if (report.kind !== "bounce") return report.kind;
  return `bounce: ${classifyReported(report, "hello@acme.test").class}`;
}

const ses = (bounceType: string, bounceSubType: string, more: object = {}) => ({
  eventType: "Bounce",
  bounce: {
    bounceType,
    bounceSubType,
    bouncedRecipients: [{ emailAddress: SUBJECT.to, ...more }],
  },
});
const suppressedBySes = {
  status: "5.1.1",
  diagnosticCode:
    "Amazon SES did not send the message to this address because it is on the suppression list for your account.",
};
const sendGrid = (event: string, more: object) => ({ event, email: SUBJECT.to, ...more });
const mailgun = (event: string, more: object) => ({
  "event-data": { event, recipient: SUBJECT.to, ...more },
});
const failed = (reason: string, status: object = {}) =>
  mailgun("failed", { severity: "permanent", reason, "delivery-status": status });
const mailjet = (event: string, more: object) => ({ event, email: SUBJECT.to, ...more });
const postmark = (Type: string, Details = "") => ({ RecordType: "Bounce", Type, Details });
const resend = (type: string, more: object) => ({ type, data: { to: [SUBJECT.to], ...more } });

const CASES: Record<keyof typeof PROVIDERS, readonly (readonly [string, object, string])[]> = {
  SES: [
    ["no reply", ses("Permanent", "General"), "bounce: no_such_recipient"],
    ["no address", ses("Permanent", "NoEmail"), "bounce: no_such_recipient"],
    ["its own list", ses("Permanent", "Suppressed"), "bounce: no_such_recipient"],
    ["the list", ses("Permanent", "OnAccountSuppressionList", suppressedBySes), "bounce: policy"],
    ["unsubscribed", ses("Permanent", "UnsubscribedRecipient"), "bounce: policy"],
    ["too large", ses("Transient", "MessageTooLarge"), "bounce: content"],
    ["a new subtype", ses("Transient", "MoonPhase"), "bounce: temporary"],
    ["a new type", ses("Undetermined", "Undetermined"), "bounce: policy"],
    [
      "a reply that says more than the type",
      ses("Permanent", "General", {
        status: "5.7.1",
        diagnosticCode: "smtp; 550 5.7.1 blocked using zen.spamhaus.org",
      }),
      "bounce: reputation",
    ],
    ["a virus", { eventType: "Reject", reject: { reason: "Bad content" } }, "bounce: content"],
    ["a template", { eventType: "Rendering Failure", failure: {} }, "bounce: content"],
    ["a complaint without a type", { notificationType: "Complaint", complaint: {} }, "complaint"],
    [
      "a complaint of before",
      { eventType: "Complaint", complaint: { complaintSubType: "OnAccountSuppressionList" } },
      "bounce: policy",
    ],
    ["a delivery of an identity", { notificationType: "Delivery", delivery: {} }, "delivery"],
    ["sent", { eventType: "Send", send: {} }, "other"],
  ],
  POSTMARK: [
    ["no reply", postmark("HardBounce"), "bounce: no_such_recipient"],
    ["no address", postmark("BadEmailAddress"), "bounce: no_such_recipient"],
    ["deactivated", postmark("ManuallyDeactivated", "550 5.1.1 User unknown"), "bounce: policy"],
    ["DNS", postmark("DnsError"), "bounce: infrastructure"],
    ["DMARC", postmark("DMARCPolicy"), "bounce: authentication"],
    ["spam", postmark("SpamNotification"), "bounce: content"],
    ["a complaint", postmark("SpamComplaint"), "complaint"],
    ["a wish by mail", postmark("Unsubscribe"), "unsubscribe"],
    ["a vacation note", postmark("AutoResponder"), "delay"],
    ["a subscription", { RecordType: "SubscriptionChange", SuppressSending: false }, "other"],
    [
      "a list after a bounce",
      { RecordType: "SubscriptionChange", SuppressSending: true, SuppressionReason: "HardBounce" },
      "other",
    ],
  ],
  SENDGRID: [
    ["no reply", sendGrid("bounce", { type: "bounce" }), "bounce: no_such_recipient"],
    ["blocked", sendGrid("bounce", { type: "blocked" }), "bounce: policy"],
    [
      "a classification",
      sendGrid("bounce", { type: "blocked", bounce_classification: "Reputation" }),
      "bounce: reputation",
    ],
    [
      "bounced before",
      sendGrid("dropped", { reason: "Bounced Address" }),
      "bounce: no_such_recipient",
    ],
    ["invalid", sendGrid("dropped", { reason: "Invalid" }), "bounce: no_such_recipient"],
    [
      "complained before",
      sendGrid("dropped", { reason: "Spam Reporting Address" }),
      "bounce: policy",
    ],
    ["unsubscribed", sendGrid("dropped", { reason: "Unsubscribed Address" }), "bounce: policy"],
    [
      "content",
      sendGrid("dropped", { reason: "Spam Content (if Spam Checker app enabled)" }),
      "bounce: content",
    ],
    ["a group", sendGrid("group_unsubscribe", {}), "unsubscribe"],
    ["back in a group", sendGrid("group_resubscribe", {}), "other"],
    ["processed", sendGrid("processed", {}), "other"],
  ],
  MAILGUN: [
    ["no reply", failed("bounce"), "bounce: no_such_recipient"],
    ["bounced before", failed("suppress-bounce", { code: 605 }), "bounce: no_such_recipient"],
    ["complained before", failed("suppress-complaint", { code: 607 }), "bounce: policy"],
    ["unsubscribed", failed("suppress-unsubscribe", { code: 606 }), "bounce: policy"],
    ["blocked", failed("espblock"), "bounce: reputation"],
    ["too long", failed("old", { code: 602, message: "Too old" }), "bounce: temporary"],
    [
      "an enhanced code",
      failed("generic", { code: 552, "enhanced-code": "5.2.2", message: "over quota" }),
      "bounce: mailbox_full",
    ],
    [
      "rejected",
      mailgun("rejected", { reject: { reason: "Sandbox subdomain" } }),
      "bounce: policy",
    ],
    ["accepted", mailgun("accepted", {}), "other"],
    ["no event", { signature: {} }, "other"],
  ],
  BREVO: [
    ["an invalid address", { event: "invalid_email" }, "bounce: no_such_recipient"],
    [
      "blocked",
      { event: "blocked", reason: "blocked : due to unsubscribed user" },
      "bounce: policy",
    ],
    ["no reply", { event: "hard_bounce" }, "bounce: no_such_recipient"],
    ["a soft bounce without a reply", { event: "soft_bounce" }, "bounce: temporary"],
    ["a request", { event: "request" }, "other"],
    ["a complaint", { event: "complaint" }, "complaint"],
  ],
  MAILJET: [
    [
      "inactive",
      mailjet("bounce", { error: "mailbox inactive", hard_bounce: true }),
      "bounce: no_such_recipient",
    ],
    ["no domain", mailjet("bounce", { error: "invalid domain" }), "bounce: no_such_recipient"],
    ["reported before", mailjet("blocked", { error: "spam reporter" }), "bounce: policy"],
    [
      "its list",
      mailjet("blocked", { error: "preblocked", comment: "550 5.1.1 User unknown" }),
      "bounce: policy",
    ],
    [
      "unknown and hard",
      mailjet("bounce", { error: "", hard_bounce: true }),
      "bounce: no_such_recipient",
    ],
    ["unknown and soft", mailjet("bounce", { hard_bounce: false }), "bounce: temporary"],
    [
      "greylisted for good",
      mailjet("bounce", { error: "greylisted", hard_bounce: true }),
      "bounce: no_such_recipient",
    ],
  ],
  RESEND: [
    ["no type", resend("email.bounced", { bounce: { message: "It bounced." } }), "bounce: policy"],
    [
      "the list",
      resend("email.bounced", {
        bounce: { type: "Permanent", subType: "OnAccountSuppressionList", message: "On the list." },
      }),
      "bounce: policy",
    ],
    [
      "a quota",
      resend("email.failed", { failed: { reason: "reached_daily_quota" } }),
      "bounce: policy",
    ],
    [
      "suppressed",
      resend("email.suppressed", { suppressed: { message: "On the list." } }),
      "bounce: policy",
    ],
    ["sent", resend("email.sent", {}), "other"],
    ["a contact", resend("contact.created", {}), "other"],
  ],
};

describe.each(Object.entries(CASES))("%s", (provider, cases) => {
  test.each([...cases])("%s", (_, event, expected) => {
    const { readEvent } = Object(PROVIDERS)[provider];
    expect(readEvent(event).map(meaning)).toEqual([expected]);
  });
});

test("each recipient of a bounce of SES is a report of its own, up to fifty", () => {
  const bouncedRecipients = Array.from({ length: 60 }, (_, i) => ({
    emailAddress: `${i}@x.example`,
  }));
  const event = { eventType: "Bounce", bounce: { bounceType: "Permanent", bouncedRecipients } };
  const reports = PROVIDERS.SES.readEvent(event);
  expect(reports).toHaveLength(50);
  expect(reports[1]?.recipient).toBe("1@x.example");
});

test("texts of a stranger are cut, and what cannot be stored is removed", () => {
  const event = {
    event: "hard_bounce",
    email: `a\0b@x.example`,
    reason: `\uD800${"x".repeat(9_000)}`,
  };
  const [report] = PROVIDERS.BREVO.readEvent(event);
  expect(report?.recipient).toBe("ab@x.example");
  expect(report?.kind === "bounce" ? report.words : "").toMatch(/^\uFFFDx{1999}$/);
});

test("a type with the name of a member of all objects is an unknown type", () => {
  const { POSTMARK, SENDGRID, MAILJET, MAILGUN, BREVO, SES } = PROVIDERS;
  for (const name of ["constructor", "toString", "__proto__"]) {
    const reports = [
      ...POSTMARK.readEvent(postmark(name)),
      ...SENDGRID.readEvent(sendGrid("bounce", { type: "bounce", bounce_classification: name })),
      ...MAILJET.readEvent(mailjet("bounce", { error: name, hard_bounce: false })),
      ...MAILGUN.readEvent(failed(name)),
      ...BREVO.readEvent({ event: name, email: SUBJECT.to }),
      ...SES.readEvent(ses(name, "General")),
    ];
    expect(reports.map(meaning)).toEqual([
      "delay",
      "bounce: no_such_recipient",
      "bounce: temporary",
      "bounce: policy",
      "other",
      "bounce: policy",
    ]);
  }
});

test.each(Object.keys(PAYLOADS))("%s: members with other types are read as absent", (provider) => {
  const { readEvent } = Object(PROVIDERS)[provider];
  for (const make of Object.values<(subject: typeof SUBJECT) => object>(
    Object(PAYLOADS)[provider],
  )) {
    for (const event of [make(SUBJECT)].flat()) {
      for (const broken of variants(event)) expect(readEvent(broken)).toBeArray();
    }
  }
});

/** The event with each of its members, at any depth, replaced by values of other types. */
function variants(event: unknown): unknown[] {
  if (typeof event !== "object" || event === null) return [null, 7, "", [], {}, true];
  return Object.entries(event).flatMap(([key, value]) =>
    variants(value).map((other) =>
      Array.isArray(event)
        ? event.map((each, i) => (String(i) === key ? other : each))
        : { ...event, [key]: other },
    ),
  );
}
