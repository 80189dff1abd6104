/** The content of a mail, and the checks of its message. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named, shownAs } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";

export const EmailCheckQuery = Input({
  links: Type.Optional({ ...QueryBoolean(), description: "Whether the links are requested" }),
});

const EmailAttachment = named(
  "EmailAttachment",
  described(
    Type.Object({ filename: Type.String(), contentType: Type.String(), size: Type.Integer() }),
    {
      filename: "Name of the file",
      contentType: "Media type",
      size: "Decoded size in bytes",
    },
  ),
  { description: "A file that was sent with a mail" },
);

/** A name and a value. OpenAPI 3.0 has no tuples. */
const Header = shownAs(Type.Tuple([Type.String(), Type.String()]), {
  type: "array",
  items: { type: "string" },
  minItems: 2,
  maxItems: 2,
});

export const EmailContent = named(
  "EmailContent",
  described(
    Type.Object({
      subject: Type.String(),
      html: Type.String(),
      text: Type.String(),
      isShortened: Type.Boolean(),
      headers: Type.Array(Header),
      signedHeaders: Type.Array(Type.String()),
      size: Type.Integer(),
      attachments: Type.Array(EmailAttachment),
      isMarketing: Type.Boolean(),
      usesCurrentData: Type.Boolean(),
    }),
    {
      subject: "The rendered subject",
      html: "The HTML part, with the links as they were written, without tracking",
      text: "The text part",
      isShortened: "True if a part is longer than 1 MiB and was cut there",
      headers: "Name and value of each header field, in their order, unfolded and not decoded",
      signedHeaders: "Names of the headers that DKIM signs, in lower case; empty if unsigned",
      size: "Size of the message in bytes",
      attachments: "The files that the mail has",
      isMarketing: "Whether it is marketing mail",
      usesCurrentData:
        "True if it was rendered with the present data of the contact, because the data at the " +
        "time of sending is not stored (mail of campaigns)",
    },
  ),
  {
    description: "What a mail contains",
    example: {
      subject: "Your order 1001",
      html: "<p>Thank you, Ada.</p>",
      text: "Thank you, Ada.",
      isShortened: false,
      headers: [
        ["From", "hello@acme.example"],
        ["Subject", "Your order 1001"],
      ],
      signedHeaders: ["from", "to", "subject"],
      size: 1420,
      attachments: [{ filename: "invoice.pdf", contentType: "application/pdf", size: 20_480 }],
      isMarketing: false,
      usesCurrentData: false,
    },
  },
);
export type EmailContent = Static<typeof EmailContent>;

/** The members of a finding; checks of captured messages have the same. */
export const FINDING = described(
  Type.Object({
    name: Type.String(),
    status: OneOf(["OK", "WARNING", "ERROR"]),
    message: Type.String(),
  }),
  {
    name: "Name of the check, such as text-part or list-unsubscribe",
    status: "ERROR: receivers are likely to refuse or to break the message",
    message: "What was found, in one sentence",
  },
);

const EmailFinding = named("EmailFinding", FINDING, {
  description: "The finding of one check of a mail",
});

export const SHARE_MEMBERS = {
  supported: Type.Number(),
  partial: Type.Number(),
  unsupported: Type.Number(),
};
export const SHARE_TEXTS = {
  supported: "Mail programs that support it, in percent",
  partial: "Mail programs that support a part of it, in percent",
  unsupported: "Mail programs that do not support it, in percent",
};

export const EmailFeature = named(
  "EmailFeature",
  described(
    Type.Object({
      slug: Type.String(),
      title: Type.String(),
      url: Type.String(),
      uses: Type.Integer(),
      ...SHARE_MEMBERS,
      unsupportedBy: Type.Array(Type.String()),
    }),
    {
      slug: "Name of the feature at caniemail.com",
      title: "Name of the feature for people",
      url: "Page about the feature",
      uses: "Number of uses in the HTML",
      ...SHARE_TEXTS,
      unsupportedBy: "The mail programs that do not support it",
    },
  ),
  { description: "A feature of HTML or CSS that not all mail programs support" },
);
export type EmailFeature = Static<typeof EmailFeature>;

/** The members of a link that was requested. */
export const REQUESTED_LINK = described(
  Type.Object({
    url: Type.String(),
    status: Nullable(Type.Integer()),
    error: Nullable(Type.String()),
  }),
  {
    url: "The address that was requested",
    status: "Status of the response, after redirects; null without a response",
    error: "Why there is no response; null if there is one",
  },
);

const EmailLink = named("EmailLink", REQUESTED_LINK, {
  description: "A link of a mail that was requested",
});

export const EmailChecks = named(
  "EmailChecks",
  described(
    Type.Object({
      findings: Type.Array(EmailFinding),
      support: described(Type.Object(SHARE_MEMBERS), SHARE_TEXTS),
      features: Type.Array(EmailFeature),
      urls: Type.Array(Type.String()),
      links: Nullable(Type.Array(EmailLink)),
    }),
    {
      findings: "The checks of structure and headers",
      support:
        "Support of the used HTML and CSS by mail programs, in percent: the mean over all uses of features",
      features: "The used features that not all programs support, the worst supported first",
      urls: "Addresses of the links, each once, without those of the service itself",
      links: "The responses of the first 50 links; null unless they were asked for",
    },
  ),
  {
    description: "The checks of a mail",
    example: {
      findings: [{ name: "text-part", status: "OK", message: "The message has a text part." }],
      support: { supported: 97.5, partial: 1.5, unsupported: 1 },
      features: [],
      urls: ["https://acme.example/orders/1001"],
      links: null,
    },
  },
);
export type EmailChecks = Static<typeof EmailChecks>;
