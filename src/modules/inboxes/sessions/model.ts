/** The shapes of recorded SMTP sessions. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, QueryBoolean, QueryInteger } from "../../../http/validation.ts";

const Time = Type.String({ format: "date-time" });

const members = {
  id: Type.String(),
  peer: Type.String(),
  startedAt: Time,
  endedAt: Nullable(Time),
  lines: Type.Integer(),
  refusal: Nullable(Type.String()),
};
const texts = {
  id: "Id of the session",
  peer: "Address of the client",
  startedAt: "When the connection was accepted",
  endedAt: "When it ended; null if it has not",
  lines: "Number of recorded lines",
  refusal:
    "The first reply with a code of 4xx or 5xx, or that a rule closed the connection; null without one",
};
const example = {
  id: "rk3j2hdk4jd8",
  peer: "127.0.0.1",
  startedAt: EXAMPLE.createdAt,
  endedAt: EXAMPLE.updatedAt,
  lines: 1,
  refusal: null,
};

export const SmtpSession = named("InboxSession", described(Type.Object(members), texts), {
  description: "An SMTP session",
  example,
});
export type SmtpSession = Static<typeof SmtpSession>;

const TranscriptLine = named(
  "InboxSessionLine",
  described(
    Type.Object({
      atMs: Type.Integer(),
      from: OneOf(["client", "server"]),
      text: Type.String(),
    }),
    {
      atMs: "Milliseconds since the session began",
      from: "Who sent the line",
      text: "Without line end and credentials",
    },
  ),
  { description: "A line of an SMTP session" },
);

export const SessionDetail = named(
  "InboxSessionDetail",
  described(Type.Object({ ...members, transcript: Type.Array(TranscriptLine) }), {
    ...texts,
    transcript: "The lines in their order",
  }),
  {
    description: "An SMTP session with its transcript",
    example: { ...example, transcript: [{ atMs: 3, from: "client", text: "EHLO localhost" }] },
  },
);
export type SessionDetail = Static<typeof SessionDetail>;

export const SessionQuery = Input({
  limit: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 200, description: "Sessions, default 50" }),
  ),
  refused: Type.Optional(
    describedUse(QueryBoolean(), "Only sessions in which something was refused, or only others"),
  ),
});

export const SessionParams = Type.Object({ id: Type.String(), sessionId: Type.String() });
