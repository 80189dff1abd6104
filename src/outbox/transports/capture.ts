/** Stores every mail instead of sending it, for development and evaluation, at the configured rate. */

import { deferWithoutSlot, type Outgoing, type Transport, WITHDRAWN } from "../outcome.ts";
import type { Pace } from "../pace.ts";

const CONCURRENCY = 20;

export function captureTransport(pace?: Pace): Transport {
  /** The mails that wait for the pace. */
  const waiting = new Set<Outgoing>();

  function start(mail: Outgoing): void {
    if (pace === undefined) return capture(mail);
    mail.waitsFor = "turn";
    waiting.add(mail);
    pace(
      (ended) => {
        // It was withdrawn meanwhile, unless it is deleted here.
        if (waiting.delete(mail)) capture(mail);
        ended();
      },
      mail.isUrgent === true ? 1 : 0,
    );
  }

  return {
    name: "capture",
    concurrency: CONCURRENCY,
    start,
    withdrawWaiting() {
      for (const mail of waiting) {
        waiting.delete(mail);
        withdraw(mail);
      }
    },
    close: async () => {},
  };
}

function capture(mail: Outgoing): void {
  if (mail.begin?.() === false) return withdraw(mail);
  mail.end({
    kind: "accepted",
    class: "accepted",
    reason: "captured",
    final: false,
    captured: mail.message,
    conversations: [],
  });
}

function withdraw(mail: Outgoing): void {
  mail.end(deferWithoutSlot(WITHDRAWN));
}
