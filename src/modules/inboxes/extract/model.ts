/** The links and one-time codes of a message. */

import { Type } from "@sinclair/typebox";
import { described, named } from "../../../http/documented.ts";
import { OneOf } from "../../../http/validation.ts";

export const MessageLink = named(
  "InboxLink",
  described(
    Type.Object({
      url: Type.String(),
      text: Type.String(),
      position: Type.Integer(),
      part: OneOf(["HTML", "TEXT"]),
      kind: OneOf(["MAGIC", "OTHER", "UNSUBSCRIBE"]),
    }),
    {
      url: "The address, as the message has it",
      text: "Text of the link; empty for a link in plain text",
      position: "Number of the link in its part, from 0",
      part: "The part that has the link first",
      kind: "MAGIC: it signs in, confirms, accepts or resets; UNSUBSCRIBE: it ends a subscription",
    },
  ),
  {
    description: "A link of a message",
    example: {
      url: "https://shop.example/login?token=8f14e45fceea167a",
      text: "Sign in",
      position: 0,
      part: "HTML",
      kind: "MAGIC",
    },
  },
);

export const MessageCodes = named(
  "InboxCodes",
  described(
    Type.Object({
      codes: Type.Array(
        described(Type.Object({ code: Type.String(), context: Type.String() }), {
          code: "As a recipient types it",
          context: "The text around the code",
        }),
        { examples: [[{ code: "482913", context: "Your code is 482913." }]] },
      ),
      magicLinks: Type.Array(MessageLink),
    }),
    { codes: "One-time codes, best first", magicLinks: "Links of the kind MAGIC, best first" },
  ),
  { description: "What a recipient needs to sign in or to confirm" },
);
