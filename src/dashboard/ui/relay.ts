/** Texts about the transport of this server, and about the numbers that are not known with it. */

import { type Relay, useAppState } from "../state.ts";

/** The reason why the number of deliveries is not known, by transport. */
const UNKNOWN: Readonly<Record<string, string>> = {
  relay: "Your relay does not report deliveries",
  capture: "Captured: nothing was delivered",
};

export function useWhyUnknown(): string {
  const { transport } = useAppState();
  return UNKNOWN[transport] ?? "Not known";
}

/**
 * True if the number of deliveries is meaningful: a relay does not report them, and captured mail is
 * not delivered. With other counts, a receiver has confirmed some, or mail left in another way before.
 */
export function useDeliveriesKnown(): (counts: { delivered: number }) => boolean {
  const { transport } = useAppState();
  return ({ delivered }) => UNKNOWN[transport] === undefined || delivered > 0;
}

/** Notes on the relay: its needs, the signature of the mail, its limits, and its reports of bounces. */
export function relayFacts(relay: Relay): [label: string, text: string][] {
  const { needs, signing, records, limit, reports } = relay;
  const facts: [string, string][] = [
    ["Before the first mail", needs],
    ["Signatures", signing],
    ["Records it wants", records],
    ["Limit", limit],
    ["Reports", reports],
  ];
  return facts.filter(([, text]) => text !== "");
}
