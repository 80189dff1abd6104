/** Previews: documents of mails that are shown in a frame. */

import { type Static, Type } from "@sinclair/typebox";
import { Input, OneOf, QueryBoolean } from "./validation.ts";

export const PreviewQuery = Input({
  part: Type.Optional({
    ...OneOf(["html", "text"]),
    description: "The part to show, default html",
  }),
  images: Type.Optional({
    ...QueryBoolean(),
    description: "Whether images of other servers are loaded; default false",
  }),
  dark: Type.Optional({
    ...QueryBoolean(),
    description: "Whether the colours are inverted, as mail programs with a dark theme do",
  }),
});
export type PreviewQuery = Static<typeof PreviewQuery>;

/** A preview of a template or campaign, which may be rendered for a contact. */
export const ContactPreviewQuery = Input({
  ...PreviewQuery.properties,
  contactId: Type.Optional(
    Type.String({ description: "Id of the contact to render for; sample data if omitted" }),
  ),
});

/** The schema of the responses, for the OpenAPI document. */
export const PreviewDocument = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/html",
    description: "The document",
    examples: ["<p>Thank you, Ada.</p>"],
  }),
);
