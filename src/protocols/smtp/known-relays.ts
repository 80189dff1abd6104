/**
 * What well-known relays do with the mail that they are given, from their documentation. To add one,
 * add a row. A relay that replaces header fields breaks the signatures that cover them, and one that
 * takes a single DKIM-Signature refuses mail with our two (docs/delivery.md#C4).
 */

import type { Relay } from "./relay-url.ts";

type KnownRelay = {
  name: string;
  /** Matches its host names. */
  host: RegExp;
  /** Name in the SPF mechanism `include`; null if it needs none, because it uses its own MAIL FROM. */
  spf: string | null;
  /** Signed header fields that it replaces. */
  replaces: readonly ("Message-ID" | "Date")[];
  /** True if it refuses mail with more than one DKIM-Signature. */
  takesOneSignature: boolean;
  /** Where its operator sets up the signature of the domain. */
  signing: string;
  /** How it reports bounces and complaints. */
  reports: string;
  /** What it limits, in words; null if that is the choice of the plan only. */
  limit: string | null;
};

const KEEPS = { replaces: [], takesOneSignature: false, limit: null } as const;
const WEBHOOKS = "with its webhooks, because it replaces MAIL FROM";
const TO_SENDER = "by mail to the account that sends";

const KNOWN_RELAYS: readonly KnownRelay[] = [
  {
    name: "Amazon SES",
    host: /(^|\.)amazonaws\.com$/,
    spf: "amazonses.com",
    replaces: ["Message-ID", "Date"],
    takesOneSignature: true,
    signing: "Easy DKIM of the identity",
    reports: "with SNS notifications or by mail to the sender, because it replaces MAIL FROM",
    limit:
      "a number of messages in 24 hours and in a second; verified recipients only in the sandbox",
  },
  {
    ...KEEPS,
    name: "Resend",
    host: /(^|\.)resend\.com$/,
    spf: "amazonses.com",
    // It sends over Amazon SES.
    replaces: ["Message-ID", "Date"],
    takesOneSignature: true,
    signing: "the records of the domain",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Postmark",
    host: /(^|\.)postmarkapp\.com$/,
    spf: "spf.mtasv.net",
    replaces: ["Message-ID"],
    signing: "the DKIM record of the sender's domain",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Emailit",
    host: /(^|\.)emailit\.com$/,
    spf: null,
    replaces: ["Message-ID", "Date"],
    signing: "the records of the domain",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "SendGrid",
    host: /(^|\.)sendgrid\.(net|com)$/,
    spf: "sendgrid.net",
    signing: "Domain Authentication",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Mailgun",
    host: /(^|\.)mailgun\.(org|net|com)$/,
    spf: "mailgun.org",
    signing: "the records of the domain",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Brevo",
    host: /(^|\.)(brevo|sendinblue)\.com$/,
    spf: "spf.brevo.com",
    signing: "Senders, Domains & Dedicated IPs",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Mailjet",
    host: /(^|\.)mailjet\.com$/,
    spf: "spf.mailjet.com",
    signing: "Sender domains & addresses",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Mandrill",
    host: /(^|\.)mandrillapp\.com$/,
    spf: "spf.mandrillapp.com",
    signing: "Sending Domains",
    reports: WEBHOOKS,
  },
  {
    ...KEEPS,
    name: "Gmail or Google Workspace",
    host: /(^|\.)(gmail|google)\.com$/,
    spf: "_spf.google.com",
    signing: "Authenticate email, in the Admin console",
    reports: TO_SENDER,
    limit: "500 messages a day for an account of Gmail, 2,000 for one of Workspace",
  },
  {
    ...KEEPS,
    name: "Microsoft 365",
    host: /(^|\.)(office365|outlook)\.com$/,
    spf: "spf.protection.outlook.com",
    signing: "DKIM, in the Defender portal",
    reports: TO_SENDER,
    limit: "30 messages a minute and 10,000 recipients a day for an account",
  },
  {
    ...KEEPS,
    name: "Fastmail",
    host: /(^|\.)fastmail\.com$/,
    spf: "spf.messagingengine.com",
    signing: "the records of the domain",
    reports: TO_SENDER,
  },
];

/** The row of a relay; null if it is unknown. */
export function findKnownRelay(host: string): KnownRelay | null {
  const name = host.toLowerCase().replace(/\.$/, "");
  return KNOWN_RELAYS.find((relay) => relay.host.test(name)) ?? null;
}

/** The SPF mechanism that allows a relay; null if the relay is unknown or needs none. */
export function relayMechanism(host: string): string | null {
  const spf = findKnownRelay(host)?.spf ?? null;
  return spf === null ? null : `include:${spf}`;
}

/**
 * Whether bounces come to the MAIL FROM that we name. Every known relay replaces it, or reports to the
 * account; others are mail servers that pass it on.
 */
export function keepsMailFrom(host: string): boolean {
  return findKnownRelay(host) === null;
}

/** What a relay does with mail, in sentences for the operator. */
export type RelayText = {
  name: string;
  /** Whether mail goes there without our signatures. */
  isSigning: boolean;
  signing: string;
  limit: string;
  reports: string;
};

export function describeRelay(relay: Relay): RelayText {
  const known = findKnownRelay(relay.host);
  if (known === null) {
    return {
      name: relay.host,
      isSigning: isSignedThere(relay),
      signing:
        relay.sign === false
          ? "It signs mail itself (sign=false in --relay-url)."
          : "Mail goes there with the signatures of this server.",
      limit: "Its limits are known to its operator.",
      reports:
        "Bounces that come later go to the address of the sender. They come to this server, and are " +
        "counted, once it receives mail (--inbound) and the records of the return path are published. " +
        "It does not report deliveries.",
    };
  }
  return {
    name: known.name,
    isSigning: isSignedThere(relay),
    signing: signingText(relay, known),
    limit:
      known.limit === null ? "Its limit is that of your plan." : `Its limit is ${known.limit}.`,
    reports:
      `It reports bounces and complaints ${known.reports}. These reports do not come to this server, ` +
      "so they are not counted here, and it does not report deliveries.",
  };
}

function signingText(relay: Relay, known: KnownRelay): string {
  const why = whyUnsigned(known);
  const setUp = `set up ${known.signing} there`;
  if (why === null) {
    return isSignedThere(relay)
      ? `It signs mail itself (sign=false in --relay-url): ${setUp}.`
      : "It passes on the signatures of this server.";
  }
  return isSignedThere(relay)
    ? `It ${why}, so it signs mail itself: ${setUp}.`
    : `It ${why}, which breaks the signatures of this server: remove sign=true from --relay-url.`;
}

/** Why our signatures would not survive; null if they do. */
export function whyUnsigned(known: KnownRelay): string | null {
  const parts = [
    ...(known.replaces.length > 0 ? [`replaces ${known.replaces.join(" and ")}`] : []),
    ...(known.takesOneSignature ? ["takes one DKIM-Signature at most"] : []),
  ];
  return parts.length > 0 ? parts.join(" and ") : null;
}

/**
 * True if mail goes to the relay without our signatures: because its URL says so, or, if it says
 * nothing, because the relay is known to break or to refuse them.
 */
export function isSignedThere({ host, sign }: Relay): boolean {
  if (sign !== undefined) return !sign;
  const known = findKnownRelay(host);
  return known !== null && whyUnsigned(known) !== null;
}
