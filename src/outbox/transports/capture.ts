/** Stores every mail instead of sending it, for development and evaluation. */

import { transactWhenAllowed } from "../../protocols/smtp/dispatch.ts";
import type { Outcome, Transport } from "../outcome.ts";

const CONCURRENCY = 20;

export function captureTransport(): Transport {
  return {
    name: "capture",
    concurrency: CONCURRENCY,
    send: (dispatch) =>
      transactWhenAllowed(dispatch, () => Promise.resolve(capturedOutcome(dispatch.message))),
    close: async () => {},
  };
}

function capturedOutcome(message: Uint8Array): Outcome {
  return {
    kind: "accepted",
    class: "accepted",
    reason: "captured",
    final: false,
    captured: message,
    conversations: [],
  };
}
