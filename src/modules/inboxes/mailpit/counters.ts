import { perApp } from "../../../lib/per-app.ts";
/** Numbers of messages of each inbox since the start of the process. */

type Counted = { accepted: number; acceptedBytes: number; deleted: number };

export type MailpitCounters = ReturnType<typeof createMailpitCounters>;

export const mailpitCounters = perApp(createMailpitCounters);

function createMailpitCounters() {
  const byInbox = new Map<number, Counted>();

  function of(inboxSeq: number): Counted {
    return byInbox.get(inboxSeq) ?? { accepted: 0, acceptedBytes: 0, deleted: 0 };
  }

  return {
    of,

    accepted(inboxSeq: number, bytes: number): void {
      const { accepted, acceptedBytes, deleted } = of(inboxSeq);
      const sum = { accepted: accepted + 1, acceptedBytes: acceptedBytes + bytes, deleted };
      byInbox.set(inboxSeq, sum);
    },

    deleted(inboxSeq: number, count: number): void {
      const counted = of(inboxSeq);
      byInbox.set(inboxSeq, { ...counted, deleted: counted.deleted + count });
    },
  };
}
