/** Automatic replies, receipts, newsletters and mail of people: none of them is a bounce. */

import { MESSAGE_ID, plain, type Plain, RECIPIENT, standard } from "./build.ts";

export type NoBounce = { kind: string; source: string; raw: string };
type Row = readonly [kind: string, source: string, form: Plain];

const BOB = `Bob <${RECIPIENT}>`;
const reply = (subject: string, text: string, headers: readonly string[] = []): Plain => ({
  from: BOB,
  subject,
  text,
  headers: [`In-Reply-To: ${MESSAGE_ID}`, ...headers],
});
const AUTO = ["Auto-Submitted: auto-replied"];

const VACATIONS: readonly Row[] = [
  [
    "vacation",
    "English, Exchange",
    reply(
      "Automatic reply: Your order 1001",
      "I am out of the office until Monday. My mailbox is full of mail, so please be patient.",
      [...AUTO, "X-Auto-Response-Suppress: All"],
    ),
  ],
  [
    "vacation",
    "English, Gmail",
    reply(
      "Out of office Re: Your order 1001",
      "Hello,\n\nI'm on vacation with limited access to email.",
    ),
  ],
  [
    "vacation",
    "English, vacation(1) of Unix",
    reply(
      "away from my mail",
      "I will not be reading my mail for a while.\nYour mail will be read when I return.",
      ["Precedence: bulk", ...AUTO],
    ),
  ],
  [
    "vacation",
    "English, the person left",
    reply(
      "Your order 1001",
      "Bob is no longer with the company. This mailbox is no longer monitored, and mail to it is not delivered.",
      AUTO,
    ),
  ],
  [
    "vacation",
    "English, the subject is the original one",
    reply(
      "Re: Your order 1001",
      "I will be away until 9 November and will reply as soon as possible.",
      AUTO,
    ),
  ],
  [
    "vacation",
    "German, Exchange",
    reply(
      "Automatische Antwort: Ihre Bestellung",
      "Ich bin bis zum 9. November nicht im Büro. Ihre Nachricht wird nicht weitergeleitet.",
      AUTO,
    ),
  ],
  [
    "vacation",
    "German, a note",
    reply("Abwesenheitsnotiz", "Ich bin derzeit im Urlaub. Diese Adresse wird nicht gelesen."),
  ],
  [
    "vacation",
    "German, the person left",
    reply(
      "Re: Ihre Bestellung",
      "Ich bin ab sofort nicht mehr im Unternehmen tätig. Bitte wenden Sie sich an die Zentrale.",
      AUTO,
    ),
  ],
  [
    "vacation",
    "French, Exchange",
    reply(
      "Réponse automatique : Votre commande",
      "Je suis absent du bureau jusqu'au 9 novembre.",
      AUTO,
    ),
  ],
  [
    "vacation",
    "French, a note",
    reply("Message d'absence", "Je suis actuellement en congés. Je vous répondrai à mon retour."),
  ],
  [
    "vacation",
    "Spanish",
    reply("Respuesta automática: Su pedido", "Estoy fuera de la oficina hasta el lunes.", AUTO),
  ],
  [
    "vacation",
    "Spanish, a note",
    reply("Ausente", "Me encuentro de vacaciones, su mensaje no será leído."),
  ],
  [
    "vacation",
    "Italian",
    reply("Risposta automatica: Il suo ordine", "Sono fuori ufficio fino al 9 novembre.", AUTO),
  ],
  [
    "vacation",
    "Italian, holidays",
    reply("Re: Il suo ordine", "Sarò in ferie fino al 9 novembre.", AUTO),
  ],
  [
    "vacation",
    "Portuguese",
    reply("Resposta automática: Seu pedido", "Estou de férias até segunda-feira.", AUTO),
  ],
  [
    "vacation",
    "Dutch",
    reply("Automatisch antwoord: Uw bestelling", "Ik ben afwezig tot maandag.", AUTO),
  ],
  ["vacation", "Swedish", reply("Autosvar: Din beställning", "Jag är på semester.", AUTO)],
  [
    "vacation",
    "Polish",
    reply("Automatyczna odpowiedź", "Jestem nieobecny do poniedziałku.", AUTO),
  ],
  ["vacation", "Russian", reply("Автоответ: Ваш заказ", "Я нахожусь в отпуске до 9 ноября.", AUTO)],
  ["vacation", "Japanese", reply("自動応答", "休暇のため不在にしております。", AUTO)],
  [
    "vacation",
    "Chinese, QQ",
    reply("自动回复:您的订单", "这是来自QQ邮箱的假期自动回复邮件。", AUTO),
  ],
  ["vacation", "Turkish", reply("Otomatik Yanıt", "9 Kasım'a kadar izindeyim.", AUTO)],
  ["vacation", "Danish", reply("Automatisk svar: Din ordre", "Jeg er på ferie.", AUTO)],
  ["vacation", "Czech", reply("Automatická odpověď", "Jsem mimo kancelář.", AUTO)],
  [
    "vacation",
    "from the postmaster, with words like a bounce",
    {
      from: "postmaster@example.net",
      subject: "Automatic reply: failure notice",
      headers: AUTO,
      text: "I'm afraid I wasn't able to deliver your message to the following addresses.",
    },
  ],
  [
    "vacation",
    "header of a vacation program and an empty sender",
    reply("Your order", "User bob is unknown to me today.", [
      "X-Autoreply: yes",
      "Return-Path: <>",
    ]),
  ],
  [
    "vacation",
    "Precedence of Exim's vacation",
    reply("On holiday", "Back soon.", ["Precedence: auto_reply", "Return-Path: <>"]),
  ],
];

const REPLIES: readonly Row[] = [
  [
    "support desk",
    "a ticket was opened",
    reply(
      "[Ticket #4711] We have received your request",
      "Your request has been received. Error 550 is not the number of your ticket.",
      AUTO,
    ),
  ],
  [
    "support desk",
    "thanks for writing",
    reply(
      "Thank you for contacting us",
      "This is an automated response. We will get back to you when we can.",
      AUTO,
    ),
  ],
  [
    "support desk",
    "the address takes no mail, please use the form",
    reply(
      "Re: Your order 1001",
      "This is an automatic reply. This mailbox is not monitored; please use our form.",
      [...AUTO, "Return-Path: <>"],
    ),
  ],
  [
    "support desk",
    "case number in HTML",
    {
      ...reply("Case 00123 received", "<p>We have received your message.</p>", AUTO),
      type: "text/html; charset=utf-8",
    },
  ],
  [
    "challenge",
    "a link confirms the sender",
    reply(
      "Please confirm your message",
      "Your message is being held until you click the link below to confirm that you are a person.",
      AUTO,
    ),
  ],
  [
    "challenge",
    "Boxbe",
    reply(
      "Your order 1001 (Action Required)",
      "Your message is waiting for verification. I'm using Boxbe to protect my inbox.",
      AUTO,
    ),
  ],
  [
    "challenge",
    "TMDA",
    reply(
      "Please confirm your message",
      "This message was created automatically by mail delivery software (TMDA). Your message is awaiting confirmation.",
      ["Return-Path: <>", ...AUTO],
    ),
  ],
  [
    "challenge",
    "UOL AntiSpam",
    {
      from: "AntiSpam UOL <bob@uol.example>",
      subject: "AntiSpam UOL » Verificação",
      text: "Sua mensagem ainda não foi entregue: confirme que você é uma pessoa.",
    },
  ],
  [
    "challenge",
    "a list asks a moderator",
    {
      from: "owner@lists.example.net",
      subject: "Your message to List awaits moderator approval",
      headers: ["List-Id: <list.lists.example.net>"],
      text: "Your mail is being held until the list moderator can review it for approval.",
    },
  ],
  [
    "calendar",
    "a meeting was declined",
    {
      from: BOB,
      subject: "Declined: Your order",
      type: "text/calendar; method=REPLY; charset=utf-8",
      text: "BEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR",
    },
  ],
  [
    "calendar",
    "a meeting was accepted",
    {
      from: BOB,
      subject: "Accepted: Review",
      type: "text/calendar; method=REPLY",
      text: "BEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR",
    },
  ],
];

const PEOPLE: readonly Row[] = [
  [
    "person",
    "asks about the delivery of an order, in reply to the mail",
    reply(
      "Delivery problem with order 7",
      "Hello, the parcel could not be delivered to: my address. Tracking number 550 5.1.1.",
    ),
  ],
  [
    "person",
    "has a question in the subject",
    reply(
      "Undeliverable? Re: Your order",
      "Hi, I'm afraid your message was not delivered to bob@example.net. I got it twice.",
    ),
  ],
  [
    "person",
    "forwards a whole report under its own subject",
    reply(
      "Undelivered Mail Returned to Sender",
      "This is the mail system at host mx.example.net.\n\n<alice@example.net>: 550 5.1.1 User unknown",
    ),
  ],
  [
    "shop",
    "a parcel service with a house number",
    {
      from: "Parcels <noreply@parcels.example>",
      subject: "Delivery notification",
      text: "Your shipment could not be delivered to:\nBob Smith, Main Street 550",
    },
  ],
  [
    "system",
    "a statistics mail that mentions failures",
    {
      from: "postmaster@bank.example",
      subject: "Message delivery report",
      text: "Daily statistics: your message was not delivered in 3 cases.",
    },
  ],
  [
    "newsletter",
    "an article about bounces",
    {
      from: "News <news@mail.example>",
      subject: "Delivery failure: why your mail was not delivered",
      headers: ["List-Unsubscribe: <https://mail.example/u>"],
      text: "Your message wasn't delivered to bob@example.net because the address couldn't be found: what now?",
    },
  ],
  [
    "newsletter",
    "subject like a bounce",
    {
      from: "Offers <offers@mail.example>",
      subject: "Undeliverable: your parcel",
      headers: ["List-Id: <offers.mail.example>"],
      text: "Delivery has failed to these recipients or groups: see our offers.",
    },
  ],
  [
    "newsletter",
    "a bulk mail from a no-reply address",
    {
      from: "no-reply@mail.example",
      subject: "Your weekly news",
      headers: ["List-Unsubscribe: <mailto:u@mail.example>", "Precedence: bulk"],
      text: "550 things to read",
    },
  ],
  [
    "newsletter",
    "with a Feedback-ID",
    {
      from: "postmaster@mail.example",
      subject: "Returned mail service",
      headers: ["Feedback-ID: 1:a:b:c"],
      text: "----- Transcript of session follows -----",
    },
  ],
  [
    "newsletter",
    "list digest",
    {
      from: "list@lists.example",
      subject: "Digest of failure notices",
      headers: ["List-Post: <mailto:list@lists.example>"],
      text: "This is the mail system at host lists.example.net.",
    },
  ],
  [
    "person",
    "forwards a bounce",
    {
      from: BOB,
      subject: "Fwd: Undelivered Mail Returned to Sender",
      text: "Look at this:\n\n> I'm sorry to have to inform you that your message could not\n> be delivered to one or more recipients.\n> <alice@example.net>: 550 5.1.1 User unknown",
    },
  ],
  [
    "person",
    "answers about a bounce",
    {
      from: BOB,
      subject: "Re: failure notice",
      text: "> I'm afraid I wasn't able to deliver your message to the following addresses.\n\nThis happens since Monday.",
    },
  ],
  [
    "person",
    "a normal answer",
    { from: BOB, subject: "Re: Your order 1001", text: "Thanks! When will it arrive?" },
  ],
  [
    "person",
    "asks about mailbox full",
    { from: BOB, subject: "mailbox full", text: "My mailbox is full, what can I do? 552 5.2.2" },
  ],
  [
    "person",
    "quotes codes in the text",
    {
      from: BOB,
      subject: "Question",
      text: "Your server says 550 5.1.1 user unknown when I write to support.",
    },
  ],
  ["person", "empty message", { from: BOB, subject: "", text: "" }],
  [
    "shop",
    "an order confirmation that mentions delivery",
    {
      from: "Shop <orders@shop2.example>",
      subject: "Delivery notification for order 99",
      text: "Your parcel could not be delivered today. The recipient was not at home. We will try again tomorrow.",
    },
  ],
  [
    "shop",
    "parcel service with a failed delivery",
    {
      from: "Parcels <info@parcels.example>",
      subject: "Delivery failed: parcel 12345",
      text: "The delivery of your parcel has failed. The address could not be found by our driver.",
    },
  ],
  [
    "system",
    "a cron report from root",
    {
      from: "root@server.example.net (Cron Daemon)",
      subject: "Cron <root@server> backup",
      headers: ["Auto-Submitted: auto-generated"],
      text: "backup: 550 files, 12 failed",
    },
  ],
  [
    "system",
    "a statistics mail of the postmaster",
    {
      from: "postmaster@example.net",
      subject: "Weekly mail statistics",
      text: "Delivered 10234 messages, 550 were deferred.",
    },
  ],
  [
    "system",
    "a quarantine digest",
    {
      from: "postmaster@example.net",
      subject: "Quarantine summary",
      text: "3 messages to bob@example.net are in quarantine. Click to release them.",
    },
  ],
  [
    "system",
    "a DMARC report",
    {
      from: "noreply-dmarc@example.net",
      subject: "Report Domain: shop.example Submitter: example.net",
      text: "This is a DMARC aggregate report.",
    },
  ],
  [
    "system",
    "a TLS report",
    { from: "tlsrpt@example.net", subject: "TLS report", text: "This is a TLS report." },
  ],
];

const receipt = (subject: string, text: string): string =>
  standard({
    from: BOB,
    subject,
    text,
    statusType: "message/disposition-notification",
    general: ["Reporting-UA: mail.example.net; Program"],
    groups: [
      [
        `Final-Recipient: rfc822; ${RECIPIENT}`,
        `Original-Message-ID: ${MESSAGE_ID}`,
        "Disposition: manual-action/MDN-sent-manually; displayed",
      ],
    ],
  }).replace("report-type=delivery-status", "report-type=disposition-notification");

const RECEIPTS: readonly NoBounce[] = [
  {
    kind: "read receipt",
    source: "displayed, English",
    raw: receipt("Read: Your order 1001", "Your message was read on 2 November."),
  },
  {
    kind: "read receipt",
    source: "displayed, German",
    raw: receipt("Gelesen: Ihre Bestellung", "Ihre Nachricht wurde gelesen."),
  },
  {
    kind: "read receipt",
    source: "deleted without being read",
    raw: receipt("Not read: Your order", "Your message was deleted without being read.").replace(
      "displayed",
      "deleted",
    ),
  },
  {
    kind: "read receipt",
    source: "failed disposition",
    raw: receipt("Read: Your order", "Failed.").replace("; displayed", "; failed"),
  },
];

export const NO_BOUNCES: readonly NoBounce[] = [
  ...[...VACATIONS, ...REPLIES, ...PEOPLE].map(([kind, source, form]) => ({
    kind,
    source,
    raw: plain(form),
  })),
  ...RECEIPTS,
];
