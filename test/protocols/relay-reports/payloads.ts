/**
 * Events of the seven providers in the form in which they send them, about one mail. Names and values
 * that are not read are there as well, because they come with every event.
 */

import type { ReportProvider } from "../../../src/db/schema/report-sources.ts";

/** The mail that an event is about, and when it happened, in milliseconds. */
export type Subject = { id: string; to: string; messageId?: string; at: number };

type Payload = (subject: Subject) => object;
export type PayloadName =
  | "delivered"
  | "hard"
  | "full"
  | "refused"
  | "complained"
  | "opened"
  | "clicked"
  | "delayed"
  | "left";

const LINK = "https://shop.example/order/7";
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.2.0";
const seconds = ({ at }: Subject) => Math.floor(at / 1_000);
const iso = ({ at }: Subject) => new Date(at).toISOString();

const ses = (eventType: string, more: (subject: Subject) => object): Payload => {
  return (subject) => ({
    eventType,
    mail: {
      timestamp: iso(subject),
      source: "hello@acme.test",
      sendingAccountId: "123456789012",
      messageId: "010001907e1f4c52-6d1d3b8e-0000-000000",
      destination: [subject.to],
      headersTruncated: false,
      headers: [
        { name: "X-Mailstead-ID", value: subject.id },
        { name: "From", value: "Acme <hello@acme.test>" },
        { name: "Message-ID", value: subject.messageId ?? `<${subject.id}@acme.test>` },
      ],
      commonHeaders: { from: ["Acme <hello@acme.test>"], subject: "Your order" },
      tags: { "ses:configuration-set": ["mailstead"] },
    },
    ...more(subject),
  });
};

const sesBounce = (bounceType: string, bounceSubType: string, status: string, text: string) =>
  ses("Bounce", (subject) => ({
    bounce: {
      feedbackId: "010001907e1f-feedback",
      bounceType,
      bounceSubType,
      bouncedRecipients: [
        { emailAddress: subject.to, action: "failed", status, diagnosticCode: `smtp; ${text}` },
      ],
      timestamp: iso(subject),
      reportingMTA: "dsn; a8-70.smtp-out.amazonses.com",
    },
  }));

const postmark = (RecordType: string, more: (subject: Subject) => object): Payload => {
  return (subject) => ({
    RecordType,
    ServerID: 23,
    MessageStream: "outbound",
    MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
    Tag: "",
    Metadata: { "mailstead-id": subject.id },
    ...more(subject),
  });
};

const postmarkBounce = (Type: string, TypeCode: number, Details: string) =>
  postmark("Bounce", (subject) => ({
    ID: 4323372036854775807n.toString(),
    Type,
    TypeCode,
    Name: Type,
    Description: "The server was unable to deliver your message.",
    Details,
    Email: subject.to,
    From: "hello@acme.test",
    BouncedAt: iso(subject),
    Inactive: true,
    CanActivate: true,
    Subject: "Your order",
  }));

const sendGrid = (event: string, more: object = {}): Payload => {
  return (subject) => [
    {
      email: subject.to,
      timestamp: seconds(subject),
      "smtp-id": subject.messageId ?? `<${subject.id}@acme.test>`,
      event,
      sg_event_id: `${event}-ZGVsaXZlcmVk`,
      sg_message_id: "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
      mailstead_id: subject.id,
      ...more,
    },
  ];
};

const mailgun = (event: string, more: object = {}): Payload => {
  return (subject) => ({
    "event-data": {
      id: "CPgfbmQMTCKtHW6uIWtuVe",
      timestamp: subject.at / 1_000,
      "log-level": "info",
      event,
      "recipient-domain": "example.net",
      recipient: subject.to,
      envelope: { sender: "hello@acme.test", targets: subject.to },
      message: {
        headers: {
          to: subject.to,
          "message-id": (subject.messageId ?? `<${subject.id}@acme.test>`).slice(1, -1),
          from: "Acme <hello@acme.test>",
          subject: "Your order",
        },
        attachments: [],
        size: 1_111,
      },
      "user-variables": { mailstead_id: subject.id },
      tags: [],
      ...more,
    },
  });
};

const mailgunFailure = (reason: string, code: number, message: string) =>
  mailgun("failed", {
    severity: "permanent",
    reason,
    "delivery-status": {
      code,
      message,
      description: "",
      "attempt-no": 1,
      "mx-host": "mx.example.net",
      "session-seconds": 0.4,
    },
  });

const mailgunHit = (event: string, more: object = {}) =>
  mailgun(event, {
    geolocation: { country: "US", region: "CA", city: "San Francisco" },
    "client-info": {
      "client-type": "mobile app",
      "client-os": "linux",
      "device-type": "desktop",
      "client-name": "Thunderbird",
      "user-agent": AGENT,
      bot: "",
    },
    ...more,
  });

const brevo = (event: string, more: object = {}): Payload => {
  return (subject) => ({
    event,
    email: subject.to,
    id: 26_224,
    date: "2026-03-02 11:00:00",
    ts: seconds(subject),
    ts_event: seconds(subject),
    ts_epoch: subject.at,
    "message-id": subject.messageId ?? `<${subject.id}@acme.test>`,
    subject: "Your order",
    "X-Mailin-custom": subject.id,
    sending_ip: "192.0.2.7",
    ...more,
  });
};

const mailjet = (event: string, more: object = {}): Payload => {
  return (subject) => [
    {
      event,
      time: seconds(subject),
      MessageID: 19_421_777_835_146_490,
      Message_GUID: "1ab23cd4-e567-8901-2345-6789f0gh1i2j",
      email: subject.to,
      mj_campaign_id: 7_257,
      mj_contact_id: 4,
      customcampaign: "",
      CustomID: subject.id,
      Payload: "",
      ...more,
    },
  ];
};

const resend = (type: string, more: object = {}): Payload => {
  return (subject) => ({
    type: `email.${type}`,
    created_at: iso(subject),
    data: {
      created_at: iso(subject),
      email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
      from: "Acme <hello@acme.test>",
      to: [subject.to],
      subject: "Your order",
      headers: [{ name: "X-Mailstead-ID", value: subject.id }],
      ...more,
    },
  });
};

const UNKNOWN = "550 5.1.1 <bob> User unknown";
const FULL = "552 5.2.2 Mailbox full";
const SPAM = "554 5.7.1 message refused: it looks like spam";

/** `refused`: the recipient's server refused the content. */
export const PAYLOADS: Record<ReportProvider, Record<PayloadName, Payload>> = {
  SES: {
    delivered: ses("Delivery", (subject) => ({
      delivery: {
        timestamp: iso(subject),
        processingTimeMillis: 546,
        recipients: [subject.to],
        smtpResponse: "250 2.6.0 Message received",
        reportingMTA: "a8-70.smtp-out.amazonses.com",
      },
    })),
    hard: sesBounce("Permanent", "General", "5.1.1", UNKNOWN),
    full: sesBounce("Transient", "MailboxFull", "5.2.2", FULL),
    refused: sesBounce("Permanent", "General", "5.7.1", SPAM),
    complained: ses("Complaint", (subject) => ({
      complaint: {
        feedbackId: "010001907e1f-feedback",
        complaintSubType: null,
        complainedRecipients: [{ emailAddress: subject.to }],
        timestamp: iso(subject),
        userAgent: "Yahoo!-Mail-Feedback/2.0",
        complaintFeedbackType: "abuse",
        arrivalDate: iso(subject),
      },
    })),
    opened: ses("Open", (subject) => ({
      open: { ipAddress: "192.0.2.9", timestamp: iso(subject), userAgent: AGENT },
    })),
    clicked: ses("Click", (subject) => ({
      click: {
        ipAddress: "192.0.2.9",
        link: LINK,
        linkTags: null,
        timestamp: iso(subject),
        userAgent: AGENT,
      },
    })),
    delayed: ses("DeliveryDelay", (subject) => ({
      deliveryDelay: { timestamp: iso(subject), delayType: "TransientCommunicationFailure" },
    })),
    left: ses("Subscription", (subject) => ({
      subscription: { contactList: "news", timestamp: iso(subject), source: "UnsubscribeHeader" },
    })),
  },
  POSTMARK: {
    delivered: postmark("Delivery", (subject) => ({
      Recipient: subject.to,
      DeliveredAt: iso(subject),
      Details: "250 ok",
    })),
    hard: postmarkBounce("HardBounce", 1, `smtp;${UNKNOWN}`),
    full: postmarkBounce("SoftBounce", 4096, `smtp;${FULL}`),
    refused: postmarkBounce("Blocked", 100_006, `smtp;${SPAM}`),
    complained: postmark("SpamComplaint", (subject) => ({
      Type: "SpamComplaint",
      TypeCode: 100_001,
      Email: subject.to,
      BouncedAt: iso(subject),
    })),
    opened: postmark("Open", (subject) => ({
      FirstOpen: true,
      Recipient: subject.to,
      ReceivedAt: iso(subject),
      Platform: "Desktop",
      UserAgent: AGENT,
    })),
    clicked: postmark("Click", (subject) => ({
      ClickLocation: "HTML",
      Recipient: subject.to,
      ReceivedAt: iso(subject),
      OriginalLink: LINK,
      UserAgent: AGENT,
    })),
    delayed: postmarkBounce("Transient", 2, "smtp;450 4.2.0 try later"),
    left: postmark("SubscriptionChange", (subject) => ({
      Recipient: subject.to,
      ChangedAt: iso(subject),
      Origin: "Recipient",
      SuppressSending: true,
      SuppressionReason: "ManualSuppression",
    })),
  },
  SENDGRID: {
    delivered: sendGrid("delivered", { response: "250 OK" }),
    hard: sendGrid("bounce", { status: "5.1.1", reason: UNKNOWN, type: "bounce" }),
    full: sendGrid("bounce", {
      status: "5.2.2",
      reason: FULL,
      type: "bounce",
      bounce_classification: "Mailbox Unavailable",
    }),
    refused: sendGrid("bounce", {
      status: "5.7.1",
      reason: SPAM,
      type: "blocked",
      bounce_classification: "Content",
    }),
    complained: sendGrid("spamreport"),
    opened: sendGrid("open", { useragent: AGENT, ip: "192.0.2.9", sg_machine_open: false }),
    clicked: sendGrid("click", { useragent: AGENT, ip: "192.0.2.9", url: LINK }),
    delayed: sendGrid("deferred", { response: "400 try again later", attempt: "5" }),
    left: sendGrid("unsubscribe"),
  },
  MAILGUN: {
    delivered: mailgun("delivered", { "delivery-status": { code: 250, message: "OK" } }),
    hard: mailgunFailure("bounce", 550, "5.1.1 <bob> User unknown"),
    full: mailgunFailure("bounce", 552, "5.2.2 Mailbox full"),
    refused: mailgunFailure("generic", 554, "5.7.1 message refused: it looks like spam"),
    complained: mailgun("complained"),
    opened: mailgunHit("opened"),
    clicked: mailgunHit("clicked", { url: LINK }),
    delayed: mailgun("failed", { severity: "temporary", reason: "generic" }),
    left: mailgun("unsubscribed"),
  },
  BREVO: {
    delivered: brevo("delivered"),
    hard: brevo("hard_bounce", { reason: UNKNOWN }),
    full: brevo("soft_bounce", { reason: FULL }),
    refused: brevo("soft_bounce", { reason: SPAM }),
    complained: brevo("spam"),
    opened: brevo("unique_opened"),
    clicked: brevo("click", { link: LINK }),
    delayed: brevo("deferred", { reason: "421 try later" }),
    left: brevo("unsubscribed"),
  },
  MAILJET: {
    delivered: mailjet("sent", { smtp_reply: "sent (250 2.0.0 OK)" }),
    hard: mailjet("bounce", {
      blocked: false,
      hard_bounce: true,
      error_related_to: "recipient",
      error: "user unknown",
      comment: "",
    }),
    full: mailjet("bounce", {
      blocked: false,
      hard_bounce: false,
      error_related_to: "recipient",
      error: "quota exceeded",
    }),
    refused: mailjet("bounce", {
      blocked: false,
      hard_bounce: false,
      error_related_to: "content",
      error: "content blocked",
      comment: SPAM,
    }),
    complained: mailjet("spam", { source: "JMRPP" }),
    opened: mailjet("open", { ip: "192.0.2.9", geo: "EU", agent: AGENT }),
    clicked: mailjet("click", { url: LINK, ip: "192.0.2.9", agent: AGENT }),
    delayed: mailjet("bounce", { hard_bounce: false, error: "greylisted" }),
    left: mailjet("unsub", { mj_list_id: 1, ip: "192.0.2.9" }),
  },
  RESEND: {
    delivered: resend("delivered"),
    hard: resend("bounced", {
      bounce: {
        message: "The recipient's email provider sent a hard bounce message.",
        type: "Permanent",
        subType: "General",
      },
    }),
    full: resend("bounced", {
      bounce: {
        message: "The recipient's inbox was full.",
        type: "Transient",
        subType: "MailboxFull",
      },
    }),
    refused: resend("bounced", {
      bounce: {
        message: "The recipient's email provider refused it.",
        type: "Transient",
        subType: "ContentRejected",
        diagnosticCode: [`smtp; ${SPAM}`],
      },
    }),
    complained: resend("complained"),
    opened: resend("opened"),
    clicked: resend("clicked", {
      click: { ipAddress: "192.0.2.9", link: LINK, timestamp: "", userAgent: AGENT },
    }),
    delayed: resend("delivery_delayed"),
    left: resend("unsubscribed"),
  },
};
