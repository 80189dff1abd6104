/** Changes many messages in steps, so that incoming mail is not delayed, and tells live clients. */

import type { Writer } from "../../../db/writer.ts";
import type { InboxChange, InboxChanges } from "../changes.ts";
import type { MessageStore } from "../messages/store.ts";

const STEP_MESSAGES = 16;
/** If more messages change, live clients are told to read the list again. */
const MAX_PUBLISHED = 500;

export type MailpitEdits = ReturnType<typeof createMailpitEdits>;

export function createMailpitEdits(deps: {
  changes: InboxChanges;
  store: MessageStore;
  writer: Pick<Writer, "write">;
  onDeleted: (inboxSeq: number, count: number) => void;
}) {
  const { changes, store, writer, onDeleted } = deps;

  /** Runs `edit` in a transaction for each step. It returns the change to publish, or null. */
  async function inSteps(
    inboxSeq: number,
    seqs: readonly number[],
    edit: (seq: number, id: string) => InboxChange | null,
  ): Promise<number> {
    const published: InboxChange[] = [];
    let changed = 0;
    for (let at = 0; at < seqs.length; at += STEP_MESSAGES) {
      const done = await writer.write(() =>
        seqs.slice(at, at + STEP_MESSAGES).flatMap((seq) => {
          const id = store.bySeq(seq)?.id;
          return id === undefined ? [] : (edit(seq, id) ?? []);
        }),
      );
      changed += done.length;
      if (changed <= MAX_PUBLISHED) published.push(...done);
    }
    if (changed > MAX_PUBLISHED) changes.publish(inboxSeq, { type: "reload" });
    else for (const change of published) changes.publish(inboxSeq, change);
    return changed;
  }

  return {
    setRead: (inboxSeq: number, seqs: readonly number[], isRead: boolean): Promise<number> =>
      inSteps(inboxSeq, seqs, (seq, id) =>
        store.setRead(seq, isRead) ? { type: "updated", id, isRead } : null,
      ),

    /** `tagsOf` returns the new tags of a message for its present ones. */
    setTags: (
      inboxSeq: number,
      seqs: readonly number[],
      tagsOf: (tags: readonly string[]) => readonly string[],
    ): Promise<number> =>
      inSteps(inboxSeq, seqs, (seq, id) => {
        const before = store.bySeq(seq)?.tags ?? [];
        store.setTags(seq, tagsOf(before));
        const tags = store.bySeq(seq)?.tags ?? [];
        return tags.join("\n") === before.join("\n") ? null : { type: "updated", id, tags };
      }),

    async remove(inboxSeq: number, seqs: readonly number[]): Promise<void> {
      const count = await inSteps(inboxSeq, seqs, (seq, id) => {
        store.remove(seq);
        return { type: "deleted", id };
      });
      onDeleted(inboxSeq, count);
    },

    /** Removes these messages, which are all of the inbox. */
    async clear(inboxSeq: number, seqs: readonly number[]): Promise<void> {
      for (let at = 0; at < seqs.length; at += STEP_MESSAGES) {
        await writer.write(() => {
          for (const seq of seqs.slice(at, at + STEP_MESSAGES)) store.remove(seq);
        });
      }
      onDeleted(inboxSeq, seqs.length);
      const isEmpty = store.latest(inboxSeq) === null;
      changes.publish(inboxSeq, { type: isEmpty ? "cleared" : "reload" });
    },
  };
}
