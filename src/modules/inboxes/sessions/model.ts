/** The shapes of recorded SMTP sessions. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../http/envelope.ts";
import { Input, OneOf, QueryInteger } from "../../../http/validation.ts";

const Time = Type.String({ format: "date-time" });

const members = {
  id: Type.String(),
  peer: Type.String({ description: "Address of the client" }),
  startedAt: Time,
  endedAt: Nullable(Time),
  lines: Type.Integer(),
};
export const SmtpSession = Type.Object(members);
export type SmtpSession = Static<typeof SmtpSession>;

export const SessionDetail = Type.Object({
  ...members,
  transcript: Type.Array(
    Type.Object({
      atMs: Type.Integer({ description: "Milliseconds since the session began" }),
      from: OneOf(["client", "server"]),
      text: Type.String({ description: "Without line end and credentials" }),
    }),
  ),
});
export type SessionDetail = Static<typeof SessionDetail>;

export const SessionQuery = Input({
  limit: Type.Optional(
    QueryInteger({ minimum: 1, maximum: 200, description: "Sessions, default 50" }),
  ),
});

export const SessionParams = Type.Object({ id: Type.String(), sessionId: Type.String() });
