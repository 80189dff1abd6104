/** An A/B test and its result, which the demonstration project does not have. */

import type { AbTest } from "../../src/modules/campaigns/ab-tests/ab-model.ts";
import type { AbReport } from "../../src/modules/campaigns/ab-tests/ab-report-model.ts";
import { verdictOf } from "../../src/modules/campaigns/ab-tests/ab-verdict.ts";

const HOUR_MS = 60 * 60_000;

const VARIANT = {
  id: "A",
  name: null,
  subject: null,
  preheader: null,
  from: null,
  fromName: null,
  replyTo: null,
  body: null,
  format: null,
  design: null,
  layoutId: null,
  templateId: null,
} as const;

export const sampleAbTest = (): AbTest => ({
  variants: [
    { ...VARIANT, name: "Plain" },
    {
      ...VARIANT,
      id: "B",
      name: "Question",
      subject: "{{ name }}, what will you read this autumn?",
    },
    { ...VARIANT, id: "C", name: "From Mara", fromName: "Mara of Harbour Books" },
  ],
  share: 30,
  holdOut: 5,
  winner: { by: "EVENT", eventName: "order_placed", afterMinutes: 240 },
});

type Figures = AbReport["variants"][number];

const figuresOf = (id: Figures["id"], fields: Partial<Figures>): Figures => ({
  id,
  name: null,
  subject: "New books for October",
  recipients: 412,
  sent: 410,
  delivered: 404,
  opened: 160,
  clicked: 31,
  events: 14,
  bounced: 6,
  complained: 0,
  unsubscribed: 1,
  hits: 14,
  rate: 14 / 410,
  decidedSent: 410,
  decidedHits: 12,
  ...fields,
});

export function sampleAbReport(): AbReport {
  const variants = [
    figuresOf("A", { name: "Plain" }),
    figuresOf("B", {
      name: "Question",
      subject: "{{ name }}, what will you read this autumn?",
      opened: 214,
      clicked: 66,
      events: 38,
      hits: 38,
      rate: 38 / 410,
      decidedHits: 33,
    }),
    figuresOf("C", { name: "From Mara", opened: 171, hits: 19, events: 19, rate: 19 / 410 }),
  ];
  const verdict = verdictOf(variants.map(({ id, hits, sent }) => ({ id, hits, total: sent })));
  return {
    state: {
      phase: "REST",
      waitsUntil: null,
      winnerId: "B",
      chosenBy: "RULE",
      decidedAt: new Date(Date.now() - 20 * HOUR_MS).toISOString(),
    },
    hasRest: true,
    variants,
    rest: { recipients: 2_671, sent: 2_660, opened: 1_320, clicked: 402 },
    verdict: { ...verdict, bestId: "B" },
    holdOut: {
      contacts: 206,
      events: 6,
      receivers: 3_890,
      receiverEvents: 298,
      pValue: 0.014,
      text:
        "7.7 % of those who got a mail, and 2.9 % of those who got none, had the event: a difference " +
        "this large would come by chance in 1 of 100 tests.",
    },
  };
}
