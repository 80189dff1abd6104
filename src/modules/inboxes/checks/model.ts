/** The input and the result of the checks of a message. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { Input, QueryBoolean } from "../../../http/validation.ts";
import {
  EmailFeature,
  FINDING,
  REQUESTED_LINK,
  SHARE_TEXTS,
  SHARE_MEMBERS,
} from "../../emails/content/model.ts";

export const CheckQuery = Input({
  ip: Type.Optional(
    Type.String({
      maxLength: 45,
      description: "Address from which the message would be sent; SPF is checked for it",
    }),
  ),
  links: Type.Optional({ ...QueryBoolean(), description: "Whether the links are requested" }),
  authentication: Type.Optional({
    ...QueryBoolean(),
    description:
      "Whether the sender is authenticated, for which the DNS is asked; true if it is omitted",
  }),
});

const CheckFinding = named("InboxCheckFinding", FINDING, {
  description: "The finding of one check",
});

const CheckedLink = named("InboxCheckedLink", REQUESTED_LINK, {
  description: "A link of a message that was requested",
});

const Verdict = (texts: { result: string; domain: string; info: string }) =>
  described(
    Type.Object({ result: Type.String(), domain: Nullable(Type.String()), info: Type.String() }),
    texts,
  );

const Authentication = named(
  "InboxAuthentication",
  described(
    Type.Object({
      spf: Verdict({
        result: "pass, fail, softfail, neutral, none, temperror, permerror or skipped",
        domain: "The domain of the envelope's sender",
        info: "The reason, in one line",
      }),
      dkim: Type.Array(
        Verdict({
          result: "pass, fail, neutral, none, temperror, permerror or policy",
          domain: "The domain that signed; null without a signature",
          info: "The reason, in one line",
        }),
      ),
      dmarc: Verdict({
        result: "pass, fail, none, temperror or permerror",
        domain: "The domain of From; null if it has none",
        info: "The policy of the domain, or the reason",
      }),
    }),
    {
      spf: "SPF (RFC 7208); skipped without a public address in `ip` or of the client",
      dkim: "DKIM (RFC 6376), one entry for each signature; permerror for more than 10 or for headers of more than 64 KiB",
      dmarc: "DMARC (RFC 7489), from the results of SPF and DKIM",
    },
  ),
  { description: "How a receiver would authenticate the sender, by the DNS of this moment" },
);

export const MessageChecks = named(
  "InboxChecks",
  described(
    Type.Object({
      findings: Type.Array(CheckFinding),
      authentication: Nullable(Authentication),
      support: described(Type.Object(SHARE_MEMBERS), SHARE_TEXTS),
      features: Type.Array(EmailFeature),
      links: Nullable(Type.Array(CheckedLink)),
    }),
    {
      findings: "The checks of structure and headers",
      authentication: "SPF, DKIM and DMARC; null if it was not asked for",
      support:
        "Support of the used HTML and CSS by mail programs, in percent: the mean over all uses of features",
      features: "The used features that not all programs support, the worst supported first",
      links: "The first 50 links; null unless they were asked for",
    },
  ),
  {
    description: "The checks of a message",
    example: {
      findings: [{ name: "text-part", status: "OK", message: "The message has a text part." }],
      authentication: {
        spf: { result: "pass", domain: "shop.example", info: "" },
        dkim: [{ result: "pass", domain: "shop.example", info: "" }],
        dmarc: { result: "pass", domain: "shop.example", info: "p=reject" },
      },
      support: { supported: 97.5, partial: 1.5, unsupported: 1 },
      features: [],
      links: null,
    },
  },
);
export type MessageChecks = Static<typeof MessageChecks>;
