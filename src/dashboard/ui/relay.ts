/** How the mail of this server leaves, and what its numbers lack because of it. */

import { type Relay, useAppState } from "../state.ts";

/** Why the number of deliveries is not known, by transport. */
const UNKNOWN: Readonly<Record<string, string>> = {
  relay: "Your relay does not report deliveries",
  capture: "Captured: nothing was delivered",
};

export function useWhyUnknown(): string {
  const { transport } = useAppState();
  return UNKNOWN[transport] ?? "Not known";
}

/**
 * Whether the number of deliveries says something: a relay does not report them, and captured mail
 * reaches nobody. With other counts, a receiver has confirmed some, or mail left in another way before.
 */
export function useDeliveriesKnown(): (counts: { delivered: number }) => boolean {
  const { transport } = useAppState();
  return ({ delivered }) => UNKNOWN[transport] === undefined || delivered > 0;
}

/** Who signs the mail, what the relay limits, and how it reports bounces. */
export const relayFacts = ({ signing, limit, reports }: Relay): [label: string, text: string][] => [
  ["Signatures", signing],
  ["Limit", limit],
  ["Reports", reports],
];
