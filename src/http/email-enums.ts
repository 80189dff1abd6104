/** Enumerations of emails, which several modules show. */

import { EMAIL_SOURCES, EMAIL_STATUSES } from "../db/schema/emails.ts";
import { named } from "./documented.ts";
import { OneOf } from "./validation.ts";

export const EmailStatusSchema = named("EmailStatus", OneOf(EMAIL_STATUSES), {
  description:
    "QUEUED: waits to be sent; SENDING: under way; SENT: a mail server accepted it; DELIVERED: its " +
    "delivery was confirmed; OPENED and CLICKED: by a person; BOUNCED: refused for good; " +
    "COMPLAINED: reported as spam; FAILED: could not be sent; SUPPRESSED: the address gets no " +
    "mail; CANCELLED: cancelled before it was sent",
  example: "SENT",
});

export const EmailSourceSchema = named("EmailSource", OneOf(EMAIL_SOURCES), {
  description: "Which part of the service sent the mail",
  example: "TRANSACTIONAL",
});
