/** The input and the answer of `GET /inboxes/{id}/wait`. */

import { Type } from "@sinclair/typebox";
import { described, named } from "../../../http/documented.ts";
import { Input, QueryInteger } from "../../../http/validation.ts";
import { LONGEST_QUERY, Message } from "../model.ts";

export const MAX_WAIT_SECONDS = 60;
/** Most messages that a wait is for, and that its answer has. */
export const MAX_WAIT_ITEMS = 100;

export const WaitQuery = Input({
  query: Type.Optional(Type.String({ maxLength: LONGEST_QUERY, description: "As for the list" })),
  count: Type.Optional(
    QueryInteger({ minimum: 1, maximum: MAX_WAIT_ITEMS, description: "Messages, default 1" }),
  ),
  since: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Only messages received at or after this time, or after the message with this id",
    }),
  ),
  timeoutSeconds: Type.Optional(
    QueryInteger({ minimum: 0, maximum: MAX_WAIT_SECONDS, description: "Default 30" }),
  ),
  quietMs: Type.Optional(
    QueryInteger({
      minimum: 1,
      maximum: MAX_WAIT_SECONDS * 1000,
      description: "Waits instead until no matching message has arrived for this time",
    }),
  ),
});

export const WaitResult = named(
  "InboxWaitResult",
  described(
    Type.Object({
      matched: Type.Boolean({ examples: [true] }),
      quiet: Type.Boolean({ examples: [false] }),
      items: Type.Array(Message),
    }),
    {
      matched: "At least `count` messages match",
      quiet: "The time of `quietMs` passed without a matching message",
      items: "The matching messages, newest first",
    },
  ),
  { description: "The result of a wait" },
);
