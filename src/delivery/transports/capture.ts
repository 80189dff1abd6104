/** Keeps every mail instead of sending it: for development and for a first look. */

import type { Transport } from "../outcome.ts";

const CONCURRENCY = 20;

export function captureTransport(): Transport {
  return {
    name: "capture",
    concurrency: CONCURRENCY,
    send: async ({ message }) => ({
      kind: "accepted",
      class: "accepted",
      reason: "captured",
      final: false,
      captured: message,
      conversations: [],
    }),
    close: async () => {},
  };
}
