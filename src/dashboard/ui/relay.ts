/** The relay through which the mail of this server leaves, and what its numbers lack because of it. */

import { type Relay, useAppState } from "../state.ts";

export const NOT_REPORTED = "Your relay does not report deliveries";

/**
 * Whether the number of deliveries says something: a relay does not report them, so there are none.
 * With other counts, a receiver has confirmed some, or mail left without a relay before.
 */
export function useDeliveriesKnown(): (counts: { delivered: number }) => boolean {
  const { transport } = useAppState();
  return ({ delivered }) => transport !== "relay" || delivered > 0;
}

/** Who signs the mail, what the relay limits, and how it reports bounces. */
export const relayFacts = ({ signing, limit, reports }: Relay): [label: string, text: string][] => [
  ["Signatures", signing],
  ["Limit", limit],
  ["Reports", reports],
];
