/** Texts of the operations on emails for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const emailOperations = describeOperations(
  { tag: "Emails", id: "Id of the email record" },
  {
    sendEmail: {
      role: "EDITOR",
      scopes: ["SEND"],
      isAudited: false,
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
    sendBatch: {
      role: "EDITOR",
      scopes: ["SEND"],
      isAudited: false,
      summary: "Send several different mails",
      description:
        "Up to 100 mails, each as in `POST /v1/send`. With the mode `ALL_OR_NOTHING` a refused mail " +
        "refuses the request; with `EACH` the answer is 200 and has the outcome of each mail. An " +
        "unknown field refuses the request in both modes.",
      isIdempotent: true,
    },
    listEmails: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List emails",
      description:
        "Mails that match all given filters, newest first. A search stops after two seconds: " +
        "`total` is then null, and the cursor continues where the search stopped.",
    },
    getEmail: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Email details with all attempts",
      description: "The record of a mail, with every conversation with a mail server.",
    },
    resendEmail: {
      role: "EDITOR",
      isAudited: false,
      summary: "Send a mail again that has ended",
      description:
        "A new mail to the same recipient with the same content, which belongs to no campaign: 201. " +
        "409 while the mail is under way or its address is suppressed; 404 with the code " +
        "`CONTENT_PURGED` if its content was removed.",
      isIdempotent: true,
      links: { getEmail: { id: "/data/id" } },
    },
    rescheduleEmail: {
      role: "EDITOR",
      isAudited: false,
      summary: "Change the time of a scheduled mail",
      description:
        "409 once the mail is leased to be sent, and for mail that was not scheduled. Copies of one " +
        "message have a time each.",
    },
    cancelEmail: {
      role: "EDITOR",
      isAudited: false,
      summary: "Cancel a mail that waits",
      description:
        "The mail is then CANCELLED and not sent. 409 while it is under way and once it has ended.",
      isIdempotent: true,
      links: { getEmail: { id: "/data/id" } },
    },
    getEmailContent: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "The rendered content of a mail",
      description:
        "The subject, the parts and the headers, rendered again from what is stored. Tracked " +
        "links and the tracking pixel are left out. 404 with the code `CONTENT_PURGED` if the " +
        "content was removed.",
    },
    previewEmail: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "A mail as a document for a frame",
      description:
        "The policy of the document allows no scripts and no requests, except those for images " +
        "with `images=true`. Its links open new tabs. Reading it is not counted as an open.",
    },
    getEmailSource: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "The message of a mail as text",
      description:
        "The message as it leaves, with tracked links and a DKIM signature of this moment. The " +
        "message that was captured, byte for byte, is at `/emails/{id}/raw`.",
    },
    checkEmail: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Check a mail",
      description:
        "Checks the structure, the headers, and the support of its HTML and CSS by mail " +
        "programs. Links are requested only with `links=true`, and never those of the service " +
        "itself.",
    },
    getRawEmail: {
      role: "EDITOR",
      summary: "The exact message that the capture transport stored",
      description: "404 unless the server runs with `--transport capture`.",
      headers: ["Content-Disposition"],
    },
  },
);
