/** Keeps every mail instead of sending it: for development and for a first look. */

import type { Outcome, Transport } from "../outcome.ts";

const CONCURRENCY = 20;

export function captureTransport(): Transport {
  return {
    name: "capture",
    concurrency: CONCURRENCY,
    send: (dispatch) => {
      const keep = () => Promise.resolve(captured(dispatch.message));
      return dispatch.leave === undefined ? keep() : dispatch.leave(keep);
    },
    close: async () => {},
  };
}

function captured(message: Uint8Array): Outcome {
  return {
    kind: "accepted",
    class: "accepted",
    reason: "captured",
    final: false,
    captured: message,
    conversations: [],
  };
}
