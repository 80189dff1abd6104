/** Texts of the operations on inbound routes and received mails for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const inboundRouteOperations = describeOperations(
  { tag: "Inbound", id: "Id of the inbound route" },
  {
    listInboundRoutes: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List inbound routes",
      description: "The addresses that the project receives mail for, newest first.",
    },
    addInboundRoute: {
      role: "ADMIN",
      summary: "Receive mail for an address, or for all addresses of a domain",
      description:
        "The domain, or one above it, must be verified in the project (403), and its MX record must " +
        "lead to this server first, which must listen with --inbound (409). An address has one route " +
        "in the whole installation (409).",
      isIdempotent: true,
      links: { removeInboundRoute: { id: "/data/id" } },
    },
    removeInboundRoute: {
      role: "ADMIN",
      summary: "Remove an inbound route",
      description: "Mail for the address is refused at once. Mails that arrived before stay.",
    },
  },
);

export const receivedMailOperations = describeOperations(
  { tag: "Inbound", id: "Id of the received mail" },
  {
    listReceivedMails: {
      role: "EDITOR",
      summary: "List received mails",
      description: "The mails that arrived for inbound routes in the last 30 days, newest first.",
    },
    getReceivedMail: {
      role: "EDITOR",
      summary: "A received mail",
      description: "Its header, attachments, and how its sender was verified.",
      links: { getReceivedMailRaw: { id: "/data/id" }, deleteReceivedMail: { id: "/data/id" } },
    },
    deleteReceivedMail: {
      role: "EDITOR",
      summary: "Delete a received mail",
      description:
        "The message is removed, and its texts from the event `email.received`, which stays. This " +
        "frees space in the share of received mail. Mails by which it was forwarded stay.",
    },
    previewReceivedMail: {
      role: "EDITOR",
      summary: "A document to show a received mail in a frame",
      description:
        "Scripts, forms and resources of other hosts are blocked by the policy of the response; " +
        "inline images are in the document. `images=true` allows images of other hosts. A mail " +
        "without HTML is shown as text.",
    },
    getReceivedMailRaw: {
      role: "EDITOR",
      summary: "The raw message of a received mail",
      description: "Octet for octet as it arrived, without fields of this server.",
      headers: ["Content-Disposition"],
    },
    getReceivedMailAttachment: {
      role: "EDITOR",
      summary: "The content of an attachment of a received mail",
      description: "Decoded, with the media type that the message names.",
      parameters: { attachmentId: "Id of the attachment, as in the mail's `attachments`" },
      headers: ["Content-Disposition"],
    },
  },
);
