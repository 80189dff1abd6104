import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { Input } from "../../http/validation.ts";

const DateTime = Type.String({ format: "date-time" });

export const InboundRoute = named(
  "InboundRoute",
  described(
    Type.Object({
      id: Type.String(),
      address: Type.String(),
      action: Type.Union([
        described(Type.Object({ webhook: Type.Literal(true) }), {
          webhook: "Mail becomes the event email.received",
        }),
        described(Type.Object({ forward: Type.String() }), {
          forward: "Mail becomes the event, and is forwarded to this address",
        }),
      ]),
      createdAt: DateTime,
    }),
    {
      id: "Id of the route",
      address: "The address, or `*@domain` for all addresses of a domain that have no own route",
      action: "What happens with mail for the address",
      createdAt: "When the route was added",
    },
  ),
  {
    description: "An address that the project receives mail for",
    example: {
      id: EXAMPLE.inboundRouteId,
      address: "support@reply.example.com",
      action: { webhook: true },
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type InboundRoute = Static<typeof InboundRoute>;

export const InboundRouteInput = named(
  "InboundRouteInput",
  described(
    Input({
      address: EmailAddress,
      action: described(
        Input({
          webhook: Type.Optional(Type.Literal(true)),
          forward: Type.Optional(EmailAddress),
        }),
        {
          webhook: "True: mail becomes the event email.received",
          forward: "Mail becomes the event, and is forwarded to this address",
        },
      ),
    }),
    {
      address: "An address, or `*@domain`",
      action: "Either `{webhook: true}`, or `{forward: address}`",
    },
  ),
  {
    description: "A route to add",
    example: { address: "support@reply.example.com", action: { webhook: true } },
  },
);

const AuthenticationVerdict = named(
  "ReceivedVerdict",
  described(
    Type.Object({
      result: Type.String(),
      domain: Nullable(Type.String()),
      info: Type.String(),
    }),
    {
      result:
        "pass, fail, softfail, neutral, none, policy, temperror, permerror (RFC 8601), or skipped",
      domain: "The domain that was checked; null if there is none",
      info: "The reason in one line; for DMARC the policy of the domain",
    },
  ),
  {
    description: "The result of one check of the sender",
    example: { result: "pass", domain: "example.org", info: "" },
  },
);

const ReceivedAttachment = named(
  "ReceivedAttachment",
  described(
    Type.Object({
      id: Type.String(),
      filename: Type.String(),
      contentType: Type.String(),
      size: Type.Integer(),
      url: Type.String(),
    }),
    {
      id: "Id of the part in the message",
      filename: "Its name; empty if it has none",
      contentType: "Media type that the message names",
      size: "Bytes of the content",
      url: "Link to the content; it needs a secret key",
    },
  ),
  { description: "A file in a received mail" },
);

export const ReceivedMail = named(
  "ReceivedMail",
  described(
    Type.Object({
      id: Type.String(),
      receivedAt: DateTime,
      size: Type.Integer(),
      sender: Type.String(),
      to: Type.Array(Type.String()),
      from: Nullable(Type.String()),
      fromName: Nullable(Type.String()),
      subject: Type.String(),
      messageId: Nullable(Type.String()),
      isAutomatic: Type.Boolean(),
      isReadable: Type.Boolean(),
      inReplyTo: Nullable(Type.String()),
      contactId: Nullable(Type.String()),
      attachments: Type.Array(ReceivedAttachment),
      authentication: Nullable(
        described(
          Type.Object({
            spf: AuthenticationVerdict,
            dkim: Type.Array(AuthenticationVerdict),
            dmarc: AuthenticationVerdict,
            arc: AuthenticationVerdict,
          }),
          {
            spf: "SPF (RFC 7208); skipped if the client has a private address",
            dkim: "DKIM (RFC 6376), one entry for each signature",
            dmarc: "DMARC, from the results of SPF and DKIM",
            arc: "ARC (RFC 8617): the chain of forwarders that sealed the mail",
          },
        ),
      ),
      forwarded: Type.Array(Type.String()),
    }),
    {
      id: "Id of the received mail",
      receivedAt: "When it arrived",
      size: "Bytes of the raw message",
      sender: "Sender of the envelope; empty for bounces",
      to: "Recipients of the envelope that have a route",
      from: "Address in From; null if it is not one address",
      fromName: "Name in From; null without one",
      subject: "Decoded subject",
      messageId: "Message-ID with angle brackets; null without one",
      isAutomatic: "Whether a program wrote it: a vacation note, a bounce, a newsletter",
      isReadable:
        "False if the message could not be parsed; then only the raw message has all of it",
      inReplyTo: "Id of the mail of the project to which it replies; null for others",
      contactId: "The contact who wrote it: of that mail, or of From if DMARC passes; else null",
      attachments: "The files, at most 100",
      authentication: "How the sender was verified; null for a bounce of forwarded mail",
      forwarded: "Ids of the mails by which it was forwarded",
    },
  ),
  {
    description: "A mail that arrived for an inbound route",
    example: {
      id: EXAMPLE.receivedMailId,
      receivedAt: EXAMPLE.createdAt,
      size: 2048,
      sender: "ada@example.org",
      to: ["support@reply.example.com"],
      from: "ada@example.org",
      fromName: "Ada",
      subject: "Re: Your order",
      messageId: "<1@example.org>",
      isAutomatic: false,
      isReadable: true,
      inReplyTo: EXAMPLE.emailId,
      contactId: EXAMPLE.contactId,
      attachments: [],
      authentication: null,
      forwarded: [],
    },
  },
);
export type ReceivedMail = Static<typeof ReceivedMail>;

export const AttachmentParams = Type.Object({ id: Type.String(), attachmentId: Type.String() });
