/** Changes many messages in steps, so that incoming mail is not delayed, and tells live clients. */

import type { Writer } from "../../../db/writer.ts";
import type { InboxChange, InboxChanges } from "../changes.ts";
import type { MessageRecord } from "../messages/record.ts";
import type { MessageStore } from "../messages/store.ts";

const STEP_MESSAGES = 16;
/** If more messages change, live clients are told to read the list again. */
const MAX_PUBLISHED = 500;

type Message = Pick<MessageRecord, "seq" | "id" | "tags">;

export type MailpitEdits = ReturnType<typeof createMailpitEdits>;

export function createMailpitEdits(deps: {
  changes: InboxChanges;
  store: MessageStore;
  writer: Pick<Writer, "write">;
  onDeleted: (inboxSeq: number, count: number) => void;
}) {
  const { changes, store, writer, onDeleted } = deps;

  /** Runs `edit` in a transaction for each step. It returns the changes to publish. */
  async function inSteps(
    inboxSeq: number,
    seqs: readonly number[],
    edit: (messages: readonly Message[]) => InboxChange[],
  ): Promise<number> {
    const published: InboxChange[] = [];
    let changed = 0;
    for (let at = 0; at < seqs.length; at += STEP_MESSAGES) {
      const step = seqs.slice(at, at + STEP_MESSAGES);
      const done = await writer.write(() => edit(step.flatMap((seq) => store.bySeq(seq) ?? [])));
      changed += done.length;
      if (changed <= MAX_PUBLISHED) published.push(...done);
    }
    if (changed > MAX_PUBLISHED) changes.publish(inboxSeq, { type: "reload" });
    else for (const change of published) changes.publish(inboxSeq, change);
    return changed;
  }

  return {
    setRead: (inboxSeq: number, seqs: readonly number[], isRead: boolean): Promise<number> =>
      inSteps(inboxSeq, seqs, (messages) =>
        messages.flatMap(({ seq, id }) =>
          store.setRead(seq, isRead) ? [{ type: "updated" as const, id, isRead }] : [],
        ),
      ),

    /** `tagsOf` returns the new tags of a message for its present ones. */
    setTags: (
      inboxSeq: number,
      seqs: readonly number[],
      tagsOf: (tags: readonly string[]) => readonly string[],
    ): Promise<number> =>
      inSteps(inboxSeq, seqs, (messages) =>
        messages.flatMap(({ seq, id, tags: before }) => {
          store.setTags(seq, tagsOf(before));
          const tags = store.bySeq(seq)?.tags ?? [];
          const isSame = tags.join("\n") === before.join("\n");
          return isSame ? [] : [{ type: "updated" as const, id, tags }];
        }),
      ),

    async remove(inboxSeq: number, seqs: readonly number[]): Promise<void> {
      const count = await inSteps(inboxSeq, seqs, (messages) => {
        store.removeAll(messages.map(({ seq }) => seq));
        return messages.map(({ id }) => ({ type: "deleted" as const, id }));
      });
      onDeleted(inboxSeq, count);
    },

    /** Removes these messages, which are all of the inbox. */
    async clear(inboxSeq: number, seqs: readonly number[]): Promise<void> {
      for (let at = 0; at < seqs.length; at += STEP_MESSAGES) {
        await writer.write(() => store.removeAll(seqs.slice(at, at + STEP_MESSAGES)));
      }
      onDeleted(inboxSeq, seqs.length);
      const isEmpty = store.latest(inboxSeq) === null;
      changes.publish(inboxSeq, { type: isEmpty ? "cleared" : "reload" });
    },
  };
}
