/** The schemas of the result of an A/B test. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { OneOf } from "../../../http/validation.ts";
import { AbTestState, VariantId } from "./ab-model.ts";

const EXAMPLE_VARIANT = {
  id: "A",
  name: null,
  subject: "Spring news",
  recipients: 1000,
  sent: 1000,
  delivered: 990,
  opened: 400,
  clicked: 50,
  events: 0,
  bounced: 10,
  complained: 0,
  unsubscribed: 2,
  hits: 50,
  rate: 0.05,
  decidedSent: null,
  decidedHits: null,
};

const EXAMPLE_REPORT = {
  state: {
    phase: "WAITING",
    waitsUntil: "2036-03-03T13:00:00.000Z",
    winnerId: null,
    chosenBy: null,
    decidedAt: null,
  },
  hasRest: true,
  variants: [
    EXAMPLE_VARIANT,
    { ...EXAMPLE_VARIANT, id: "B", subject: "Spring is here", clicked: 80, hits: 80, rate: 0.08 },
  ],
  rest: { recipients: 0, sent: 0, opened: 0, clicked: 0 },
  verdict: {
    kind: "BETTER",
    bestId: "B",
    pValue: 0.0065,
    neededPerVariant: null,
    text: "B is better: a difference this large would come by chance in 7 of 1,000 tests.",
  },
  holdOut: null,
};

const Count = Type.Integer();
const Rate = Type.Number();

const Variant = named(
  "AbVariantFigures",
  described(
    Type.Object({
      id: VariantId,
      name: Nullable(Type.String()),
      subject: Type.String(),
      recipients: Count,
      sent: Count,
      delivered: Count,
      opened: Count,
      clicked: Count,
      events: Count,
      bounced: Count,
      complained: Count,
      unsubscribed: Count,
      hits: Count,
      rate: Rate,
      decidedSent: Nullable(Count),
      decidedHits: Nullable(Count),
    }),
    {
      id: "Id of the variant",
      name: "Name of the variant; null for none",
      subject: "Liquid template of its subject",
      recipients: "Contacts of the test who have this variant",
      sent: "Mails that a mail server accepted",
      delivered: "Mails whose delivery was confirmed",
      opened: "Mails that a person opened",
      clicked: "Mails with a link that a person clicked",
      events: "Recipients who had the event of the rule after their mail was sent",
      bounced: "Mails that bounced",
      complained: "Mails that were reported as spam",
      unsubscribed: "Recipients who unsubscribed by this mail",
      hits: "The number that the rule counts; for MANUAL the clicked mails",
      rate: "hits as a share of the sent mails, 0 to 1",
      decidedSent: "Sent mails when the rule chose the winner; null if it did not",
      decidedHits: "hits at that moment; null if the rule did not choose",
    },
  ),
  { description: "The figures of a variant among the contacts of the test" },
);

const AbVerdict = named(
  "AbVerdict",
  described(
    Type.Object({
      kind: OneOf(["BETTER", "UNCERTAIN", "NOTHING"]),
      bestId: Nullable(VariantId),
      pValue: Nullable(Type.Number()),
      neededPerVariant: Nullable(Count),
      text: Type.String(),
    }),
    {
      kind: "BETTER: the best variant is better; UNCERTAIN: it may be chance; NOTHING to compare yet",
      bestId: "The variant with the highest rate; null before any was sent",
      pValue: "How probable a difference this large is by chance; null without two variants",
      neededPerVariant: "Mails of each variant that would show the difference; null if not needed",
      text: "The verdict as a sentence",
    },
  ),
  { description: "Whether the difference of the variants is more than chance" },
);

const HoldOutEffect = named(
  "AbHoldOutEffect",
  described(
    Type.Object({
      contacts: Count,
      events: Nullable(Count),
      receivers: Nullable(Count),
      receiverEvents: Nullable(Count),
      pValue: Nullable(Type.Number()),
      text: Nullable(Type.String()),
    }),
    {
      contacts: "Contacts who got nothing",
      events: "Those of them with the event since the campaign started; null without an event",
      receivers: "Contacts who got a mail; null without an event",
      receiverEvents: "Those of them with the event since the campaign started; null without one",
      pValue: "How probable a difference this large is by chance; null without an event",
      text: "The comparison as a sentence; null without an event",
    },
  ),
  { description: "What the campaign changed, compared with contacts who got nothing" },
);

export const AbReport = named(
  "AbReport",
  described(
    Type.Object({
      state: AbTestState,
      hasRest: Type.Boolean(),
      variants: Type.Array(Variant),
      rest: described(
        Type.Object({ recipients: Count, sent: Count, opened: Count, clicked: Count }),
        {
          recipients: "Contacts outside of the test whose mail was written",
          sent: "Mails that a mail server accepted",
          opened: "Mails that a person opened",
          clicked: "Mails with a link that a person clicked",
        },
      ),
      verdict: AbVerdict,
      holdOut: Nullable(HoldOutEffect),
    }),
    {
      state: "How far the test has come",
      hasRest: "Whether contacts remain for the winner",
      variants: "The figures of the variants",
      rest: "The mails with the winner, without those of the test",
      verdict: "Whether the difference is more than chance",
      holdOut: "The contacts who got nothing; null if the test has none",
    },
  ),
  { description: "The result of an A/B test", example: EXAMPLE_REPORT },
);
export type AbReport = Static<typeof AbReport>;
