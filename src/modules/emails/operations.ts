/** Texts of the operations on emails for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const emailOperations = describeOperations(
  { tag: "Emails", id: "Id of the email record" },
  {
    sendEmail: {
      summary: "Send a mail to one or several recipients",
      description:
        "200 means that the mails are durably queued. If one is refused, none is stored. The " +
        "members of `data` are repeated beside it in the response.",
      isIdempotent: true,
      links: {
        getEmail: { id: "/data/emails/0/email" },
        getContact: { id: "/data/emails/0/contact/id" },
      },
    },
    listEmails: {
      summary: "List emails",
      description:
        "Mails that match all given filters, newest first. A search stops after two seconds: " +
        "`total` is then null, and the cursor continues where the search stopped.",
    },
    getEmail: {
      summary: "Email details with all attempts",
      description: "The record of a mail, with every conversation with a mail server.",
    },
    getRawEmail: {
      summary: "The exact message that the capture transport stored",
      description: "404 unless the server runs with `--transport capture`.",
      headers: ["Content-Disposition"],
    },
  },
);
