/**
 * The steps at each provider, as in docs/relay-reports.md. To add a provider, add a row here.
 * Names of menus and fields of the provider are bold.
 */

import type { ReactNode } from "react";
import type { ReportSource } from "../../../modules/relay-reports/model.ts";

export type ReportProvider = ReportSource["provider"];

type Guide = {
  name: string;
  /** In the order in which they are done; the URL of the source exists. */
  steps: readonly ReactNode[];
  /** The key with which the provider signs; null if it has none. */
  key: { noun: "key" | "secret"; label: string; description: string; placeholder: string } | null;
  /** A further note; null for none. */
  note: string | null;
};

const UNSIGNED = "signs nothing: whoever knows the URL can report. Keep it secret.";

export const GUIDES: Readonly<Record<ReportProvider, Guide>> = {
  SES: {
    name: "Amazon SES",
    steps: [
      <>
        In the console of Amazon SNS, in the region of SES: <b>Topics → Create topic → Standard</b>.
      </>,
      <>
        In the topic: <b>Create subscription</b>, protocol <b>HTTPS</b>, endpoint: the URL. Leave{" "}
        <b>Enable raw message delivery</b> off. It is confirmed at once.
      </>,
      <>
        In the console of Amazon SES: <b>Configuration sets → Create set</b>, then{" "}
        <b>Event destinations → Add destination</b>. Choose <b>deliveries</b>, <b>hard bounces</b>,{" "}
        <b>complaints</b> and <b>rejects</b>, then Amazon SNS and the topic.
      </>,
      <>
        Under <b>Identities</b>, make it the default configuration set of your domain.
      </>,
    ],
    key: null,
    note: "Amazon signs each message with a certificate, so there is no key to enter.",
  },
  POSTMARK: {
    name: "Postmark",
    steps: [
      <>
        <b>Servers</b> → your server → the message stream → <b>Webhooks → Add webhook</b>.
      </>,
      <>
        Enter the URL. Choose <b>Delivery</b>, <b>Bounce</b>, <b>Spam complaint</b> and, if you
        want, <b>Subscription change</b>, <b>Open</b> and <b>Link click</b>.
      </>,
      <>
        Save. <b>Send test</b> beside an event should be answered with 200.
      </>,
    ],
    key: null,
    note: `Postmark ${UNSIGNED}`,
  },
  SENDGRID: {
    name: "SendGrid",
    steps: [
      <>
        <b>Settings → Mail Settings → Event Webhook → Create new webhook</b>.
      </>,
      <>
        <b>Post URL</b>: the URL. Choose <b>Delivered</b>, <b>Bounced</b>, <b>Dropped</b>,{" "}
        <b>Spam Reports</b> and, if you want, <b>Unsubscribed</b>, <b>Opened</b> and <b>Clicked</b>.
      </>,
      <>
        Switch <b>Signature Verification</b> on and save.
      </>,
      <>
        Open the webhook again and copy its <b>Verification Key</b> into the field below.
      </>,
    ],
    key: {
      noun: "key",
      label: "Verification key",
      description: "SendGrid shows it in the webhook after it was saved.",
      placeholder: "MFkwEwYHKoZIzj0CAQYI…",
    },
    note: null,
  },
  MAILGUN: {
    name: "Mailgun",
    steps: [
      <>
        <b>Send → Sending → Webhooks</b> → your domain → <b>Add webhook</b>.
      </>,
      <>
        Add one with the URL for each of <b>delivered</b>, <b>permanent failure</b>,{" "}
        <b>spam complaints</b> and, if you want, <b>unsubscribes</b>, <b>opened</b> and{" "}
        <b>clicked</b>.
      </>,
      <>
        Copy the <b>HTTP webhook signing key</b> of the same page into the field below.
      </>,
    ],
    key: {
      noun: "key",
      label: "HTTP webhook signing key",
      description: "Mailgun shows it on the page of its webhooks.",
      placeholder: "",
    },
    note: null,
  },
  BREVO: {
    name: "Brevo",
    steps: [
      <>
        <b>Transactional → Settings → Webhook → Add a new webhook</b>.
      </>,
      <>
        Enter the URL. Choose <b>Delivered</b>, <b>Hard bounced</b>, <b>Soft bounced</b>,{" "}
        <b>Blocked</b>, <b>Invalid email</b>, <b>Error</b>, <b>Complaint</b> and, if you want,{" "}
        <b>Unsubscribed</b>, <b>Opened</b> and <b>Clicked</b>.
      </>,
    ],
    key: null,
    note: `Brevo ${UNSIGNED}`,
  },
  MAILJET: {
    name: "Mailjet",
    steps: [
      <>
        <b>Account settings → Event notifications (webhooks)</b>.
      </>,
      <>
        Enter the URL for the events <b>sent</b>, <b>bounce</b>, <b>blocked</b>, <b>spam</b> and, if
        you want, <b>unsub</b>, <b>open</b> and <b>click</b>.
      </>,
      <>
        <b>Group events</b> may be on or off.
      </>,
    ],
    key: null,
    note: `Mailjet ${UNSIGNED}`,
  },
  RESEND: {
    name: "Resend",
    steps: [
      <>
        <b>Webhooks → Add webhook</b>. Enter the URL.
      </>,
      <>
        Choose <b>email.delivered</b>, <b>email.bounced</b>, <b>email.complained</b>,{" "}
        <b>email.failed</b> and, if you want, <b>email.opened</b> and <b>email.clicked</b>.
      </>,
      <>
        Copy the <b>signing secret</b> of the webhook into the field below.
      </>,
    ],
    key: {
      noun: "secret",
      label: "Signing secret",
      description: "Resend shows it in the webhook after it was added.",
      placeholder: "whsec_…",
    },
    note: null,
  },
};

/** The choices of the field Provider. */
export const PROVIDER_CHOICES = Object.entries(GUIDES).map(([value, { name }]) => ({
  value,
  label: name,
}));
