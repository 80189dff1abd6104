/** The schemas of the result of a rehearsal. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input } from "../../http/validation.ts";
import { EmailChecks } from "../emails/content/model.ts";
import { ShownVariant } from "./ab-tests/ab-model.ts";

const DEFAULT_SAMPLE = 20;
const MAX_SAMPLE = 100;

export const RehearsalInput = named(
  "RehearsalInput",
  described(
    Input({
      sample: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SAMPLE })),
      variantId: ShownVariant,
    }),
    {
      sample: `Number of contacts for whom the campaign is rendered, default ${DEFAULT_SAMPLE}`,
      variantId: "Variant of the A/B test; the content of the campaign if omitted",
    },
  ),
  { description: "How large a rehearsal is", example: { sample: 20 } },
);

export const sampleSize = (input: Static<typeof RehearsalInput> | null | undefined): number =>
  input?.sample ?? DEFAULT_SAMPLE;

const { findings, support, features } = EmailChecks.properties;

const Variant = named(
  "RehearsalVariant",
  described(
    Type.Object({
      contact: described(
        Type.Object({
          id: Type.String(),
          email: Type.String(),
          data: Type.Record(Type.String(), Type.Unknown()),
        }),
        { id: "Id of the contact", email: "Its address", data: "Its data" },
      ),
      reasons: Type.Array(Type.String()),
      subject: Nullable(Type.String()),
      fault: Nullable(Type.String()),
      messageId: Nullable(Type.String()),
      findings,
      support: Nullable(support),
      features,
    }),
    {
      contact: "The contact for whom it was rendered",
      reasons: "What this contact has that none before it has, such as a missing variable",
      subject: "The rendered subject; null if the campaign cannot be rendered",
      fault: "Why it cannot be rendered for this contact; null if it can",
      messageId: "Id of the message in the inbox; null if there is none",
      findings: "The checks of structure and headers",
      support:
        "Support of the used HTML and CSS by mail programs, in percent; null without a message",
      features: "The used features that not all programs support, the worst supported first",
    },
  ),
  { description: "A campaign as one contact would get it" },
);
export type RehearsalVariant = Static<typeof Variant>;

const Count = Type.Integer();

export const Rehearsal = named(
  "Rehearsal",
  described(
    Type.Object({
      at: Type.String({ format: "date-time" }),
      inboxId: Type.String(),
      rendered: Count,
      failed: Count,
      withErrors: Count,
      withWarnings: Count,
      variants: Type.Array(Variant),
    }),
    {
      at: "When it ended",
      inboxId: "Id of the inbox that has the messages",
      rendered: "Contacts for whom the campaign was rendered",
      failed: "Contacts for whom it cannot be rendered",
      withErrors: "Messages of which a check found an error",
      withWarnings: "Messages of which a check found a warning",
      variants: "The campaign for each contact",
    },
  ),
  {
    description: "A campaign rendered for contacts of its audience whose data differ",
    example: {
      at: EXAMPLE.createdAt,
      inboxId: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0a",
      rendered: 1,
      failed: 0,
      withErrors: 0,
      withWarnings: 0,
      variants: [
        {
          contact: { id: EXAMPLE.contactId, email: "ada@example.com", data: { name: "Ada" } },
          reasons: ["oldest contact"],
          subject: "News for Ada",
          fault: null,
          messageId: "7hG2kQ0vXc9LmN4pRsT1uW",
          findings: [{ name: "text-part", status: "OK", message: "The message has a text part." }],
          support: { supported: 97.5, partial: 1.5, unsupported: 1 },
          features: [],
        },
      ],
    },
  },
);
export type Rehearsal = Static<typeof Rehearsal>;
