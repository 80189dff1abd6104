/** SMTP conversations as receiving servers of several kinds have them, for the attempts of mails. */

import type { Conversation, Step } from "../../../src/protocols/smtp/conversation.ts";
import type { ReplyClass, SmtpStep } from "../../../src/protocols/smtp/reply-classes.ts";
import type { Random } from "../random.ts";

export type Server = { host: string; address: string; greeting: string; dot: string };

type Refusal = {
  class: ReplyClass;
  step: SmtpStep;
  /** The text of the reply without its code. */
  code: number;
  enhanced: string;
  text: string;
};

const SENDER = "bounces@mail.harbourbooks.example";

/** The servers by the domain of the recipient. */
const SERVERS: Readonly<Record<string, Server>> = {
  "gmail.example": {
    host: "mx1.gmail.example",
    address: "192.0.2.26",
    greeting: "mx1.gmail.example ESMTP 5b1f17b1804b1-4355sm12 - gsmtp",
    dot: "2.0.0 OK  1763800412 5b1f17b1804b1-477a9sm31 - gsmtp",
  },
  "outlook.example": {
    host: "mail.protection.outlook.example",
    address: "198.51.100.84",
    greeting: "DB1PEPF000509E1.mail.protection.outlook.example Microsoft ESMTP MAIL Service ready",
    dot: "2.6.0 <message> [InternalId=7331439609855, Hostname=AS8P.EURP.outlook.example] 31415 bytes in 0.184, 166.4 KB/sec Queued mail for delivery",
  },
};
const POSTFIX_GREETING = "ESMTP Postfix (Debian/GNU)";
const POSTFIX: Server = {
  host: "mx.post.example",
  address: "203.0.113.17",
  greeting: `mx.post.example ${POSTFIX_GREETING}`,
  dot: "2.0.0 Ok: queued as 4dFk2p6WbTz9sV1",
};

function serverOf(domain: string): Server {
  return (
    SERVERS[domain] ?? {
      ...POSTFIX,
      host: `mx.${domain}`,
      greeting: `mx.${domain} ${POSTFIX_GREETING}`,
    }
  );
}

const UNKNOWN: Readonly<Record<string, Refusal>> = {
  "gmail.example": {
    class: "no_such_recipient",
    step: "rcpt",
    code: 550,
    enhanced: "5.1.1",
    text: "5.1.1 The email account that you tried to reach does not exist. Please try double-checking the recipient's email address for typos or unnecessary spaces. - gsmtp",
  },
  "outlook.example": {
    class: "no_such_recipient",
    step: "rcpt",
    code: 550,
    enhanced: "5.1.10",
    text: "5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
  },
};
const UNKNOWN_AT_POSTFIX: Refusal = {
  class: "no_such_recipient",
  step: "rcpt",
  code: 550,
  enhanced: "5.1.1",
  text: "5.1.1 <recipient>: Recipient address rejected: User unknown in virtual mailbox table",
};

export function unknownRecipient(domain: string): Refusal {
  return UNKNOWN[domain] ?? UNKNOWN_AT_POSTFIX;
}

/** Permanent refusals that say nothing about whether the address exists. */
export const OTHER_REFUSALS: readonly Refusal[] = [
  {
    class: "mailbox_full",
    step: "rcpt",
    code: 552,
    enhanced: "5.2.2",
    text: "5.2.2 The recipient's inbox is out of storage space and inactive. Please direct the recipient to clear up space. - gsmtp",
  },
  {
    class: "reputation",
    step: "mail",
    code: 550,
    enhanced: "5.7.1",
    text: "5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).",
  },
  {
    class: "policy",
    step: "dot",
    code: 550,
    enhanced: "5.7.26",
    text: "5.7.26 Unauthenticated email from harbourbooks.example is not accepted due to domain's DMARC policy. - gsmtp",
  },
  {
    class: "content",
    step: "dot",
    code: 554,
    enhanced: "5.7.1",
    text: "5.7.1 Message rejected: it looks like spam (score 9.4, required 8.0)",
  },
];

/** Temporary refusals. */
export const DEFERRALS: readonly Refusal[] = [
  {
    class: "greylisted",
    step: "rcpt",
    code: 450,
    enhanced: "4.2.0",
    text: "4.2.0 <recipient>: Recipient address rejected: Greylisted, see https://postgrey.example/help.html",
  },
  {
    class: "rate_limited",
    step: "mail",
    code: 421,
    enhanced: "4.7.28",
    text: "4.7.28 Our system has detected an unusual rate of mail originating from your IP address. To protect our users, mail has been temporarily rate limited. - gsmtp",
  },
  {
    class: "mailbox_full",
    step: "rcpt",
    code: 452,
    enhanced: "4.2.2",
    text: "4.2.2 The recipient's inbox is out of storage space. - gsmtp",
  },
  {
    class: "temporary",
    step: "dot",
    code: 451,
    enhanced: "4.7.500",
    text: "4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719)",
  },
];

/** The reason of an attempt as a line for people. */
export function reasonOf({ code, text }: Refusal, to: string): string {
  return `${code} ${text.replace("<recipient>", `<${to}>`)}`;
}

export type Attempted = { conversation: Conversation; durationMs: number };

/** A conversation that ends with the acceptance of the mail, or with `refusal`. */
export function converse(random: Random, to: string, refusal: Refusal | null): Attempted {
  const domain = to.slice(to.lastIndexOf("@") + 1);
  const server = serverOf(domain);
  // Most connections are used for several mails.
  const reused = refusal === null && random.integer(10) < 7;
  const steps: Step[] = [];
  const add = (step: SmtpStep, command: string | null, code: number | null, text: string) => {
    const enhanced = /^[245]\.\d{1,3}\.\d{1,3}(?= )/.exec(text)?.[0] ?? null;
    steps.push({ step, command, code, enhanced, text, ms: durationOf(random, step) });
  };
  if (!reused) open(add, server);
  for (const [step, command, code, text] of transaction(to, server)) {
    if (refusal?.step === step) {
      add(step, command, refusal.code, refusal.text.replace("<recipient>", `<${to}>`));
      break;
    }
    add(step, command, code, text);
  }
  const tls = {
    version: domain === "uni.example" ? "TLSv1.2" : "TLSv1.3",
    cipher: domain === "uni.example" ? "ECDHE-RSA-AES256-GCM-SHA384" : "TLS_AES_256_GCM_SHA384",
    verified: domain !== "fastpost.example",
  };
  const { host, address } = server;
  const sumMs = steps.reduce((sum, { ms }) => sum + ms, 0);
  return {
    conversation: { host, address, port: 25, tls, reused, steps },
    durationMs: Math.ceil(sumMs),
  };
}

type Add = (step: SmtpStep, command: string | null, code: number | null, text: string) => void;

function open(add: Add, { host, greeting }: Server): void {
  const extensions = `${host} at your service\nSIZE 157286400\n8BITMIME\nENHANCEDSTATUSCODES\nPIPELINING`;
  add("connect", null, null, "connected");
  add("greeting", null, 220, greeting);
  add("ehlo", "EHLO mail.harbourbooks.example", 250, `${extensions}\nSTARTTLS`);
  add("starttls", "STARTTLS", 220, "2.0.0 Ready to start TLS");
  add("tls", null, null, "the connection is encrypted");
  add("ehlo", "EHLO mail.harbourbooks.example", 250, extensions);
}

function transaction(to: string, { dot }: Server): [SmtpStep, string | null, number, string][] {
  return [
    ["mail", `MAIL FROM:<${SENDER}>`, 250, "2.1.0 Sender OK"],
    ["rcpt", `RCPT TO:<${to}>`, 250, "2.1.5 Recipient OK"],
    ["data", "DATA", 354, "Start mail input; end with <CRLF>.<CRLF>"],
    ["dot", null, 250, dot],
  ];
}

/** Typical and largest additional durations of the steps that take longer, in milliseconds. */
const SLOW_STEPS: Readonly<Record<string, readonly [ms: number, more: number]>> = {
  connect: [14, 60],
  greeting: [30, 140],
  tls: [25, 70],
  dot: [120, 600],
};

function durationOf(random: Random, step: SmtpStep): number {
  const [ms, more] = SLOW_STEPS[step] ?? [11, 35];
  return ms + random.integer(more * 10) / 10;
}
