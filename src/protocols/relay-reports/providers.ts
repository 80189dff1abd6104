/**
 * The providers whose webhooks are read. To add one, add a file, a row here, and its name in
 * db/schema/report-sources.ts.
 */

import { readBrevoEvent } from "./brevo.ts";
import { readMailgunEvent } from "./mailgun.ts";
import { readMailjetEvent } from "./mailjet.ts";
import { readPostmarkEvent } from "./postmark.ts";
import type { ReadEvent } from "./report.ts";
import { readResendEvent } from "./resend.ts";
import { readSendGridEvent } from "./sendgrid.ts";
import { readSesEvent } from "./ses.ts";

type Provider = {
  name: string;
  readEvent: ReadEvent;
  /**
   * The way in which it signs: with a key that the operator enters, with a certificate, or not at all.
   */
  signs: "key" | "certificate" | "nothing";
};

export const PROVIDERS = {
  SES: { name: "Amazon SES", readEvent: readSesEvent, signs: "certificate" },
  POSTMARK: { name: "Postmark", readEvent: readPostmarkEvent, signs: "nothing" },
  SENDGRID: { name: "SendGrid", readEvent: readSendGridEvent, signs: "key" },
  MAILGUN: { name: "Mailgun", readEvent: readMailgunEvent, signs: "key" },
  BREVO: { name: "Brevo", readEvent: readBrevoEvent, signs: "nothing" },
  MAILJET: { name: "Mailjet", readEvent: readMailjetEvent, signs: "nothing" },
  RESEND: { name: "Resend", readEvent: readResendEvent, signs: "key" },
} as const satisfies Record<string, Provider>;
