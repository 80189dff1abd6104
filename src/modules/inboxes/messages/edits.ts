/** Changes messages for requests, and publishes each change after it is on disk. */

import type { InboxChange } from "../changes.ts";
import type { MessagePatch, Selection } from "../model.ts";
import type { MessageRecord } from "./record.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { messageMatching } from "../matching.ts";
import { messageStore } from "./store.ts";
import { inboxChanges } from "../changes.ts";

/** Messages that one change removes: a few milliseconds, so that incoming mail is not delayed. */
const STEP_MESSAGES = 10;
/** Messages that one search finds for the next changes. */
const PAGE_MESSAGES = 500;
/** If more messages are removed, live clients are told to read the list again. */
const MAX_PUBLISHED = 500;

type Removed = Pick<MessageRecord, "seq" | "id">;

export const messageEdits = perApp(createMessageEdits);

function createMessageEdits(app: App) {
  const { writer } = app;
  const [store, matching, changes] = [messageStore(app), messageMatching(app), inboxChanges(app)];

  /** Removes the pages that `next` returns until one is empty. Resolves to the number of messages. */
  async function removeAll(inboxSeq: number, next: () => Promise<Removed[]>): Promise<number> {
    const removed: string[] = [];
    for (;;) {
      const page = await next();
      if (page.length === 0) break;
      for (let from = 0; from < page.length; from += STEP_MESSAGES) {
        await removeStep(page.slice(from, from + STEP_MESSAGES));
      }
      removed.push(...page.map(({ id }) => id));
    }
    for (const change of changesOf(inboxSeq, removed)) changes.publish(inboxSeq, change);
    return removed.length;
  }

  function removeStep(messages: readonly Removed[]): Promise<void> {
    return writer.write(() => store.removeAll(messages.map(({ seq }) => seq)));
  }

  function changesOf(inboxSeq: number, removed: readonly string[]): InboxChange[] {
    if (removed.length <= MAX_PUBLISHED) return removed.map((id) => ({ type: "deleted", id }));
    return [{ type: store.latest(inboxSeq) === null ? "cleared" : "reload" }];
  }

  /** Pages of the messages that match, from the newest one at this moment on. */
  function pagesOf(inboxSeq: number, query: string): () => Promise<Removed[]> {
    let before = (store.latest(inboxSeq)?.seq ?? 0) + 1;
    return async () => {
      const page = await matching.find(inboxSeq, query, { before, limit: PAGE_MESSAGES });
      before = page.at(-1)?.seq ?? before;
      return page;
    };
  }

  return {
    /** Sets the given members. Resolves to the changed message. */
    async patch(
      message: MessageRecord,
      { read, pinned, tags }: MessagePatch,
    ): Promise<MessageRecord> {
      const { seq, id, inboxSeq } = message;
      await writer.write(() => {
        if (read !== undefined) store.setRead(seq, read);
        if (pinned !== undefined) store.setPinned(seq, pinned);
        if (tags !== undefined) store.setTags(seq, tags);
      });
      const changed = store.bySeq(seq) ?? message;
      const { isRead, isPinned } = changed;
      changes.publish(inboxSeq, { type: "updated", id, isRead, isPinned, tags: changed.tags });
      return changed;
    },

    async remove({ seq, id, inboxSeq }: MessageRecord): Promise<void> {
      await writer.write(() => store.remove(seq));
      changes.publish(inboxSeq, { type: "deleted", id });
    },

    /** Removes the selected messages that are there at this moment, also pinned ones. */
    async removeSelected(inboxSeq: number, { ids, query, all }: Selection): Promise<number> {
      if (query !== undefined) return removeAll(inboxSeq, pagesOf(inboxSeq, query));
      if (all === true) return removeAll(inboxSeq, pagesOf(inboxSeq, ""));
      const found = [...new Set(ids)].flatMap((id) => store.byId(inboxSeq, id) ?? []);
      return removeAll(inboxSeq, () => Promise.resolve(found.splice(0, PAGE_MESSAGES)));
    },
  };
}
