/** The input and the result of the release of a message. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../../http/documented.ts";
import { BareAddress } from "../../../http/formats.ts";
import { Input, OneOf } from "../../../http/validation.ts";
import { SmtpConversation } from "../../emails/record-model.ts";

const MAX_RECIPIENTS = 10;

export const ReleaseInput = named(
  "InboxReleaseInput",
  described(Input({ to: Type.Array(BareAddress, { minItems: 1, maxItems: MAX_RECIPIENTS }) }), {
    to: "The new recipients; they replace those of the message's envelope",
  }),
  { description: "To whom a message is sent", example: { to: ["ada@example.com"] } },
);

export const Release = named(
  "InboxRelease",
  described(
    Type.Object({
      to: Type.String(),
      outcome: OneOf(["accepted", "deferred", "bounced", "failed", "suppressed"]),
      reason: Type.String(),
      conversations: Type.Array(SmtpConversation),
    }),
    {
      to: "The recipient",
      outcome: "deferred: the server refused for now; the message is not sent again by itself",
      reason: "The reply of the server, or the fault",
      conversations: "The conversations with mail servers, in their order",
    },
  ),
  {
    description: "What happened to a released message for one recipient",
    example: {
      to: "ada@example.com",
      outcome: "accepted",
      reason: "250 2.0.0 Ok",
      conversations: [],
    },
  },
);
export type Release = Static<typeof Release>;
