/** Stores every mail instead of sending it, for development and evaluation. */

import type { Outcome, Transport } from "../outcome.ts";

const CONCURRENCY = 20;

export function captureTransport(): Transport {
  return {
    name: "capture",
    concurrency: CONCURRENCY,
    send: (dispatch) => {
      const capture = () => Promise.resolve(capturedOutcome(dispatch.message));
      return dispatch.whenAllowed === undefined ? capture() : dispatch.whenAllowed(capture);
    },
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
