/** The schemas of the A/B test of a campaign. */

import { type Static, Type } from "@sinclair/typebox";
import {
  AB_CHOSEN_BY,
  AB_PHASES,
  AB_WINNER_RULES,
  CONTENT_FORMATS,
} from "../../../db/schema/campaigns.ts";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { DisplayName, EmailAddress } from "../../../http/formats.ts";
import { type CheckContext, Input, isRecord, OneOf } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { quickTemplateErrors } from "../../../render/request-mails.ts";
import { EventName } from "../../events/model.ts";
import { BodySource, Design, PreheaderSource, SubjectSource } from "../../templates/model.ts";

/** The ids of variants, by their place in the list. */
export const VARIANT_IDS = ["A", "B", "C", "D"] as const;
export const VariantId = OneOf(VARIANT_IDS);
/** In a request that shows a campaign or sends a test of it. */
export const ShownVariant = Type.Optional(
  describedUse(VariantId, "Variant of the A/B test; the content of the campaign if omitted"),
);

/** Four hours: most opens and clicks have happened by then. */
export const DEFAULT_AFTER_MINUTES = 240;
const SHORTEST_MINUTES = 15;
const LONGEST_MINUTES = 7 * 24 * 60;

const DateTime = Type.String({ format: "date-time" });

const WinnerRule = named("AbWinnerRule", OneOf(AB_WINNER_RULES), {
  description:
    "OPENS: the highest share of recipients who opened; CLICKS: who clicked; EVENT: who have an " +
    "event after the mail was sent; MANUAL: a person chooses",
});

const VARIANT_TEXTS = {
  id: "A, B, C or D, by the place in the list",
  name: "Name of the variant, which recipients do not see",
  subject: "Subject; null for that of the campaign",
  preheader: "Text after the subject; null for that of the campaign",
  from: "Address of the sender, at a verified domain; null for that of the campaign",
  fromName: "Display name of the sender; null for that of the campaign",
  replyTo: "Address to which replies go; null for that of the campaign",
  body: "HTML body; null for that of the campaign",
  format: "How the body is edited; it belongs to the body",
  design: "The JSON of the visual editor from which the body was made; it belongs to the body",
  layoutId: "Id of the layout around the body; it belongs to the body",
  templateId: "Id of the template from which the content was copied; null for none",
} as const;

const SETTING_TEXTS = {
  share: "Percent of the audience that gets the variants, in equal parts",
  holdOut: "Percent of the audience that gets nothing, to measure the effect; default 0",
  winner: "How the variant is chosen that the rest of the audience gets",
} as const;

const WINNER_TEXTS = {
  by: "What decides",
  eventName: "Name of the event; required for EVENT, otherwise null",
  afterMinutes:
    "When the winner is chosen: so many minutes after every mail of the test was tried once; " +
    "default 240, not used for MANUAL",
} as const;

const AbVariantInput = named(
  "AbVariantInput",
  described(
    Input({
      id: Type.Optional(VariantId),
      name: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
      subject: Type.Optional(Nullable(SubjectSource)),
      preheader: Type.Optional(Nullable(PreheaderSource)),
      from: Type.Optional(Nullable(EmailAddress)),
      fromName: Type.Optional(Nullable(DisplayName)),
      replyTo: Type.Optional(Nullable(EmailAddress)),
      body: Type.Optional(Nullable(BodySource)),
      format: Type.Optional(Nullable(OneOf(CONTENT_FORMATS))),
      design: Type.Optional(Nullable(Design)),
      layoutId: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
      templateId: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
    }),
    {
      ...VARIANT_TEXTS,
      templateId:
        "Id of a template whose content is copied into the fields that the request leaves out",
    },
  ),
  { description: "A variant of an A/B test. The first one has only a name." },
);
export type AbVariantInput = Static<typeof AbVariantInput>;

export const AbTestInput = named(
  "AbTestInput",
  described(
    Input({
      variants: Type.Array(AbVariantInput, { minItems: 2, maxItems: VARIANT_IDS.length }),
      share: Type.Integer({ minimum: 1, maximum: 100 }),
      holdOut: Type.Optional(Type.Integer({ minimum: 0, maximum: 50 })),
      winner: described(
        Input({
          by: WinnerRule,
          eventName: Type.Optional(Nullable(EventName)),
          afterMinutes: Type.Optional(
            Type.Integer({ minimum: SHORTEST_MINUTES, maximum: LONGEST_MINUTES }),
          ),
        }),
        WINNER_TEXTS,
      ),
    }),
    {
      variants:
        "Two to four variants: A is the content of the campaign, and the others name what differs",
      ...SETTING_TEXTS,
    },
  ),
  {
    description: "The A/B test of a campaign",
    example: {
      variants: [{}, { subject: "Spring is here, {{ name }}" }],
      share: 20,
      winner: { by: "CLICKS", afterMinutes: 240 },
    },
  },
);
export type AbTestInput = Static<typeof AbTestInput>;

const AbVariant = named(
  "AbVariant",
  described(
    Type.Object({
      id: VariantId,
      name: Nullable(Type.String()),
      subject: Nullable(Type.String()),
      preheader: Nullable(Type.String()),
      from: Nullable(Type.String()),
      fromName: Nullable(Type.String()),
      replyTo: Nullable(Type.String()),
      body: Nullable(Type.String()),
      format: Nullable(OneOf(CONTENT_FORMATS)),
      design: Nullable(Type.Unknown()),
      layoutId: Nullable(Type.String()),
      templateId: Nullable(Type.String()),
    }),
    VARIANT_TEXTS,
  ),
  { description: "A variant of an A/B test" },
);

/** The same form as `AbTestInput`, so that a caller may send back the test that it has read. */
export const AbTest = named(
  "AbTest",
  described(
    Type.Object({
      variants: Type.Array(AbVariant),
      share: Type.Integer(),
      holdOut: Type.Integer(),
      winner: described(
        Type.Object({
          by: WinnerRule,
          eventName: Nullable(Type.String()),
          afterMinutes: Type.Integer(),
        }),
        WINNER_TEXTS,
      ),
    }),
    { variants: "The variants; A is the content of the campaign", ...SETTING_TEXTS },
  ),
  { description: "The A/B test of a campaign" },
);
export type AbTest = Static<typeof AbTest>;

export const AbTestState = named(
  "AbTestState",
  described(
    Type.Object({
      phase: OneOf(AB_PHASES),
      waitsUntil: Nullable(DateTime),
      winnerId: Nullable(VariantId),
      chosenBy: Nullable(OneOf(AB_CHOSEN_BY)),
      decidedAt: Nullable(DateTime),
    }),
    {
      phase:
        "TEST: the mails of the test leave; WAITING: for the winner; REST: the rest of the audience " +
        "gets the winner, or nobody is left to get it",
      waitsUntil: "When the rule chooses the winner; null before, and if a person has to choose",
      winnerId: "The variant that the rest gets; null until it is chosen",
      chosenBy: "RULE, or PERSON; null until then",
      decidedAt: "When it was chosen; null until then",
    },
  ),
  {
    description: "How far the A/B test of a campaign has come",
    example: {
      phase: "WAITING",
      waitsUntil: "2036-03-03T13:00:00.000Z",
      winnerId: null,
      chosenBy: null,
      decidedAt: null,
    },
  },
);
export type AbTestState = Static<typeof AbTestState>;

/** The faults of `abTest` in a request that its schema cannot express. */
export function abTestErrors(
  { abTest }: Readonly<Record<string, unknown>>,
  request: Pick<CheckContext, "isLenient">,
): FieldError[] {
  if (!isRecord(abTest)) return [];
  const variants: readonly unknown[] = Array.isArray(abTest["variants"]) ? abTest["variants"] : [];
  const faults = variants
    .slice(0, VARIANT_IDS.length)
    .flatMap((variant, place) => (isRecord(variant) ? variantErrors(variant, place, request) : []));
  return [...faults, ...shareErrors(abTest), ...winnerErrors(abTest["winner"])];
}

function variantErrors(
  variant: Readonly<Record<string, unknown>>,
  place: number,
  request: Pick<CheckContext, "isLenient">,
): FieldError[] {
  const at = (name: string) => `abTest.variants.${place}.${name}`;
  const faults = quickTemplateErrors(variant, request).map((error) => ({
    ...error,
    field: at(error.field),
  }));
  if (typeof variant["id"] === "string" && variant["id"] !== VARIANT_IDS[place]) {
    const message = `must be ${VARIANT_IDS[place]}, by its place in the list`;
    faults.push({ field: at("id"), message, code: "invalid_value" });
  }
  if (place === 0) return [...faults, ...contentOfFirst(variant, at)];
  if ((variant["body"] ?? null) === null) return [...faults, ...withoutBody(variant, at)];
  return faults;
}

const CONTENT_FIELDS = [
  "subject",
  "preheader",
  "from",
  "fromName",
  "replyTo",
  "body",
  "design",
  "layoutId",
  "templateId",
] as const;

function contentOfFirst(
  variant: Readonly<Record<string, unknown>>,
  at: (name: string) => string,
): FieldError[] {
  return CONTENT_FIELDS.filter((name) => (variant[name] ?? null) !== null).map((name) => ({
    field: at(name),
    message: "must be omitted: variant A is the content of the campaign",
    code: "invalid_value",
  }));
}

/** A design and a layout belong to a body. A template may give all three. */
function withoutBody(
  variant: Readonly<Record<string, unknown>>,
  at: (name: string) => string,
): FieldError[] {
  if (variant["body"] === undefined && (variant["templateId"] ?? null) !== null) return [];
  return (["design", "layoutId"] as const)
    .filter((name) => (variant[name] ?? null) !== null)
    .map((name) => ({
      field: at(name),
      message: "must be omitted if the variant has no body of its own",
      code: "invalid_value",
    }));
}

function shareErrors({ share, holdOut = 0 }: Readonly<Record<string, unknown>>): FieldError[] {
  if (typeof share !== "number" || typeof holdOut !== "number" || share + holdOut <= 100) return [];
  const message = `and holdOut must be 100 or less together, but they are ${share + holdOut}`;
  return [{ field: "abTest.share", message, code: "too_big" }];
}

function winnerErrors(winner: unknown): FieldError[] {
  if (!isRecord(winner)) return [];
  const field = "abTest.winner.eventName";
  const hasName = (winner["eventName"] ?? null) !== null;
  if (winner["by"] === "EVENT" && !hasName) {
    return [{ field, message: "is required for EVENT", code: "required" }];
  }
  if (winner["by"] !== "EVENT" && hasName) {
    return [{ field, message: "must be omitted unless by is EVENT", code: "invalid_value" }];
  }
  return [];
}
