/**
 * The ways in which well-known relays treat the mail that they are given, from their documentation. To
 * add a relay, add a row. A relay that replaces header fields breaks the signatures that cover them,
 * and one that takes a single DKIM-Signature refuses mail with our two (docs/delivery.md#C4).
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
  /** The way in which it reports bounces and complaints. */
  reports: string;
  /** Its limit in words; null if only the plan sets one. */
  limit: string | null;
  /**
   * The header field with which its webhooks name the mail (docs/relay-reports.md); null if its webhooks
   * are not read.
   */
  idField: IdField | null;
  /**
   * Conditions that its account must meet before mail goes through. A report that arrives proves that
   * they are met.
   */
  needs: readonly Need[];
  /** The records that it wants in the DNS of a domain, by the name of the host; "" if not known. */
  records: (host: string) => string;
  /** True if bounces go to the mailbox of the account that sends (docs/relay-reports.md#mailboxes). */
  isReportedByMail: boolean;
};

type Need = { what: string; finding: string; fix: string };
type IdField = { name: string; value: (emailId: string) => string };

const asId = (emailId: string) => emailId;
const asJson = (emailId: string) => JSON.stringify({ mailstead_id: emailId });

const DEFAULTS = {
  replaces: [],
  takesOneSignature: false,
  limit: null,
  needs: [],
  records: () => "",
  idField: null,
} as const;
/** Members of a relay that reports with webhooks. */
const WEBHOOKS = {
  ...DEFAULTS,
  reports: "with its webhooks, because it replaces MAIL FROM",
  isReportedByMail: false,
} as const;
/** Members of a relay that reports to the mailbox of the sender. */
const TO_SENDER = {
  ...DEFAULTS,
  reports: "by mail to the account that sends",
  isReportedByMail: true,
} as const;

const KNOWN_RELAYS: readonly KnownRelay[] = [
  {
    name: "Amazon SES",
    host: /(^|\.)amazonaws\.com$/,
    spf: "amazonses.com",
    replaces: ["Message-ID", "Date"],
    takesOneSignature: true,
    signing: "Easy DKIM of the identity",
    needs: [
      {
        what: "sandbox",
        finding: "a new account sends to verified addresses only, at most 200 messages a day",
        fix: "request production access in the console of SES, in the region of the relay",
      },
      {
        what: "MAIL FROM",
        finding: "it names amazonses.com in MAIL FROM, so SPF does not count for DMARC",
        fix: "set a custom MAIL FROM domain for the identity, and publish its records",
      },
    ],
    records: (host) =>
      "the CNAME records of Easy DKIM; and for the custom MAIL FROM domain, a subdomain that is used for " +
      `nothing else, MX 10 feedback-smtp.${sesRegion(host)}.amazonses.com and TXT ` +
      "“v=spf1 include:amazonses.com ~all”",
    reports: "with SNS notifications or by mail to the sender, because it replaces MAIL FROM",
    isReportedByMail: false,
    idField: { name: "X-Mailstead-ID", value: asId },
    limit:
      "a number of messages in 24 hours and in a second; verified recipients only in the sandbox",
  },
  {
    ...WEBHOOKS,
    name: "Resend",
    host: /(^|\.)resend\.com$/,
    spf: "amazonses.com",
    // It sends over Amazon SES.
    replaces: ["Message-ID", "Date"],
    takesOneSignature: true,
    signing: "the records of the domain",
    needs: [
      {
        what: "domain",
        finding: "it sends from verified domains only",
        fix: "add the domain under Domains, and publish its records",
      },
    ],
    records: () => "the DKIM record, and the MX and SPF records of its return path, which it shows",
    idField: { name: "X-Mailstead-ID", value: asId },
  },
  {
    ...WEBHOOKS,
    name: "Postmark",
    host: /(^|\.)postmarkapp\.com$/,
    spf: "spf.mtasv.net",
    replaces: ["Message-ID"],
    signing: "the DKIM record of the sender's domain",
    needs: [
      {
        what: "approval",
        finding: "until the account is approved, it sends to your own verified domains only",
        fix: "request the approval in the account",
      },
      {
        what: "sender",
        finding: "it sends from confirmed senders and verified domains only",
        fix: "add the domain under Sender Signatures, and verify it",
      },
    ],
    records: () => "the DKIM record that it shows, and its Return-Path, a CNAME to pm.mtasv.net",
    idField: { name: "X-PM-Metadata-mailstead-id", value: asId },
  },
  {
    ...WEBHOOKS,
    name: "Emailit",
    host: /(^|\.)emailit\.com$/,
    spf: null,
    replaces: ["Message-ID", "Date"],
    signing: "the records of the domain",
  },
  {
    ...WEBHOOKS,
    name: "SendGrid",
    host: /(^|\.)sendgrid\.(net|com)$/,
    spf: "sendgrid.net",
    signing: "Domain Authentication",
    needs: [
      {
        what: "sender",
        finding: "it refuses senders that are no verified Sender Identity",
        fix: "authenticate the domain: Settings → Sender Authentication",
      },
    ],
    records: () => "the CNAME records that Domain Authentication shows",
    idField: { name: "X-SMTPAPI", value: (id) => `{"unique_args":${asJson(id)}}` },
  },
  {
    ...WEBHOOKS,
    name: "Mailgun",
    host: /(^|\.)mailgun\.(org|net|com)$/,
    spf: "mailgun.org",
    signing: "the records of the domain",
    needs: [
      {
        what: "sandbox",
        finding: "a sandbox domain sends to at most five authorized recipients",
        fix: "add a domain of your own, and verify it",
      },
      {
        what: "region",
        finding: "the SMTP login of a domain is known in the region of the domain only",
        fix: "name smtp.eu.mailgun.org in --relay-url for a domain of the EU region",
      },
    ],
    records: () => "the SPF and DKIM records that it shows for the domain",
    idField: { name: "X-Mailgun-Variables", value: asJson },
  },
  {
    ...WEBHOOKS,
    name: "Brevo",
    host: /(^|\.)(brevo|sendinblue)\.com$/,
    spf: "spf.brevo.com",
    signing: "Senders, Domains & Dedicated IPs",
    needs: [
      {
        what: "sender",
        finding: "it sends from verified senders and domains only",
        fix: "add and authenticate the domain: Senders, Domains & Dedicated IPs",
      },
    ],
    records: () => "the records that it shows for the domain",
    idField: { name: "X-Mailin-custom", value: asId },
  },
  {
    ...WEBHOOKS,
    name: "Mailjet",
    host: /(^|\.)mailjet\.com$/,
    spf: "spf.mailjet.com",
    signing: "Sender domains & addresses",
    needs: [
      {
        what: "sender",
        finding: "it sends from validated senders and domains only",
        fix: "validate the domain: Account settings → Sender domains & addresses",
      },
    ],
    records: () => "the SPF and DKIM records that it shows for the domain",
    idField: { name: "X-MJ-CustomID", value: asId },
  },
  {
    ...WEBHOOKS,
    name: "Mandrill",
    host: /(^|\.)mandrillapp\.com$/,
    spf: "spf.mandrillapp.com",
    signing: "Sending Domains",
  },
  {
    ...TO_SENDER,
    name: "Gmail or Google Workspace",
    host: /(^|\.)(gmail|google)\.com$/,
    spf: "_spf.google.com",
    signing: "Authenticate email, in the Admin console",
    limit: "500 messages a day for an account of Gmail, 2,000 for one of Workspace",
  },
  {
    ...TO_SENDER,
    name: "Microsoft 365",
    host: /(^|\.)(office365|outlook)\.com$/,
    spf: "spf.protection.outlook.com",
    signing: "DKIM, in the Defender portal",
    reports: "by mail to the account that sends, whose mailbox takes no password by IMAP or POP3",
    isReportedByMail: false,
    limit: "30 messages a minute and 10,000 recipients a day for an account",
  },
  {
    ...TO_SENDER,
    name: "Fastmail",
    host: /(^|\.)fastmail\.com$/,
    spf: "spf.messagingengine.com",
    signing: "the records of the domain",
  },
];

/** The region in the host of an endpoint of SES, such as `email-smtp.eu-west-1.amazonaws.com`. */
function sesRegion(host: string): string {
  return /^email-smtp(?:-fips)?\.([a-z0-9-]{1,30})\.amazonaws\.com$/i.exec(host)?.[1] ?? "REGION";
}

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

/** The treatment of mail by a relay, in sentences for the operator. */
export type RelayText = {
  name: string;
  /** Whether mail goes there without our signatures. */
  isSigning: boolean;
  signing: string;
  limit: string;
  reports: string;
  /** The conditions that its account must meet before the first mail; "" if none is known. */
  needs: string;
  /** The records that it wants in the DNS of a domain; "" if they are not known. */
  records: string;
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
      needs: "",
      records: "",
    };
  }
  const records = known.records(relay.host);
  return {
    name: known.name,
    isSigning: isSignedThere(relay),
    signing: signingText(relay, known),
    limit:
      known.limit === null ? "Its limit is that of your plan." : `Its limit is ${known.limit}.`,
    reports: `It reports bounces and complaints ${known.reports}. ` + whenCounted(known),
    needs: known.needs.map(({ finding, fix }) => `${capital(finding)}: ${fix}.`).join(" "),
    records: records === "" ? "" : `${capital(records)}.`,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function whenCounted({ isReportedByMail, idField }: KnownRelay): string {
  if (isReportedByMail) {
    return (
      "They are counted here once its mailbox is read (docs/relay-reports.md#mailboxes). It does not " +
      "report deliveries."
    );
  }
  return idField === null
    ? "These reports do not come to this server, so they are not counted here, and it does not " +
        "report deliveries."
    : "They are counted here, and so are deliveries, once its webhooks report to this server " +
        "(docs/relay-reports.md).";
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

/** The reason why our signatures would not survive; null if they do. */
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
