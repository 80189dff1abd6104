import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Kind = named(
  "ReportKind",
  OneOf(["bounce", "delay", "delivery", "complaint", "automatic", "unsubscribe", "unknown"]),
  {
    description:
      "bounce: the mail could not be delivered; delay: it is tried again; delivery: it was " +
      "delivered or passed on; complaint: the recipient reported it as spam; automatic: an " +
      "automatic reply or a newsletter; unsubscribe: any mail to the address in List-Unsubscribe; " +
      "unknown: none of these",
  },
);
export type ReportKind = Static<typeof Kind>;

export const ReportResult = named(
  "ReportResult",
  described(
    Type.Object({
      matched: Type.Boolean(),
      kind: Kind,
      email: Nullable(Type.String()),
      effect: OneOf(["bounced", "complained", "unsubscribed", "stored", "none"]),
      suppressed: Nullable(OneOf(["HARD_BOUNCE", "SOFT_BOUNCE", "COMPLAINT"])),
    }),
    {
      matched: "Whether the report is about a mail of this project",
      kind: "What the report says",
      email: "Id of that mail; null if there is none",
      effect:
        "What the report changed; stored if the mail keeps its status, at least until the outcome " +
        "of its attempt is known; none if it was known before, or changes nothing",
      suppressed: "Why the address of the recipient is suppressed now; null if it is not",
    },
  ),
  {
    description: "What was read in a report, and what it changed",
    example: {
      matched: true,
      kind: "bounce",
      email: EXAMPLE.emailId,
      effect: "bounced",
      suppressed: "HARD_BOUNCE",
    },
  },
);
export type ReportResult = Static<typeof ReportResult>;

export const ReportQuery = Input({
  recipient: Type.Optional(
    Type.String({
      maxLength: 320,
      description:
        "The address to which the report was sent (RCPT TO); without it, the header of the report is read",
    }),
  ),
});
